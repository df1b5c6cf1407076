//! Judges every labelled claim and verdict of the corpus natively, and writes the answers down: one JSON object a line in
//! `answers-native.jsonl` of the target folder. `tests/python/test_corpus.py` gives the same rows to the shipped component and
//! compares, byte for byte. How good the answers are is not asked here but by `sayso eval`.

mod cases;
mod events;

use cases::Case;
use sayso_engine::check::Session;
use sayso_engine::event::{Role, Surface};
use sayso_engine::verdict::{Stored, Verdict};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

#[test]
fn answers_are_written_down() {
    let all = cases::read(&["claims", "verdicts"]);
    let lines: Vec<String> = all.iter().map(|case| answer(case).to_string() + "\n").collect();
    assert!(!lines.is_empty(), "no row was judged");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .expect("the target folder");
    // Renamed when complete, so that nobody compares half a file.
    let unfinished = folder.join("answers-native.jsonl.new");
    fs::write(&unfinished, lines.concat()).expect("the answers are written");
    fs::rename(&unfinished, folder.join("answers-native.jsonl")).expect("the answers are in place");
    println!("{} rows were judged", lines.len());
}

/// What the engine says of one row in a session of its own, and all that it wants stored.
fn answer(case: &Case) -> Value {
    let mut session = Session::new("", "key");
    let row = &case.row;
    // A row of `verdicts*.jsonl` has messages and a write, one of `claims*.jsonl` is the write.
    let messages = row["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let write = row.get("write").unwrap_or(row);
    let mut kept = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let role = Role::parse(message["role"].as_str().expect("a role")).expect("a known role");
        let text = message["text"].as_str().expect("a text").to_owned();
        kept.push(stored(&session.capture(&events::said(
            number,
            role,
            events::usual(role),
            text,
        ))));
    }
    let surface = Surface::parse(write["surface"].as_str().expect("a surface")).expect("a known surface");
    let text = write["text"].as_str().expect("a text").to_owned();
    let verdict = session.check(&events::written(messages.len(), case.id(), surface, text));
    json!({"file": case.file, "id": case.id(), "kept": kept, "verdict": shown(&verdict)})
}

fn stored(stored: &Stored) -> Value {
    json!({"kind": stored.kind, "row": stored.row, "body": stored.body})
}

fn shown(verdict: &Verdict) -> Value {
    let findings: Vec<Value> = verdict
        .findings
        .iter()
        .map(|f| {
            let evidence: Vec<Value> = f
                .evidence
                .iter()
                .map(|e| json!({"entry": e.entry, "start": e.span.0, "end": e.span.1, "note": e.note}))
                .collect();
            json!({"guard": f.guard.name(), "rule": f.rule, "level": f.level.name(), "start": f.span.0,
                "end": f.span.1, "path": f.path, "reason": f.reason, "evidence": evidence,
                "suggestion": f.suggestion, "facts": f.facts})
        })
        .collect();
    json!({"action": verdict.action.name(), "message": verdict.message, "text": verdict.text,
        "findings": findings, "more": verdict.more, "store": stored(&verdict.store)})
}
