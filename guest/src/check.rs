//! The session: its memory and the three verbs. Everything it holds, the host could load again from its ledger.

use crate::event::{Event, Message, Occasion, Role, Write};
use crate::explain::{explain, rules};
use crate::guards::provenance::answer::{message, reason, sentence, suggestion};
use crate::guards::provenance::claims::Kind;
use crate::guards::provenance::history::History;
use crate::guards::provenance::judge::Word;
use crate::guards::provenance::{self, Checked, Outcome};
use crate::lexicon;
use crate::rows::{Row, VERSION};
use crate::settings::{Mode, Settings};
use crate::verdict::{Action, Evidence, FINDINGS_MAX, Finding, GuardName, Level, Stored, Verdict};
use hmac::{Hmac, Mac};
use serde::Deserialize;
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
    history: History,
    /// Ids of the entries that are remembered: one that is loaded again counts once.
    known: BTreeSet<String>,
    passed: BTreeSet<String>,
    found: Vec<(Row, String)>,
}

/// One line of what `load` takes.
#[derive(Deserialize)]
struct Entry {
    row: Row,
    #[serde(default)]
    body: String,
}

impl Session {
    /// A session with these settings and this key; a wrong settings document gives the defaults.
    pub fn new(settings: &str, key: &str) -> Self {
        Self {
            settings: Settings::read(settings),
            passed_key: keyed(key.as_bytes(), b"sayso passed claims 1"),
            history: History::default(),
            known: BTreeSet::new(),
            passed: BTreeSet::new(),
            found: Vec::new(),
        }
    }

