//! Tool calls about to run.

use super::{Found, Session, act, keyed, verdict_of};
use crate::event::{Call, Event};
use crate::guards::loops::{self, Broken, Print, Prints};
use crate::guards::{tamper, told};
use crate::rows::Row;
use crate::settings::Mode;
use crate::verdict::{Action, Evidence, Finding, GuardName, Level, Verdict};
use serde_json::json;

impl Session {
    /// Judges a tool call before it runs: each guard that looks at calls adds what it found. Every call is stored, refused or not.
    #[inline(never)]
    pub(super) fn check_call(&mut self, event: &Event, call: &Call) -> Verdict {
        let mut found: Vec<Found> = Vec::new();
        self.check_repetition(call, &mut found);
        self.look_at_arguments(call, &mut found);
        let prints = self.look_for_loops(event, call, &mut found);
        self.look_for_tampering(call, &mut found);
        let mut row = Row::of(event).call(call);
        row.fingerprints = vec![hex(prints.args), hex(prints.loose)];
        let verdict = verdict_of(event, row.clone(), found);
        self.keep(row.verdict(&verdict, &[]), String::new());
        if verdict.action != Action::Refuse {
            self.loops.add(&event.session, &event.id, event.at, prints);
        }
        verdict
    }

    #[inline(never)]
    fn look_for_loops(&self, event: &Event, call: &Call, found: &mut Vec<Found>) -> Prints {
        let prints = Prints::of(call, |parts| self.print(parts));
        if self.settings.mode(GuardName::Loops) == Mode::Off {
            return prints;
        }
        let budget = self.settings.budget(&call.tool);
        for broken in self.loops.look(&event.session, prints, budget) {
            let mode = self.settings.loop_mode(broken.rule);
            if mode != Mode::Off {
                let finding = finding(&call.tool, &broken);
                found.push(Found {
                    finding,
                    action: act(mode),
                });
            }
        }
        prints
    }

    fn look_for_tampering(&self, call: &Call, found: &mut Vec<Found>) {
        let mode = self.settings.mode(GuardName::Tamper);
        if mode == Mode::Off {
            return;
        }
        if let Some(reach) = tamper::reach(&call.arguments) {
            let told = told::rule(reach.rule);
            let finding = Finding {
                guard: GuardName::Tamper,
                rule: reach.rule,
                level: Level::Error,
                span: (0, reach.length),
                path: reach.path,
                reason: told.reason.to_owned(),
                evidence: Vec::new(),
                suggestion: told.pass.to_owned(),
                facts: "{}".to_owned(),
            };
            found.push(Found {
                finding,
                action: act(mode),
            });
        }
    }

    /// A keyed fingerprint of some texts.
    #[inline(never)]
    pub(super) fn print(&self, parts: &[&str]) -> Print {
        let mut joined = Vec::with_capacity(parts.iter().map(|p| p.len() + 8).sum());
        for part in parts {
            joined.extend_from_slice(&(part.len() as u64).to_be_bytes());
            joined.extend_from_slice(part.as_bytes());
        }
        keyed(&self.calls_key, &joined)
            .iter()
            .take(8)
            .fold(0, |print, &b| print << 8 | Print::from(b))
    }

    /// Takes up a stored call, result, mark or message as it was when it happened.
    pub(super) fn recall(&mut self, row: &Row) {
        if let Some(mark) = row.as_mark() {
            return self.pass(&row.session, mark);
        }
        match (row.kind.as_str(), &row.fingerprints[..]) {
            ("call", [args, loose]) if row.action != Action::Refuse.name() => {
                let prints = Prints {
                    args: unhex(args),
                    loose: unhex(loose),
                    call_id: loops::id_print(&row.call, |parts| self.print(parts)),
                };
                self.loops.add(&row.session, &row.id, row.at, prints);
            }
            ("result", [args, result]) => {
                let id = loops::id_print(&row.call, |parts| self.print(parts));
                self.loops.end(&row.session, id, unhex(args), unhex(result));
            }
            ("message" | "prompt", _) if row.action != Action::Refuse.name() => {
                self.spoken(&row.session, &row.role, &row.origin);
            }
            _ => {}
        }
    }
}

#[inline(never)]
fn finding(tool: &str, broken: &Broken) -> Finding {
    let told = told::rule(broken.rule);
    let note = |entry: &String| Evidence {
        entry: entry.clone(),
        span: (0, 0),
        note: "an earlier call".to_owned(),
    };
    Finding {
        guard: GuardName::Loops,
        rule: broken.rule,
        level: Level::parse(told.level).unwrap_or(Level::Warning),
        span: (0, 0),
        path: String::new(),
        reason: loops::reason(tool, broken),
        evidence: broken.entries.iter().map(note).collect(),
        suggestion: loops::suggestion(broken).to_owned(),
        facts: json!({"count": broken.count}).to_string(),
    }
}

/// A fingerprint as it stands in a row.
pub(super) fn hex(print: Print) -> String {
    format!("{print:016x}")
}

/// A fingerprint out of a row; 0 for what is none.
fn unhex(text: &str) -> Print {
    Print::from_str_radix(text, 16).unwrap_or(0)
}
