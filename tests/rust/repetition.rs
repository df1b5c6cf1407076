//! The repetition guard: its corpus, its rules' own examples, the cases of public reports, and exact repetition against an oracle.

#[allow(dead_code, reason = "other tests name the file")]
mod cases;
mod generate;

use cases::Case;
use proptest::prelude::*;
use sayso_engine::check::Session;
use sayso_engine::event::{Call, Event, Occasion};
use sayso_engine::guards::repetition::stream::{Loop, Stream};
use sayso_engine::guards::repetition::{Repetition, collapsed, judge};
use sayso_engine::text::periods::{Run, outer_runs, runs};
use sayso_engine::verdict::Action;
use serde_json::{Value, json};

fn is_loop(text: &str) -> bool {
    judge(text).iter().any(Repetition::is_loop)
}

/// The text of a row, as corpus/README.md describes `generate`.
fn labelled(row: &Value) -> String {
    if let Some(text) = row["text"].as_str() {
        return text.to_owned();
    }
    let parts = row["generate"].as_array().expect("a text or parts of one");
    parts.iter().map(part).collect()
}

fn part(part: &Value) -> String {
    let text = part["text"].as_str().expect("a text");
    let repeat = part["repeat"].as_u64().expect("a number") as usize;
    let words: Vec<&str> = text.split_whitespace().collect();
    let copy = |k: usize| match part["vary"].as_str().expect("a way") {
        "none" => text.to_owned(),
        "counter" => text.replace("{i}", &(k + 1).to_string()),
        "case" if k % 2 == 1 => text.to_uppercase(),
        "case" => text.to_owned(),
        "space" if k + 1 < repeat => format!("{text}{}", if k.is_multiple_of(2) { " " } else { "  " }),
        "space" => text.to_owned(),
        "drift" => {
            let at = k % words.len();
            let start = words[at].as_ptr() as usize - text.as_ptr() as usize;
            let end = start + words[at].len();
            format!("{}{}{}", &text[..start], words[(at + 1) % words.len()], &text[end..])
        }
        other => panic!("no way is called {other:?}"),
    };
    (0..repeat).map(copy).collect()
}

/// Rows of one label, and the ids of those that were judged otherwise.
fn wrong<'a>(rows: &'a [Case], label: &str) -> (usize, Vec<&'a str>) {
    let mine: Vec<&Case> = rows.iter().filter(|c| c.row["label"] == label).collect();
    let wrong = mine.iter().filter(|c| is_loop(&labelled(&c.row)) != (label == "loop"));
    (mine.len(), wrong.map(|c| c.id()).collect())
}

#[test]
fn loops_of_the_corpus_are_found_and_data_is_left_alone() {
    let rows = cases::read(&["repetition"]);
    let (loops, missed) = wrong(&rows, "loop");
    let (data, flagged) = wrong(&rows, "data");
    println!("{loops} loops, missed {missed:?}; {data} data rows, flagged {flagged:?}");
    assert!(missed.len() * 50 <= loops, "of {loops} loops {missed:?} are missed");
    assert!(
        flagged.len() * 100 <= data,
        "of {data} data rows {flagged:?} are taken for loops"
    );
}

#[test]
fn what_is_told_of_a_loop_is_so() {
    for case in cases::read(&["repetition"]).iter().filter(|c| c.row["label"] == "loop") {
        let text = labelled(&case.row);
        let found = judge(&text);
        for one in found.iter().filter(|r| r.rule.id() == "repetition.exact") {
            let part = text.get(one.span.0..one.span.1).expect("borders of characters");
            assert_eq!(part[..part.len() - one.unit], part[one.unit..], "{}", case.id());
            assert_eq!(part[..one.unit].chars().count(), one.period, "{}", case.id());
            assert_eq!(part.len() / one.unit, one.copies, "{}", case.id());
        }
        assert!(
            collapsed(&text, &found).len() < text.len() || found.is_empty(),
            "{}",
            case.id()
        );
    }
}

#[test]
fn every_rule_passes_its_own_examples() {
    let table: toml::Table = toml::from_str(include_str!("../../corpus/rules/repetition.toml")).expect("TOML");
    for rule in table["rule"].as_array().expect("rules") {
        let id = rule["id"].as_str().expect("an id");
        for (list, expected) in [("hits", true), ("misses", false)] {
            for example in rule[list].as_array().expect("examples") {
                let field = |name: &str| example.get(name).and_then(toml::Value::as_str).unwrap_or_default();
                let repeat = example["repeat"].as_integer().expect("a number");
                let copies: String = (1..=repeat)
                    .map(|i| field("text").replace("{i}", &i.to_string()))
                    .collect();
                let text = format!("{}{copies}{}", field("head"), field("tail"));
                let found: Vec<_> = judge(&text).iter().map(|r| r.rule.id()).collect();
                assert_eq!(found.contains(&id), expected, "{id}, {list}: {example} gives {found:?}");
            }
        }
    }
}

