//! Sequences of calls: the labelled ones, those that people reported, and the examples of the loops guard's rules.

mod cases;
mod events;

use sayso_engine::check::Session;
use sayso_engine::event::{MarkKind, Origin, Role};
use sayso_engine::guards::loops::steady::steady;
use sayso_engine::verdict::{Action, Verdict};
use serde_json::{Value, json};

/// The loops guard alone, as `sayso eval calls` judges: a case may hold what another guard stops.
const STRICT: &str = r#"{"profile":"strict","modes":{"repetition":"off","credentials":"off","tamper":"off"}}"#;

/// Plays calls and tells the numbers of those that are refused. Their results are not captured, as no host would.
struct Player {
    session: Session,
    /// Every row, as a ledger would keep it.
    ledger: Vec<String>,
    number: usize,
}

impl Player {
    fn new(settings: &str) -> Self {
        Self {
            session: Session::new(settings, "key"),
            ledger: Vec::new(),
            number: 0,
        }
    }

    fn call(&mut self, session: &str, tool: &str, arguments: &str, result: Option<&str>) -> Verdict {
        self.number += 1;
        let verdict = self
            .session
            .check(&events::called(session, self.number, tool, arguments));
        self.keep(&verdict.store.row);
        if let (Some(text), true) = (result, verdict.action == Action::Allow) {
            let stored = self
                .session
                .capture(&events::gave(session, self.number, tool, arguments, text));
            self.keep(&stored.row);
        }
        verdict
    }

    fn mark(&mut self, session: &str, kind: MarkKind) {
        self.number += 1;
        let stored = self.session.capture(&events::marked(session, self.number, kind));
        self.keep(&stored.row);
    }

    fn user(&mut self, text: &str) {
        self.number += 1;
        let mut said = events::said(self.number, Role::User, Origin::Human, text.to_owned());
        said.session = "s".to_owned();
        let stored = self.session.capture(&said);
        self.keep(&stored.row);
    }

