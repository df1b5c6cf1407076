//! The session: its memory and the three verbs. Everything it holds, the host could load again from its ledger.

mod call;
mod credentials;
mod repetition;
mod report;
mod result;
mod write;

use crate::event::{Event, MarkKind, Message, Occasion, Origin, Role};
use crate::guards::loops::Loops;
use crate::guards::provenance::history::History;
use crate::rows::{Row, VERSION};
use crate::settings::{Mode, Settings};
use crate::verdict::{Action, FINDINGS_MAX, Finding, GuardName, Level, Stored, Verdict};
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::collections::BTreeSet;

/// Bytes of text in one event: beyond that the finding `engine.too-long` stands instead of an answer.
pub const TEXT_BYTES_MAX: usize = 16 << 20;

/// Rows with findings that `report` can be asked about; the oldest are forgotten first.
const FOUND_ROWS_MAX: usize = 10_000;

/// One session's memory.
pub struct Session {
    settings: Settings,
    /// Subkey for fingerprints of claims that passed; never leaves.
    passed_key: Vec<u8>,
    /// Subkey for the digests in redaction markers; never leaves.
    marker_key: Vec<u8>,
    history: History,
    /// Ids of the entries that are remembered: one that is loaded again counts once.
    known: BTreeSet<String>,
    passed: BTreeSet<String>,
    /// Subkey for fingerprints of calls and results.
    calls_key: Vec<u8>,
    loops: Loops,
    found: Vec<(Row, String)>,
}

impl Session {
    /// A session with these settings and this key; a wrong settings document gives the defaults.
    pub fn new(settings: &str, key: &str) -> Self {
        Self {
            settings: Settings::read(settings),
            passed_key: keyed(key.as_bytes(), b"sayso passed claims 1"),
            marker_key: keyed(key.as_bytes(), b"sayso redaction markers 1"),
            history: History::default(),
            known: BTreeSet::new(),
            passed: BTreeSet::new(),
            calls_key: keyed(key.as_bytes(), b"sayso calls 1"),
            loops: Loops::default(),
            found: Vec::new(),
        }
    }

    /// Adds stored entries, one JSON object a line. Says how many were loaded and which lines were wrong.
    pub fn load(&mut self, entries: &str) -> String {
        let mut loaded = 0;
        let mut wrong = Vec::new();
        for (i, line) in entries.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            let why = match serde_json::from_str::<Value>(line) {
                Ok(entry) if entry["row"].is_object() => {
                    let row = Row::read(&entry["row"]);
                    if row.v == VERSION {
                        self.remember(row, entry["body"].as_str().unwrap_or_default().to_owned());
                        loaded += 1;
                        continue;
                    }
                    format!("a row of version {}", row.v)
                }
                Ok(_) => "not an entry: it has no row".to_owned(),
                Err(why) => format!("not an entry: {why}"),
            };
            wrong.push(json!({"line": i + 1, "why": why}));
        }
        json!({"loaded": loaded, "wrong": wrong}).to_string()
    }

    fn remember(&mut self, row: Row, body: String) {
        // Calls are many, and known by the loops guard.
        if row.fingerprints.is_empty() && !self.known.insert(row.id.clone()) {
            return;
        }
        self.recall(&row);
        if let Some(message) = row.as_message(&body)
            && row.action != Action::Refuse.name()
        {
            self.history.add(&row.id, message);
        }
        self.passed.extend(row.passed.iter().cloned());
        self.keep(row, body);
    }

    /// Keeps a row with findings for `report`.
    fn keep(&mut self, row: Row, body: String) {
        if !row.findings.is_empty() {
            if self.found.len() == FOUND_ROWS_MAX {
                self.found.remove(0);
            }
            self.found.push((row, body));
        }
    }

    /// A point in a session's life: it may start counts again, or make everything forgotten.
    fn pass(&mut self, session: &str, mark: MarkKind) {
        match mark {
            MarkKind::Reset | MarkKind::Compaction | MarkKind::End => self.loops.reset(session),
            MarkKind::Clear => {
                self.loops.reset("");
                self.history = History::default();
                self.passed.clear();
                self.found.clear();
            }
            MarkKind::Start | MarkKind::Outside => {}
        }
    }

    /// What a new message does to the counts of its session.
    fn spoken(&mut self, session: &str, role: &str, origin: &str) {
        let human = role == Role::User.name() && origin == Origin::Human.name();
        if human && self.settings.message_resets() {
            self.loops.reset(session);
        }
    }

    /// Remembers something that needs no decision, and says what to store of it.
    pub fn capture(&mut self, event: &Event) -> Stored {
        if event.what.len() > TEXT_BYTES_MAX {
            return Stored::default();
        }
        match &event.what {
            Occasion::Prompt(message) | Occasion::Message(message) => self.hear(event, message),
            Occasion::Mark(mark) => {
                self.known.insert(event.id.clone());
                self.pass(&event.session, mark.kind);
                Stored {
                    kind: "mark",
                    row: Row::of(event).mark(mark).json(),
                    body: String::new(),
                }
            }
            Occasion::Result(outcome) => self.check_result(event, outcome).store,
            // The text of tools is remembered by whoever passes it on as a message; nothing else is stored of these yet.
            _ => Stored::default(),
        }
    }

    /// Keeps a message, without credentials. The text of tools is kept for the session only, never stored.
    fn hear(&mut self, event: &Event, message: &Message) -> Stored {
        let row = Row::of(event).message(message);
        self.known.insert(event.id.clone());
        let text = self.clean(&message.text).text;
        let heard = Message {
            text: text.clone(),
            ..message.clone()
        };
        self.history.add(&event.id, heard);
        self.spoken(&event.session, &row.role, &row.origin);
        let body = if message.role == Role::Tool {
            String::new()
        } else {
            text
        };
        Stored {
            kind: event.what.kind(),
            row: row.json(),
            body,
        }
    }

    /// Judges something that is about to happen.
    pub fn check(&mut self, event: &Event) -> Verdict {
        if event.what.len() > TEXT_BYTES_MAX {
            return too_long(event);
        }
        match &event.what {
            Occasion::Write(write) => self.check_write(event, write),
            Occasion::Call(call) => self.check_call(event, call),
            Occasion::Prompt(message) => self.check_prompt(event, message),
            Occasion::Request(text) => self.check_request(event, text),
            Occasion::Result(outcome) => self.check_result(event, outcome),
            _ => Verdict {
                store: self.capture(event),
                ..Verdict::allow()
            },
        }
    }
}

