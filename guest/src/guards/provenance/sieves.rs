//! Sieves: which messages may hold which words, told from a few bits, so that old messages cost next to nothing.
//!
//! A sieve is a Bloom filter over the grams of one text: the first letters of each word, each two words that follow each other,
//! and each pair of neighbouring characters of a script without spaces. The sieves of all short texts stand side by side, bit by
//! bit: one word of memory answers for 64 messages.

use crate::text::fold::is_cjk;

/// Letters of a word that make its gram: no more than the shortest stem has.
pub const GRAM_LETTERS: usize = 3;

/// Bits of a short text's sieve. With two bits set a gram, 350 grams (1 KB of English) let one gram in forty seem to occur that
/// does not.
const ROWS: usize = 4096;

/// Grams of a short text at most; with so many, one gram in twelve seems to occur that does not. Longer texts have a sieve of their own.
const SHORT_GRAMS_MAX: usize = 700;

/// Bits that a gram of a long text costs: about one gram in fifty seems to occur that does not.
const BITS_A_GRAM: usize = 12;

/// The sieves of a history, oldest first.
#[derive(Clone, Default)]
pub struct Sieves {
    /// For each 64 messages, one word for each bit of their sieves.
    blocks: Vec<Box<[u64]>>,
    /// For each 64 messages, which of them the user's own hand wrote.
    human: Vec<u64>,
    /// Sieves of long texts, by message.
    long: Vec<(usize, Sieve)>,
    count: usize,
}

/// The sieve of one long text.
#[derive(Clone)]
struct Sieve(Vec<u64>);

impl Sieve {
    fn new(grams: &[u64]) -> Self {
        let mut out = Self(vec![0; (grams.len() * BITS_A_GRAM).div_ceil(64).next_power_of_two()]);
        for &gram in grams {
            for bit in places(gram, out.0.len() * 64) {
                out.0[bit / 64] |= 1 << (bit % 64);
            }
        }
        out
    }

    fn may_hold(&self, gram: u64) -> bool {
        places(gram, self.0.len() * 64)
            .iter()
            .all(|bit| self.0[bit / 64] & (1 << (bit % 64)) != 0)
    }
}

/// The two bits of a gram among so many, a power of two.
const fn places(gram: u64, bits: usize) -> [usize; 2] {
    [gram as usize & (bits - 1), (gram >> 32) as usize & (bits - 1)]
}

impl Sieves {
    /// Adds the sieve of the next message.
    pub fn add(&mut self, folded: &str, human: bool) {
        let (block, column) = (self.count / 64, self.count % 64);
        if column == 0 {
            self.blocks.push(vec![0; ROWS].into_boxed_slice());
            self.human.push(0);
        }
        self.human[block] |= u64::from(human) << column;
        let grams = grams_of(folded);
        if grams.len() > SHORT_GRAMS_MAX {
            self.long.push((self.count, Sieve::new(&grams)));
        } else {
            let rows = &mut self.blocks[block];
            for row in grams.into_iter().flat_map(|gram| places(gram, ROWS)) {
                rows[row] |= 1 << column;
            }
        }
        self.count += 1;
    }

    /// Whether a message may hold a gram; when it says no, the message does not.
    pub fn may_hold(&self, message: usize, gram: u64) -> bool {
        match self.long.binary_search_by_key(&message, |(at, _)| *at) {
            Ok(at) => self.long[at].1.may_hold(gram),
            Err(_) => self.column(message / 64, gram) >> (message % 64) & 1 == 1,
        }
    }

    /// Which of 64 short messages may hold a gram.
    fn column(&self, block: usize, gram: u64) -> u64 {
        let [one, other] = places(gram, ROWS);
        self.blocks[block][one] & self.blocks[block][other]
    }