    fn keep(&mut self, row: &str) {
        self.ledger.push(format!(r#"{{"row":{row},"body":""}}"#));
    }

    /// The same session in another process, or after a trap.
    fn restart(&mut self, settings: &str) {
        self.session = Session::new(settings, "key");
        let answer = self.session.load(&self.ledger.join("\n"));
        assert!(answer.contains(r#""wrong":[]"#), "{answer}");
    }
}

fn arguments(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is stopped in a labelled sequence; with `restart`, each call is judged by a session that has just read the ledger.
fn stopped(case: &Value, restart: bool) -> Vec<usize> {
    let mut player = Player::new(STRICT);
    let mut out = Vec::new();
    for (index, call) in case["calls"].as_array().expect("calls").iter().enumerate() {
        if restart {
            player.restart(STRICT);
        }
        if call["reset"] == true {
            player.mark("", MarkKind::Reset);
            continue;
        }
        let session = call["session"].as_str().unwrap_or("s");
        let tool = call["tool"].as_str().expect("a tool");
        let verdict = player.call(session, tool, &arguments(&call["args"]), call["result"].as_str());
        if verdict.action == Action::Refuse {
            assert!(!verdict.message.is_empty());
            out.push(index);
        }
    }
    out
}

#[test]
fn every_labelled_sequence_is_stopped_where_it_should_be() {
    let all = cases::read(&["calls"]);
    assert!(all.len() > 60);
    for case in &all {
        let expected: Vec<usize> = case.row["expect"]
            .as_array()
            .expect("expect")
            .iter()
            .map(|e| e["index"].as_u64().expect("an index") as usize)
            .collect();
        assert_eq!(
            stopped(&case.row, false),
            expected,
            "{} {}: {}",
            case.file,
            case.id(),
            case.row["why"]
        );
        assert_eq!(
            stopped(&case.row, true),
            expected,
            "{} after restarts: {}",
            case.id(),
            case.row["why"]
        );
    }
}

#[test]
fn reported_sequences_of_calls_hold() {
    let mut ran = 0;
    for case in cases::read(&["reports"])
        .iter()
        .filter(|c| c.row["input"]["calls"].is_array())
    {
        let calls = case.row["input"]["calls"].as_array().expect("calls");
        let mut player = Player::new("");
        let (mut turn, mut refused) = (Value::Null, Vec::new());
        for (index, call) in calls.iter().enumerate() {
            if call["turn"] != turn {
                turn = call["turn"].clone();
                player.user("Look again.");
            }
            let tool = call["tool"].as_str().expect("a tool");
            if player
                .call("s", tool, &arguments(&call["args"]), call["result"].as_str())
                .action
                == Action::Refuse
            {
                refused.push(index + 1);
            }
        }
        assert_eq!(
            json!(refused),
            case.row["expect"]["blocked"],
            "{}: {}",
            case.id(),
            case.row["why"]
        );
        ran += 1;
    }
    assert!(ran > 5, "{ran} cases ran");
}

fn rules() -> toml::Value {
    let text = include_str!("../../corpus/rules/loops.toml");
    text.parse::<toml::Table>().expect("TOML").into()
}

fn texts<'a>(rule: &'a toml::Value, list: &str) -> Vec<&'a toml::Value> {
    rule[list].as_array().expect("a list").iter().collect()
}

/// The rule that the last call of a sequence breaks.
fn broken(sequence: &str) -> Vec<String> {
    let mut player = Player::new(r#"{"profile":"observe"}"#);
    let mut last = Vec::new();
    for word in sequence.split(' ') {
        match word
            .split_once(':')
            .map_or((word, None), |(call, result)| (call, Some(result)))
        {
            ("reset", _) => player.mark("s", MarkKind::Reset),
            ("user", _) => player.user("Go on."),
            (call, result) => {
                let arguments = json!({"path": call}).to_string();
                let verdict = player.call("s", "look", &arguments, result);
                assert_eq!(verdict.action, Action::Allow);
                last = verdict.findings.iter().map(|f| f.rule.to_owned()).collect();
            }
        }
    }
    last
}

#[test]
fn every_example_of_a_rule_holds() {
    for rule in rules()["rule"].as_array().expect("rules") {
        let id = rule["id"].as_str().expect("an id");
        for hit in texts(rule, "hits") {
            let sequence = hit.as_str().expect("a text");
            assert!(
                broken(sequence).iter().any(|r| r == id),
                "{id} misses {sequence}: {:?}",
                broken(sequence)
            );
        }
        for miss in texts(rule, "misses") {
            let sequence = miss.as_str().expect("a text");
            assert!(broken(sequence).iter().all(|r| r != id), "{id} hits {sequence}");
        }
        let told = sayso_engine::guards::told::rule(id);
        assert!(!told.reason.is_empty() && !told.pass.is_empty(), "{id} is not told");
    }
}

#[test]
fn every_example_of_a_fold_holds() {
    let all = rules();
    let mut wrong = Vec::new();
    for fold in all["fold"].as_array().expect("folds") {
        for (list, equal) in [("hits", true), ("misses", false)] {
            for pair in texts(fold, list) {
                let (a, b) = (pair[0].as_str().expect("a text"), pair[1].as_str().expect("a text"));
                if (steady(a) == steady(b)) != equal {
                    wrong.push(format!("{} {list}: {:?} {:?}", fold["id"], steady(a), steady(b)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn settings_say_what_moves_and_who_may_poll() {
    let polls = |settings: &str, calls: usize, moves: bool| {
        let mut player = Player::new(settings);
        let refused = |n: &usize| {
            let result = if moves {
                format!("{n} of 90")
            } else {
                "queued".to_owned()
            };
            player.call("s", "poll", "{}", Some(&result)).action == Action::Refuse
        };
        (1..=calls).filter(refused).collect::<Vec<usize>>()
    };
    assert_eq!(polls("", 40, true), Vec::<usize>::new());
    assert_eq!(polls(STRICT, 13, true), [12, 13]);
    assert_eq!(polls(r#"{"loops":{"rules":{"moving":"enforce"}}}"#, 13, true), [12, 13]);
    assert_eq!(polls(r#"{"profile":"observe"}"#, 20, false), Vec::<usize>::new());
    assert_eq!(polls(r#"{"modes":{"loops":"off"}}"#, 20, false), Vec::<usize>::new());
    assert_eq!(
        polls(r#"{"profile":"strict","loops":{"pollers":{"poll":40}}}"#, 42, false),
        [41, 42]
    );
    let mut kept = Player::new(r#"{"loops":{"message_resets":false}}"#);
    for _ in 0..2 {
        kept.call("s", "poll", "{}", Some("queued"));
        kept.user("And now?");
    }
    assert_eq!(kept.call("s", "poll", "{}", Some("queued")).action, Action::Refuse);
}

#[test]
fn cycles_are_stopped_where_the_settings_say_so() {
    let mut player = Player::new(r#"{"loops":{"rules":{"cycle":"enforce","varying":"ask"}}}"#);
    let actions: Vec<Action> = (0..7)
        .map(|n| {
            player
                .call(
                    "s",
                    "look",
                    &json!({"path": if n % 2 == 0 { "A" } else { "B" }}).to_string(),
                    Some("x"),
                )
                .action
        })
        .collect();
    assert_eq!(actions[..5], [Action::Allow; 5]);
    assert_eq!(actions[5], Action::Refuse);
    let varied: Vec<Action> = (0..5)
        .map(|n| {
            player
                .call("t", "page", &json!({"page": n}).to_string(), Some("none"))
                .action
        })
        .collect();
    assert_eq!(varied[4], Action::Ask);
}

#[test]
fn rows_hold_no_text_and_memory_is_bounded() {
    let mut player = Player::new("");
    for n in 0..2_000 {
        let session = format!("s{}", n % 150);
        player.call(
            &session,
            "terminal",
            &format!(r#"{{"command":"echo hunter2-{n}"}}"#),
            Some(&format!("out hunter3-{n}")),
        );
    }
    assert!(player.ledger.iter().all(|row| !row.contains("hunter")));
    let status: Value = serde_json::from_str(&player.session.report(r#"{"ask":"status"}"#)).expect("JSON");
    assert!(status["calls"].as_u64().expect("a number") <= 64 * 32);
    let last: Value = serde_json::from_str(&player.ledger[player.ledger.len() - 1]).expect("JSON");
    assert_eq!(last["row"]["status"], "ok");
    assert_eq!(last["row"]["size"], "out hunter3-1999".len());
    assert_eq!(last["row"]["ms"], 0);
}

#[test]
fn clear_forgets_and_other_keys_know_nothing() {
    let mut player = Player::new("");
    for _ in 0..2 {
        player.call("s", "poll", "{}", Some("queued"));
    }
    player.mark("", MarkKind::Clear);
    assert_eq!(player.call("s", "poll", "{}", Some("queued")).action, Action::Allow);
    let row = |key: &str| {
        Session::new("", key)
            .check(&events::called("s", 1, "poll", "{}"))
            .store
            .row
    };
    assert_ne!(row("a"), row("b"));
}
