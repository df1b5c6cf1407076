//! What goes out: the same words as `wit/types.wit`, without WIT.

use crate::event::named;

/// Findings returned for one event; beyond that only their number is given. Keeps an answer small however long the text.
pub const FINDINGS_MAX: usize = 64;

named!(
    /// What the host should do.
    Action { Allow = "allow", Ask = "ask", Refuse = "refuse", Rewrite = "rewrite" }
);
named!(
    /// The guard that speaks.
    GuardName {
        Engine = "engine", Provenance = "provenance", Repetition = "repetition", Loops = "loops",
        Credentials = "credentials", Tamper = "tamper", Bounds = "bounds", Lineage = "lineage",
    }
);
named!(
    /// How bad a finding is: `info` passes, `warning` is worth a look, `error` fails.
    Level { Info = "info", Warning = "warning", Error = "error" }
);

/// A stored entry, or a part of one, that speaks for or against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The id of the event that made the entry.
    pub entry: String,
    /// Half-open bytes into that entry's body.
    pub span: (usize, usize),
    /// What it shows.
    pub note: String,
}

/// One thing a guard found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The guard.
    pub guard: GuardName,
    /// `guard.thing`.
    pub rule: &'static str,
    /// How bad it is.
    pub level: Level,
    /// Half-open bytes into the text that was judged.
    pub span: (usize, usize),
    /// JSON path of the argument, or "".
    pub path: String,
    /// One sentence a person can act on.
    pub reason: String,
    /// What speaks for or against.
    pub evidence: Vec<Evidence>,
    /// What would pass, or "".
    pub suggestion: String,
    /// More about it, a JSON object.
    pub facts: String,
}

/// What the host stores for one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stored {
    /// The event's kind, or "" for nothing to store.
    pub kind: &'static str,
    /// JSON without any text.
    pub row: String,
    /// The text that later checks need, or "".
    pub body: String,
}

/// The answer to a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What to do.
    pub action: Action,
    /// For the agent.
    pub message: String,
    /// The text to use instead, for `rewrite`.
    pub text: String,
    /// At most [`FINDINGS_MAX`], worst first.
    pub findings: Vec<Finding>,
    /// How many there are beyond those.
    pub more: usize,
    /// What to store.
    pub store: Stored,
}

impl Verdict {
    /// Nothing found, nothing to store.
    pub fn allow() -> Self {
        Self {
            action: Action::Allow,
            message: String::new(),
            text: String::new(),
            findings: Vec::new(),
            more: 0,
            store: Stored::default(),
        }
    }
}
