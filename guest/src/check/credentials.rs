//! Credentials in messages, writes, arguments, results and requests: what is refused, and what is taken out.

use super::{Found, Session, act, verdict_of};
use crate::event::{Call, Event, Message, Origin};
use crate::guards::credentials::{self, Hit, Redacted, json::redact_strings, markers, meaning};
use crate::rows::Row;
use crate::settings::{Mode, Profile};
use crate::text::arguments::arguments;
use crate::verdict::{Action, FINDINGS_MAX, Finding, GuardName, Level, Stored, Verdict};

/// The rule of a marker that is written as if it were the value.
pub const MARKER_WRITTEN: &str = "credentials.marker-written";

impl Session {
    fn credentials_mode(&self) -> Mode {
        self.settings.mode(GuardName::Credentials)
    }

    /// A text as it is stored: without credentials, unless the guard is off.
    pub(super) fn clean(&self, text: &str) -> Redacted {
        if self.credentials_mode() == Mode::Off {
            return Redacted::of(text);
        }
        credentials::clean(text, &self.marker_key)
    }

    /// Judges a new message of the user: one with a live key in it does not leave.
    pub(super) fn check_prompt(&mut self, event: &Event, message: &Message) -> Verdict {
        let mode = self.credentials_mode();
        let clean = self.clean(&message.text);
        let live = |hit: &&Hit| message.origin == Origin::Human && !is_shown(&message.text, hit.span.0);
        let found: Vec<Found> = clean
            .hits
            .iter()
            .filter(live)
            .map(|hit| {
                let advice = "Take it out and send the message again; name the place where it is kept instead.";
                self.found(&message.text, hit, "", advice, act(mode))
            })
            .collect();
        if found.is_empty() {
            return Verdict {
                store: self.hear(event, message),
                ..Verdict::allow()
            };
        }
        let mut verdict = verdict_of(event, Row::of(event).message(message), found);
        verdict.store.body = clean.text;
        if verdict.action == Action::Refuse {
            self.known.insert(event.id.clone());
        } else {
            self.hear(event, message);
        }
        verdict
    }

    /// Credentials and markers in the lines that a write adds. `clean` is `after` as it is stored.
    pub(super) fn look_at_write(&self, before: &str, after: &str, clean: &Redacted) -> Vec<Found> {
        let mode = self.credentials_mode();
        if mode == Mode::Off {
            return Vec::new();
        }
        let is_new = |at: usize| !before.lines().any(|old| old == line(after, at));
        let advice = "Name the place where the credential is kept instead.";
        let hits = clean.hits.iter().filter(|hit| is_new(hit.span.0)).take(FINDINGS_MAX);
        let mut found: Vec<Found> = hits.map(|hit| self.found(after, hit, "", advice, act(mode))).collect();
        let marked = markers(after).into_iter().filter(|m| is_new(m.0)).take(FINDINGS_MAX);
        found.extend(marked.map(|span| written(span, "", act(mode))));
        found
    }

    /// Credentials and markers in the arguments of a call.
    pub(super) fn look_at_arguments(&self, call: &Call, found: &mut Vec<Found>) {
        let mode = self.credentials_mode();
        if mode == Mode::Off {
            return;
        }
        let strict = self.settings.profile == Profile::Strict;
        let action = if strict && mode != Mode::Observe {
            Action::Ask
        } else {
            Action::Allow
        };
        for argument in arguments(&call.arguments) {
            let advice = "Pass the name of a variable or of a file instead.";
            for hit in credentials::find(&argument.text) {
                found.push(self.found(&argument.text, &hit, &argument.path, advice, action));
            }
            let writes = writes_text(&call.tool, &argument.path, &argument.text);
            for span in markers(&argument.text) {
                let action = if writes { act(mode) } else { Action::Allow };
                found.push(written(span, &argument.path, action));
            }
        }
    }