    /// Adds stored entries, one JSON object a line. Says how many were loaded and which lines were wrong.
    pub fn load(&mut self, entries: &str) -> String {
        let mut loaded = 0;
        let mut wrong = Vec::new();
        for (i, line) in entries.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            match serde_json::from_str::<Entry>(line) {
                Ok(entry) if entry.row.v == VERSION => {
                    self.remember(entry.row, entry.body);
                    loaded += 1;
                }
                Ok(entry) => wrong.push(json!({"line": i + 1, "why": format!("a row of version {}", entry.row.v)})),
                Err(why) => wrong.push(json!({"line": i + 1, "why": format!("not an entry: {why}")})),
            }
        }
        json!({"loaded": loaded, "wrong": wrong}).to_string()
    }

    fn remember(&mut self, row: Row, body: String) {
        if !self.known.insert(row.id.clone()) {
            return;
        }
        if let Some(message) = row.as_message(&body)
            && row.action != Action::Refuse.name()
        {
            self.history.add(&row.id, message);
        }
        self.passed.extend(row.passed.iter().cloned());
        if !row.findings.is_empty() {
            if self.found.len() == FOUND_ROWS_MAX {
                self.found.remove(0);
            }
            self.found.push((row, body));
        }
    }

    /// Remembers something that needs no decision, and says what to store of it.
    pub fn capture(&mut self, event: &Event) -> Stored {
        if event.what.len() > TEXT_BYTES_MAX {
            return Stored::default();
        }
        match &event.what {
            Occasion::Prompt(message) | Occasion::Message(message) => self.hear(event, message),
            Occasion::Mark(mark) => Stored {
                kind: "mark",
                row: Row::of(event).mark(mark).json(),
                body: String::new(),
            },
            // The text of tools is remembered by whoever passes it on as a message; nothing else is stored of these yet.
            _ => Stored::default(),
        }
    }

    /// Keeps a message. The text of tools is kept for the session only, never stored.
    fn hear(&mut self, event: &Event, message: &Message) -> Stored {
        let row = Row::of(event).message(message);
        self.known.insert(event.id.clone());
        self.history.add(&event.id, message.clone());
        let body = if message.role == Role::Tool {
            String::new()
        } else {
            message.text.clone()
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
            _ => Verdict {
                store: self.capture(event),
                ..Verdict::allow()
            },
        }
    }

    fn check_write(&mut self, event: &Event, write: &Write) -> Verdict {
        let row = Row::of(event).write(write.surface, &write.reference);
        if self.settings.mode(GuardName::Provenance) == Mode::Off {
            return Verdict {
                store: Stored {
                    kind: "write",
                    row: row.json(),
                    body: String::new(),
                },
                ..Verdict::allow()
            };
        }
        let outcome = provenance::check(write, &self.history, &self.settings, |identity| {
            self.passed.contains(&self.fingerprint(identity))
        });
        let mut verdict = self.answer(write, &outcome);
        let (body, spans) = bodies(&write.after, &verdict.findings);
        let mut row = row.verdict(&verdict, &spans);
        if matches!(verdict.action, Action::Allow | Action::Ask) {
            let passed = outcome
                .checked
                .iter()
                .filter(|c| c.judged.word.passes() && !c.identity.is_empty());
            row.passed = passed.map(|c| self.fingerprint(&c.identity)).collect();
        }
        verdict.store = Stored {
            kind: "write",
            row: row.json(),
            body: body.clone(),
        };
        self.remember(row, body);
        verdict
    }

    fn fingerprint(&self, identity: &str) -> String {
        keyed(&self.passed_key, identity.as_bytes())[..16]
            .iter()
            .map(|b| format!("{b:02x}"))
            .collect()
    }

    /// Turns checked claims into findings, worst first, and these into an action by the modes.
    fn answer(&self, write: &Write, outcome: &Outcome) -> Verdict {
        let (checked, more) = (&outcome.checked, outcome.more);
        let mut verdict = Verdict::allow();
        let mut refused = Vec::new();
        let mut order: Vec<&Checked> = checked.iter().collect();
        order.sort_by_key(|c| c.judged.word.passes());
        for one in order {
            let finding = self.finding(one);
            let action = self.action(one);
            if action != Action::Allow {
                refused.push(sentence(write, one));
            }
            verdict.action = verdict.action.max(action);
            verdict.findings.push(finding);
        }
        if more > 0 {
            let mode = self.settings.mode(GuardName::Provenance);
            verdict.action = verdict.action.max(act(mode));
            refused.push(format!(
                "This note makes {more} more claims than are judged at once: write fewer at a time."
            ));
        }
        if let Some(from) = outcome.unread {
            let mode = self.settings.mode(GuardName::Provenance);
            verdict.action = verdict.action.max(act(mode));
            let finding = too_much(from);
            refused.insert(0, format!("{} {}", finding.reason, finding.suggestion));
            verdict.findings.insert(0, finding);
        }
        verdict.more = more + verdict.findings.len().saturating_sub(FINDINGS_MAX);
        verdict.findings.truncate(FINDINGS_MAX);
        if verdict.action != Action::Allow {
            verdict.message = message(&refused);
        }
        verdict
    }

    /// What the modes make of one claim: a claim that passes is allowed, one that can be traced may be.
    fn action(&self, one: &Checked) -> Action {
        let kind: Kind = one.claim.kind;
        let traced =
            one.judged.word == Word::NoQuote && !one.judged.would_pass.is_empty() && self.settings.traceable(kind);
        if one.judged.word.passes() || traced {
            Action::Allow
        } else {
            act(self.settings.claim_mode(kind))
        }
    }

    fn finding(&self, one: &Checked) -> Finding {
        let word = one.judged.word;
        let evidence = one.judged.shown.iter().map(|shown| {
            let said = &self.history.said()[shown.said];
            // Evidence points into the body as it is stored, not into the folded text.
            let span = self.history.original(shown.said, shown.span);
            Evidence {
                entry: said.entry.clone(),
                span,
                note: shown.note.clone(),
            }
        });
        let (lang, construction) = one.claim.construction;
        let quotes: Vec<_> = one.quotes.iter().map(|q| q.span).collect();
        let suggestion = if word.passes() { String::new() } else { suggestion(one) };
        Finding {
            guard: GuardName::Provenance,
            rule: word.rule(),
            level: if word.passes() { Level::Info } else { Level::Error },
            span: one.span(),
            path: String::new(),
            reason: reason(one),
            evidence: evidence.collect(),
            suggestion,
            facts: json!({
                "kind": one.claim.kind.name(),
                "polarity": if one.claim.negative { "-" } else { "+" },
                "construction": format!("{lang}.{construction}"),
                "lang": lang,
                "quotes": quotes,
            })
            .to_string(),
        }
    }

    /// Answers a question about the engine and the loaded rows.
    pub fn report(&self, query: &str) -> String {
        let query: Value = match serde_json::from_str(query) {
            Ok(query) => query,
            Err(why) => return json!({"error": format!("the query is not JSON: {why}")}).to_string(),
        };
        let answer = match query["ask"].as_str() {
            Some("status") => self.status(),
            Some("rules") => json!({"rules": rules()}),
            Some("explain") => explain(query["rule"].as_str().unwrap_or_default()),
            Some("findings") => self.findings(&query),
            _ => json!({"error": "ask must be status, rules, explain or findings"}),
        };
        answer.to_string()
    }

    fn status(&self) -> Value {
        let languages: Vec<&str> = lexicon::languages().collect();
        let modes: serde_json::Map<String, Value> = GuardName::ALL
            .iter()
            .skip(1)
            .map(|&g| (g.name().to_owned(), self.settings.mode(g).name().into()))
            .collect();
        json!({
            "engine": env!("CARGO_PKG_VERSION"),
            "guards": ["provenance"],
            "languages": languages,
            "rules": rules().len(),
            "messages": self.history.said().len(),
            "passed": self.passed.len(),
            "profile": self.settings.profile.name(),
            "modes": modes,
            "problems": self.settings.problems,
        })
    }

    fn findings(&self, query: &Value) -> Value {
        let wanted = |row: &Row| {
            query["session"].as_str().is_none_or(|s| s == row.session)
                && query["since"].as_u64().is_none_or(|t| row.at >= t)
                && query["until"].as_u64().is_none_or(|t| row.at < t)
        };
        let mut out = Vec::new();
        for (row, body) in self.found.iter().filter(|(row, _)| wanted(row)) {
            for finding in row
                .findings
                .iter()
                .filter(|f| query["guard"].as_str().is_none_or(|g| g == f.guard))
            {
                let words = body.get(finding.body.0..finding.body.1).unwrap_or_default();
                out.push(
                    json!({"id": row.id, "session": row.session, "at": row.at, "surface": row.surface,
                    "reference": row.reference, "action": row.action, "text": words, "finding": finding}),
                );
            }
        }
        let limit = query["limit"].as_u64().map_or(out.len(), |n| n as usize);
        let skipped = out.len().saturating_sub(limit);
        json!({"findings": out.split_off(skipped)})
    }
}

