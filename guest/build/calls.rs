//! Turns `corpus/rules/{loops,bounds,tamper}.toml` into one table of limits and two blobs: the words that the guards of calls ask
//! for, and what people are told of their rules.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// One file of rules. Examples are only read by tests.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    #[serde(default)]
    limits: BTreeMap<String, usize>,
    #[serde(default)]
    rule: Vec<Rule>,
    #[serde(default)]
    #[allow(dead_code, reason = "for tests")]
    fold: Vec<toml::Value>,
    #[serde(default)]
    words: BTreeMap<String, String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    level: String,
    reason: String,
    pass: String,
    #[allow(dead_code, reason = "for tests")]
    hits: Vec<toml::Value>,
    #[allow(dead_code, reason = "for tests")]
    misses: Vec<toml::Value>,
}

/// The guards whose files these are.
const GUARDS: &[&str] = &["bounds", "loops", "tamper"];

/// Writes `calls.rs`, `calls-words.z` and `calls-rules.z` into the folder `out`.
pub fn write(rules: &Path, out: &Path, store: impl Fn(&Path, &[u8])) {
    let mut code = String::new();
    let mut told = String::new();
    let mut words = String::new();
    for guard in GUARDS {
        let file = rules.join(format!("{guard}.toml"));
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let read: Rules = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for (name, value) in read.limits {
            let name = format!("{guard}_{name}").to_uppercase();
            writeln!(
                code,
                "/// As `corpus/rules/{guard}.toml` says.\npub const {name}: usize = {value};"
            )
            .expect("a string");
        }
        for rule in read.rule {
            assert!(
                rule.id.starts_with(&format!("{guard}.")),
                "{}: {}",
                file.display(),
                rule.id
            );
            for field in [&rule.id, &rule.level, &rule.reason, &rule.pass] {
                told.push_str(field);
                told.push('\n');
            }
        }
        for (name, list) in read.words {
            words.push_str(&format!("{guard}.{name}"));
            for word in list.split_whitespace() {
                words.push(' ');
                words.push_str(word);
            }
            words.push('\n');
        }
    }
    fs::write(out.join("calls.rs"), code).expect("calls.rs");
    store(&out.join("calls-rules.z"), told.as_bytes());
    store(&out.join("calls-words.z"), words.as_bytes());
}