    /// A result without its credentials, and what they were. Where the mode only observes, the text stays.
    pub(super) fn redact_result(&self, text: &str, found: &mut Vec<Found>) -> Option<String> {
        let clean = self.clean(text);
        for hit in clean.hits.iter().take(FINDINGS_MAX) {
            found.push(self.found(text, hit, "", "", Action::Allow));
        }
        let acts = matches!(self.credentials_mode(), Mode::Ask | Mode::Enforce);
        (acts && !clean.hits.is_empty()).then_some(clean.text)
    }

    /// Takes every credential out of a whole outgoing request, its history included.
    pub(super) fn check_request(&self, event: &Event, text: &str) -> Verdict {
        let mode = self.credentials_mode();
        if mode == Mode::Off {
            return Verdict::allow();
        }
        let out = redact_strings(text, &self.marker_key);
        if out.rules.is_empty() {
            return Verdict::allow();
        }
        let one = |rule: &&'static str| Found {
            finding: finding(rule, (0, 0), "", "", "{}"),
            action: Action::Allow,
        };
        let mut verdict = verdict_of(
            event,
            Row::of(event),
            out.rules.iter().take(FINDINGS_MAX).map(one).collect(),
        );
        verdict.more = out.rules.len().saturating_sub(FINDINGS_MAX);
        // The same history goes out again with every request: what was taken out is recorded where it came in.
        verdict.store = Stored::default();
        if matches!(mode, Mode::Ask | Mode::Enforce) {
            verdict.action = Action::Rewrite;
            verdict.text = out.text;
        }
        verdict
    }

    fn found(&self, text: &str, hit: &Hit, path: &str, advice: &str, action: Action) -> Found {
        let marker = hit.marker(text, &self.marker_key);
        Found {
            finding: finding(
                hit.rule,
                hit.span,
                path,
                advice,
                &["{\"marker\":\"", &marker, "\"}"].concat(),
            ),
            action,
        }
    }
}

fn finding(rule: &'static str, span: (usize, usize), path: &str, advice: &str, facts: &str) -> Finding {
    let what = meaning(rule).map_or_else(|| "a credential".to_owned(), |r| format!("{} ({})", r.what, r.vendor));
    Finding {
        guard: GuardName::Credentials,
        rule,
        level: Level::Error,
        span,
        path: path.to_owned(),
        reason: format!("This looks like a live credential: {what}."),
        evidence: Vec::new(),
        suggestion: advice.to_owned(),
        facts: facts.to_owned(),
    }
}

fn written(span: (usize, usize), path: &str, action: Action) -> Found {
    let mut finding = finding(
        MARKER_WRITTEN,
        span,
        path,
        "Leave that line as it is, or read the value from where it is kept.",
        "{}",
    );
    finding.reason = "This writes a redaction marker as if it were the value: the value would be lost.".to_owned();
    Found { finding, action }
}

/// The line in which a place stands.
fn line(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
    &text[start..end]
}

/// Whether a place stands in a fenced block or a quotation: shown, not given to be used.
fn is_shown(text: &str, at: usize) -> bool {
    let fence = |l: &&str| l.trim_start().starts_with("```") || l.trim_start().starts_with("~~~");
    let fences = text[..at].lines().filter(fence).count();
    fences % 2 == 1 || line(text, at).trim_start().starts_with("> ")
}

/// Whether an argument is text that the call puts into a file.
fn writes_text(tool: &str, path: &str, text: &str) -> bool {
    let is_writer = ["write", "patch", "edit", "create", "append", "save", "memory", "skill"]
        .iter()
        .any(|w| tool.contains(w));
    let is_content = ["content", "new_string", "new_text", "file_text", "patch", "diff"]
        .iter()
        .any(|w| path.contains(w));
    is_writer
        || is_content
        || [">", "tee ", "sed -i", "export ", "write"]
            .iter()
            .any(|w| text.contains(w))
}
