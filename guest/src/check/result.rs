//! What a tool call gave back, before the agent reads it.

use super::call::hex;
use super::{Found, Session, verdict_of};
use crate::event::{Event, Outcome, Status};
use crate::guards::loops;
use crate::guards::loops::steady::steady;
use crate::rows::Row;
use crate::verdict::{Action, Verdict};

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
        let value = crate::text::canonical::canonical(&outcome.call.arguments);
        let args = self.print(&[&outcome.call.tool, &value]);
        let result = self.print(&[outcome.status.name(), &steady(&outcome.text)]);
        let id = loops::id_print(&outcome.call.call_id, |parts| self.print(parts));
        let began = self.loops.end(&event.session, id, args, result);
        row.ms = began.map(|at| event.at.saturating_sub(at));
        row.fingerprints = vec![hex(args), hex(result)];
        let mut found: Vec<Found> = Vec::new();
        let clean = self.redact_result(&outcome.text, &mut found);
        let mut verdict = verdict_of(event, row.clone(), found);
        if let Some(text) = clean {
            verdict.action = Action::Rewrite;
            verdict.text = text;
            row = row.verdict(&verdict, &[]);
            verdict.store.row = row.json();
        }
        if !row.findings.is_empty() {
            self.keep(row, String::new());
        }
        verdict
    }
}
