//! Which quotes belong to which claims.
//!
//! A quote belongs to a claim when it stands in the same line, or in the line or block quote directly after it: `> …`,
//! `— user: "…"`, `Quote: "…"`, or a line that is nothing but a quotation. A block quote may stand after one blank line.
//! Claims that share a line share its quotes; a quote before the claim's line belongs to nothing.

use super::claims::Claim;
use super::places::quote_parts;
use crate::lexicon::{packs, tag};
use crate::text::fold::fold;
use crate::text::quotes::Quote;
use crate::text::segment::Line;

/// A line of the write that is judged, with what stands in it. Offsets in claims and quotes are relative to `line.start`.
#[derive(Clone, Debug)]
pub struct Read {
    /// Where it stands in the write.
    pub line: Line,
    /// Its claims.
    pub claims: Vec<Claim>,
    /// Its quotations.
    pub quotes: Vec<Quote>,
}

/// A quote that belongs to a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// Half-open bytes into the write.
    pub span: (usize, usize),
    /// Its words, folded; the lines of a block quote are joined.
    pub folded: String,
    /// Its parts between ellipses.
    pub parts: Vec<String>,
}

/// The quotes that belong to the claims of line `at`.
pub fn quotes_for(text: &str, lines: &[Read], at: usize) -> Vec<Attached> {
    let own = &lines[at];
    let mut out: Vec<Attached> = own
        .quotes
        .iter()
        .map(|q| attached(text, shifted(own.line, q.inner)))
        .collect();
    out.extend(inline_block_quote(text, own).map(|span| attached(text, span)));
    let mut next = at + 1;
    let mut blank = false;
    if lines.get(next).is_some_and(|l| l.line.of(text).trim().is_empty()) {
        blank = true;
        next += 1;
    }
    let first = next;
    let mut whole: Option<((usize, usize), String)> = None;
    while let Some(read) = lines.get(next) {
        let Some(span) = block_quote(text, read.line) else {
            break;
        };
        out.push(attached(text, span));
        out.extend(read.quotes.iter().map(|q| attached(text, shifted(read.line, q.inner))));
        whole = Some(match whole {
            Some((all, words)) => ((all.0, span.1), words + " " + &text[span.0..span.1]),
            None => (span, text[span.0..span.1].to_owned()),
        });
        next += 1;
    }
    // The lines of one block quote are one quote, and each is one too.
    out.extend(
        whole
            .filter(|_| next > first + 1)
            .map(|(span, words)| Attached::new(span, &words)),
    );
    if next == first
        && !blank
        && let Some(read) = lines.get(next)
        && read.claims.is_empty()
        && is_attribution(text, read)
    {
        out.extend(read.quotes.iter().map(|q| attached(text, shifted(read.line, q.inner))));
    }
    out.retain(|q| q.folded.chars().any(char::is_alphanumeric));
    out
}

fn attached(text: &str, span: (usize, usize)) -> Attached {
    Attached::new(span, &text[span.0..span.1])
}

impl Attached {
    fn new(span: (usize, usize), words: &str) -> Self {
        let folded = fold(words);
        Self {
            span,
            parts: quote_parts(&folded),
            folded,
        }
    }
}

fn shifted(line: Line, span: (usize, usize)) -> (usize, usize) {
    (line.start + span.0, line.start + span.1)
}

/// The words of a `> …` line, without the mark.
fn block_quote(text: &str, line: Line) -> Option<(usize, usize)> {
    let raw = line.of(text);
    let rest = raw.trim_start().strip_prefix('>')?;
    let words = rest.trim_start_matches(['>', ' ', '\t']);
    let start = line.end - words.len();
    Some((start, start + words.trim_end().len()))
}

/// The words after a ` > ` in the claim's own line, when no quotation mark stands there.
fn inline_block_quote(text: &str, read: &Read) -> Option<(usize, usize)> {
    let raw = read.line.of(text);
    let last = read.claims.last()?.head.1;
    let at = last + raw[last..].find(" > ")?;
    let words = &raw[at + 3..];
    if words.trim().is_empty() || read.quotes.iter().any(|q| q.outer.0 >= at) {
        return None;
    }
    Some((read.line.start + at + 3, read.line.start + raw.trim_end().len()))
}

/// Bytes of what may stand beside a quotation and say whose it is.
const LABEL_BYTES_MAX: usize = 400;

/// Whether the line is a quotation with at most a word or two that say whose: tags `quote-label`, `user`, marks and dashes.
fn is_attribution(text: &str, read: &Read) -> bool {
    let raw = read.line.of(text);
    let (Some(first), Some(last)) = (read.quotes.first(), read.quotes.last()) else {
        return false;
    };
    let before = fold(raw[..first.outer.0].trim_matches(|c: char| !c.is_alphanumeric()));
    let after = raw[last.outer.1..].trim_matches(|c: char| !c.is_alphanumeric());
    let label = tag("quote-label") | tag("user");
    let known = |words: &str| {
        // Six units are not longer than this.
        words.len() < LABEL_BYTES_MAX
            && packs().any(|pack| {
                let tokens = crate::text::words::tokens(words);
                let units = pack.units(words, &tokens, &[]);
                let meant = |u: &crate::lexicon::Unit| {
                    u.tags & label != 0 || !words[u.start..u.end].chars().any(char::is_alphanumeric)
                };
                units.len() <= 6 && units.iter().all(meant)
            })
    };
    (before.is_empty() || known(&before)) && (after.is_empty() || known(&fold(after)))
}
