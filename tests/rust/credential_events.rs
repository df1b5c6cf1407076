//! What the session does with credentials in each kind of event, under each mode.

use sayso_engine::check::Session;
use sayso_engine::event::{Call, Event, Message, Occasion, Origin, Outcome, Role, Status, Surface, Write};
use sayso_engine::verdict::{Action, Verdict};

/// A token that no file holds as a whole.
fn token() -> String {
    ["gh", "p_", "fOXlCYRpmu36qqNus38N670WuxkLeFw8NHO1"].concat()
}

fn event(id: &str, what: Occasion) -> Event {
    Event {
        id: id.to_owned(),
        session: "s".to_owned(),
        at: 1,
        what,
    }
}

fn said(text: &str) -> Message {
    Message {
        role: Role::User,
        origin: Origin::Human,
        author: String::new(),
        text: text.to_owned(),
    }
}

fn note(after: &str) -> Occasion {
    Occasion::Write(Write {
        surface: Surface::Memory,
        reference: "MEMORY.md".to_owned(),
        before: String::new(),
        after: after.to_owned(),
    })
}

fn called(tool: &str, arguments: &str) -> Call {
    Call {
        call_id: "c".to_owned(),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
    }
}

fn check(settings: &str, what: Occasion) -> Verdict {
    Session::new(settings, "key").check(&event("e", what))
}

/// No part of an answer holds the token.
fn tells_nothing(verdict: &Verdict) {
    assert!(!format!("{verdict:?}").contains(&token()[4..12]), "{verdict:?}");
}

#[test]
fn a_live_key_in_a_message_is_refused_and_not_stored() {
    let verdict = check("", Occasion::Prompt(said(&format!("use {} now", token()))));
    tells_nothing(&verdict);
    assert_eq!(verdict.action, Action::Refuse);
    assert_eq!(verdict.findings[0].rule, "credentials.github-token");
    assert!(verdict.store.body.starts_with("use [redacted:github-token:"));
    let shown = format!("why does this fail?\n```\ncurl -H 'X: {}'\n```\n", token());
    let verdict = check("", Occasion::Prompt(said(&shown)));
    tells_nothing(&verdict);
    assert_eq!((verdict.action, verdict.findings.len()), (Action::Allow, 0));
    let observed = check(r#"{"profile":"observe"}"#, Occasion::Prompt(said(&token())));
    assert_eq!((observed.action, observed.findings.len()), (Action::Allow, 1));
}

#[test]
fn a_quote_of_a_redacted_message_still_matches() {
    let mut session = Session::new(r#"{"modes":{"credentials":"observe","provenance":"enforce"}}"#, "key");
    let words = format!("use the token {} for staging", token());
    let stored = session.check(&event("m", Occasion::Message(said(&words)))).store;
    let write = format!("User decided to use the token for staging (\"{words}\").");
    let verdict = session.check(&event("w", note(&write)));
    let claim = verdict.findings.iter().find(|f| f.rule.starts_with("provenance."));
    let claim = claim.expect("a claim");
    assert_eq!(claim.rule, "provenance.supported", "{verdict:?}");
    // Evidence points into the stored body, the span into the text that was judged.
    let evidence = &claim.evidence[0];
    assert!(stored.body[evidence.span.0..evidence.span.1].contains("[redacted:github-token:"));
    assert!(write[claim.span.0..claim.span.1].starts_with("User decided"));
}

#[test]
fn keys_and_markers_in_notes_are_refused() {
    let verdict = check("", note(&format!("The token is {}.", token())));
    tells_nothing(&verdict);
    assert_eq!(verdict.action, Action::Refuse);
    let verdict = check("", note("token: [redacted:github-token:3f9a]"));
    assert_eq!(verdict.action, Action::Refuse);
    assert_eq!(verdict.findings[0].rule, "credentials.marker-written");
}

#[test]
fn keys_in_arguments_are_observed_and_asked_about_when_strict() {
    let arguments = format!("{{\"command\":\"deploy --token {}\"}}", token());
    let call = || Occasion::Call(called("terminal", &arguments));
    let verdict = check("", call());
    tells_nothing(&verdict);
    assert_eq!(verdict.action, Action::Allow);
    assert_eq!(
        (verdict.findings[0].path.as_str(), verdict.findings.len()),
        ("$.command", 1)
    );
    assert_eq!(check(r#"{"profile":"strict"}"#, call()).action, Action::Ask);
    let marked = r#"{"path":".env","content":"TOKEN=[redacted:github-token:3f9a]\n"}"#;
    let verdict = check("", Occasion::Call(called("write_file", marked)));
    assert_eq!(verdict.action, Action::Refuse);
    assert_eq!(verdict.findings[0].rule, "credentials.marker-written");
}

#[test]
fn results_and_requests_go_on_without_keys() {
    let outcome = Occasion::Result(Outcome {
        call: called("terminal", "{}"),
        status: Status::Ok,
        text: format!("{{\"output\": \"a\\n{}\\n\"}}", token()),
    });
    let verdict = check(r#"{"modes":{"bounds":"off"}}"#, outcome);
    tells_nothing(&verdict);
    assert_eq!(verdict.action, Action::Rewrite);
    assert!(
        verdict.text.starts_with("{\"output\": \"a\\n[redacted:github-token:") && verdict.text.ends_with("]\\n\"}")
    );
    let request = format!(
        "{{\"messages\":[{{\"role\":\"user\",\"content\":\"use {}\"}}]}}",
        token()
    );
    let verdict = check("", Occasion::Request(request.clone()));
    tells_nothing(&verdict);
    assert_eq!(verdict.action, Action::Rewrite);
    assert!(
        verdict
            .text
            .starts_with("{\"messages\":[{\"role\":\"user\",\"content\":\"use [redacted:")
    );
    let observed = check(r#"{"profile":"observe"}"#, Occasion::Request(request.clone()));
    assert_eq!((observed.action, observed.text.as_str()), (Action::Allow, ""));
    let off = check(r#"{"modes":{"credentials":"off"}}"#, Occasion::Request(request));
    assert_eq!(off, Verdict::allow());
}

#[test]
fn no_cut_leaves_half_of_a_key() {
    let token = token();
    let filler: String = (0..700).map(|i| format!("row {i:03}\n")).collect();
    for lines in [true, false] {
        let plain = if lines {
            filler.clone()
        } else {
            filler.replace('\n', " ")
        };
        let mut session = Session::new(r#"{"profile":"strict"}"#, "key");
        let mut cut = 0;
        for at in (0..plain.len()).step_by(61) {
            let text = format!(
                "{}{} {token} {}",
                &plain[..at],
                if lines { "\n" } else { "" },
                &plain[at..]
            );
            let outcome = Outcome {
                call: called("terminal", "{}"),
                status: Status::Ok,
                text,
            };
            let verdict = session.check(&event(&format!("r{at}"), Occasion::Result(outcome)));
            assert_eq!(verdict.action, Action::Rewrite);
            cut += usize::from(verdict.text.len() < 4_600);
            for from in 4..token.len() - 5 {
                assert!(!verdict.text.contains(&token[from..from + 5]), "{at}: {}", verdict.text);
                assert!(!verdict.store.body.contains(&token[from..from + 5]), "{at}");
            }
        }
        assert!(cut > 60, "{cut} results were shortened");
    }
}
