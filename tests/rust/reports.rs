//! Faults that people reported of tools with the same job, each rebuilt as a small input with the right outcome.
//!
//! Every case is run. Those that are hard, at the edge, or open to judgement are counted apart and named when they do not hold.

mod cases;
mod events;
mod generate;

use cases::Case;
use sayso_engine::check::Session;
use sayso_engine::event::{Origin, Role, Surface};
use serde_json::Value;

/// One claim that the engine found.
struct Found {
    verdict: &'static str,
    span: (usize, usize),
}

#[test]
fn provenance_cases_hold() {
    let all: Vec<Case> = cases::read(&["reports"])
        .into_iter()
        .filter(|c| c.row["job"] == "P")
        .collect();
    let (mut firm, mut broken) = (0, Vec::new());
    let (mut apart, mut held) = (Vec::new(), 0);
    for case in &all {
        let complaints = run(case);
        if let Some(word) = counted_apart(case) {
            held += usize::from(complaints.is_empty());
            apart.push(format!("{} ({word}): {}", case.id(), shown(&complaints)));
        } else {
            firm += 1;
            broken.extend(
                complaints
                    .iter()
                    .map(|c| format!("{} {}: {c}\n    {}", case.file, case.id(), case.row["why"])),
            );
        }
    }
    println!(
        "{firm} cases of reports ran; {held} of {} counted apart hold",
        apart.len()
    );
    apart.iter().for_each(|line| println!("  {line}"));
    assert!(firm > 0, "no case ran");
    assert!(broken.is_empty(), "\n{}\n", broken.join("\n"));
}

#[test]
fn every_text_of_a_case_can_be_made() {
    let all = cases::read(&["reports"]);
    let (mut made, mut wrong) = (0, Vec::new());
    for case in &all {
        make_all(&case.row["input"], &mut |text| match text {
            Ok(_) => made += 1,
            Err(why) => wrong.push(format!("{} {}: {why}", case.file, case.id())),
        });
    }
    println!("{made} texts of {} cases were made", all.len());
    assert!(made > 0, "no text was made");
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// Expands every generated text in a value.
fn make_all(value: &Value, each: &mut impl FnMut(Result<String, String>)) {
    match value {
        Value::Object(map) if map.contains_key("generate") || map.contains_key("concat") => each(generate::text(value)),
        Value::Object(map) => map.values().for_each(|inner| make_all(inner, each)),
        Value::Array(list) => list.iter().for_each(|inner| make_all(inner, each)),
        _ => {}
    }
}

fn shown(complaints: &[String]) -> String {
    if complaints.is_empty() {
        "holds".to_owned()
    } else {
        complaints.join("; ")
    }
}

/// Why a case does not decide the test, if it does not.
fn counted_apart(case: &Case) -> Option<&str> {
    let judgement = expected(case).any(|claim| claim["verdict"] == "judgement");
    let wish = case.row["wish"] == true;
    judgement
        .then_some("judgement")
        .or(wish.then_some("wish"))
        .or(case.row["difficulty"].as_str())
}

fn expected(case: &Case) -> impl Iterator<Item = &Value> {
    case.row["expect"]["claims"].as_array().expect("claims").iter()
}

/// What differs from the outcome that the case expects.
fn run(case: &Case) -> Vec<String> {
    let input = &case.row["input"];
    let mut session = Session::new("", "key");
    let messages = input["messages"].as_array().expect("messages");
    for (number, message) in messages.iter().enumerate() {
        let role = Role::parse(message["role"].as_str().expect("a role")).expect("a known role");
        let text = generate::text(&message["text"]).expect("a text");
        session.capture(&events::said(
            number,
            role,
            origin(role, message["origin"].as_str()),
            text,
        ));
    }
    let surface = if input["write"]["tool"] == "skill_manage" {
        Surface::Skill
    } else {
        Surface::Memory
    };
    let note = note(input);
    let verdict = session.check(&events::written(messages.len(), case.id(), surface, note.clone()));
    let mut found: Vec<Found> = verdict
        .findings
        .iter()
        .map(|f| Found {
            verdict: f.rule,
            span: f.span,
        })
        .collect();
    let mut complaints = Vec::new();
    for claim in expected(case) {
        let words = claim["text"].as_str().expect("the claim's words");
        let start = note.find(words).expect("the claim stands in the note");
        let span = (start, start + words.len());
        let overlap = |f: &Found| f.span.1.min(span.1).saturating_sub(f.span.0.max(span.0));
        let best = (0..found.len())
            .filter(|&i| overlap(&found[i]) > 0)
            .max_by_key(|&i| overlap(&found[i]));
        match best.map(|i| found.remove(i)) {
            None => complaints.push(format!("no claim was found in {words:?}")),
            Some(one) => complaints.extend(differs(claim, one.verdict)),
        }
    }
    let others = found
        .iter()
        .map(|f| format!("no claim: {:?} ({})", &note[f.span.0..f.span.1], f.verdict));
    complaints.extend(others);
    complaints
}

/// The note: the write, then each offered quote as a block quote.
fn note(input: &Value) -> String {
    let mut out = generate::text(&input["write"]["text"]).expect("a text");
    for quote in input["quotes"].as_array().into_iter().flatten() {
        for line in generate::text(quote).expect("a text").lines() {
            out += "\n> ";
            out += line;
        }
    }
    out
}

/// The contract's origin for the word of a case.
fn origin(role: Role, word: Option<&str>) -> Origin {
    match word {
        None => events::usual(role),
        Some("review_prompt") => Origin::Review,
        Some("memory_injection") => Origin::Injected,
        Some("task_notification" | "smart_approval") => Origin::Harness,
        Some(word) => Origin::parse(word).unwrap_or_else(|| panic!("no origin is called {word:?}")),
    }
}

/// How a claim's verdict differs from the expected one.
fn differs(claim: &Value, got: &str) -> Option<String> {
    let got = got.strip_prefix("provenance.").unwrap_or(got);
    let allowed: &[&str] = match (claim["verdict"].as_str(), claim["reason"].as_str()) {
        (Some("judgement"), _) => return None,
        (Some("supported"), _) => &["supported", "assented"],
        (_, Some("no_quote" | "empty_quote")) => &["no-quote"],
        (_, Some("not_in_user_messages" | "not_verbatim" | "stitched" | "quote_too_short")) => &["not-found"],
        (_, Some("wrong_origin")) => &["wrong-speaker"],
        (_, Some("no_shared_keywords")) => &["unrelated"],
        (_, Some("negation_dropped")) => &["negation-dropped"],
        (_, Some("question_not_decision" | "other_subject")) => &["not-a-commitment"],
        (_, Some("superseded")) => &["retracted"],
        (_, Some("assented")) => &["assented"],
        (verdict, reason) => panic!("unknown outcome {verdict:?} {reason:?}"),
    };
    (!allowed.contains(&got)).then(|| format!("{:?} is {got}, not {}", claim["text"].as_str(), allowed[0]))
}
