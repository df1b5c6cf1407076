//! A stream, judged as it comes: answers as soon as a loop is certain.
//!
//! Exact loops are looked for in the last bytes, at fixed places of the stream; those with long copies by marks that the text
//! itself chooses (where a hash of 32 bytes begins with zeros) and that come back at one distance; loops without news token by
//! token. All see characters, not pieces, so that the answer does not depend on how the stream was cut. Memory is bounded: a
//! tail of [`TAIL`] bytes, a table of its borders, [`MARKS`] marks, and the tables of [`super::near`]; less than 64 KiB in all.

use super::exact::{Shape, is_encoded, shape};
use super::near::Watch;
use super::tokens::{Tokens, mix};
use super::{Rule, answer, limits};

/// Bytes of the stream that are kept.
const TAIL: usize = 4096;
/// Bytes that are looked at often, and how often: every so many bytes.
const SHORT: (usize, usize) = (1024, 64);
/// Bytes that are looked at seldom.
const LONG: (usize, usize) = (TAIL, 256);
/// Marks that are remembered; there is one every 32 bytes on average.
const MARKS: usize = 1024;
/// Triples of tokens that are remembered, as a power of two.
const TRIPLES: u32 = 11;

/// A loop in a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// What it is.
    pub rule: Rule,
    /// Byte of the stream at which it begins.
    pub start: usize,
    /// Byte at which it was certain.
    pub end: usize,
    /// One copy, shortened for a person.
    pub unit: String,
    /// Code points of one copy; of copies that differ, of a copy on average.
    pub period: usize,
    /// Copies so far.
    pub copies: usize,
}

/// Watches one stream.
pub struct Stream {
    tail: Vec<u8>,
    /// Bytes that came.
    total: usize,
    /// For the look at the tail: how many bytes before its end equal those before an earlier place.
    borders: Vec<u16>,
    /// A hash of the last 32 bytes.
    rolling: u32,
    /// Hash and place of each mark.
    marks: Vec<(u32, u32)>,
    /// How far back the last marks stood, where that began, and how many stood elsewhere since.
    streak: (usize, usize, u32),
    /// Up to where a run was the empty part of an encoded blob.
    encoded: usize,
    tokens: Tokens,
    watch: Watch,
    over: bool,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            tail: Vec::with_capacity(TAIL),
            total: 0,
            borders: Vec::new(),
            rolling: 0,
            marks: vec![(0, 0); MARKS],
            streak: (0, 0, 0),
            encoded: 0,
            tokens: Tokens::default(),
            watch: Watch::new(TRIPLES),
            over: false,
        }
    }
}

impl Stream {
    /// Takes a piece. Answers once, when a loop is certain; what comes after that is not looked at.
    pub fn push(&mut self, piece: &str) -> Option<Loop> {
        if self.over {
            return None;
        }
        let found = piece.chars().find_map(|c| self.take(c));
        self.over = found.is_some();
        found
    }

    /// Bytes that were looked at.
    pub const fn total(&self) -> usize {
        self.total
    }

    fn take(&mut self, c: char) -> Option<Loop> {
        let before = self.total;
        if self.tail.len() + 4 > TAIL {
            self.tail.drain(..TAIL / 8);
        }
        let mut long = None;
        for &byte in c.encode_utf8(&mut [0; 4]).as_bytes() {
            self.tail.push(byte);
            self.total += 1;
            self.rolling = (self.rolling << 1).wrapping_add(mix(0x9E37, u32::from(byte)));
            if self.rolling >> 27 == 0 {
                long = long.or(self.mark());
            }
        }
        let mut without_news = false;
        let (watch, whole) = (&mut self.watch, before.max(2 * limits::WORDS_BYTES));
        self.tokens.push(c, before, &mut |token| {
            watch.token(token);
            let region = watch.peak();
            without_news |= region.end == token.end && region.is_loop(whole);
        });
        let passes = |every: usize| before / every != self.total / every;
        let exact = if passes(LONG.1) {
            self.exact(LONG.0, limits::STREAM_CHARS)
        } else if passes(SHORT.1) {
            self.exact(SHORT.0, limits::STREAM_CHARS)
        } else {
            None
        };
        let exact = exact.or_else(|| self.marked(long?));
        exact.or_else(|| without_news.then(|| self.varied()))
    }

    /// Notes the mark that ends here. Gives the distance at which the last marks came back, if that is more than a copy.
    fn mark(&mut self) -> Option<usize> {
        // Four marks share a place; the oldest makes room.
        let place = mix(1, self.rolling) as usize % (MARKS / 4) * 4;
        let four = &mut self.marks[place..place + 4];
        let known = four.iter().position(|&(hash, _)| hash == self.rolling);
        let (hash, place) = four[known.unwrap_or(3)];
        four[..=known.unwrap_or(3)].rotate_right(1);
        four[0] = (self.rolling, self.total as u32);
        let (distance, from, strayed) = &mut self.streak;
        let back = self.total.saturating_sub(place as usize);
        if hash == self.rolling && back == *distance {
            *strayed = 0;
        } else if hash == self.rolling && *distance > back && *strayed < 8 {
            // The same words stand twice in one copy.
            *strayed += 1;
        } else if hash == self.rolling {
            (*distance, *from, *strayed) = (back, self.total - 32, 0);
        } else {
            // New words; or the mark had to make room.
            *strayed += 4;
            if *strayed > 8 {
                *distance = 0;
            }
        }
        (*strayed == 0 && *distance > TAIL / 3 && self.total - *from >= *distance + *distance / 2).then_some(*distance)
    }

