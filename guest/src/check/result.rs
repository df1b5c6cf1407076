//! What a tool call gave back, before the agent reads it.

use super::call::hex;
use super::{Found, Session, act, verdict_of};
use crate::event::{Event, Outcome, Status};
use crate::guards::loops::steady::steady;
use crate::guards::{bounds, loops, told};
use crate::rows::Row;
use crate::settings::Mode;
use crate::verdict::{Action, Finding, GuardName, Level, Verdict};
use serde_json::json;

impl Session {
    /// Judges a result, remembers a fingerprint of it, and gives the text to use instead where a guard says so. Every result is
    /// stored, without its text.
    ///
    /// The order is fixed: credentials are taken out first, so that no cut leaves half of one; then the result is compared; then it
    /// is shortened.
    pub(super) fn check_result(&mut self, event: &Event, outcome: &Outcome) -> Verdict {
        let mut row = Row::of(event).outcome(outcome);
        if matches!(outcome.status, Status::Blocked | Status::Cancelled) {
            return verdict_of(event, row, Vec::new());
        }
        let mut found: Vec<Found> = Vec::new();
        let clean = self.redact_result(&outcome.text, &mut found);
        let text = clean.as_ref().unwrap_or(&outcome.text);
        let value = crate::text::canonical::canonical(&outcome.call.arguments);
        let args = self.print(&[&outcome.call.tool, &value]);
        let result = self.print(&[outcome.status.name(), &steady(text)]);
        let id = loops::id_print(&outcome.call.call_id, |parts| self.print(parts));
        let began = self.loops.end(&event.session, id, args, result);
        row.ms = began.map(|at| event.at.saturating_sub(at));
        row.fingerprints = vec![hex(args), hex(result)];
        let short = self.shorten_result(event, &outcome.call.tool, text, &mut found);
        let mut verdict = verdict_of(event, row.clone(), found);
        if short.is_some() {
            // For the host, which keeps the whole while the session lasts.
            verdict.store.body.clone_from(text);
        }
        if let Some(text) = short.or(clean) {
            verdict.action = Action::Rewrite;
            verdict.text = text;
            row = row.verdict(&verdict, &[]);
            verdict.store.row = row.json();
            self.keep(row, String::new());
        }
        verdict
    }

    /// The text to use instead of a result that is too long.
    fn shorten_result(&self, event: &Event, tool: &str, text: &str, found: &mut Vec<Found>) -> Option<String> {
        let mode = self.settings.mode(GuardName::Bounds);
        if mode == Mode::Off {
            return None;
        }
        let short = bounds::shorten(text, self.settings.limits(tool)?, &event.id)?;
        let (characters, kept) = (text.chars().count(), short.chars().count());
        let enforced = act(mode) != Action::Allow;
        let told = told::rule("bounds.long");
        let finding = Finding {
            guard: GuardName::Bounds,
            rule: "bounds.long",
            level: Level::Info,
            span: (0, text.len()),
            path: String::new(),
            reason: told.reason.to_owned(),
            evidence: Vec::new(),
            suggestion: told.pass.to_owned(),
            facts: json!({"characters": characters, "kept": kept}).to_string(),
        };
        let action = if enforced { Action::Rewrite } else { Action::Allow };
        found.push(Found { finding, action });
        enforced.then_some(short)
    }
}