#[test]
fn reported_texts_are_judged_right() {
    let all = cases::read(&["reports"]);
    let (mut firm, mut broken, mut apart) = (0, Vec::new(), Vec::new());
    for case in all.iter().filter(|c| c.row["job"] == "D") {
        let expected = &case.row["expect"];
        let verdict = expected["preferred"]
            .as_str()
            .or(expected["verdict"].as_str())
            .expect("a verdict");
        let text = generate::text(&case.row["input"]["text"]).expect("a text");
        let found = judge(&text);
        let first = found.iter().find(|r| r.is_loop());
        let mut holds = first.is_some() == (verdict == "loop");
        if let (Some(period), Some(first)) = (expected["period"].as_u64(), first) {
            // A multiple of a period is one too; a report may give either.
            holds &= first.period as u64 == period || period % first.period as u64 == 0;
        }
        if let (Some(region), Some(first)) = (expected["region"].as_array(), first) {
            let near =
                |at: usize, side: &Value| at.abs_diff(side.as_u64().expect("a place") as usize) <= 2 * first.unit;
            holds &= near(first.span.0, &region[0]) && near(first.span.1, &region[1]);
        }
        let line = format!("{} {}: {found:?}", case.id(), case.row["kind"]);
        if expected["verdict"] == "judgement" || case.row["difficulty"].is_string() {
            apart.push(format!("{} {line}", if holds { "holds" } else { "open" }));
            continue;
        }
        firm += 1;
        if !holds {
            broken.push(line);
        }
    }
    println!("{firm} reported texts are judged right; apart:\n{}", apart.join("\n"));
    assert!(firm > 20, "{firm} cases ran");
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn a_call_is_asked_about_and_says_where() {
    let text = "Let me check the file again. ".repeat(60);
    let arguments = json!({"path": "notes.md", "content": text}).to_string();
    for (settings, action) in [
        ("", Action::Ask),
        (r#"{"profile":"strict"}"#, Action::Refuse),
        (r#"{"profile":"observe"}"#, Action::Allow),
    ] {
        let verdict = Session::new(settings, "key").check(&called(&arguments));
        assert_eq!(verdict.action, action);
        let finding = &verdict.findings[0];
        assert_eq!((finding.rule, finding.path.as_str()), ("repetition.exact", "$.content"));
        assert_eq!(finding.span, (0, text.len()));
        assert!(finding.reason.contains("60 times"), "{}", finding.reason);
        assert!(!verdict.store.row.contains("Let me check"), "rows hold no text");
    }
    let off = Session::new(r#"{"modes":{"repetition":"off"}}"#, "key").check(&called(&arguments));
    assert!(off.findings.is_empty());
}

#[test]
fn many_short_texts_are_judged_together() {
    let items: Vec<Value> = (0..120)
        .map(|_| json!({"content": "Continue with the next task", "status": "pending"}))
        .collect();
    let verdict = Session::new("", "key").check(&called(&json!({"todos": items}).to_string()));
    assert_eq!(verdict.action, Action::Ask);
    assert_eq!(verdict.findings[0].path, "$");
}

/// What a stream that comes in pieces of so many characters is found to be.
fn streamed(text: &str, size: usize) -> Option<Loop> {
    let chars: Vec<char> = text.chars().collect();
    let mut stream = Stream::default();
    chars
        .chunks(size)
        .find_map(|piece| stream.push(&piece.iter().collect::<String>()))
}

#[test]
fn streams_of_loops_are_stopped_and_data_passes() {
    let rows = cases::read(&["repetition"]);
    let (mut late, mut loops, mut wrong) = (Vec::new(), 0, Vec::new());
    for case in &rows {
        let text = labelled(&case.row);
        let found = streamed(&text, 50);
        if found.is_some() != (case.row["label"] == "loop") {
            wrong.push(format!("{}: {found:?}", case.id()));
        }
        let Some(found) = found.filter(|_| case.row["label"] == "loop") else {
            continue;
        };
        loops += 1;
        let head = case.row["generate"].as_array().map_or(0, |parts| {
            let heads = parts.iter().take_while(|p| p["repeat"] == 1);
            heads.map(|p| p["text"].as_str().expect("a text").len()).sum()
        });
        late.push(text.get(head..found.end).map_or(0, |part| part.chars().count()));
    }
    late.sort_unstable();
    println!(
        "{loops} loops stopped after {} characters (median), {} (90 %); wrong: {wrong:?}",
        late[loops / 2],
        late[loops * 9 / 10]
    );
    assert!(wrong.len() * 100 <= rows.len(), "{wrong:?}");
    assert!(late[loops / 2] <= 600, "{late:?}");
    assert!(late[loops * 9 / 10] <= 1600, "{late:?}");
}

#[test]
fn a_stream_is_judged_the_same_however_it_is_cut() {
    let drift = "[08:{i}] I will check the batch again in a minute.\n";
    let counted: String = (0..60).map(|i| drift.replace("{i}", &i.to_string())).collect();
    let page: String = (0..900).map(|i| format!("word{} ", i * 7919 % 1009)).collect();
    for text in [
        "The report is ready. ".repeat(60),
        format!("A healthy beginning. {}", "让我再检查一遍这个文件。".repeat(80)),
        counted,
        "👨‍👩‍👧 ".repeat(400),
        page.repeat(4),
        page.repeat(2),
    ] {
        let whole = Stream::default().push(&text);
        for size in [1, 2, 7, 64, 1000] {
            assert_eq!(streamed(&text, size), whole, "pieces of {size}");
        }
    }
    assert!(streamed(&page.repeat(2), 100).is_none(), "a text and its copy");
    assert!(streamed(&page.repeat(3), 100).is_some(), "a text three times");
}

fn called(arguments: &str) -> Event {
    Event {
        id: "c1".to_owned(),
        session: "s".to_owned(),
        at: 0,
        what: Occasion::Call(Call {
            call_id: "1".to_owned(),
            tool: "write_file".to_owned(),
            arguments: arguments.to_owned(),
        }),
    }
}

/// Every run, by its definition.
fn oracle(text: &[u8], least: usize) -> Vec<Run> {
    let mut found = Vec::new();
    for period in 1..=text.len() / 2 {
        let mut start = 0;
        while start + period < text.len() {
            let equal = (start..text.len() - period)
                .take_while(|&i| text[i] == text[i + period])
                .count();
            let run = Run {
                start,
                end: start + equal + period,
                period,
            };
            let root = &text[start..start + period];
            let smaller = (1..period).any(|p| period % p == 0 && root[p..] == root[..period - p]);
            if equal >= period && run.len() >= least && !smaller {
                found.push(run);
            }
            start += equal + 1;
        }
    }
    found.sort_unstable();
    found
}

/// Words of few letters, copied, with a letter changed here and there.
fn repetitive() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::collection::vec(prop::sample::select(vec![0_u8, b'a', b'b', 255]), 1..60);
    let piece = (word, 1_usize..6, any::<bool>()).prop_map(|(word, times, change)| {
        let mut piece = word.repeat(times);
        if change {
            piece.push(b'c');
        }
        piece
    });
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn runs_equal_the_oracle(text in repetitive(), least in 0_usize..40) {
        prop_assert_eq!(runs(&text, least), oracle(&text, least));
    }

    #[test]
    fn runs_of_few_letters_equal_the_oracle(text in prop::collection::vec(0_u8..2, 0..120)) {
        prop_assert_eq!(runs(&text, 0), oracle(&text, 0));
    }

    #[test]
    fn any_text_gets_findings_at_borders_of_characters(text in "(?s).{0,40}", times in 1_usize..20) {
        let text = text.repeat(times);
        for one in judge(&text) {
            prop_assert!(text.is_char_boundary(one.span.0) && text.is_char_boundary(one.span.1));
            prop_assert!(text.is_char_boundary(one.span.0 + one.unit) && one.span.0 + one.unit <= one.span.1);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn long_runs_equal_the_oracle(text in prop::collection::vec(repetitive(), 1..3).prop_map(|parts| parts.concat())) {
        let expected = oracle(&text, 96);
        let outer = outer_runs(&text, 96);
        prop_assert_eq!(runs(&text, 96), expected.clone());
        for run in &expected {
            let reached = |o: &Run| o.start < run.end && run.start < o.end && o.len() >= 4 * o.period;
            prop_assert!(outer.iter().any(|o| o == run || reached(o)), "{:?} is not in {:?}", run, outer);
        }
        prop_assert!(outer.iter().all(|o| expected.contains(o)));
    }
}
