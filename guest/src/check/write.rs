//! Notes about to be stored: the provenance guard.

use super::{Found, Session, act, keyed, verdict_of};
use crate::event::{Event, Write};
use crate::guards::provenance::answer::{message, reason, sentence, suggestion};
use crate::guards::provenance::claims::Kind;
use crate::guards::provenance::judge::Word;
use crate::guards::provenance::{self, Checked, Outcome};
use crate::rows::Row;
use crate::settings::Mode;
use crate::verdict::{Action, Evidence, FINDINGS_MAX, Finding, GuardName, Level, Stored, Verdict};
use serde_json::json;

impl Session {
    /// Judges a note, and remembers which of its claims passed.
    pub(super) fn check_write(&mut self, event: &Event, write: &Write) -> Verdict {
        let row = Row::of(event).write(write.surface, &write.reference);
        let clean = self.clean(&write.after);
        let found = self.look_at_write(&write.before, &write.after, &clean);
        if self.settings.mode(GuardName::Provenance) == Mode::Off {
            return verdict_of(event, row, found);
        }
        // Messages are kept without credentials: a note is compared as it would be kept.
        let write = &Write {
            before: self.clean(&write.before).text,
            after: clean.text.clone(),
            ..write.clone()
        };
        let outcome = provenance::check(write, &self.history, &self.settings, |identity| {
            self.passed.contains(&self.fingerprint(identity))
        });
        let mut verdict = self.answer(write, &outcome);
        let (body, mut spans) = bodies(&write.after, &verdict.findings);
        for finding in &mut verdict.findings {
            finding.span = clean.original(finding.span);
        }
        joined(&mut verdict, &mut spans, found);
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
}

/// Puts what other guards found before the claims; their words are not kept.
fn joined(verdict: &mut Verdict, spans: &mut Vec<(usize, usize)>, found: Vec<Found>) {
    let action = found.iter().map(|f| f.action).max().unwrap_or(Action::Allow);
    let refused = found.iter().filter(|f| f.action != Action::Allow);
    let mut sentences: Vec<String> = refused
        .map(|f| format!("{} {}", f.finding.reason, f.finding.suggestion))
        .collect();
    sentences.dedup();
    if !verdict.message.is_empty() {
        sentences.push(std::mem::take(&mut verdict.message));
    }
    verdict.message = sentences.join("\n");
    verdict.action = verdict.action.max(action);
    spans.splice(0..0, found.iter().map(|_| (0, 0)));
    verdict.findings.splice(0..0, found.into_iter().map(|f| f.finding));
    verdict.more += verdict.findings.len().saturating_sub(FINDINGS_MAX);
    verdict.findings.truncate(FINDINGS_MAX);
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
