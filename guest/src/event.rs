//! What comes in: the same words as `wit/types.wit`, without WIT.
//!
//! Each enum here has its name in the stored rows and settings; `name` and `parse` are the one place that spells them.

/// Declares a plain enum with its kebab-case names.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$item:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name { $($(#[$item])* #[doc = $text] $variant),+ }

        impl $name {
            /// Every value, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in rows, settings and answers.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The value of that name.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use named;

named!(
    /// Who a message is from, in the words of the model's protocol.
    Role { User = "user", Assistant = "assistant", Tool = "tool", System = "system" }
);
named!(
    /// Who really wrote a message: the host's word. Only `human` supports a claim.
    Origin {
        Human = "human", Model = "model", Tool = "tool", Harness = "harness",
        Cron = "cron", Subagent = "subagent", Review = "review", Injected = "injected",
    }
);
named!(
    /// The kind of note a write goes to.
    Surface { Memory = "memory", Skill = "skill" }
);
named!(
    /// What sort of thing a source is.
    SourceKind { Page = "page", File = "file", Tool = "tool", User = "user" }
);
named!(
    /// How a tool call ended.
    Status { Ok = "ok", Error = "error", Blocked = "blocked", Cancelled = "cancelled" }
);
named!(
    /// A point in a session's life.
    MarkKind {
        Start = "start", End = "end", Reset = "reset", Clear = "clear",
        Compaction = "compaction", Outside = "outside",
    }
);

/// Words said in a session.
#[derive(Clone, Debug)]
pub struct Message {
    /// Who it is from, by protocol.
    pub role: Role,
    /// Who really wrote it.
    pub origin: Origin,
    /// The author's id in a shared chat, or "".
    pub author: String,
    /// The words.
    pub text: String,
}

/// A note about to be stored. Only lines of `after` that are not in `before` are judged.
#[derive(Clone, Debug)]
pub struct Write {
    /// The kind of note.
    pub surface: Surface,
    /// Which note.
    pub reference: String,
    /// The text before the write.
    pub before: String,
    /// The text after it, or the command where that can't be known.
    pub after: String,
}

/// A text that entered the session from somewhere.
#[derive(Clone, Debug)]
pub struct Source {
    /// What sort of thing it is.
    pub kind: SourceKind,
    /// Where it came from.
    pub reference: String,
    /// Its text.
    pub text: String,
}

/// A tool call about to run.
#[derive(Clone, Debug)]
pub struct Call {
    /// The provider's id of the call, or "".
    pub call_id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments as JSON text.
    pub arguments: String,
}

/// What a tool call gave back.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The call that ended.
    pub call: Call,
    /// How it ended.
    pub status: Status,
    /// What it gave back.
    pub text: String,
}

/// A point in a session's life.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Which point.
    pub kind: MarkKind,
    /// The session that this one continues, or "".
    pub parent: String,
    /// The note that was edited outside, or "".
    pub reference: String,
}

/// What happened, or is about to.
#[derive(Clone, Debug)]
pub enum Occasion {
    /// A new user message before the model sees it.
    Prompt(Message),
    /// A message that stands in the session.
    Message(Message),
    /// A text from outside.
    Source(Source),
    /// A note about to be stored.
    Write(Write),
    /// A tool call about to run.
    Call(Call),
    /// What it gave back.
    Result(Outcome),
    /// A whole outgoing request to the model, as JSON text.
    Request(String),
    /// A point in the session's life.
    Mark(Mark),
}

impl Occasion {
    /// The kind under which the host stores it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Prompt(_) => "prompt",
            Self::Message(_) => "message",
            Self::Source(_) => "source",
            Self::Write(_) => "write",
            Self::Call(_) => "call",
            Self::Result(_) => "result",
            Self::Request(_) => "request",
            Self::Mark(_) => "mark",
        }
    }

    /// How much text it carries, in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Prompt(m) | Self::Message(m) => m.text.len(),
            Self::Source(s) => s.text.len(),
            Self::Write(w) => w.before.len() + w.after.len(),
            Self::Call(c) => c.arguments.len(),
            Self::Result(r) => r.call.arguments.len() + r.text.len(),
            Self::Request(text) => text.len(),
            Self::Mark(_) => 0,
        }
    }

    /// Whether it carries no text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One thing that happened in one session.
#[derive(Clone, Debug)]
pub struct Event {
    /// The host's name for the entry this makes.
    pub id: String,
    /// The session.
    pub session: String,
    /// Milliseconds since 1970-01-01 UTC, by the host's clock.
    pub at: u64,
    /// What happened.
    pub what: Occasion,
}
