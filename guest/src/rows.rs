//! Rows: what is stored for one event, as `wit/schema/row.json` describes it. A row holds no text of the event.

use crate::event::{Call, Event, Mark, MarkKind, Message, Origin, Outcome, Role, Surface};
use crate::verdict::{Finding, Verdict};
use serde::Serialize;
use serde_json::Value;

/// The version of rows that this engine writes, and the newest it reads.
pub const VERSION: u32 = 1;

/// Characters that are kept of a tool's name and of a call's id.
const NAME_MAX: usize = 200;

/// One row. Fields that an event does not have are left out.
#[derive(Clone, Debug, Default, Serialize)]
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
    /// Of a write or of a mark.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reference: String,
    /// The provider's id of a call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub call: String,
    /// Of a call or a result.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// Of a result.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub status: String,
    /// Bytes of the arguments, or of the result as it came.
    #[serde(skip_serializing_if = "is_zero")]
    pub size: usize,
    /// Milliseconds from the call to its result, where the call is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
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
    /// Fingerprints of a call (arguments, and arguments without what varies trivially), or of a result (arguments, result).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fingerprints: Vec<String>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

/// A finding without its words.
#[derive(Clone, Debug, Default, Serialize)]
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
#[derive(Clone, Debug, Default, Serialize)]
pub struct EvidenceRow {
    /// The entry.
    pub entry: String,
    /// First byte in its body.
    pub start: usize,
    /// One past the last.
    pub end: usize,
}

/// The text of a field; "" where there is none.
fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn list<T>(value: &Value, name: &str, each: impl Fn(&Value) -> T) -> Vec<T> {
    value[name].as_array().into_iter().flatten().map(each).collect()
}

impl Row {
    /// Reads a stored row. Fields that are not there, or have a value of another kind, are empty.
    pub fn read(value: &Value) -> Self {
        let texts = |name| list(value, name, |v| v.as_str().unwrap_or_default().to_owned());
        Self {
            v: number(&value["v"]) as u32,
            id: text(value, "id"),
            session: text(value, "session"),
            at: number(&value["at"]),
            kind: text(value, "kind"),
            role: text(value, "role"),
            origin: text(value, "origin"),
            author: text(value, "author"),
            surface: text(value, "surface"),
            reference: text(value, "reference"),
            call: text(value, "call"),
            tool: text(value, "tool"),
            status: text(value, "status"),
            size: number(&value["size"]) as usize,
            ms: value["ms"].as_u64(),
            mark: text(value, "mark"),
            parent: text(value, "parent"),
            action: text(value, "action"),
            findings: list(value, "findings", FindingRow::read),
            more: number(&value["more"]) as usize,
            passed: texts("passed"),
            fingerprints: texts("fingerprints"),
        }
    }

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
        self.call = call.call_id.chars().take(NAME_MAX).collect();
        self.tool = call.tool.chars().take(NAME_MAX).collect();
        self.size = call.arguments.len();
        self
    }

    /// Adds what a result has. Its text is no part of a row.
    pub fn outcome(mut self, outcome: &Outcome) -> Self {
        self = self.call(&outcome.call);
        outcome.status.name().clone_into(&mut self.status);
        self.size = outcome.text.len();
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
    fn read(value: &Value) -> Self {
        let at = |value: &Value, name| number(&value[name]) as usize;
        let evidence = |e: &Value| EvidenceRow {
            entry: text(e, "entry"),
            start: at(e, "start"),
            end: at(e, "end"),
        };
        Self {
            guard: text(value, "guard"),
            rule: text(value, "rule"),
            level: text(value, "level"),
            start: at(value, "start"),
            end: at(value, "end"),
            body: (number(&value["body"][0]) as usize, number(&value["body"][1]) as usize),
            path: text(value, "path"),
            evidence: list(value, "evidence", evidence),
            facts: value["facts"].clone(),
        }
    }

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
