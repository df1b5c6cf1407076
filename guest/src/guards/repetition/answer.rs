//! What the guard says: the finding, in words for the agent and a person, and in numbers for the row.

use super::{Repetition, Rule, limits};
use crate::verdict::{Finding, GuardName, Level};

/// A rule as `corpus/rules/repetition.toml` has it.
#[derive(Clone, Copy, Debug)]
pub struct RuleText {
    /// Its id.
    pub id: &'static str,
    /// How bad it is.
    pub level: &'static str,
    /// One sentence.
    pub reason: &'static str,
    /// What would pass, or "".
    pub suggestion: &'static str,
    /// What it finds.
    pub hits: &'static [&'static str],
    /// What it must leave alone.
    pub misses: &'static [&'static str],
}

/// Characters of the unit that are shown.
const SHOWN_CHARS: usize = 60;
/// Characters from which a word of letters and digits is cut: it may be a key.
const KEY_CHARS: usize = 16;

impl Rule {
    /// Its text.
    pub fn text(self) -> &'static RuleText {
        let found = limits::RULES.iter().find(|r| r.id == self.id());
        found.unwrap_or(&limits::RULES[0])
    }
}

/// The finding for a repetition in the argument at `path`.
pub fn finding(text: &str, path: &str, found: &Repetition) -> Finding {
    let rule = found.rule.text();
    let (start, end) = found.span;
    let unit = shown(&text[start..start + found.unit]);
    let place = if path.is_empty() { "The text" } else { path };
    let how = if found.rule == Rule::Exact || found.rule == Rule::Copies {
        "stands"
    } else {
        "comes back, hardly changed,"
    };
    let rarity = rarity(found);
    let seldom = match rarity {
        Some((0, of)) => format!(" None of {of} ordinary files repeats as much."),
        Some((some, of)) if found.is_loop() => format!(" Of {of} ordinary files {some} repeat as much."),
        _ => String::new(),
    };
    Finding {
        guard: GuardName::Repetition,
        rule: found.rule.id(),
        level: if found.is_loop() { Level::Error } else { Level::Info },
        span: found.span,
        path: path.to_owned(),
        reason: format!(
            "{place}: \u{201C}{unit}\u{201D} ({} characters) {how} {} times, bytes {start} to {end}. {}{seldom}",
            found.period, found.copies, rule.reason
        ),
        evidence: Vec::new(),
        suggestion: rule.suggestion.to_owned(),
        facts: facts(text.len(), found, rarity),
    }
}

/// Numbers only: they are stored, and rows hold no text.
fn facts(bytes: usize, found: &Repetition, rarity: Option<(u32, u32)>) -> String {
    let rarity = rarity.map(|(files, of)| format!(",\"rarity\":{{\"files\":{files},\"of\":{of}}}"));
    format!(
        "{{\"period\":{},\"copies\":{},\"unit_bytes\":{},\"text_bytes\":{bytes},\"score\":{}{}}}",
        found.period,
        found.copies,
        found.unit,
        found.score,
        rarity.unwrap_or_default()
    )
}

/// How many ordinary files repeat as much, and of how many.
fn rarity(found: &Repetition) -> Option<(u32, u32)> {
    let table = match found.rule {
        Rule::Exact | Rule::Copies => limits::EXACT,
        Rule::Near | Rule::NoNewInformation => limits::NEAR,
    };
    let last = table.len().checked_sub(1)?;
    let step = (found.score.max(64).ilog2() - 6) as usize;
    Some((table[step.min(last)], limits::FILES))
}

/// The beginning of a unit, for a person: control characters written out, what may be a key cut.
pub fn shown(unit: &str) -> String {
    let mut out = String::new();
    let mut words = unit.split_inclusive(char::is_whitespace);
    let mut left = SHOWN_CHARS;
    for word in words.by_ref() {
        let digits = word.chars().any(|c| c.is_ascii_digit());
        let letters = word.chars().any(char::is_alphabetic);
        let long = word.chars().count() >= KEY_CHARS && digits && letters;
        for c in word.chars().take(if long { 4 } else { left }) {
            left = left.saturating_sub(1);
            match c {
                '\n' => out.push_str("\\n"),
                '\t' => out.push_str("\\t"),
                _ if c.is_control() || is_unseen(c) => out.push('\u{FFFD}'),
                _ => out.push(c),
            }
        }
        if long {
            out.push_str("… ");
        }
        if left == 0 {
            break;
        }
    }
    if left == 0 && unit.chars().count() > SHOWN_CHARS {
        out.push('…');
    }
    out
}

/// Characters that steer what is shown.
const fn is_unseen(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}')
}
