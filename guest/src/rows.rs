//! Rows: what is stored for one event, as `wit/schema/row.json` describes it. A row holds no text of the event.

use crate::event::{Call, Event, Mark, MarkKind, Message, Origin, Role, Surface};
use crate::verdict::{Finding, Verdict};
use serde::{Deserialize, Serialize};

/// The version of rows that this engine writes, and the newest it reads.
pub const VERSION: u32 = 1;

/// One row. Fields that an event does not have are left out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Row {
    /// [`VERSION`].
    pub v: u32,
    /// The event's id.
    pub id: String,
    /// Its session.
    pub session: String,
    /// Milliseconds since 1970-01-01 UTC.
    pub at: u64,
    /// The event's kind.
    pub kind: String,
    /// Of a message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// Of a message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// Of a message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// Of a write.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub surface: String,
    /// Of a write, of a mark, or the tool of a call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// Of a mark.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub mark: String,
    /// Of a mark.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub parent: String,
    /// What the verdict was.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub action: String,
    /// What was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<FindingRow>,
    /// How many findings there are beyond those.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
    /// Fingerprints of the claims that passed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<String>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A finding without its words.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FindingRow {
    /// The guard.
    pub guard: String,
    /// The rule.
    pub rule: String,
    /// How bad.
    pub level: String,
    /// First byte in the text that was judged.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// Where in the entry's body the words of the finding stand, half open; equal when they are not kept.
    pub body: (usize, usize),
    /// JSON path of the argument.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// What speaks for or against.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<EvidenceRow>,
    /// Words of the guard's own.
    #[serde(skip_serializing_if = "serde_json::Value::is_null")]
    pub facts: serde_json::Value,
}

/// Evidence without its words.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EvidenceRow {
    /// The entry.
    pub entry: String,
    /// First byte in its body.
    pub start: usize,
    /// One past the last.
    pub end: usize,
}

impl Row {
    /// A row with what every event has.
    pub fn of(event: &Event) -> Self {
        Self {
            v: VERSION,
            id: event.id.clone(),
            session: event.session.clone(),
            at: event.at,
            kind: event.what.kind().to_owned(),
            ..Self::default()
        }
    }

    /// Adds what a message has.
    pub fn message(mut self, message: &Message) -> Self {
        self.role = message.role.name().to_owned();
        self.origin = message.origin.name().to_owned();
        self.author.clone_from(&message.author);
        self
    }

    /// Adds what a write has.
    pub fn write(mut self, surface: Surface, reference: &str) -> Self {
        self.surface = surface.name().to_owned();
        reference.clone_into(&mut self.reference);
        self
    }

    /// Adds what a call has. Its arguments are no part of a row.
    pub fn call(mut self, call: &Call) -> Self {
        call.tool.clone_into(&mut self.reference);
        self
    }

    /// Adds what a mark has.
    pub fn mark(mut self, mark: &Mark) -> Self {
        self.mark = mark.kind.name().to_owned();
        self.parent.clone_from(&mark.parent);
        self.reference.clone_from(&mark.reference);
        self
    }

    /// Adds what a verdict says. `bodies` tells for each finding where its words stand in the entry's body.
    pub fn verdict(mut self, verdict: &Verdict, bodies: &[(usize, usize)]) -> Self {
        self.action = verdict.action.name().to_owned();
        self.more = verdict.more;
        let at = |i: usize| bodies.get(i).copied().unwrap_or_default();
        self.findings = verdict
            .findings
            .iter()
            .enumerate()
            .map(|(i, f)| FindingRow::of(f, at(i)))
            .collect();
        self
    }

    /// As JSON text.
    pub fn json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The message that a stored row and its body were, if it was one.
    pub fn as_message(&self, body: &str) -> Option<Message> {
        if self.kind != "message" && self.kind != "prompt" {
            return None;
        }
        let role = Role::parse(&self.role)?;
        let origin = Origin::parse(&self.origin)?;
        Some(Message {
            role,
            origin,
            author: self.author.clone(),
            text: body.to_owned(),
        })
    }

    /// The point in a session's life that a stored row was, if it was one.
    pub fn as_mark(&self) -> Option<MarkKind> {
        MarkKind::parse(&self.mark)
    }
}

impl FindingRow {
    fn of(finding: &Finding, body: (usize, usize)) -> Self {
        let evidence = finding.evidence.iter().map(|e| EvidenceRow {
            entry: e.entry.clone(),
            start: e.span.0,
            end: e.span.1,
        });
        Self {
            guard: finding.guard.name().to_owned(),
            rule: finding.rule.to_owned(),
            level: finding.level.name().to_owned(),
            start: finding.span.0,
            end: finding.span.1,
            body,
            path: finding.path.clone(),
            evidence: evidence.collect(),
            facts: serde_json::from_str(&finding.facts).unwrap_or_default(),
        }
    }
}
