//! The one file that knows WIT: converts between the contract's types and the engine's, and nothing else.
#![allow(unsafe_code, missing_docs, clippy::too_many_lines, reason = "generated glue")]

use crate::{check, event, verdict};
use std::cell::RefCell;

wit_bindgen::generate!({ world: "engine", path: "../wit" });

use exports::sayso::engine::{guard, types};

struct Component;
export!(Component);

impl guard::Guest for Component {
    type Session = Session;
}

struct Session(RefCell<check::Session>);

impl guard::GuestSession for Session {
    fn new(settings: String, key: String) -> Self {
        Self(RefCell::new(check::Session::new(&settings, &key)))
    }

    fn load(&self, entries: String) -> String {
        self.0.borrow_mut().load(&entries)
    }

    fn capture(&self, event: types::Event) -> types::Stored {
        self.0.borrow_mut().capture(&event.into()).into()
    }

    fn check(&self, event: types::Event) -> types::Verdict {
        self.0.borrow_mut().check(&event.into()).into()
    }

    fn report(&self, query: String) -> String {
        self.0.borrow().report(&query)
    }
}

/// Converts between enums with the same variants.
macro_rules! same {
    ($from:path => $to:path { $($variant:ident),+ }) => {
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                match value { $(<$from>::$variant => <$to>::$variant),+ }
            }
        }
    };
}
same!(types::Role => event::Role { User, Assistant, Tool, System });
same!(types::Origin => event::Origin { Human, Model, Tool, Harness, Cron, Subagent, Review, Injected });
same!(types::Surface => event::Surface { Memory, Skill });
same!(types::SourceKind => event::SourceKind { Page, File, Tool, User });
same!(types::Status => event::Status { Ok, Error, Blocked, Cancelled });
same!(types::MarkKind => event::MarkKind { Start, End, Reset, Clear, Compaction, Outside });
same!(verdict::Action => types::Action { Allow, Ask, Refuse, Rewrite });
same!(verdict::Level => types::Level { Info, Warning, Error });
same!(verdict::GuardName => types::GuardName {
    Engine, Provenance, Repetition, Loops, Credentials, Tamper, Bounds, Lineage
});

impl From<types::Message> for event::Message {
    fn from(m: types::Message) -> Self {
        Self {
            role: m.role.into(),
            origin: m.origin.into(),
            author: m.author,
            text: m.text,
        }
    }
}

impl From<types::Occasion> for event::Occasion {
    fn from(what: types::Occasion) -> Self {
        match what {
            types::Occasion::Prompt(m) => Self::Prompt(m.into()),
            types::Occasion::Message(m) => Self::Message(m.into()),
            types::Occasion::Source(s) => Self::Source(event::Source {
                kind: s.kind.into(),
                reference: s.reference,
                text: s.text,
            }),
            types::Occasion::Write(w) => Self::Write(event::Write {
                surface: w.surface.into(),
                reference: w.reference,
                before: w.before,
                after: w.after,
            }),
            types::Occasion::Call(c) => Self::Call(event::Call {
                call_id: c.call_id,
                tool: c.tool,
                arguments: c.arguments,
            }),
            types::Occasion::Result(r) => Self::Result(event::Outcome {
                call: event::Call {
                    call_id: r.call_id,
                    tool: r.tool,
                    arguments: r.arguments,
                },
                status: r.status.into(),
                text: r.text,
            }),
            types::Occasion::Request(text) => Self::Request(text),
            types::Occasion::Mark(m) => Self::Mark(event::Mark {
                kind: m.kind.into(),
                parent: m.parent,
                reference: m.reference,
            }),
        }
    }
}

impl From<types::Event> for event::Event {
    fn from(e: types::Event) -> Self {
        Self {
            id: e.id,
            session: e.session,
            at: e.at,
            what: e.what.into(),
        }
    }
}

impl From<verdict::Stored> for types::Stored {
    fn from(s: verdict::Stored) -> Self {
        Self {
            kind: s.kind.to_owned(),
            row: s.row,
            body: s.body,
        }
    }
}

impl From<verdict::Finding> for types::Finding {
    fn from(f: verdict::Finding) -> Self {
        let evidence = f.evidence.into_iter().map(|e| types::Evidence {
            entry: e.entry,
            start: e.span.0 as u32,
            end: e.span.1 as u32,
            note: e.note,
        });
        Self {
            guard: f.guard.into(),
            rule: f.rule.to_owned(),
            level: f.level.into(),
            start: f.span.0 as u32,
            end: f.span.1 as u32,
            path: f.path,
            reason: f.reason,
            evidence: evidence.collect(),
            suggestion: f.suggestion,
            facts: f.facts,
        }
    }
}

impl From<verdict::Verdict> for types::Verdict {
    fn from(v: verdict::Verdict) -> Self {
        Self {
            action: v.action.into(),
            message: v.message,
            text: v.text,
            findings: v.findings.into_iter().map(Into::into).collect(),
            more: v.more as u32,
            store: v.store.into(),
        }
    }
}
