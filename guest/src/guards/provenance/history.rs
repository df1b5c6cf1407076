//! History: what was said in the session and the sessions it continues, folded once, ready to be searched for many quotes at a time.

use super::readings::Readings;
use super::sieves::{GRAM_LETTERS, Sieves, grams_of};
use super::speech::Reading;
use crate::event::{Message, Origin, Role};
use crate::text::fold::{Folded, fold, is_cjk};
use crate::text::search::Patterns;
use crate::work::Work;
use memchr::memmem;
use std::rc::Rc;

/// Bytes of folded text kept. Beyond that the oldest tool text goes first, then the oldest of the model's, then the rest:
/// a session of 10,000 messages of 1 KB is 10 MB, and the guest has 256 MiB.
pub const TEXT_BYTES_MAX: usize = 48 << 20;

/// Bytes of quotes looked for in one pass; more quotes make more passes. Keeps the automaton under about 20 MiB.
const PATTERN_BYTES_MAX: usize = 256 << 10;

/// Grams of a claim by which messages near it are looked for.
const GRAMS_MAX: usize = 128;

/// What reading a byte of a message costs.
const STEPS_A_BYTE_READ: usize = 30;

/// Places kept for one pattern: a pattern of one letter occurs everywhere, and the first few hundred tell as much as all.
const PLACES_MAX: usize = 256;

/// One thing that was said.
#[derive(Clone, Debug)]
pub struct Said {
    /// The entry that holds it.
    pub entry: String,
    /// The message; its text as it was said.
    pub message: Message,
    /// Its text, folded.
    pub folded: String,
}

/// Patterns that are looked for one by one with the help of the sieves; more of them are looked for in one pass.
const SIEVED_MAX: usize = 32;

impl Said {
    /// Whether the user's own hand wrote it, as far as the host knows.
    pub fn is_human(&self) -> bool {
        self.message.role == Role::User && self.message.origin == Origin::Human
    }
}

/// Everything said, oldest first.
#[derive(Clone, Default)]
pub struct History {
    said: Vec<Said>,
    sieves: Sieves,
    bytes: usize,
    readings: Readings,
}

/// Where a pattern occurs: the index of what was said, and the byte in its folded text where the pattern begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Index into [`History::said`].
    pub said: usize,
    /// Byte offset in the folded text.
    pub at: usize,
}

impl History {
    /// Adds what was said.
    pub fn add(&mut self, entry: &str, message: Message) {
        let folded = fold(&message.text);
        self.bytes += folded.len();
        self.sieves
            .add(&folded, message.role == Role::User && message.origin == Origin::Human);
        self.said.push(Said {
            entry: entry.to_owned(),
            message,
            folded,
        });
        if self.bytes > TEXT_BYTES_MAX {
            self.shed();
        }
    }

    /// What was said, read closely. Reading takes work; what was read before does not.
    pub fn reading(&self, said: usize, likely: &'static str, work: &Work) -> Rc<Reading> {
        let text = &self.said[said].message.text;
        let (reading, made) = self.readings.get(said, text, likely);
        if made {
            work.take(text.len() * STEPS_A_BYTE_READ);
        }
        reading
    }

    /// Half-open bytes in a text as it was said behind those of its folded text.
    pub fn original(&self, said: usize, span: (usize, usize)) -> (usize, usize) {
        self.readings
            .original(said, span)
            .unwrap_or_else(|| Folded::new(&self.said[said].message.text).original(span.0, span.1))
    }

    /// Everything said, oldest first.
    pub fn said(&self) -> &[Said] {
        &self.said
    }

    /// Drops the oldest texts until a quarter is free; the entries stay, so that "the row before" keeps its meaning.
    fn shed(&mut self) {
        self.readings.clear();
        for role in [Role::Tool, Role::System, Role::Assistant, Role::User] {
            for said in self.said.iter_mut().filter(|s| s.message.role == role) {
                if self.bytes <= TEXT_BYTES_MAX / 4 * 3 {
                    return;
                }
                self.bytes -= said.folded.len();
                said.folded = String::new();
                said.message.text = String::new();
            }
        }
    }

    /// Where each pattern (folded, not empty) occurs between word boundaries, in order. One pass for all of them.
    /// Stops when the work is spent.
    pub fn places(&self, patterns: &[String], work: &Work) -> Vec<Vec<Place>> {
        let mut out = vec![Vec::new(); patterns.len()];
        if patterns.len() <= SIEVED_MAX {
            patterns
                .iter()
                .zip(&mut out)
                .for_each(|(pattern, places)| self.sieved(pattern, work, places));
            return out;
        }
        let mut from = 0;
        while from < patterns.len() {
            let mut to = from;
            let mut bytes = 0;
            while to < patterns.len() && (to == from || bytes + patterns[to].len() <= PATTERN_BYTES_MAX) {
                bytes += patterns[to].len();
                to += 1;
            }
            self.pass(&patterns[from..to], work, &mut out[from..to]);
            from = to;
        }
        out
    }

