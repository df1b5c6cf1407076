//! What holds for every text: no panic, spans that can be cut out, the same answer every time and after every restart.
//!
//! Texts are put together from what is hard to read: scripts, marks, quotations, markdown, code, line breaks. The same texts are
//! made in every run.

mod events;
mod hard_texts;

use events::{said, usual, written};
use hard_texts::{Talk, excerpted, note, talk, text};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sayso_engine::check::Session;
use sayso_engine::event::{Event, Occasion, Role, Surface, Write};
use sayso_engine::text::fold::{Folded, fold};
use sayso_engine::text::{quotes, segment, words};
use sayso_engine::verdict::{FINDINGS_MAX, GuardName, Stored, Verdict};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Modes that refuse, so that whatever a refusal leaves out of the memory is left out by both sides.
const STRICT: &str = r#"{"profile":"strict"}"#;

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_260_101),
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    }
}

fn holds(text: &str, span: (usize, usize)) -> bool {
    span.0 <= span.1 && text.get(span.0..span.1).is_some()
}

fn write(id: &str, before: &str, after: &str) -> Event {
    let what = Occasion::Write(Write {
        surface: Surface::Memory,
        reference: "notes".to_owned(),
        before: before.to_owned(),
        after: after.to_owned(),
    });
    Event {
        what,
        ..written(1_000, id, Surface::Memory, String::new())
    }
}

/// A session that heard this talk, and the text of each of its entries.
fn heard(talk: &Talk) -> (Session, BTreeMap<String, String>) {
    let mut session = Session::new(STRICT, "key");
    let mut texts = BTreeMap::new();
    for (number, (role, text)) in talk.iter().enumerate() {
        let event = said(number, *role, usual(*role), text.clone());
        session.capture(&event);
        texts.insert(event.id, text.clone());
    }
    (session, texts)
}

/// What is wrong with the spans of a verdict on `after`.
fn wrong_spans(after: &str, verdict: &Verdict, said: &BTreeMap<String, String>) -> Vec<String> {
    let mut out = Vec::new();
    let row: Value = serde_json::from_str(&verdict.store.row).expect("a row is JSON");
    for (i, finding) in verdict.findings.iter().enumerate() {
        if !holds(after, finding.span) || finding.span.0 == finding.span.1 {
            out.push(format!("{}: {:?} of the write", finding.rule, finding.span));
            continue;
        }
        let body: (usize, usize) = serde_json::from_value(row["findings"][i]["body"].clone()).expect("a span");
        if verdict.store.body.get(body.0..body.1) != after.get(finding.span.0..finding.span.1) {
            out.push(format!("{}: {body:?} of the body", finding.rule));
        }
        for evidence in &finding.evidence {
            if !said.get(&evidence.entry).is_some_and(|text| holds(text, evidence.span)) {
                out.push(format!("{}: {:?} of {}", finding.rule, evidence.span, evidence.entry));
            }
        }
        let facts: Value = serde_json::from_str(&finding.facts).expect("facts are JSON");
        let quotes: Vec<(usize, usize)> = serde_json::from_value(facts["quotes"].clone()).expect("spans");
        let wrong = quotes.into_iter().filter(|&span| !holds(after, span));
        out.extend(wrong.map(|span| format!("{}: quote {span:?}", finding.rule)));
    }
    out
}

