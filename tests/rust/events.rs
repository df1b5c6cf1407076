//! Makes events: what is said in a session, and what is written.

use sayso_engine::event::{Event, Message, Occasion, Origin, Role, Surface, Write};

/// The session of every event.
const SESSION: &str = "corpus";

/// The message number `number` of a session.
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
pub const fn usual(role: Role) -> Origin {
    match role {
        Role::User => Origin::Human,
        Role::Assistant => Origin::Model,
        Role::Tool => Origin::Tool,
        Role::System => Origin::Harness,
    }
}

/// A write into an empty note, after `number` messages.
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
