//! Turns `corpus/rules/repetition.toml` and its background table into constants.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    rule: Vec<Rule>,
    limit: Vec<Limit>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    level: String,
    reason: String,
    suggestion: String,
    hits: Vec<Example>,
    misses: Vec<Example>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    #[serde(default)]
    head: String,
    text: String,
    repeat: usize,
    #[serde(default)]
    #[allow(dead_code, reason = "for tests")]
    tail: String,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Limit {
    name: String,
    r#type: String,
    value: i64,
    unit: String,
    why: String,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Background {
    #[allow(dead_code, reason = "for people")]
    bytes: u64,
    files: u32,
    exact: Vec<u32>,
    near: Vec<u32>,
}

/// Writes `repetition.rs` into the folder `out`.
pub fn render(rules: &Path, out: &Path) {
    let read = |name: &str| fs::read_to_string(rules.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let table: Rules = toml::from_str(&read("repetition.toml")).unwrap_or_else(|e| panic!("repetition.toml: {e}"));
    let background: Background = toml::from_str(&read("repetition-background.toml"))
        .unwrap_or_else(|e| panic!("repetition-background.toml: {e}"));
    let mut text = String::new();
    for limit in &table.limit {
        let Limit {
            name,
            r#type,
            value,
            unit,
            why,
        } = limit;
        writeln!(
            text,
            "/// In {unit}: {why}\npub const {name}: {type} = {value};",
            r#type = r#type
        )
        .expect("a string");
    }
    text.push_str("/// The guard's rules: id, level, reason, what would pass, hits, misses.\n");
    text.push_str("pub const RULES: &[super::answer::RuleText] = &[\n");
    for rule in &table.rule {
        let shown = |examples: &[Example]| examples.iter().map(shown).collect::<Vec<_>>();
        writeln!(
            text,
            "super::answer::RuleText {{ id: {:?}, level: {:?}, reason: {:?}, suggestion: {:?}, hits: &{:?}, misses: &{:?} }},",
            rule.id, rule.level, rule.reason, rule.suggestion, shown(&rule.hits), shown(&rule.misses)
        )
        .expect("a string");
    }
    text.push_str("];\n");
    writeln!(
        text,
        "/// Ordinary files that were measured.\npub const FILES: u32 = {};\n\
         /// How many of them say at least 64, 128, 256, … bytes more than once in a row.\npub const EXACT: &[u32] = &{:?};\n\
         /// The same of parts without news.\npub const NEAR: &[u32] = &{:?};",
        background.files, background.exact, background.near
    )
    .expect("a string");
    fs::write(out.join("repetition.rs"), text).expect("repetition.rs");
}

fn shown(example: &Example) -> String {
    let cut: String = example.text.chars().take(80).collect();
    let more = if cut.len() < example.text.len() { "…" } else { "" };
    format!("{}{cut}{more} × {}", example.head, example.repeat)
}
