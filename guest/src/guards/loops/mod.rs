//! The loops guard: is this the same call again, with the same result?
//!
//! The rule is LABELS.md section 5; its figures and words are `corpus/rules/loops.toml`. Of a call only keyed fingerprints are kept:
//! of the tool with the arguments, of the arguments without what varies trivially, and of the result without what may change
//! ([`steady`]). A few calls of a few sessions are remembered, however long they last.
//!
//! What it can't see: calls that say the same in other words, and results that differ in a counter which tells nothing.

pub mod steady;

use super::told::{LOOPS_IDENTICAL, LOOPS_MOVING, LOOPS_REPEATS, LOOPS_VARYING, rule};
use crate::event::Call;
use crate::text::canonical::canonical;

/// Calls of one session that are remembered: a cycle of eight, three times and one more, fits.
const CALLS_MAX: usize = 32;
/// Sessions that are remembered; the one that was longest without a call is forgotten first.
const SESSIONS_MAX: usize = 64;
/// Ids of entries by which one that is loaded again is known.
const IDS_MAX: usize = 256;
/// The longest cycle that is looked for, in calls.
const PERIOD_MAX: usize = 8;

/// A keyed fingerprint.
pub type Print = u64;

/// One call as it is remembered.
#[derive(Clone, Debug)]
struct Seen {
    entry: String,
    call_id: Print,
    args: Print,
    loose: Print,
    at: u64,
    result: Option<Print>,
}

#[derive(Debug, Default)]
struct Track {
    session: String,
    calls: Vec<Seen>,
    /// How many equal calls in a row stand at the end, also those that are forgotten.
    run: usize,
}

/// What is remembered of all sessions.
#[derive(Debug, Default)]
pub struct Loops {
    tracks: Vec<Track>,
    ids: Vec<String>,
}

/// The fingerprints of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prints {
    /// Of the tool and the arguments as a JSON value.
    pub args: Print,
    /// Of the same without what varies trivially.
    pub loose: Print,
    /// Of the provider's id of the call; 0 for none.
    pub call_id: Print,
}

impl Prints {
    /// The fingerprints of this call.
    #[inline(never)]
    pub fn of(call: &Call, print: impl Fn(&[&str]) -> Print) -> Self {
        let value = canonical(&call.arguments);
        Self {
            args: print(&[&call.tool, &value]),
            loose: print(&[&call.tool, "~", &loosened(&value)]),
            call_id: id_print(&call.call_id, print),
        }
    }
}

/// The fingerprint of a provider's id of a call; 0 for none.
pub fn id_print(id: &str, print: impl Fn(&[&str]) -> Print) -> Print {
    if id.is_empty() { 0 } else { print(&["id", id]) }
}

/// One rule that a call breaks, and the calls that speak for it.
#[derive(Debug)]
pub struct Broken {
    /// The rule's id.
    pub rule: &'static str,
    /// How many calls there are with this one.
    pub count: usize,
    /// The entries of the calls before.
    pub entries: Vec<String>,
}

impl Loops {
    /// What a call of that session would break. `budget` is how many equal calls in a row the settings grant its tool.
    #[inline(never)]
    pub fn look(&self, session: &str, call: Prints, budget: Option<usize>) -> Vec<Broken> {
        let mut out = Vec::new();
        let Some(track) = self.tracks.iter().find(|t| t.session == session) else {
            return out;
        };
        let equal = track.calls.iter().rev().take_while(|c| c.args == call.args).count();
        let run = if equal == 0 { 0 } else { track.run };
        let mut add = |rule, count, entries: usize| {
            let newest = track.calls.iter().rev().take(entries).map(|c| c.entry.clone());
            out.push(Broken {
                rule,
                count,
                entries: newest.collect(),
            });
        };
        if let Some(budget) = budget {
            if run >= budget {
                add("loops.budget", run + 1, 1);
            }
            return out;
        }
        let before = LOOPS_IDENTICAL - 1;
        let mut results = track.calls.iter().rev().take(before).map(|c| c.result);
        let first = results.next();
        if equal >= before && results.all(|r| Some(r) == first) {
            add("loops.identical", run + 1, before);
        } else if run + 1 >= LOOPS_MOVING {
            add("loops.moving", run + 1, 2);
        }
        if equal == 0 {
            if let Some(period) = (2..=PERIOD_MAX).find(|&p| track.goes_round(p, call)) {
                add("loops.cycle", period, period);
            } else if track.varies(call) {
                add("loops.varying", LOOPS_VARYING, LOOPS_VARYING - 1);
            }
        }
        out
    }