    /// The messages that may hold all of these grams, oldest first: no others do. All messages where there is no gram.
    pub fn holding_all(&self, grams: &[u64]) -> Vec<usize> {
        if grams.is_empty() {
            return (0..self.count).collect();
        }
        let mut out: Vec<usize> = Vec::new();
        let mut long = self.long.iter().peekable();
        for block in 0..self.blocks.len() {
            let mut left = grams
                .iter()
                .try_fold(u64::MAX, |left, &gram| {
                    Some(left & self.column(block, gram)).filter(|&l| l != 0)
                })
                .unwrap_or(0);
            while let Some((at, sieve)) = long.next_if(|(at, _)| at / 64 == block) {
                left |= u64::from(grams.iter().all(|&gram| sieve.may_hold(gram))) << (at % 64);
            }
            while left != 0 {
                out.push(block * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
        out
    }

    /// The user's messages that may hold most of these grams, best and newest first; at most `max`, and none that holds none.
    pub fn holding_most(&self, grams: &[u64], max: usize) -> Vec<usize> {
        let mut best: Vec<(u32, usize)> = Vec::with_capacity(max + 1);
        let mut offer = |score: u32, message: usize| {
            if score > 0 && (best.len() < max || best.last().is_some_and(|&last| (score, message) > last)) {
                let at = best.partition_point(|&other| other > (score, message));
                best.insert(at, (score, message));
                best.truncate(max);
            }
        };
        for (block, &human) in self.human.iter().enumerate().filter(|(_, human)| **human != 0) {
            // The counts of 64 messages, their binary digits side by side: adding one is a few operations for all.
            let mut digits = [0_u64; 8];
            for &gram in grams {
                let mut carry = self.column(block, gram) & human;
                for digit in &mut digits {
                    (*digit, carry) = (*digit ^ carry, *digit & carry);
                    if carry == 0 {
                        break;
                    }
                }
            }
            let mut left = digits.iter().fold(0, |any, digit| any | digit);
            while left != 0 {
                let column = left.trailing_zeros();
                left &= left - 1;
                let count = (0..8).fold(0, |n, i| n | (digits[i as usize] >> column & 1) << i);
                offer(count as u32, block * 64 + column as usize);
            }
        }
        for (message, sieve) in &self.long {
            if self.human[message / 64] >> (message % 64) & 1 == 1 {
                offer(
                    grams.iter().filter(|&&gram| sieve.may_hold(gram)).count() as u32,
                    *message,
                );
            }
        }
        best.into_iter().map(|(_, message)| message).collect()
    }
}

/// The hash of each gram. FNV-1a with a final mix: fast, the same everywhere; an attacker who makes grams collide
/// only makes a search slower, never wrong.
pub fn grams_of(folded: &str) -> Vec<u64> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guards::provenance::history::at_word_boundaries;
    use crate::text::fold::fold;

    #[test]
    fn a_sieve_never_denies_what_a_text_holds() {
        let text = fold("Wir nehmen Öl, o'neil's v2.5 and a-b; ui é 삭제해 주세요. 用 Redis 做队列 x");
        let mut sieves = Sieves::default();
        sieves.add(&text, true);
        sieves.add(&text.repeat(40), true);
        assert_eq!(sieves.long.len(), 1);
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
            .filter(|part| sieves.holding_all(&grams_of(part)) != [0, 1])
            .collect();
        assert_eq!(denied, Vec::<&&str>::new());
    }

    #[test]
    fn the_best_come_first_and_the_newest_of_equals() {
        let mut sieves = Sieves::default();
        for number in 0..200 {
            sieves.add(
                if number % 50 == 7 {
                    "drop the staging database"
                } else {
                    "the weather"
                },
                number != 157,
            );
        }
        sieves.add(&"drop staging and other words of a long text ".repeat(200), true);
        let grams: Vec<u64> = ["drop", "staging", "database"]
            .iter()
            .flat_map(|w| grams_of(w))
            .collect();
        assert_eq!(sieves.holding_most(&grams, 4), [107, 57, 7, 200]);
        assert_eq!(sieves.holding_all(&grams), [7, 57, 107, 157]);
        assert_eq!(sieves.holding_most(&grams_of("goldfish"), 4), Vec::<usize>::new());
    }
}
