//! Tool calls about to run.

use super::{Found, Session, verdict_of};
use crate::event::{Call, Event};
use crate::rows::Row;
use crate::verdict::Verdict;

impl Session {
    /// Judges a tool call before it runs: each guard that looks at calls adds what it found.
    pub(super) fn check_call(&mut self, event: &Event, call: &Call) -> Verdict {
        let mut found: Vec<Found> = Vec::new();
        self.check_repetition(call, &mut found);
        if found.is_empty() {
            return Verdict {
                store: self.capture(event),
                ..Verdict::allow()
            };
        }
        verdict_of(event, Row::of(event).call(call), found)
    }
}
