//! Language packs: which words a language has for what, and how a line is cut into tagged units.
//!
//! A pack is a folder under `corpus/lexicon/`: `words.csv` (tags, forms, why) and `constructions.toml`. A form may have several
//! words; a form that ends in `*` is a prefix of one word, one that begins with `*` a suffix. The longest form wins. One that begins with
//! `+` is an ending: its tags are added to those of the prefix, or are all that an unknown word has. Tags are only names: what they mean is said by
//! the constructions that use them, and by the few that code asks for (documented in `corpus/README.md`).

use crate::rules::{Construction, Pattern};
use crate::text::fold::is_cjk;
use crate::text::segment;
use crate::text::words::{Class, Token};
use fst::raw::{Fst, Output};
use fst::{IntoStreamer, Streamer};
use std::borrow::Cow;
use std::sync::OnceLock;

/// A set of tags, a bit each.
pub type Tags = u128;

/// Set by the build script on forms of `speech.csv` alone, in the masks for notes: they would join or hide words of a note.
const SPEECH_ONLY: Tags = 1 << 127;

/// Set by the build script on forms of `speech.csv`, in the masks for messages: they come before longer forms of notes.
const SPEECH: Tags = 1 << 127;

/// Set on every form where only that matters: the tags of a form may be such that no pattern asks for them.
const KNOWN: Tags = 1 << 126;

/// One pack as the build script wrote it.
pub struct RawPack {
    lang: &'static str,
    /// Characters that are read as others of as many bytes, sorted.
    shapes: &'static [(char, char)],
    /// The tags that only this pack has in notes, sorted; their bits follow those of [`SHARED_TAGS`].
    tags: &'static [&'static str],
    /// A transducer from each form to the index of its masks.
    forms: &'static [u8],
    /// Pairs of masks: in notes, in messages.
    masks: &'static [(Tags, Tags)],
    /// Whether what an act is about stands before its verb: of two acts of one subject, each then reaches to its own verb.
    verb_last: bool,
    constructions: &'static [RawConstruction],
}

/// What is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Read {
    /// A note that is about to be stored.
    Note,
    /// What somebody said.
    Message,
    /// Whichever it is: only whether the pack knows the word matters.
    Either,
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

/// The bit of a tag that code asks for: in messages every tag, in notes those that `build.rs` lists.
pub fn tag(name: &str) -> Tags {
    let own = |_| MESSAGE_TAGS.binary_search(&name).map(|i| SHARED_TAGS.len() + i);
    SHARED_TAGS.binary_search(&name).or_else(own).map_or(0, |i| 1 << i)
}

/// The names of the tags that a message's unit has, for people.
pub fn message_tags(tags: Tags) -> impl Iterator<Item = &'static str> {
    let all = SHARED_TAGS.iter().chain(MESSAGE_TAGS).enumerate();
    all.filter(move |(i, _)| tags >> i & 1 == 1).map(|(_, name)| *name)
}

impl RawPack {
    /// The bit of a tag in notes; no bit for a name that the pack does not use.
    fn tag(&self, name: &str) -> Tags {
        let own = |_| self.tags.binary_search(&name).map(|i| SHARED_TAGS.len() + i);
        SHARED_TAGS.binary_search(&name).or_else(own).map_or(0, |i| 1 << i)
    }
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
    words: &'static RawPack,
    /// From each form to the index of its masks.
    forms: Fst<&'static [u8]>,
    /// Its constructions, its own and the shared ones.
    pub constructions: Vec<Construction>,
    endings: Vec<String>,
    /// Whether it has `+…` forms.
    has_endings: bool,
}

/// All packs, in the order of their tags. Parsed once a process.
pub fn packs() -> &'static [Pack] {
    static PARSED: OnceLock<Vec<Pack>> = OnceLock::new();
    PARSED.get_or_init(|| PACKS.iter().filter_map(Pack::new).collect())
}

/// The pack of a language.
pub fn pack(lang: &str) -> Option<&'static Pack> {
    packs().iter().find(|p| p.lang == lang)
}

impl Pack {
    /// None for a transducer that is damaged; the build script writes none.
    fn new(raw: &'static RawPack) -> Option<Self> {
        let forms = Fst::new(raw.forms).ok()?;
        // A pattern that does not parse can't be used; the test of the packs keeps that from shipping.
        let constructions = raw.constructions.iter().filter_map(|c| {
            let pattern = Pattern::parse(c.pattern, &|name| raw.tag(name)).ok()?;
            Some(Construction { raw: c, pattern })
        });
        let mut pack = Self {
            lang: raw.lang,
            words: raw,
            forms,
            constructions: constructions.collect(),
            endings: Vec::new(),
            has_endings: false,
        };
        pack.has_endings = pack.forms.range().ge("+").lt(",").into_stream().next().is_some();
        let ending = tag("ending");
        let mut stream = pack.forms.range().ge("-").lt(".").into_stream();
        let mut endings = Vec::new();
        while let Some((form, at)) = stream.next() {
            if raw.masks[at.value() as usize].1 & ending != 0 && form.len() > 1 {
                endings.extend(std::str::from_utf8(&form[1..]).map(str::to_owned));
            }
        }
        pack.endings = endings;
        Some(pack)
    }