    /// Whether the user said this (folded, between word boundaries) somewhere.
    pub fn is_said(&self, pattern: &str, work: &Work) -> bool {
        let mut found = false;
        self.each_place(pattern, work, |place| {
            found = self.said[place.said].is_human();
            !found
        });
        found
    }

    /// Where one pattern occurs.
    fn sieved(&self, pattern: &str, work: &Work, places: &mut Vec<Place>) {
        self.each_place(pattern, work, |place| {
            places.push(place);
            places.len() < PLACES_MAX
        });
    }

    /// Calls `found` with each place of a pattern for as long as it says so, looking only into texts that may hold it.
    fn each_place(&self, pattern: &str, work: &Work, mut found: impl FnMut(Place) -> bool) {
        if pattern.is_empty() || !work.take(self.said.len() / 16 + pattern.len()) {
            return;
        }
        let finder = memmem::Finder::new(pattern.as_bytes());
        for index in self.sieves.holding_all(&grams_of(pattern)) {
            let said = &self.said[index];
            if !work.take(said.folded.len() / 16) {
                return;
            }
            for at in finder.find_iter(said.folded.as_bytes()) {
                if at_word_boundaries(&said.folded, at, at + pattern.len()) && !found(Place { said: index, at }) {
                    return;
                }
            }
        }
    }

    /// Whether a text may have a word with one of these stems; when it says no, it has none.
    pub fn may_share(&self, said: usize, stems: &[&str]) -> bool {
        stems.iter().any(|stem| {
            let cjk = stem.starts_with(is_cjk);
            // Shorter stems are beginnings of words with other grams, or have none.
            let told = stem.chars().nth(if cjk { 1 } else { GRAM_LETTERS - 1 }).is_some();
            !told
                || grams_of(stem)
                    .first()
                    .is_none_or(|&gram| self.sieves.may_hold(said, gram))
        })
    }

    /// The indices of what the user said that seems to share most of these stems, best and newest first; at most `max`.
    pub fn near(&self, stems: &[&str], max: usize) -> Vec<usize> {
        let grams: Vec<u64> = stems.iter().flat_map(|stem| grams_of(stem)).take(GRAMS_MAX).collect();
        self.sieves.holding_most(&grams, max)
    }

    fn pass(&self, patterns: &[String], work: &Work, out: &mut [Vec<Place>]) {
        work.take(patterns.iter().map(String::len).sum());
        let prepared = Patterns::new(patterns);
        for (index, said) in self.said.iter().enumerate() {
            if !work.take(said.folded.len()) {
                return;
            }
            prepared.each(said.folded.as_bytes(), |pattern, end| {
                let (at, places) = (end - patterns[pattern].len(), &mut out[pattern]);
                if places.len() < PLACES_MAX && at_word_boundaries(&said.folded, at, end) {
                    places.push(Place { said: index, at });
                }
                work.take(1)
            });
        }
    }
}

/// Whether `start..end` neither begins nor ends inside a word. Scripts without spaces have no inside.
pub fn at_word_boundaries(folded: &str, start: usize, end: usize) -> bool {
    let joined = |before: Option<char>, after: Option<char>| {
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !is_cjk(c));
        word(before) && word(after)
    };
    let cut = |at: usize| joined(folded[..at].chars().next_back(), folded[at..].chars().next());
    !cut(start) && !cut(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_all_patterns_in_one_pass_at_word_boundaries() {
        let mut history = History::default();
        let message = |text: &str| Message {
            role: Role::User,
            origin: Origin::Human,
            author: String::new(),
            text: text.to_owned(),
        };
        history.add("a", message("Reuse it; use Redis, use Redis now"));
        history.add("b", message("用 Redis 做队列"));
        let patterns = [
            "use redis".to_owned(),
            "redis".to_owned(),
            "use".to_owned(),
            "edis".to_owned(),
        ];
        let places = history.places(&patterns, &Work::default());
        assert_eq!(places[0], [Place { said: 0, at: 10 }, Place { said: 0, at: 21 }]);
        assert_eq!(places[1].len(), 3);
        assert_eq!(places[2].len(), 2);
        assert!(places[3].is_empty());
    }
}
