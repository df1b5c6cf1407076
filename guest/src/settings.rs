//! The settings the engine is given, as `wit/schema/settings.json` describes them.
//!
//! A wrong document is never a trap: each wrong value gives its default, and [`Settings::problems`] says what was wrong.

use crate::event::named;
use crate::guards::bounds::Limits;
use crate::guards::provenance::claims::Kind;
use crate::lexicon;
use crate::text::fold::fold;
use crate::verdict::GuardName;
use serde_json::Value;
use std::collections::BTreeMap;

named!(
    /// What a guard does with what it finds.
    Mode { Off = "off", Observe = "observe", Ask = "ask", Enforce = "enforce" }
);
named!(
    /// A set of defaults for all guards.
    Profile { Observe = "observe", Balanced = "balanced", Strict = "strict" }
);

/// Everything the engine can be told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The set of defaults.
    pub profile: Profile,
    /// Modes that differ from the profile's.
    modes: BTreeMap<GuardName, Mode>,
    /// The provenance guard's mode for one kind of claim.
    claims: BTreeMap<Kind, Mode>,
    /// Whether a claim of that kind may pass on a message that supports it, without a quote.
    traceable: BTreeMap<Kind, bool>,
    /// Languages to read; empty for all.
    pub languages: Vec<String>,
    /// Extra names for the user, folded.
    pub names: Vec<String>,
    /// Authors whose words support claims; empty for whoever speaks.
    pub principals: Vec<String>,
    /// Whether a bare assent supports a claim.
    pub accept_assent: bool,
    /// Folded phrases that never count as a claim.
    pub allow: Vec<String>,
    /// The document itself, for what single guards are told besides their mode; what is wrong in it counts as not said.
    document: Value,
    /// What was wrong with the document, one sentence each.
    pub problems: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            profile: Profile::Balanced,
            modes: BTreeMap::new(),
            claims: BTreeMap::new(),
            traceable: BTreeMap::new(),
            languages: Vec::new(),
            names: Vec::new(),
            principals: Vec::new(),
            accept_assent: true,
            allow: Vec::new(),
            document: Value::Null,
            problems: Vec::new(),
        }
    }
}

impl Settings {
    /// Reads the document; "" gives the defaults.
    pub fn read(document: &str) -> Self {
        let mut out = Self::default();
        if document.trim().is_empty() {
            return out;
        }
        match serde_json::from_str::<Value>(document) {
            Ok(document) if document.is_object() => {
                for (key, value) in document.as_object().into_iter().flatten() {
                    out.take(key, value);
                }
                out.document = document;
            }
            Ok(_) => out.problems.push("the settings are not a JSON object".to_owned()),
            Err(why) => out.problems.push(format!("the settings are not JSON: {why}")),
        }
        out
    }

    fn take(&mut self, key: &str, value: &Value) {
        match key {
            "version" if value == 1 => {}
            "profile" => match value.as_str().and_then(Profile::parse) {
                Some(profile) => self.profile = profile,
                None => self.wrong(key, "observe, balanced or strict"),
            },
            "modes" => self.modes = self.table(key, value, GuardName::parse, |v| Mode::parse(v.as_str()?)),
            "claims" => self.claims = self.table(key, value, Kind::parse, |v| Mode::parse(v.as_str()?)),
            "traceable" => {
                self.traceable = self.table(key, value, Kind::parse, |v| match v.as_str()? {
                    "accept" => Some(true),
                    "refuse" => Some(false),
                    _ => None,
                });
            }
            "languages" => self.languages = self.known_languages(value),
            "names" => self.names = self.texts(key, value).iter().map(|n| fold(n)).collect(),
            "principals" => self.principals = self.texts(key, value),
            "accept_assent" => match value.as_bool() {
                Some(accept) => self.accept_assent = accept,
                None => self.wrong(key, "true or false"),
            },
            "allow" => {
                let phrase = |v: &Value| Some(fold(v.get("phrase")?.as_str()?)).filter(|p| !p.is_empty());
                match value
                    .as_array()
                    .map(|all| all.iter().map(phrase).collect::<Option<Vec<_>>>())
                {
                    Some(Some(phrases)) => self.allow = phrases,
                    _ => self.wrong(key, "a list of {phrase, reason}"),
                }
            }
            "loops" if value.is_object() => {}
            "bounds" if value.is_object() => {}
            _ => self.wrong(key, "a key of wit/schema/settings.json, version 1"),
        }
    }

    fn wrong(&mut self, key: &str, allowed: &str) {
        self.problems
            .push(format!("{key}: must be {allowed}; the default is used"));
    }

    fn table<K: Ord, V>(
        &mut self,
        key: &str,
        value: &Value,
        name: impl Fn(&str) -> Option<K>,
        read: impl Fn(&Value) -> Option<V>,
    ) -> BTreeMap<K, V> {
        let mut out = BTreeMap::new();
        let Some(map) = value.as_object() else {
            self.wrong(key, "an object");
            return out;
        };
        for (inner, value) in map {
            match (name(inner), read(value)) {
                (Some(k), Some(v)) => _ = out.insert(k, v),
                _ => self.wrong(
                    &format!("{key}.{inner}"),
                    "a name and a value of wit/schema/settings.json",
                ),
            }
        }
        out
    }