/// HMAC-SHA-256; a subkey, or a fingerprint.
#[inline(never)]
pub(crate) fn keyed(key: &[u8], text: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

/// What a mode makes of a finding.
const fn act(mode: Mode) -> Action {
    match mode {
        Mode::Off | Mode::Observe => Action::Allow,
        Mode::Ask => Action::Ask,
        Mode::Enforce => Action::Refuse,
    }
}

/// One finding, and what the mode of its guard makes of it.
struct Found {
    finding: Finding,
    action: Action,
}

/// The verdict on an event whose findings come from several guards: worst first, the strictest action wins.
#[inline(never)]
fn verdict_of(event: &Event, mut row: Row, found: Vec<Found>) -> Verdict {
    let mut left: Vec<Option<Found>> = found.into_iter().map(Some).collect();
    let mut found = Vec::with_capacity(left.len());
    // There are few ranks: a pass for each needs less code than sorting.
    for action in Action::ALL.iter().rev() {
        for level in Level::ALL.iter().rev() {
            let ranked = |f: &Found| f.action == *action && f.finding.level == *level;
            for one in &mut left {
                if one.as_ref().is_some_and(ranked) {
                    found.extend(one.take());
                }
            }
        }
    }
    let mut verdict = Verdict::allow();
    verdict.more = found.len().saturating_sub(FINDINGS_MAX);
    verdict.action = found.first().map_or(Action::Allow, |f| f.action);
    let refused = found.iter().filter(|f| f.action != Action::Allow);
    let sentences: Vec<String> = refused
        .take(FINDINGS_MAX)
        .map(|f| format!("{} {}", f.finding.reason, f.finding.suggestion))
        .collect();
    verdict.message = sentences.join("\n").trim_end().to_owned();
    verdict.findings = found.into_iter().take(FINDINGS_MAX).map(|f| f.finding).collect();
    row = row.verdict(&verdict, &[]);
    verdict.store = Stored {
        kind: event.what.kind(),
        row: row.json(),
        body: String::new(),
    };
    verdict
}

fn too_long(event: &Event) -> Verdict {
    let finding = Finding {
        guard: GuardName::Engine,
        rule: "engine.too-long",
        level: Level::Error,
        span: (0, 0),
        path: String::new(),
        reason: format!(
            "The text is longer than {} MiB and was not judged.",
            TEXT_BYTES_MAX >> 20
        ),
        evidence: Vec::new(),
        suggestion: "Write less at a time.".to_owned(),
        facts: "{}".to_owned(),
    };
    let mut verdict = Verdict {
        findings: vec![finding],
        ..Verdict::allow()
    };
    verdict.store = Stored {
        kind: event.what.kind(),
        row: Row::of(event).verdict(&verdict, &[]).json(),
        body: String::new(),
    };
    verdict
}
