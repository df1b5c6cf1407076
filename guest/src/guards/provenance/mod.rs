//! Provenance: did the user really decide, approve, ask, prefer, reject, agree?
//!
//! Reading order: [`claims`] (what a line says the user did), [`attach`] (which quotes belong to it), [`history`], `sieves` and [`readings`] (what was said),
//! [`speech`], [`material`] and [`content`] (how it was meant, whose words it is, what it is about), [`judge`] (what a quote
//! proves), with [`places`], [`topic`] and [`retraction`], [`trace`] (what would pass), [`answer`] (what is said about it).

pub mod answer;
pub mod attach;
pub mod claims;
pub mod content;
pub mod history;
pub mod judge;
pub mod material;
pub mod places;
pub mod readings;
pub mod retraction;
mod sieves;
pub mod speech;
pub mod topic;
pub mod trace;

use crate::event::Write;
use crate::settings::Settings;
use crate::text::segment::{self, Line};
use crate::work::Work;
use attach::{Attached, Read};
use claims::{Claim, LINE_BYTES_MAX, Reader};
use history::History;
use judge::{Judged, Word};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Claims judged in one write. Beyond that only their number is told, and the write fails: nobody reads a note with more.
pub const CLAIMS_MAX: usize = 512;

/// A claim of a write, with its verdict. Offsets are bytes into `after`.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The claim; its offsets relative to `at`.
    pub claim: Claim,
    /// Where its line begins.
    pub at: usize,
    /// The quotes that belong to it.
    pub quotes: Rc<[Attached]>,
    /// What they prove.
    pub judged: Judged,
    /// What the claim says, folded, for recognising it again; empty when it says too little.
    pub identity: String,
}

impl Checked {
    /// The claim's bytes in the write.
    pub fn span(&self) -> (usize, usize) {
        (self.at + self.claim.span.0, self.at + self.claim.span.1)
    }
}

/// What became of a write.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The claims that were judged.
    pub checked: Vec<Checked>,
    /// How many claims were found beyond these.
    pub more: usize,
    /// Where the text begins that was not read, or was not judged, because it took more work than an answer may.
    pub unread: Option<usize>,
}

/// Judges a write. `passed` tells whether a claim of that identity passed before.
pub fn check(write: &Write, history: &History, settings: &Settings, passed: impl Fn(&str) -> bool) -> Outcome {
    let reader = Reader {
        languages: settings.languages.clone(),
        names: settings.names.clone(),
    };
    let work = Work::default();
    let (lines, mut unread) = read(write, &reader, settings, &work);
    let mut out = Vec::new();
    let mut more = 0;
    for (i, read) in lines.iter().enumerate() {
        if read.claims.is_empty() {
            continue;
        }
        if out.len() == CLAIMS_MAX {
            more += read.claims.len();
            continue;
        }
        let quotes: Rc<[Attached]> = attach::quotes_for(&write.after, &lines, i).into();
        work.take(quotes.iter().map(|q| q.folded.len() + 8).sum());
        for claim in &read.claims {
            if out.len() == CLAIMS_MAX {
                more += 1;
                continue;
            }
            let line = read.line.of(&write.after);
            let identity = topic::identity(line, claim, &read.quotes);
            out.push(Checked {
                claim: claim.clone(),
                at: read.line.start,
                quotes: Rc::clone(&quotes),
                judged: Judged::default(),
                identity,
            });
        }
    }
    let judged = judge::judge_all(&write.after, &mut out, history, settings, &work);
    if judged < out.len() {
        more += out.len() - judged;
        unread = Some(out[judged].at);
        out.truncate(judged);
    }
    for checked in &mut out {
        if !checked.judged.word.passes()
            && checked.judged.word != Word::Retracted
            && !checked.identity.is_empty()
            && passed(&checked.identity)
        {
            checked.judged = Judged {
                word: Word::Supported,
                note: "this claim passed when it was first written".to_owned(),
                ..Judged::default()
            };
        }
    }
    Outcome {
        checked: out,
        more,
        unread,
    }
}