    /// The constructions as they stand in the data, for tests and `explain`.
    pub fn raw(&self) -> &'static [RawConstruction] {
        self.words.constructions
    }

    /// The bit of a tag in this pack's notes; no bit for a name that its patterns do not use.
    pub fn tag(&self, name: &str) -> Tags {
        self.words.tag(name)
    }

    /// Whether what an act is about stands before its verb.
    pub fn verb_last(&self) -> bool {
        self.words.verb_last
    }

    /// The names of the tags that a note's unit has, for people.
    pub fn tag_names(&self, tags: Tags) -> impl Iterator<Item = &'static str> {
        let all = SHARED_TAGS.iter().chain(self.words.tags).enumerate();
        all.filter(move |(i, _)| tags >> i & 1 == 1).map(|(_, name)| *name)
    }

    /// Endings that a light stem cuts off: forms `-…` with the tag `ending`.
    pub fn endings(&self) -> &[String] {
        &self.endings
    }

    /// The forms of the pack, for tests.
    pub fn forms(&self) -> Vec<String> {
        let mut stream = self.forms.stream();
        let mut out = Vec::new();
        while let Some((form, _)) = stream.next() {
            out.push(String::from_utf8_lossy(form).into_owned());
        }
        out
    }

    /// The tags that a message gives to the longest form that begins at token `i`, and how many tokens the form has; one token
    /// without tags otherwise.
    pub fn look_up(&self, folded: &str, tokens: &[Token], i: usize) -> (usize, Tags) {
        self.find(folded, tokens, i, Read::Message)
    }

    fn find(&self, folded: &str, tokens: &[Token], i: usize, read: Read) -> (usize, Tags) {
        let head = tokens[i];
        let mut best: Option<(usize, Tags)> = None;
        // The longest `…*` form that the words begin with, and how many words it touches.
        let mut prefix: Option<(usize, Tags)> = None;
        let mut last = i;
        self.walk(&folded[head.start..], |length, found, starred| {
            let end = head.start + length;
            while last < tokens.len() && tokens[last].end < end {
                last += 1;
            }
            if let Some(tags) = found.and_then(|at| self.meant(at, read))
                && tokens.get(last).is_some_and(|t| t.end == end)
            {
                // A message is read by the forms of messages first, however long a form of notes is.
                let spoken = |tags: Tags| read == Read::Message && tags & SPEECH != 0;
                if spoken(tags) || !best.is_some_and(|b: (usize, Tags)| spoken(b.1)) {
                    best = Some((last + 1 - i, tags));
                }
            }
            if let Some(tags) = starred.and_then(|at| self.meant(at, read))
                && tokens.get(last).is_some_and(|t| t.start < end)
            {
                prefix = Some((last + 1 - i, tags));
            }
            last < tokens.len()
        });
        // Of forms in several words the longer one is meant; a form as it stands comes before one that a `*` completes.
        let (count, tags) = match (best, prefix) {
            (Some(best), Some(prefix)) if prefix.0 > best.0 => prefix,
            (Some(best), _) => best,
            // Stems are alike in too many languages to tell which one a line is in.
            (None, Some(prefix)) if read != Read::Either => prefix,
            (None, _) if head.class == Class::Number => return (1, tag("num")),
            (None, None) if head.class == Class::Word && read != Read::Either => (1, 0),
            (None, _) => return (1, 0),
        };
        if count > 1 || head.class != Class::Word || read == Read::Either {
            // So are endings.
            return (count, tags & !SPEECH);
        }
        let word = head.of(folded);
        let ending = match (read, best, prefix) {
            // What a message says by a word's ending counts, whatever its beginning is.
            (Read::Message, ..) if tags & SPEECH == 0 => self
                .suffixed(word, read)
                .filter(|t| tags == 0 || t & SPEECH != 0)
                .unwrap_or(0),
            (_, None, None) => self.suffixed(word, read).unwrap_or(0),
            _ => 0,
        };
        let joined = if self.has_endings && best.is_none() {
            self.ending(word, read)
        } else {
            0
        };
        (1, (tags | ending | joined) & !SPEECH)
    }

    /// Follows the text through the transducer and tells at each length what ends there: a form, and a form with a `*` behind it.
    /// Goes on while it is told to.
    fn walk(&self, text: &str, mut tell: impl FnMut(usize, Option<u64>, Option<u64>) -> bool) {
        let mut node = self.forms.root();
        let mut out = Output::zero();
        for (i, &byte) in text.as_bytes().iter().enumerate() {
            let Some(at) = node.find_input(byte) else { return };
            let step = node.transition(at);
            out = out.cat(step.out);
            node = self.forms.node(step.addr);
            let found = node.is_final().then(|| out.cat(node.final_output()).value());
            let starred = node.find_input(b'*').and_then(|at| {
                let step = node.transition(at);
                let end = self.forms.node(step.addr);
                end.is_final()
                    .then(|| out.cat(step.out).cat(end.final_output()).value())
            });
            if (found.is_some() || starred.is_some()) && !tell(i + 1, found, starred) {
                return;
            }
        }
    }

    /// The tags of the masks at an index where they are read; none in notes for a form of messages alone.
    fn meant(&self, at: u64, read: Read) -> Option<Tags> {
        let (note, message) = *self.words.masks.get(at as usize)?;
        match read {
            Read::Note => (note & SPEECH_ONLY == 0).then_some(note),
            // The acts of notes cut other words of messages wrongly, where words have no blanks between them; but what rejects, undoes.
            Read::Message => {
                let keeps = message & SPEECH != 0 || message & tag("act") == 0 || message & tag("rejection") != 0;
                keeps.then_some(message)
            }
            Read::Either => Some(KNOWN | note & !SPEECH_ONLY | message & !SPEECH),
        }
    }

    /// The tags of the longest `*…` form that the word ends with.
    fn suffixed(&self, word: &str, read: Read) -> Option<Tags> {
        let mut key = String::with_capacity(word.len() + 1);
        word.char_indices().skip(1).find_map(|(start, _)| {
            key.clear();
            key.push('*');
            key.push_str(&word[start..]);
            self.forms.get(&key).and_then(|at| self.meant(at.value(), read))
        })
    }

    /// The tags of the longest `+…` form that the word ends with, or is.
    fn ending(&self, word: &str, read: Read) -> Tags {
        let mut key = String::with_capacity(word.len() + 1);
        let found = word.char_indices().find_map(|(start, _)| {
            key.clear();
            key.push('+');
            key.push_str(&word[start..]);
            self.forms.get(&key).and_then(|at| self.meant(at.value(), read))
        });
        found.unwrap_or(0)
    }

    /// The text in the characters that the pack's forms are written in; every offset stays what it was.
    fn shaped<'a>(&self, folded: &'a str) -> Cow<'a, str> {
        let shape = |c: char| match self.words.shapes.binary_search_by_key(&c, |s| s.0) {
            Ok(at) => self.words.shapes[at].1,
            Err(_) => c,
        };
        if self.words.shapes.is_empty() || folded.chars().all(|c| shape(c) == c) {
            return Cow::Borrowed(folded);
        }
        Cow::Owned(folded.chars().map(shape).collect())
    }

    /// Cuts a folded line of a message into units: by all forms. Tokens inside `masked` ranges (quotations, code) become one unit with the range's tag.
    pub fn units(&self, folded: &str, tokens: &[Token], masked: &[(usize, usize, Tags)]) -> Vec<Unit> {
        self.cut(folded, tokens, masked, Read::Message)
    }

    /// Cuts a folded line of a note into units: as [`Self::units`], without the forms of `speech.csv` alone.
    pub fn note_units(&self, folded: &str, tokens: &[Token], masked: &[(usize, usize, Tags)]) -> Vec<Unit> {
        self.cut(folded, tokens, masked, Read::Note)
    }

    fn cut(&self, folded: &str, tokens: &[Token], masked: &[(usize, usize, Tags)], read: Read) -> Vec<Unit> {
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
            let (count, mut tags) = self.find(folded, &tokens[..limit], i, read);
            if read == Read::Note && token.of(folded) == "-" && blanks_around(folded, token) {
                tags |= self.words.tag("brk");
            }
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

/// Whether a dash joins a remark (`brk`), and not two parts of a word.
fn blanks_around(folded: &str, dash: Token) -> bool {
    let before = folded[..dash.start].chars().next_back();
    let after = folded[dash.end..].chars().next();
    [before, after].iter().all(|c| c.is_none_or(char::is_whitespace))
}

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

/// Which Latin pack knows most of the text's words, counted in bytes; English on a tie. Words that hold a sentence together and words
/// of will count three times: nouns travel between languages ("commit", "message", "archive").
fn best_latin(folded: &str, tokens: &[Token], likely: &str) -> &'static str {
    let holding = [
        "func", "light", "act", "conj", "pron", "user", "assent", "polite", "neg", "ask", "ask-any", "cond", "hedge",
        "retract", "first",
    ];
    let holding = holding.iter().fold(0, |tags, name| tags | tag(name));
    let mut best = ("en", 0);
    for lang in ["en", "es", "de", "fr", "pt"] {
        let Some(pack) = pack(lang) else { continue };
        let mut known = 0;
        let mut i = 0;
        while i < tokens.len() {
            let (count, tags) = pack.find(folded, tokens, i, Read::Either);
            if tags != 0 && tokens[i].class == Class::Word {
                let weight = if tags & holding != 0 || count > 1 { 3 } else { 1 };
                known += weight * (tokens[i + count - 1].end - tokens[i].start);
            }
            i += count;
        }
        if lang == likely {
            known += known / 2 + 1;
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