    /// The loop whose copies are so many bytes long, if it is one of words.
    fn marked(&self, distance: usize) -> Option<Loop> {
        let from = self.tail.len().saturating_sub(distance);
        let text = String::from_utf8_lossy(&self.tail[from..]);
        (shape(&text, None) == Shape::Words).then(|| {
            let start = self.streak.1 - distance;
            let period = text.chars().count() * distance / text.len();
            Loop {
                rule: Rule::Exact,
                start,
                end: self.total,
                unit: answer::shown(&text),
                period,
                copies: (self.total - start) / distance,
            }
        })
    }

    /// A loop that the last bytes are, in which nothing but its period is looked for.
    fn exact(&mut self, most: usize, said: usize) -> Option<Loop> {
        let from = self.tail.len().saturating_sub(most);
        let from = (from..self.tail.len()).find(|&i| self.tail[i] & 0xC0 != 0x80)?;
        borders(&self.tail[from..], &mut self.borders);
        let text = std::str::from_utf8(&self.tail[from..]).ok()?;
        let mut tried = 0;
        for period in 1..=text.len() / 2 {
            let length = self.borders[period] as usize + period;
            let least = match period {
                0..limits::STREAM_LONG_CHARS => limits::COPIES * period,
                limits::STREAM_LONG_CHARS..limits::STREAM_PAGE_CHARS => period * 5 / 2,
                _ => period * 17 / 8,
            };
            if length < least.max(limits::SAID_CHARS) {
                continue;
            }
            let start = text.len() - length;
            let start = (start..text.len()).find(|&i| text.is_char_boundary(i))?;
            let begins = self.total - (text.len() - start);
            if is_encoded(&text[..start]) || begins < self.encoded {
                self.encoded = self.total;
                return None;
            }
            if let Some(found) = self.certain(text.split_at(start), period, said) {
                return Some(found);
            }
            tried += 1;
            if tried == 4 {
                break;
            }
        }
        None
    }

    /// The loop, if a run up to here is enough of one.
    fn certain(&self, (before, run): (&str, &str), period: usize, said: usize) -> Option<Loop> {
        let unit = run.get(..period)?;
        let chars = run.chars().count();
        let each = unit.chars().count();
        let copies = chars / each;
        let enough = match shape(unit, None) {
            Shape::Blank => chars >= limits::BLANK_CHARS,
            Shape::Fill => chars >= limits::FILL_CHARS,
            Shape::Lines => chars >= limits::SURE_CHARS && copies >= limits::WORD_COPIES,
            Shape::Numbers => false,
            // It isn't known yet whether a list is closed, but whether it was opened.
            Shape::List => chars >= limits::FILL_CHARS && (run.len() == self.total || is_outside(before)),
            Shape::Word => copies >= limits::WORD_COPIES && chars >= said,
            Shape::Words => chars >= said,
        };
        enough.then(|| Loop {
            rule: Rule::Exact,
            start: self.total - run.len(),
            end: self.total,
            unit: answer::shown(unit),
            period: each,
            copies,
        })
    }

    fn varied(&mut self) -> Loop {
        if let Some(exact) = self.exact(SHORT.0, limits::SAID_CHARS) {
            return exact;
        }
        let region = self.watch.peak();
        let bytes = region.end - region.start;
        let copies = (region.copies() / 100).max(1) as usize;
        let text = String::from_utf8_lossy(&self.tail);
        let last = text
            .char_indices()
            .rev()
            .map(|(at, _)| at)
            .find(|at| text.len() - at >= bytes / copies);
        let unit = &text[last.unwrap_or(0)..];
        Loop {
            rule: if region.is_in_turn() {
                Rule::Near
            } else {
                Rule::NoNewInformation
            },
            start: region.start,
            end: self.total,
            unit: answer::shown(unit),
            period: unit.chars().count(),
            copies,
        }
    }
}

/// Whether a list that begins here stands in no brackets. Unknown where the tail begins with it.
fn is_outside(before: &str) -> bool {
    !before.is_empty() && !before.chars().rev().take(40).any(|c| matches!(c, '[' | '(' | '{'))
}

/// For every `period` how many of the last bytes equal those `period` bytes earlier (Gusfield's Z, from the end).
fn borders(tail: &[u8], out: &mut Vec<u16>) {
    let n = tail.len();
    out.clear();
    out.resize(n, 0);
    let back = |i: usize| tail[n - 1 - i];
    let (mut left, mut right) = (0, 0);
    for i in 1..n {
        let mut equal = if i < right {
            (right - i).min(out[i - left] as usize)
        } else {
            0
        };
        while i + equal < n && back(equal) == back(i + equal) {
            equal += 1;
        }
        if i + equal > right {
            (left, right) = (i, i + equal);
        }
        out[i] = equal as u16;
    }
}