/// Blank lines that are kept of several: one may stand between a claim and its quote.
const BLANK_LINES_MAX: usize = 2;

/// What a byte that is read for claims costs, and a line.
const STEPS_A_BYTE: usize = 30;
const STEPS_A_LINE: usize = 60;

/// Reads the lines of `after`; those that stood in `before` keep their place but have no claims. Also where the work was spent.
fn read(write: &Write, reader: &Reader, settings: &Settings, work: &Work) -> (Vec<Read>, Option<usize>) {
    let mut before: BTreeSet<&str> = BTreeSet::new();
    for line in write.before.lines() {
        if !work.take(STEPS_A_LINE + line.len() / 8) {
            return (Vec::new(), Some(0));
        }
        before.insert(line.trim());
    }
    let mut out = Vec::new();
    let mut blanks = 0;
    // Whether a block quote that comes next is a claim's quotation; one that belongs to no claim is a note in itself.
    let mut owned = false;
    for line in segment::each_line(&write.after) {
        let own = line.of(&write.after).trim();
        let blank = own.is_empty();
        if blank && blanks == BLANK_LINES_MAX {
            if !work.take(2) {
                return (out, Some(line.start));
            }
            continue;
        }
        blanks = if blank { blanks + 1 } else { 0 };
        let kept = line.fenced || before.contains(own);
        for piece in pieces(&write.after, line) {
            let raw = piece.of(&write.after);
            let steps = if kept { raw.len() } else { raw.len() * STEPS_A_BYTE };
            if !work.take(STEPS_A_LINE + steps) {
                return (out, Some(piece.start));
            }
            let quotes = claims::quotes_of(raw);
            let block = raw.trim_start().starts_with('>');
            let mut found = if kept || block && owned {
                Vec::new()
            } else {
                reader.claims(raw, &quotes, work)
            };
            // A kept line may have had claims, which are not read again.
            owned = kept || !found.is_empty() || owned && (block || blank && blanks == 1);
            found.retain(|c| !allowed(raw, c, settings));
            out.push(Read {
                line: piece,
                claims: found,
                quotes,
            });
        }
    }
    let unread = work.is_spent().then_some(write.after.len());
    (out, unread)
}

/// Whether one of the phrases that the settings allow stands over the claim.
fn allowed(raw: &str, claim: &Claim, settings: &Settings) -> bool {
    if settings.allow.is_empty() {
        return false;
    }
    let folded = crate::text::fold::Folded::new(raw);
    settings.allow.iter().any(|phrase| {
        folded.text.match_indices(phrase.as_str()).any(|(at, _)| {
            let (start, end) = folded.original(at, at + phrase.len());
            start < claim.span.1 && claim.span.0 < end
        })
    })
}

/// A line, or the pieces of one that is too long to be read at once: cut after a sentence where there is one, else at a blank.
fn pieces(text: &str, line: Line) -> Vec<Line> {
    let mut out = Vec::new();
    let mut start = line.start;
    while line.end - start > LINE_BYTES_MAX {
        let limit = (start..=start + LINE_BYTES_MAX)
            .rev()
            .find(|&i| text.is_char_boundary(i))
            .unwrap_or(line.end);
        let window = &text[start..limit];
        let cut = window
            .rfind(". ")
            .or_else(|| window.rfind('。'))
            .or_else(|| window.rfind(' '))
            .filter(|&c| c > 0);
        let end = cut.map_or(limit, |c| {
            start + c + window[c..].chars().next().map_or(1, char::len_utf8)
        });
        out.push(Line {
            start,
            end,
            fenced: line.fenced,
        });
        start = end;
    }
    out.push(Line {
        start,
        end: line.end,
        fenced: line.fenced,
    });
    out
}
