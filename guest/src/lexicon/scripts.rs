//! Which packs read a line: by its script, and among the languages of the Latin script by the words that a pack knows.

use super::forms::{Key, Next, Read, SLOTS, key, place};
use super::{Pack, Tags, pack, tag};
use crate::text::fold::is_cjk;
use crate::text::words::{Class, Token};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The packs whose script stands in the text; of the Latin ones that which knows most of its words. `likely` is the language that the
/// text is most likely in, or "": a short line tells little by itself.
pub fn packs_for(folded: &str, tokens: &[Token], likely: &str) -> Vec<&'static Pack> {
    let mut scripts = Scripts::default();
    folded.chars().for_each(|c| scripts.count(c));
    let mut wanted: Vec<&str> = Vec::new();
    if scripts.kana > 0 {
        wanted.push("ja");
    } else if scripts.han > 0 {
        wanted.push("zh");
    }
    if scripts.hangul > 0 {
        wanted.push("ko");
    }
    if scripts.cyrillic > 0 {
        wanted.push("ru");
    }
    if scripts.latin > 0 {
        wanted.push(best_latin(folded, tokens, likely));
    }
    wanted.into_iter().filter_map(pack).collect()
}

/// How many characters of each script a line has.
#[derive(Default)]
struct Scripts {
    latin: usize,
    han: usize,
    kana: usize,
    hangul: usize,
    cyrillic: usize,
}

impl Scripts {
    fn count(&mut self, c: char) {
        match c as u32 {
            0x3040..=0x30FF | 0x31F0..=0x31FF => self.kana += 1,
            0xAC00..=0xD7A3 | 0x1100..=0x11FF => self.hangul += 1,
            0x0400..=0x052F => self.cyrillic += 1,
            _ if is_cjk(c) => self.han += 1,
            _ if c.is_alphabetic() => self.latin += 1,
            _ => {}
        }
    }
}

/// The languages of the Latin script; the first on a tie.
const LATIN: [&str; 5] = ["en", "es", "de", "fr", "pt"];

/// Which Latin pack knows most of the text's words, counted in bytes; English on a tie.
fn best_latin(folded: &str, tokens: &[Token], likely: &str) -> &'static str {
    let packs: Vec<&Pack> = LATIN.iter().filter_map(|lang| pack(lang)).collect();
    let mut memories: Vec<_> = packs.iter().map(|pack| pack.memory()).collect();
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if words.is_empty() {
        words.resize(SLOTS, Known::default());
    }
    let mut known = [0; LATIN.len()];
    // Behind the phrase that a pack found last.
    let mut behind = [0; LATIN.len()];
    for (i, token) in tokens.iter().enumerate().filter(|(_, t)| t.class == Class::Word) {
        let word = token.of(folded);
        let kept = key(word).map(|key| {
            let at = place(&key, |at| words[at].key);
            let kept = &mut words[at];
            if kept.key != key {
                *kept = Known {
                    key,
                    ..Known::default()
                };
                for (at, pack) in packs.iter().enumerate() {
                    kept.weights[at] = weight(pack.find(&mut memories[at], folded, &tokens[..=i], i, Read::Either));
                    kept.next[at] = pack.forms.goes_on(&mut memories[at], word);
                }
            }
            *kept
        });
        let rest = &folded.as_bytes()[token.end..];
        for at in 0..packs.len() {
            if i < behind[at] {
                continue;
            }
            let (weight, count) = match kept {
                Some(kept) if !kept.next[at].may_be(rest) => (kept.weights[at], 1),
                _ => {
                    let found = packs[at].find(&mut memories[at], folded, tokens, i, Read::Either);
                    (weight(found), found.0)
                }
            };
            known[at] += usize::from(weight) * (tokens[i + count - 1].end - token.start);
            behind[at] = i + count;
        }
    }
    let mut best = (LATIN[0], 0);
    for (pack, mut known) in packs.iter().zip(known) {
        if pack.lang == likely {
            known += known / 2 + 1;
        }
        if known > best.1 {
            best = (pack.lang, known);
        }
    }
    best.0
}

/// What a form that a pack knows counts. Words that hold a sentence together and words of will count three times: nouns travel between
/// languages ("commit", "message", "archive").
fn weight((count, tags): (usize, Tags)) -> u8 {
    static HOLDING: OnceLock<Tags> = OnceLock::new();
    let names = [
        "func", "light", "act", "conj", "pron", "user", "assent", "polite", "neg", "ask", "ask-any", "cond", "hedge",
        "retract", "first",
    ];
    let holding = *HOLDING.get_or_init(|| names.iter().fold(0, |tags, name| tags | tag(name)));
    match tags {
        0 => 0,
        _ if tags & holding != 0 || count > 1 => 3,
        _ => 1,
    }
}

/// What the Latin packs say of one word that stands alone.
#[derive(Clone, Copy, Default)]
struct Known {
    key: Key,
    weights: [u8; LATIN.len()],
    /// How forms go on behind it.
    next: [Next; LATIN.len()],
}

/// The words that were asked about before: what a text says does not depend on what is kept.
static WORDS: Mutex<Vec<Known>> = Mutex::new(Vec::new());
