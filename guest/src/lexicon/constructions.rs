//! The constructions of a pack, and which of them a word can be the head of.

use super::{RawConstruction, Tags};
use crate::rules::Pattern;

/// Constructions that a pack may have, in machine words.
const WORDS: usize = 8;

/// A set of constructions by their places, a bit each.
pub type Set = [u64; WORDS];

/// A construction, ready for use.
pub struct Construction {
    /// As it stands in the data.
    pub raw: RawConstruction,
    /// Its pattern.
    pub pattern: Pattern,
}

/// The constructions of a pack, compiled.
pub struct Constructions {
    all: Vec<Construction>,
    /// For each tag, those whose head may have it.
    by_tag: Vec<Set>,
    /// Those whose head is told by its text, or has no tag that it must have.
    always: Set,
    /// Those that find claims; the others explain them away.
    claims: Set,
    /// Those that look at the whole line; the others look at a sentence.
    lines: Set,
    /// What constructions need, and which of them do: of the tags at least one must stand where they look.
    needs: Vec<(Tags, Set)>,
}

impl Constructions {
    /// Compiles; `tags` gives the bits of the pack's tags. A pattern that does not parse can't be used, and none beyond what a set
    /// holds: the test of the packs keeps both from shipping.
    pub fn new(raw: Vec<RawConstruction>, tags: &dyn Fn(&str) -> Tags) -> Self {
        let compiled = raw.into_iter().filter_map(|raw| {
            let pattern = Pattern::parse(raw.pattern, tags).ok()?;
            Some(Construction { raw, pattern })
        });
        let mut out = Self {
            all: compiled.take(WORDS * 64).collect(),
            by_tag: vec![[0; WORDS]; Tags::BITS as usize],
            always: [0; WORDS],
            claims: [0; WORDS],
            lines: [0; WORDS],
            needs: Vec::new(),
        };
        for (i, construction) in out.all.iter().enumerate() {
            let (word, bit) = (i / 64, 1 << (i % 64));
            if !construction.raw.claim.is_empty() {
                out.claims[word] |= bit;
            }
            if construction.raw.scope == "line" {
                out.lines[word] |= bit;
            }
            for &need in construction.pattern.needs() {
                let known = out.needs.iter().position(|(known, _)| *known == need);
                let at = known.unwrap_or_else(|| {
                    out.needs.push((need, [0; WORDS]));
                    out.needs.len() - 1
                });
                out.needs[at].1[word] |= bit;
            }
            for must in construction.pattern.head_tags() {
                // Any one of the tags that it must have will do; the highest are a pack's own, and the rarest.
                match must.checked_ilog2() {
                    Some(tag) => out.by_tag[tag as usize][word] |= bit,
                    None => out.always[word] |= bit,
                }
            }
        }
        out
    }

    /// All of them, in order.
    pub fn all(&self) -> &[Construction] {
        &self.all
    }

    /// Those that may stand in a sentence with these tags, in a line with those: most lack something that most of them need.
    pub fn for_sentence(&self, sentence: Tags, line: Tags) -> Set {
        let mut out = [u64::MAX; WORDS];
        for (need, set) in &self.needs {
            if need & line == 0 {
                out.iter_mut().zip(set).for_each(|(o, s)| *o &= !s);
            } else if need & sentence == 0 {
                let both = set.iter().zip(&self.lines);
                out.iter_mut().zip(both).for_each(|(o, (s, l))| *o &= !s | l);
            }
        }
        out
    }

    /// Those of `may` that a word with these tags may be the head of, in order: that find claims, or that explain them away.
    pub fn for_head(&self, tags: Tags, claims: bool, may: &Set) -> impl Iterator<Item = &Construction> {
        let mut set = self.always;
        let mut rest = tags;
        while rest != 0 {
            let tag = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            set.iter_mut().zip(&self.by_tag[tag]).for_each(|(s, t)| *s |= t);
        }
        for ((s, c), m) in set.iter_mut().zip(self.claims).zip(may) {
            *s &= if claims { c } else { !c } & m;
        }
        let wanted = set.into_iter();
        wanted.enumerate().flat_map(move |(word, mut bits)| {
            std::iter::from_fn(move || {
                let bit = bits.checked_ilog2().map(|_| bits.trailing_zeros() as usize)?;
                bits &= bits - 1;
                self.all.get(word * 64 + bit)
            })
        })
    }
}
