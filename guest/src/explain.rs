//! The rules of this engine, for `report` and `sayso explain`: the verdicts, and the constructions of every language pack.

use crate::guards::credentials::rules::Rules;
use crate::guards::provenance::answer;
use crate::guards::provenance::judge::Word;
use crate::guards::repetition::limits::RULES;
use crate::guards::told;
use crate::lexicon;
use crate::verdict::Level;
use serde_json::{Value, json};

/// Every rule: id, guard, level, reason.
pub fn rules() -> Vec<Value> {
    let level = |word: Word| if word.passes() { Level::Info } else { Level::Error };
    let mut out = vec![
        rule("engine.too-long", "error", "The text is too long to be judged."),
        rule(
            "engine.too-much",
            "error",
            "The text takes more work than one answer may; a part was not judged.",
        ),
    ];
    out.extend(
        Word::ALL
            .iter()
            .map(|&word| rule(word.rule(), level(word).name(), answer::meaning(word))),
    );
    out.extend(RULES.iter().map(|r| rule(r.id, r.level, r.reason)));
    out.extend(told::rules().map(|told| rule(told.id, told.level, told.reason)));
    out.extend(
        Rules::get()
            .rules
            .iter()
            .map(|r| rule(r.id, "error", &[r.what, " (", r.vendor, ")."].concat())),
    );
    out
}

fn rule(id: &str, level: &str, reason: &str) -> Value {
    let guard = id.split('.').next();
    json!({"id": id, "guard": guard, "level": level, "reason": reason})
}

/// What one rule or construction means; constructions are named `lang.id`.
pub fn explain(id: &str) -> Value {
    if let Some(r) = RULES.iter().find(|r| r.id == id) {
        return json!({"id": id, "guard": "repetition", "level": r.level, "reason": r.reason, "pass": r.suggestion,
            "hits": r.hits, "misses": r.misses});
    }
    if let Some(rule) = rules().into_iter().find(|r| r["id"] == id) {
        let word = Word::ALL.iter().find(|w| w.rule() == id);
        let told = told::rule(id).pass;
        let other = match told {
            "" if rule["guard"] == "credentials" => "Name the place where the credential is kept instead.",
            "" => "Write less at a time.",
            told => told,
        };
        let pass = word.map_or(other, |&w| answer::remedy(w));
        return json!({"id": id, "guard": rule["guard"], "level": rule["level"], "reason": rule["reason"], "pass": pass});
    }
    let found = id.split_once('.').and_then(|(lang, name)| {
        let pack = lexicon::pack(lang)?;
        let raw = pack.raw().into_iter().find(|c| c.id == name)?;
        Some((raw, pack.explained(name)?))
    });
    match found {
        Some((c, why)) => json!({"id": id, "guard": "provenance", "reason": why.reason, "pattern": c.pattern,
            "claim": c.claim, "not": c.not, "hits": why.hits, "misses": why.misses}),
        None => json!({"error": format!("no rule or construction is called {id}")}),
    }
}