/// HMAC-SHA-256; a subkey, or a fingerprint.
fn keyed(key: &[u8], text: &[u8]) -> Vec<u8> {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return Vec::new();
    };
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

const fn act(mode: Mode) -> Action {
    match mode {
        Mode::Off | Mode::Observe => Action::Allow,
        Mode::Ask => Action::Ask,
        Mode::Enforce => Action::Refuse,
    }
}

/// The words of the findings, one a line, and where each stands.
fn bodies(after: &str, findings: &[Finding]) -> (String, Vec<(usize, usize)>) {
    let mut body = String::new();
    let mut spans = Vec::new();
    for finding in findings {
        let start = body.len();
        body.push_str(&after[finding.span.0..finding.span.1]);
        spans.push((start, body.len()));
        body.push('\n');
    }
    (body, spans)
}

/// What is said of a text that takes more work than an answer may.
fn too_much(from: usize) -> Finding {
    Finding {
        guard: GuardName::Engine,
        rule: "engine.too-much",
        level: Level::Error,
        span: (from, from),
        path: String::new(),
        reason: format!("This takes more work than one answer may: from byte {from} on it was not judged."),
        evidence: Vec::new(),
        suggestion: "Write less at a time.".to_owned(),
        facts: "{}".to_owned(),
    }
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
