//! History: what was said in the session and the sessions it continues, folded once, ready to be searched for many quotes at a time.

use crate::event::{Message, Origin, Role};
use crate::text::fold::fold;
use aho_corasick::{AhoCorasick, MatchKind};

/// Bytes of folded text kept. Beyond that the oldest tool text goes first, then the oldest of the model's, then the rest:
/// a session of 10,000 messages of 1 KB is 10 MB, and the guest has 256 MiB.
pub const TEXT_BYTES_MAX: usize = 48 << 20;

/// Bytes of quotes looked for in one pass; more quotes make more passes. Keeps the automaton under about 20 MiB.
const PATTERN_BYTES_MAX: usize = 256 << 10;

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

impl Said {
    /// Whether the user's own hand wrote it, as far as the host knows.
    pub fn is_human(&self) -> bool {
        self.message.role == Role::User && self.message.origin == Origin::Human
    }
}

/// Everything said, oldest first.
#[derive(Clone, Debug, Default)]
pub struct History {
    said: Vec<Said>,
    bytes: usize,
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
        self.said.push(Said {
            entry: entry.to_owned(),
            message,
            folded,
        });
        if self.bytes > TEXT_BYTES_MAX {
            self.shed();
        }
    }

    /// Everything said, oldest first.
    pub fn said(&self) -> &[Said] {
        &self.said
    }

    /// Drops the oldest texts until a quarter is free; the entries stay, so that "the row before" keeps its meaning.
    fn shed(&mut self) {
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
    pub fn places(&self, patterns: &[String]) -> Vec<Vec<Place>> {
        let mut out = vec![Vec::new(); patterns.len()];
        let mut from = 0;
        while from < patterns.len() {
            let mut to = from;
            let mut bytes = 0;
            while to < patterns.len() && (to == from || bytes + patterns[to].len() <= PATTERN_BYTES_MAX) {
                bytes += patterns[to].len();
                to += 1;
            }
            self.pass(&patterns[from..to], &mut out[from..to]);
            from = to;
        }
        out
    }

    fn pass(&self, patterns: &[String], out: &mut [Vec<Place>]) {
        let longest = patterns.iter().map(String::len).max().unwrap_or(0);
        let built = AhoCorasick::builder().match_kind(MatchKind::Standard).build(patterns);
        let Ok(automaton) = built else { return };
        for (index, said) in self.said.iter().enumerate() {
            if said.folded.is_empty() || longest == 0 {
                continue;
            }
            for found in automaton.find_overlapping_iter(&said.folded) {
                let places = &mut out[found.pattern().as_usize()];
                if places.len() < PLACES_MAX && at_word_boundaries(&said.folded, found.start(), found.end()) {
                    places.push(Place {
                        said: index,
                        at: found.start(),
                    });
                }
            }
        }
    }
}

/// Whether `start..end` neither begins nor ends inside a word. Scripts without spaces have no inside.
pub fn at_word_boundaries(folded: &str, start: usize, end: usize) -> bool {
    let joined = |before: Option<char>, after: Option<char>| {
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() && !crate::text::fold::is_cjk(c));
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
        let places = history.places(&[
            "use redis".to_owned(),
            "redis".to_owned(),
            "use".to_owned(),
            "edis".to_owned(),
        ]);
        assert_eq!(places[0], [Place { said: 0, at: 10 }, Place { said: 0, at: 21 }]);
        assert_eq!(places[1].len(), 3);
        assert_eq!(places[2].len(), 2);
        assert!(places[3].is_empty());
    }
}