    /// The named languages that have a pack. One without a pack must not silence the others, nor the guard.
    fn known_languages(&mut self, value: &Value) -> Vec<String> {
        let mut out = self.texts("languages", value);
        let all = out.len();
        out.retain(|tag| lexicon::languages().any(|known| known == tag));
        if out.len() < all {
            let known: Vec<&str> = lexicon::languages().collect();
            self.problems.push(format!(
                "languages: must be of {}; the others are left out",
                known.join(", ")
            ));
        }
        out
    }

    fn texts(&mut self, key: &str, value: &Value) -> Vec<String> {
        let text = |v: &Value| v.as_str().map(str::to_owned);
        match value
            .as_array()
            .map(|all| all.iter().map(text).collect::<Option<Vec<_>>>())
        {
            Some(Some(texts)) => texts,
            _ => {
                self.wrong(key, "a list of texts");
                Vec::new()
            }
        }
    }

    /// The mode of a guard: the one set, or its profile's.
    pub fn mode(&self, guard: GuardName) -> Mode {
        self.modes
            .get(&guard)
            .copied()
            .unwrap_or_else(|| default_mode(self.profile, guard))
    }

    /// The mode of the provenance guard for one kind of claim.
    pub fn claim_mode(&self, kind: Kind) -> Mode {
        let guard = self.mode(GuardName::Provenance);
        if guard == Mode::Off {
            guard
        } else {
            self.claims.get(&kind).copied().unwrap_or(guard)
        }
    }

    /// The mode of one rule of the loops guard. Calls whose results move are stopped in strict only; cycles and varying arguments
    /// where the settings say so. No rule is stricter by itself than its guard.
    pub fn loop_mode(&self, rule: &str) -> Mode {
        let guard = self.mode(GuardName::Loops);
        let name = rule.strip_prefix("loops.").unwrap_or(rule);
        let chosen = self.document["loops"]["rules"][name].as_str().and_then(Mode::parse);
        if let Some(mode) = chosen.filter(|_| guard != Mode::Off) {
            return mode;
        }
        match name {
            "moving" if self.profile != Profile::Strict => guard.min(Mode::Observe),
            "cycle" | "varying" => guard.min(Mode::Observe),
            _ => guard,
        }
    }

    /// How many equal calls in a row a tool is granted, if the settings name it.
    pub fn budget(&self, tool: &str) -> Option<usize> {
        self.document["loops"]["pollers"][tool]
            .as_u64()
            .map(|calls| calls as usize)
    }

    /// The longest result of a tool that passes uncut; none for a tool that the settings let pass.
    pub fn limits(&self, tool: &str) -> Option<Limits> {
        let told = &self.document["bounds"];
        let exempt = told["exempt"].as_array();
        if exempt.is_some_and(|tools| tools.iter().any(|t| t == tool)) {
            return None;
        }
        let (characters, lines) = match self.profile {
            Profile::Strict => (4_000, 100),
            _ => (16_000, 400),
        };
        let or = |name: &str, default: u64| told[name].as_u64().filter(|&n| n > 0).unwrap_or(default) as usize;
        Some(Limits {
            characters: or("characters", characters),
            lines: or("lines", lines),
        })
    }

    /// Whether a new message of a person starts the counts of its session again.
    pub fn message_resets(&self) -> bool {
        self.document["loops"]["message_resets"] != false
    }

    /// Whether a claim of that kind may pass without a quote when a message of the user would support it.
    pub fn traceable(&self, kind: Kind) -> bool {
        self.traceable
            .get(&kind)
            .copied()
            .unwrap_or(matches!(kind, Kind::Preference | Kind::Instruction))
    }
}

/// DESIGN.md section 1.
fn default_mode(profile: Profile, guard: GuardName) -> Mode {
    use GuardName as G;
    match (profile, guard) {
        (Profile::Observe, G::Bounds) => Mode::Off,
        (Profile::Observe, _) | (_, G::Lineage) | (Profile::Balanced, G::Provenance) => Mode::Observe,
        (Profile::Balanced, G::Repetition | G::Tamper) => Mode::Ask,
        (_, _) => Mode::Enforce,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_and_overrides() {
        assert_eq!(Settings::read("").mode(GuardName::Provenance), Mode::Observe);
        let strict = Settings::read(r#"{"profile":"strict","claims":{"preference":"observe"}}"#);
        assert_eq!(strict.claim_mode(Kind::Approval), Mode::Enforce);
        assert_eq!(strict.claim_mode(Kind::Preference), Mode::Observe);
        assert!(strict.problems.is_empty());
    }

    #[test]
    fn wrong_values_are_named_and_defaulted() {
        let wrong = Settings::read(r#"{"profile":"loud","modes":{"provenance":"maybe"},"colour":1}"#);
        assert_eq!(wrong.problems.len(), 3, "{:?}", wrong.problems);
        assert_eq!(wrong.mode(GuardName::Provenance), Mode::Observe);
        assert_eq!(Settings::read("[").problems.len(), 1);
    }

    #[test]
    fn languages_without_a_pack_are_left_out() {
        let some = Settings::read(r#"{"languages":["zh","tlh"]}"#);
        assert_eq!((some.languages, some.problems.len()), (vec!["zh".to_owned()], 1));
        let none = Settings::read(r#"{"languages":["tlh"]}"#);
        assert_eq!((none.languages, none.problems.len()), (Vec::new(), 1));
    }
}
