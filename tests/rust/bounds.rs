//! Long results: the cases that people reported, cuts at every place, and JSON that stays JSON.

mod cases;
mod events;
mod generate;

use sayso_engine::check::Session;
use sayso_engine::guards::bounds::{Limits, kind, shorten};
use sayso_engine::verdict::Action;
use serde_json::{Value, json};

const STRICT: Limits = Limits {
    characters: 4_000,
    lines: 100,
};

fn assert_fits(short: &str, what: &str) {
    assert!(
        short.chars().count() <= STRICT.characters,
        "{what}: {} characters",
        short.chars().count()
    );
    assert!(
        short.lines().count() <= STRICT.lines,
        "{what}: {} lines",
        short.lines().count()
    );
    assert!(short.contains("sayso left out"), "{what}");
}

#[test]
fn reported_results_hold() {
    let mut ran = 0;
    for case in cases::read(&["reports"])
        .iter()
        .filter(|c| c.row["kind"].as_str().is_some_and(|k| k.starts_with("truncate")))
    {
        let text = generate::text(&case.row["input"]["tool_result"]["text"]).expect("a text");
        let what = format!("{} {}: {}", case.file, case.id(), case.row["why"]);
        let mut session = Session::new(r#"{"profile":"strict"}"#, "key");
        let verdict = session.check(&events::gave("s", 1, "terminal", "{}", &text));
        if case.row["expect"]["unchanged"] == true {
            assert_eq!(verdict.action, Action::Allow, "{what}");
        } else {
            assert_eq!(verdict.action, Action::Rewrite, "{what}");
            assert_fits(&verdict.text, &what);
            assert_eq!(verdict.store.body, text);
            assert!(!verdict.store.row.contains(text.lines().next().expect("a line")));
        }
        for part in case.row["expect"]["must_contain"].as_array().into_iter().flatten() {
            assert!(
                verdict.text.contains(part.as_str().expect("a text")),
                "{what}: {part} is gone"
            );
        }
        ran += 1;
    }
    assert!(ran >= 4, "{ran} cases ran");
}

#[test]
fn a_cut_never_stands_inside_a_cluster() {
    for cluster in [
        "👩\u{200D}🔬",
        "e\u{301}\u{302}",
        "🇩🇪",
        "👍🏽",
        "\r\n",
        "각",
        "\u{1100}\u{1161}\u{11A8}",
        "❤\u{FE0F}",
    ] {
        for before in 1_470..1_520 {
            let text = format!("{}{cluster}{}", "r".repeat(before), "s".repeat(6_000));
            let short = shorten(&text, STRICT, "id").expect("it is long");
            assert_fits(&short, cluster);
            let rest = short.replace(cluster, "");
            assert!(
                cluster.chars().all(|c| c.is_ascii() || !rest.contains(c)),
                "{cluster:?} after {before}"
            );
        }
    }
}

#[test]
fn what_is_telling_is_kept() {
    let mut lines: Vec<String> = (0..3_000)
        .map(|n| format!("test number {n} of the suite ... ok"))
        .collect();
    lines[700] = "E   ValueError: no berth 12".to_owned();
    lines[1_200] = "warning: the tide table is old".to_owned();
    lines[1_900] = "something quite different here".to_owned();
    lines[2_100] = "src/tide.rs:31 was here".to_owned();
    let text = lines.join("\n");
    let short = shorten(&text, STRICT, "id").expect("it is long");
    assert_fits(&short, "telling");
    for part in [
        "test number 0 ",
        "test number 2999 ",
        &lines[700],
        &lines[1_200],
        &lines[1_900],
        &lines[2_100],
    ] {
        assert!(short.contains(part), "{part} is gone");
    }
    assert!(shorten(&"a\n".repeat(100), STRICT, "id").is_none());
}

#[test]
fn json_stays_json() {
    let long = "all work\n".repeat(3_000) + "Error: the last line";
    let items: Vec<Value> = (0..4_000)
        .map(|n| json!({"n": n, "name": format!("berth {n}")}))
        .collect();
    let keys: serde_json::Map<String, Value> = (0..4_000).map(|n| (format!("key {n}"), json!(n))).collect();
    let mut deep = json!("end");
    for _ in 0..100 {
        deep = json!([deep, "x".repeat(200)]);
    }
    for value in [
        json!({"output": long, "exit_code": 1}),
        json!(items),
        json!(keys),
        deep,
        json!({"lines": "a\n".repeat(200)}),
        json!(vec!["short"; 3_000]),
    ] {
        let short = shorten(&value.to_string(), STRICT, "id").expect("it is long");
        assert_fits(&short, &short[..60]);
        let back: Value = serde_json::from_str(&short).expect("JSON");
        if value["exit_code"] == 1 {
            assert_eq!(back["exit_code"], 1);
            assert!(
                back["output"]
                    .as_str()
                    .expect("a text")
                    .ends_with("Error: the last line")
            );
            assert!(back["output"].as_str().expect("a text").contains("path=\"/output\""));
        }
    }
    assert!(shorten(r#"{"a": [1, 2, 3]}"#, STRICT, "id").is_none());
}

#[test]
fn every_example_of_a_telling_line_holds() {
    let rules: toml::Table = include_str!("../../corpus/rules/bounds.toml").parse().expect("TOML");
    let names = ["error", "warning", "total"];
    for fold in rules["fold"].as_array().expect("folds") {
        let expected = names.iter().position(|n| Some(*n) == fold["id"].as_str());
        for (list, hit) in [("hits", true), ("misses", false)] {
            for line in fold[list].as_array().expect("a list") {
                let line = line.as_str().expect("a text");
                let found = kind(line);
                assert!(
                    if hit {
                        found <= expected && found.is_some()
                    } else {
                        found != expected
                    },
                    "{line}: {found:?}"
                );
            }
        }
    }
}

#[test]
fn tools_and_modes_are_heard() {
    let text = "line\n".repeat(5_000);
    let action = |settings: &str, tool: &str| {
        Session::new(settings, "key")
            .check(&events::gave("s", 1, tool, "{}", &text))
            .action
    };
    assert_eq!(action("", "terminal"), Action::Rewrite);
    assert_eq!(action(r#"{"modes":{"bounds":"observe"}}"#, "terminal"), Action::Allow);
    assert_eq!(action(r#"{"profile":"observe"}"#, "terminal"), Action::Allow);
    assert_eq!(
        action(r#"{"bounds":{"characters":90000,"lines":9000}}"#, "terminal"),
        Action::Allow
    );
    assert_eq!(
        action(r#"{"bounds":{"exempt":["read_file"]}}"#, "read_file"),
        Action::Allow
    );
}
