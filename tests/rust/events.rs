//! Makes events: what is said in a session, and what is written.

use sayso_engine::event::{
    Call, Event, Mark, MarkKind, Message, Occasion, Origin, Outcome, Role, Status, Surface, Write,
};

/// The session of every event.
const SESSION: &str = "corpus";

/// The message number `number` of a session.
#[allow(dead_code, reason = "not every test has messages")]
pub fn said(number: usize, role: Role, origin: Origin, text: String) -> Event {
    Event {
        id: format!("m{number}"),
        session: SESSION.to_owned(),
        at: number as u64,
        what: Occasion::Message(Message {
            role,
            origin,
            author: String::new(),
            text,
        }),
    }
}

/// Who writes with a role when nothing else is known.
#[allow(dead_code, reason = "not every test asks")]
pub const fn usual(role: Role) -> Origin {
    match role {
        Role::User => Origin::Human,
        Role::Assistant => Origin::Model,
        Role::Tool => Origin::Tool,
        Role::System => Origin::Harness,
    }
}

/// A write into an empty note, after `number` messages.
#[allow(dead_code, reason = "not every test writes")]
pub fn written(number: usize, id: &str, surface: Surface, after: String) -> Event {
    Event {
        id: id.to_owned(),
        session: SESSION.to_owned(),
        at: number as u64,
        what: Occasion::Write(Write {
            surface,
            reference: "notes".to_owned(),
            before: String::new(),
            after,
        }),
    }
}

/// A tool call about to run.
#[allow(dead_code, reason = "not every test makes calls")]
pub fn called(session: &str, number: usize, tool: &str, arguments: &str) -> Event {
    let call = Call {
        call_id: format!("call-{number}"),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
    };
    at(session, number, "c", Occasion::Call(call))
}

/// What the call of that number gave back.
#[allow(dead_code, reason = "not every test makes calls")]
pub fn gave(session: &str, number: usize, tool: &str, arguments: &str, text: &str) -> Event {
    let call = Call {
        call_id: format!("call-{number}"),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
    };
    let outcome = Outcome {
        call,
        status: Status::Ok,
        text: text.to_owned(),
    };
    at(session, number, "r", Occasion::Result(outcome))
}

/// A point in a session's life.
#[allow(dead_code, reason = "not every test makes marks")]
pub fn marked(session: &str, number: usize, kind: MarkKind) -> Event {
    let mark = Mark {
        kind,
        parent: String::new(),
        reference: String::new(),
    };
    at(session, number, "k", Occasion::Mark(mark))
}

fn at(session: &str, number: usize, letter: &str, what: Occasion) -> Event {
    Event {
        id: format!("{letter}{number}"),
        session: session.to_owned(),
        at: number as u64 * 1_000,
        what,
    }
}
