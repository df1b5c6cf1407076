//! The examples of the tamper guard's rules, and what the modes make of them.

mod events;

use sayso_engine::check::Session;
use sayso_engine::guards::tamper::reach;
use sayso_engine::verdict::Action;
use serde_json::json;

fn broken(example: &str) -> Option<&'static str> {
    let arguments = example.strip_prefix("place: ").map_or_else(
        || json!({"command": example, "timeout": 5}),
        |path| json!({"path": path, "content": "x"}),
    );
    reach(&arguments.to_string()).map(|r| r.rule)
}

#[test]
fn every_example_of_a_rule_holds() {
    let rules: toml::Table = include_str!("../../corpus/rules/tamper.toml").parse().expect("TOML");
    let mut wrong = Vec::new();
    for rule in rules["rule"].as_array().expect("rules") {
        let id = rule["id"].as_str().expect("an id");
        for hit in rule["hits"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|h| h.as_str())
        {
            if broken(hit) != Some(id) {
                wrong.push(format!("{id} misses {hit}: {:?}", broken(hit)));
            }
        }
        for miss in rule["misses"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|h| h.as_str())
        {
            if broken(miss).is_some() {
                wrong.push(format!("{:?} hits {miss}", broken(miss)));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn what_is_written_is_data_and_modes_are_heard() {
    let told = json!({"path": "notes.md", "content": "Run `sayso reset` and look into plugin-data/sayso."}).to_string();
    assert!(reach(&told).is_none());
    assert!(
        reach("sayso reset").is_some(),
        "arguments that are no JSON are a program"
    );
    let action = |settings: &str| {
        let call = events::called("s", 1, "terminal", r#"{"command":"hermes sayso clear --yes"}"#);
        Session::new(settings, "key").check(&call).action
    };
    assert_eq!(action(r#"{"profile":"observe"}"#), Action::Allow);
    assert_eq!(action(""), Action::Ask);
    assert_eq!(action(r#"{"profile":"strict"}"#), Action::Refuse);
    for hostile in [
        "\\x".repeat(9_000),
        "a=b;".repeat(9_000),
        "plugin-data/".repeat(9_000),
        "[".repeat(9_000),
    ] {
        reach(&json!({"command": hostile}).to_string());
    }
}