/// A stored entry as `load` takes it.
fn entry(stored: &Stored) -> String {
    let row: Value = serde_json::from_str(&stored.row).expect("a row is JSON");
    json!({"row": row, "body": stored.body}).to_string() + "\n"
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn folding_is_idempotent_and_leads_back(text in text()) {
        let folded = Folded::new(&text);
        prop_assert_eq!(&fold(&text), &folded.text);
        prop_assert_eq!(fold(&folded.text), folded.text.clone());
        let mut last = 0;
        for (i, c) in folded.text.char_indices() {
            let span = folded.original(i, i + c.len_utf8());
            prop_assert!(holds(&text, span) && span.0 < span.1 && last <= span.0, "{:?} at {} leads to {:?}", c, i, span);
            last = span.0;
        }
    }

    #[test]
    fn texts_are_cut_at_characters(text in text()) {
        for line in segment::lines(&text) {
            prop_assert!(holds(&text, (line.start, line.end)));
            let line = line.of(&text);
            for quote in quotes::quotes(line) {
                prop_assert!(holds(line, quote.outer) && holds(line, quote.inner), "{:?}", quote);
                prop_assert!(quote.outer.0 < quote.inner.0 && quote.inner.1 < quote.outer.1, "{:?}", quote);
            }
            prop_assert!(segment::code(line).into_iter().all(|span| holds(line, span)));
        }
        let folded = fold(&text);
        let mut last = 0;
        for token in words::tokens(&folded) {
            prop_assert!(holds(&folded, (token.start, token.end)) && token.start < token.end && last <= token.start);
            prop_assert!(folded[last..token.start].chars().all(char::is_whitespace), "left out at {}", last);
            last = token.end;
        }
    }

    #[test]
    fn documents_of_any_form_are_no_trap(text in text()) {
        let mut session = Session::new(&text, &text);
        for answer in [session.load(&text), session.report(&text)] {
            prop_assert!(serde_json::from_str::<Value>(&answer).is_ok_and(|a| a.is_object()), "{}", answer);
        }
        let ask = json!({"ask": "explain", "rule": text}).to_string();
        prop_assert!(serde_json::from_str::<Value>(&session.report(&ask)).is_ok());
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn spans_can_be_cut_out((talk, after) in excerpted()) {
        let (mut session, said) = heard(&talk);
        let verdict = session.check(&write("w", "", &after));
        prop_assert!(verdict.findings.len() <= FINDINGS_MAX);
        let wrong = wrong_spans(&after, &verdict, &said);
        prop_assert!(wrong.is_empty(), "{:?}", wrong);
        let (mut again, _) = heard(&talk);
        prop_assert_eq!(verdict, again.check(&write("w", "", &after)));
    }

    #[test]
    fn what_stood_before_is_not_judged(talk in talk(), after in note()) {
        let (mut session, _) = heard(&talk);
        let verdict = session.check(&write("w", &after, &after));
        prop_assert!(verdict.findings.is_empty(), "{:?}", verdict.findings);
    }

    #[test]
    fn a_restart_changes_no_later_answer((talk, after) in excerpted(), later in note(), cut in 0_usize..8) {
        let steady = Role::ALL.iter().filter(|&&r| r != Role::Tool);
        let talk: Talk = talk.into_iter().filter(|(role, _)| steady.clone().any(|r| r == role)).collect();
        let mut events: Vec<Event> = Vec::new();
        for (number, (role, text)) in talk.iter().enumerate() {
            events.push(said(number, *role, usual(*role), text.clone()));
        }
        let half = events.len() / 2;
        events.insert(half, write("w1", "", &after));
        events.push(write("w2", "", &after));
        events.push(write("w3", &later, &format!("{after}\n{later}")));
        let cut = cut.min(events.len());
        let mut steady = Session::new(STRICT, "key");
        let mut kept = String::new();
        let mut answers = Vec::new();
        for (i, event) in events.iter().enumerate() {
            let answer = judged(&mut steady, event);
            if i < cut { kept += &entry(&answer.store) } else { answers.push(answer) }
        }
        let mut restarted = Session::new(STRICT, "key");
        let loaded: Value = serde_json::from_str(&restarted.load(&kept)).expect("JSON");
        prop_assert_eq!(&loaded["wrong"], &json!([]));
        for (event, answer) in events[cut..].iter().zip(answers) {
            prop_assert_eq!(answer, judged(&mut restarted, event));
        }
        for ask in ["status", "findings"] {
            let ask = json!({"ask": ask}).to_string();
            prop_assert_eq!(steady.report(&ask), restarted.report(&ask));
        }
    }

    #[test]
    fn tool_text_forgotten_by_a_restart_lets_nothing_pass((talk, after) in excerpted()) {
        let mut steady = Session::new(STRICT, "key");
        let mut kept = String::new();
        for (number, (role, text)) in talk.iter().enumerate() {
            kept += &entry(&steady.capture(&said(number, *role, usual(*role), text.clone())));
        }
        let mut restarted = Session::new(STRICT, "key");
        restarted.load(&kept);
        let levels = |verdict: &Verdict| -> Vec<_> { verdict.findings.iter().map(|f| (f.span, f.level)).collect() };
        let (first, second) = (steady.check(&write("w", "", &after)), restarted.check(&write("w", "", &after)));
        prop_assert_eq!(levels(&first), levels(&second));
    }
}

fn judged(session: &mut Session, event: &Event) -> Verdict {
    match event.what {
        Occasion::Write(_) => session.check(event),
        _ => Verdict {
            store: session.capture(event),
            ..Verdict::allow()
        },
    }
}

#[test]
fn no_answer_has_more_than_64_findings() {
    for count in [1_usize, 63, 64, 65, 511, 513, 2_000] {
        let after: String = (0..count)
            .map(|i| format!("- User decided to drop database {i}.\n"))
            .collect();
        let mut session = Session::new(STRICT, "key");
        let verdict = session.check(&write("w", "", &after));
        assert_eq!(verdict.findings.len(), count.min(FINDINGS_MAX));
        assert_eq!(verdict.findings.len() + verdict.more, count);
        assert!(verdict.findings.iter().all(|f| f.guard == GuardName::Provenance));
        assert!(wrong_spans(&after, &verdict, &BTreeMap::new()).is_empty());
    }
}

/// Guards the tests above against texts in which nothing is ever found.
#[test]
fn the_texts_hold_what_is_looked_for() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(config(1));
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for _ in 0..200 {
        let (talk, after) = excerpted().new_tree(&mut runner).expect("a text").current();
        let verdict = heard(&talk).0.check(&write("w", "", &after));
        verdict
            .findings
            .iter()
            .for_each(|f| *seen.entry(f.rule).or_default() += 1 + f.evidence.len());
    }
    println!("{seen:?}");
    for rule in ["no-quote", "not-found", "wrong-speaker", "unrelated", "supported"] {
        let rule = format!("provenance.{rule}");
        assert!(seen.contains_key(rule.as_str()), "{rule} was never found: {seen:?}");
    }
}
