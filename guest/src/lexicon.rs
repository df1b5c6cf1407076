//! Language packs: which words a language has for what, and how a line is cut into tagged units.
//!
//! A pack is a folder under `corpus/lexicon/`: `words.csv` (tags, forms, why) and `constructions.toml`. A form may have several
//! words; a form that ends in `*` is a prefix of one word, one that begins with `*` a suffix. The longest form wins. Tags are only names: what they mean is said by
//! the constructions that use them, and by the few that code asks for (documented in `corpus/README.md`).

use crate::rules::{Construction, Pattern};
use crate::text::fold::is_cjk;
use crate::text::segment;
use crate::text::words::{Class, Token};
use std::borrow::Cow;
use std::sync::OnceLock;

/// A set of tags, a bit each.
pub type Tags = u128;

/// Set by the build script on forms of `speech.csv` alone: they would join or hide words of a note. No unit has it.
const SPEECH_ONLY: Tags = 1 << 127;

/// One pack as the build script wrote it.
pub struct RawPack {
    lang: &'static str,
    /// Characters that are read as others of as many bytes, sorted.
    shapes: &'static [(char, char)],
    /// Sorted by form.
    words: &'static [(&'static str, Tags)],
    constructions: &'static [RawConstruction],
}

/// One construction as the build script wrote it.
pub struct RawConstruction {
    /// Its name in its pack.
    pub id: &'static str,
    /// In the language of `rules.rs`.
    pub pattern: &'static str,
    /// The kind of claim it finds; `act` takes it from the head's tags.
    pub claim: &'static str,
    /// Or why its head is no claim.
    pub not: &'static str,
    /// `sentence` ("") or `line`.
    pub scope: &'static str,
    /// Whether it holds against the `not` constructions.
    pub strong: bool,
    /// Why it is there, for people.
    pub reason: &'static str,
    /// Lines it must find.
    pub hits: &'static [&'static str],
    /// Lines it must not find.
    pub misses: &'static [&'static str],
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// The bit of a tag; no bit for a name that no pack uses.
pub fn tag(name: &str) -> Tags {
    TAGS.binary_search_by(|t| t.0.cmp(name)).map_or(0, |i| 1 << TAGS[i].1)
}

/// The names of all tags that patterns or code ask for, sorted, with their bits; tags that never meet may share one.
pub fn tag_names() -> &'static [(&'static str, u32)] {
    TAGS
}

/// A word, a phrase or a quotation of a line, with what the pack says about it: half-open bytes into the folded line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What it is.
    pub tags: Tags,
}

/// A language, ready for use.
pub struct Pack {
    /// BCP 47 primary tag.
    pub lang: &'static str,
    shapes: &'static [(char, char)],
    words: &'static [(&'static str, Tags)],
    /// Its constructions, its own and the shared ones.
    pub constructions: Vec<Construction>,
    endings: Vec<&'static str>,
}

/// All packs, in the order of their tags. Parsed once a process.
pub fn packs() -> &'static [Pack] {
    static PARSED: OnceLock<Vec<Pack>> = OnceLock::new();
    PARSED.get_or_init(|| PACKS.iter().map(Pack::new).collect())
}

/// The pack of a language.
pub fn pack(lang: &str) -> Option<&'static Pack> {
    packs().iter().find(|p| p.lang == lang)
}

impl Pack {
    fn new(raw: &'static RawPack) -> Self {
        // A pattern that does not parse can't be used; the test `every_construction_parses` keeps that from shipping.
        let constructions = raw.constructions.iter().filter_map(|c| {
            let pattern = Pattern::parse(c.pattern).ok()?;
            Some(Construction { raw: c, pattern })
        });
        let ending = tag("ending");
        let endings = raw
            .words
            .iter()
            .filter(|w| w.1 & ending != 0)
            .filter_map(|w| w.0.strip_prefix('-'));
        Self {
            lang: raw.lang,
            shapes: raw.shapes,
            words: raw.words,
            constructions: constructions.collect(),
            endings: endings.collect(),
        }
    }