    /// Remembers a call that runs.
    pub fn add(&mut self, session: &str, entry: &str, at: u64, call: Prints) {
        if self.is_known(entry) {
            return;
        }
        let track = self.track(session);
        track.run = if track.calls.last().is_some_and(|c| c.args == call.args) {
            track.run + 1
        } else {
            1
        };
        if track.calls.len() == CALLS_MAX {
            track.calls.remove(0);
        }
        let Prints { args, loose, call_id } = call;
        track.calls.push(Seen {
            entry: entry.to_owned(),
            call_id,
            args,
            loose,
            at,
            result: None,
        });
    }

    /// Remembers what a call gave back: the one of that id, or the newest equal one that still waits. Gives the time at which it began.
    #[inline(never)]
    pub fn end(&mut self, session: &str, call_id: Print, args: Print, result: Print) -> Option<u64> {
        let track = self.tracks.iter_mut().find(|t| t.session == session)?;
        let is_it = |c: &Seen| {
            c.args == args
                && if call_id == 0 {
                    c.result.is_none()
                } else {
                    c.call_id == call_id
                }
        };
        let seen = track.calls.iter_mut().rev().find(|c| is_it(c))?;
        seen.result = Some(result);
        Some(seen.at)
    }

    /// Starts the count of a session again; of all when it has no name.
    pub fn reset(&mut self, session: &str) {
        self.tracks.retain(|t| !session.is_empty() && t.session != session);
    }

    /// How many calls are remembered.
    pub fn len(&self) -> usize {
        self.tracks.iter().map(|t| t.calls.len()).sum()
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.tracks.iter().all(|t| t.calls.is_empty())
    }

    #[inline(never)]
    fn is_known(&mut self, entry: &str) -> bool {
        let known = self.ids.iter().any(|id| id == entry);
        if !known {
            if self.ids.len() == IDS_MAX {
                self.ids.remove(0);
            }
            self.ids.push(entry.to_owned());
        }
        known
    }

    fn track(&mut self, session: &str) -> &mut Track {
        let found = self.tracks.iter().position(|t| t.session == session);
        let track = found.map(|at| self.tracks.remove(at)).unwrap_or_else(|| Track {
            session: session.to_owned(),
            ..Track::default()
        });
        if self.tracks.len() == SESSIONS_MAX {
            self.tracks.remove(0);
        }
        self.tracks.push(track);
        let last = self.tracks.len() - 1;
        &mut self.tracks[last]
    }
}

impl Track {
    /// Whether this call ends the `LOOPS_REPEATS`th round of a cycle of that many calls with the same results.
    fn goes_round(&self, period: usize, call: Prints) -> bool {
        let Some(first) = (self.calls.len() + 1).checked_sub(period * LOOPS_REPEATS) else {
            return false;
        };
        let calls = &self.calls;
        let same = |at: usize| match calls.get(at + period) {
            Some(later) => calls[at].args == later.args && calls[at].result == later.result,
            None => calls[at].args == call.args,
        };
        (first..=calls.len() - period).all(same)
    }

    /// Whether the calls before differ from this one in what varies trivially, and all had one result.
    fn varies(&self, call: Prints) -> bool {
        let before = LOOPS_VARYING - 1;
        let Some(newest) = self.calls.last() else { return false };
        self.calls.len() >= before
            && newest.result.is_some()
            && self
                .calls
                .iter()
                .rev()
                .take(before)
                .all(|c| c.loose == call.loose && c.result == newest.result)
    }
}

/// Arguments without what varies trivially: digits, case, blanks and signs.
#[inline(never)]
fn loosened(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for c in value.chars() {
        if c.is_ascii_digit() {
            if !out.ends_with('0') {
                out.push('0');
            }
        } else if c.is_alphabetic() || matches!(c, '{' | '}' | ':') {
            out.push(c.to_ascii_lowercase());
        }
    }
    out
}

/// What the agent is told of a broken rule: what was repeated, and what to do instead.
#[inline(never)]
pub fn reason(tool: &str, broken: &Broken) -> String {
    let tool: String = tool.chars().take(100).collect();
    let count = broken.count;
    match broken.rule {
        "loops.identical" => format!(
            "This is call {count} in a row of {tool} with the same arguments, and the last two had the same result."
        ),
        "loops.moving" => {
            format!("This is call {count} in a row of {tool} with the same arguments; its results keep changing.")
        }
        "loops.budget" => format!(
            "This is call {count} in a row of {tool} with the same arguments, more than its budget in the settings."
        ),
        "loops.cycle" => format!(
            "The same {count} calls are gone through for the third time, with the same results; {tool} is the next of them."
        ),
        _ => format!("{count} calls of {tool} that differ in numbers, case or signs only have had the same result."),
    }
}

/// What would pass.
pub fn suggestion(broken: &Broken) -> &'static str {
    rule(broken.rule).pass
}
