//! Work: how much may be done for one answer.
//!
//! A host gives a call two seconds. What a text may ask for within them is counted, so that an answer does not depend on the
//! machine, and so that a text that asks for more gets a finding instead of a deadline.

use std::cell::Cell;

/// Steps of one answer. A step is about what looking at ten bytes costs; a quiet machine of 2024 does all of these in about a second
/// (9 of 18 hostile texts spend them all; the costliest steps of them take 150 instructions of the sandbox each).
pub const STEPS_MAX: u64 = 60_000_000;

/// The steps that are left for an answer.
#[derive(Debug)]
pub struct Work {
    left: Cell<u64>,
}

impl Default for Work {
    fn default() -> Self {
        Self {
            left: Cell::new(STEPS_MAX),
        }
    }
}

impl Work {
    /// Takes some steps; whether there were so many.
    pub fn take(&self, steps: usize) -> bool {
        let left = self.left.get().checked_sub(steps as u64);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    /// Whether none are left.
    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }
}