    /// The constructions as they stand in the data, for tests and `explain`.
    pub fn raw(&self) -> &'static [RawConstruction] {
        PACKS
            .iter()
            .find(|p| p.lang == self.lang)
            .map_or(&[], |p| p.constructions)
    }

    /// Endings that a light stem cuts off: forms `-…` with the tag `ending`.
    pub fn endings(&self) -> &[&'static str] {
        &self.endings
    }

    /// The forms of the pack, for tests.
    pub fn forms(&self) -> impl Iterator<Item = &'static str> {
        self.words.iter().map(|w| w.0)
    }

    /// The tags of the longest form that begins at token `i`, and how many tokens it has; one token without tags otherwise.
    pub fn look_up(&self, folded: &str, tokens: &[Token], i: usize) -> (usize, Tags) {
        self.find(folded, tokens, i, 0)
    }

    /// As [`Self::look_up`], without forms that have one of the tags `skip`.
    fn find(&self, folded: &str, tokens: &[Token], i: usize, skip: Tags) -> (usize, Tags) {
        let head = tokens[i];
        let rest = &folded[head.start..];
        let word = head.of(folded);
        let from = self.words.partition_point(|w| w.0 < word);
        let mut best = (1, 0, 0);
        for &(form, tags) in self.words[from..].iter().take_while(|w| w.0.starts_with(word)) {
            if form.len() > best.2 && tags & skip == 0 && rest.starts_with(form) {
                let end = head.start + form.len();
                let last = tokens[i..].partition_point(|t| t.end < end);
                if tokens.get(i + last).is_some_and(|t| t.end == end) {
                    best = (last + 1, tags, form.len());
                }
            }
        }
        if best.2 == 0 && head.class == Class::Word {
            best.1 = self.affixed(word);
        }
        (best.0, best.1 & !SPEECH_ONLY)
    }

    /// The tags of the longest `…*` form that the word begins with; failing that, of the longest `*…` form that it ends with.
    fn affixed(&self, word: &str) -> Tags {
        let ends = word.char_indices().map(|(i, c)| i + c.len_utf8());
        let mut found = 0;
        let mut key = String::with_capacity(word.len() + 1);
        for end in ends {
            key.clear();
            key.push_str(&word[..end]);
            key.push('*');
            if let Ok(at) = self.words.binary_search_by(|w| w.0.cmp(&key)) {
                found = self.words[at].1;
            }
        }
        if found != 0 {
            return found;
        }
        for (start, _) in word.char_indices().skip(1) {
            key.clear();
            key.push('*');
            key.push_str(&word[start..]);
            if let Ok(at) = self.words.binary_search_by(|w| w.0.cmp(&key)) {
                return self.words[at].1;
            }
        }
        0
    }

    /// The text in the characters that the pack's forms are written in; every offset stays what it was.
    fn shaped<'a>(&self, folded: &'a str) -> Cow<'a, str> {
        let shape = |c: char| match self.shapes.binary_search_by_key(&c, |s| s.0) {
            Ok(at) => self.shapes[at].1,
            Err(_) => c,
        };
        if self.shapes.is_empty() || folded.chars().all(|c| shape(c) == c) {
            return Cow::Borrowed(folded);
        }
        Cow::Owned(folded.chars().map(shape).collect())
    }

    /// Cuts a folded line of a message into units: by all forms. Tokens inside `masked` ranges (quotations, code) become one unit with the range's tag.
    pub fn units(&self, folded: &str, tokens: &[Token], masked: &[(usize, usize, Tags)]) -> Vec<Unit> {
        self.cut(folded, tokens, masked, 0)
    }

    /// Cuts a folded line of a note into units: as [`Self::units`], without the forms of `speech.csv` alone.
    pub fn note_units(&self, folded: &str, tokens: &[Token], masked: &[(usize, usize, Tags)]) -> Vec<Unit> {
        self.cut(folded, tokens, masked, SPEECH_ONLY)
    }

    fn cut(&self, folded: &str, tokens: &[Token], masked: &[(usize, usize, Tags)], skip: Tags) -> Vec<Unit> {
        let shaped = self.shaped(folded);
        let folded = &*shaped;
        let mut out = Vec::with_capacity(tokens.len());
        let mut masks = masked.iter().peekable();
        let mut i = 0;
        while i < tokens.len() {
            let token = tokens[i];
            while masks.next_if(|m| m.1 <= token.start).is_some() {}
            if let Some(&&(start, end, tags)) = masks.peek()
                && token.end > start
            {
                let last = tokens[i..].partition_point(|t| t.start < end).max(1);
                out.push(Unit {
                    start: start.min(token.start),
                    end: end.max(tokens[i + last - 1].end),
                    tags,
                });
                i += last;
                continue;
            }
            // A phrase does not reach into a masked range.
            let limit = masks
                .peek()
                .map_or(tokens.len(), |m| tokens.partition_point(|t| t.end <= m.0).max(i + 1));
            let (count, tags) = self.find(folded, &tokens[..limit], i, skip);
            out.push(Unit {
                start: token.start,
                end: tokens[i + count - 1].end,
                tags,
            });
            i += count;
        }
        out
    }
}

/// The packs whose script stands in the text; of the Latin ones that which knows most of its words.
pub fn packs_for(folded: &str, tokens: &[Token]) -> Vec<&'static Pack> {
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
        wanted.push(best_latin(folded, tokens));
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

/// Which Latin pack knows most of the line's words, counted in bytes; English on a tie.
fn best_latin(folded: &str, tokens: &[Token]) -> &'static str {
    let mut best = ("en", 0);
    for lang in ["en", "es", "de", "fr", "pt"] {
        let Some(pack) = pack(lang) else { continue };
        let mut known = 0;
        let mut i = 0;
        while i < tokens.len() {
            let (count, tags) = pack.look_up(folded, tokens, i);
            if tags != 0 && tokens[i].class == Class::Word {
                known += tokens[i + count - 1].end - tokens[i].start;
            }
            i += count;
        }
        if known > best.1 {
            best = (lang, known);
        }
    }
    best.0
}

/// Half-open ranges of units, each with the mark that ends it.
pub fn sentences(folded: &str, units: &[Unit]) -> Vec<(usize, usize)> {
    let tokens: Vec<Token> = units
        .iter()
        .map(|u| {
            let c = folded[u.start..].chars().next().unwrap_or(' ');
            let class = if c.is_alphanumeric() { Class::Word } else { Class::Mark };
            Token {
                start: u.start,
                end: u.end,
                class,
            }
        })
        .collect();
    let mut out = Vec::new();
    let mut start = 0;
    for i in 0..units.len() {
        if segment::ends_sentence(folded, &tokens, i) {
            out.push((start, i + 1));
            start = i + 1;
        }
    }
    if start < units.len() {
        out.push((start, units.len()));
    }
    out
}
