//! History: what was said in the session and the sessions it continues, folded once, ready to be searched for many quotes at a time.

use super::readings::Readings;
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
    /// Which grams occur in it.
    grams: Sieve,
}

/// Patterns that are looked for one by one with the help of the sieves; more of them are looked for in one pass.
const SIEVED_MAX: usize = 32;

/// Bits a gram costs: with two bits set a gram, about one gram in fifty seems to occur that does not.
const BITS_A_GRAM: usize = 12;

/// Letters of a word that make its gram: no more than the shortest stem has.
const GRAM_LETTERS: usize = 3;

/// A Bloom filter over the grams of one text: the first letters of each word, each two words that follow each other, and each pair
/// of neighbouring characters of a script without spaces. Tells at once that a text can't hold a quote, so that old messages cost next to nothing.
#[derive(Clone, Debug, Default)]
struct Sieve {
    bits: Vec<u64>,
}

impl Sieve {
    fn new(folded: &str) -> Self {
        let grams = grams_of(folded);
        let words = (grams.len() * BITS_A_GRAM).div_ceil(64).next_power_of_two();
        let mut out = Self {
            bits: vec![0; if grams.is_empty() { 0 } else { words }],
        };
        for gram in grams {
            for bit in out.places(gram) {
                out.bits[bit / 64] |= 1 << (bit % 64);
            }
        }
        out
    }

    fn places(&self, gram: u64) -> [usize; 2] {
        let mask = self.bits.len() * 64 - 1;
        [gram as usize & mask, (gram >> 32) as usize & mask]
    }

    fn may_hold(&self, gram: u64) -> bool {
        !self.bits.is_empty()
            && self
                .places(gram)
                .iter()
                .all(|bit| self.bits[bit / 64] & (1 << (bit % 64)) != 0)
    }
}

/// The hash of each gram. FNV-1a with a final mix: fast, the same everywhere; an attacker who makes grams collide
/// only makes a search slower, never wrong.
fn grams_of(folded: &str) -> Vec<u64> {
    let mut grams = Vec::with_capacity(folded.len() / 3 + 1);
    const START: u64 = 0xcbf2_9ce4_8422_2325;
    let add = |hash: u64, bytes: &[u8]| {
        bytes
            .iter()
            .fold(hash, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
    };
    let mix = |h: u64| (h ^ (h >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bytes = folded.as_bytes();
    // Letters of the word so far, and their hash; the hash of the word before; where the ideograph before stands.
    let (mut letters, mut word, mut before) = (0, START, START);
    let mut previous: Option<usize> = None;
    let mut at = 0;
    while at < bytes.len() {
        let (end, is_letter, cjk) = if bytes[at].is_ascii() {
            (at + 1, bytes[at].is_ascii_alphanumeric(), false)
        } else {
            let c = folded[at..].chars().next().unwrap_or(' ');
            let cjk = is_cjk(c);
            (at + c.len_utf8(), !cjk && c.is_alphanumeric(), cjk)
        };
        if let Some(from) = previous.filter(|_| cjk) {
            grams.push(mix(add(START, &bytes[from..end])));
        }
        previous = cjk.then_some(at);
        if is_letter {
            letters += 1;
            if letters <= GRAM_LETTERS {
                word = add(word, &bytes[at..end]);
            }
        }
        // A word is told by its first letters; two words that follow each other are a gram of their own.
        if letters > 0 && (is_letter && letters == GRAM_LETTERS || !is_letter && letters < GRAM_LETTERS) {
            grams.push(mix(word));
            if before != START {
                grams.push(mix(before.rotate_left(17) ^ word));
            }
            before = word;
        }
        if !is_letter && letters > 0 {
            (letters, word) = (0, START);
        }
        at = end;
    }
    if letters > 0 && letters < GRAM_LETTERS {
        grams.push(mix(word));
        if before != START {
            grams.push(mix(before.rotate_left(17) ^ word));
        }
    }
    grams
}

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
        let grams = Sieve::new(&folded);
        self.said.push(Said {
            entry: entry.to_owned(),
            message,
            folded,
            grams,
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

    /// Where one pattern occurs, looking only into texts that may hold it.
    fn sieved(&self, pattern: &str, work: &Work, places: &mut Vec<Place>) {
        work.take(self.said.len());
        let grams = grams_of(pattern);
        let finder = memmem::Finder::new(pattern.as_bytes());
        for (index, said) in self.said.iter().enumerate() {
            if pattern.is_empty() || !grams.iter().all(|&g| said.grams.may_hold(g)) {
                continue;
            }
            if !work.take(said.folded.len() / 16) {
                return;
            }
            for at in finder.find_iter(said.folded.as_bytes()) {
                if places.len() < PLACES_MAX && at_word_boundaries(&said.folded, at, at + pattern.len()) {
                    places.push(Place { said: index, at });
                }
            }
        }
    }

    /// Whether a text may have a word with one of these stems; when it says no, it has none.
    pub fn may_share(&self, said: usize, stems: &[&str]) -> bool {
        let grams = &self.said[said].grams;
        stems.iter().any(|stem| {
            let cjk = stem.starts_with(is_cjk);
            // Shorter stems are beginnings of words with other grams, or have none.
            let told = stem.chars().nth(if cjk { 1 } else { GRAM_LETTERS - 1 }).is_some();
            !told || grams_of(stem).first().is_none_or(|&gram| grams.may_hold(gram))
        })
    }

    /// The indices of what the user said that seems to share most of these stems, best and newest first; at most `max`.
    pub fn near(&self, stems: &[&str], max: usize) -> Vec<usize> {
        let grams: Vec<u64> = stems.iter().take(64).flat_map(|stem| grams_of(stem)).collect();
        let mut scored: Vec<(usize, usize)> = Vec::new();
        for (index, said) in self.said.iter().enumerate().filter(|(_, s)| s.is_human()) {
            let score = grams.iter().filter(|&&g| said.grams.may_hold(g)).count();
            if score > 0 {
                scored.push((score, index));
            }
        }
        scored.sort_unstable_by(|a, b| b.cmp(a));
        scored.into_iter().take(max).map(|(_, index)| index).collect()
    }

    fn pass(&self, patterns: &[String], work: &Work, out: &mut [Vec<Place>]) {
        work.take(patterns.iter().map(String::len).sum());
        let prepared = Patterns::new(patterns);
        for (index, said) in self.said.iter().enumerate() {
            if !work.take(said.folded.len()) {
                return;
            }
            prepared.each(&said.folded, |pattern, end| {
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

    #[test]
    fn a_sieve_never_denies_what_a_text_holds() {
        let text = fold("Wir nehmen Öl, o'neil's v2.5 and a-b; ui é 삭제해 주세요. 用 Redis 做队列 x");
        let sieve = Sieve::new(&text);
        let ends: Vec<usize> = (0..=text.len())
            .filter(|&at| text.is_char_boundary(at) && at_word_boundaries(&text, at, at))
            .collect();
        let parts = ends.iter().enumerate();
        let parts: Vec<&str> = parts
            .flat_map(|(i, &a)| ends[i..].iter().map(move |&b| (a, b)))
            .map(|(a, b)| &text[a..b])
            .collect();
        assert!(parts.len() > 500);
        let denied: Vec<&&str> = parts
            .iter()
            .filter(|part| !grams_of(part).iter().all(|&gram| sieve.may_hold(gram)))
            .collect();
        assert_eq!(denied, Vec::<&&str>::new());
    }
}
