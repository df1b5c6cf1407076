//! Language packs: which words a language has for what, and how a line is cut into tagged units.
//!
//! A pack is a folder under `corpus/lexicon/`: `words.csv` (tags, forms, why) and `constructions.toml`. A form may have several
//! words; a form that ends in `*` is a prefix of one word, one that begins with `*` a suffix. The longest form wins. One that begins with
//! `+` is an ending: its tags are added to those of the prefix, or are all that an unknown word has. Tags are only names: what they mean is said by
//! the constructions that use them, and by the few that code asks for (documented in `corpus/README.md`).

mod constructions;
mod data;
mod forms;
mod scripts;

use crate::text::segment;
use crate::text::words::{Class, Token};
use constructions::Constructions;
use forms::{Forms, Memory, Read, SPEECH};
use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

pub use constructions::{Construction, Set};
pub use data::{Explained, RawConstruction, tag};
pub use scripts::packs_for;

/// A set of tags, a bit each.
pub type Tags = u128;

/// The names of the tags that a message's unit has, for people.
pub fn message_tags(tags: Tags) -> impl Iterator<Item = &'static str> {
    let all = data::message_tag_names().enumerate();
    all.filter(move |(i, _)| tags >> i & 1 == 1).map(|(_, name)| name)
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
    raw: &'static data::RawPack,
    forms: Forms,
    memory: Mutex<Memory>,
    constructions: OnceLock<Constructions>,
    endings: OnceLock<Vec<String>>,
    /// The bit of a dash that joins a remark.
    remark: Tags,
}

/// All packs, in the order of their tags. Each is opened when it is first asked for.
pub fn packs() -> impl Iterator<Item = &'static Pack> {
    (0..data::raw_packs().len()).filter_map(opened)
}

/// The languages of the packs, in the order of [`packs`].
pub fn languages() -> impl Iterator<Item = &'static str> {
    data::raw_packs().iter().map(|p| p.lang)
}

/// The pack of a language.
pub fn pack(lang: &str) -> Option<&'static Pack> {
    opened(languages().position(|l| l == lang)?)
}

/// The pack at an index, opened once a process.
fn opened(at: usize) -> Option<&'static Pack> {
    static OPENED: [OnceLock<Option<Pack>>; data::PACKS_MAX] = [const { OnceLock::new() }; data::PACKS_MAX];
    let raw = data::raw_packs().get(at)?;
    OPENED.get(at)?.get_or_init(|| Pack::new(raw)).as_ref()
}

impl Pack {
    /// None for forms that are damaged; the build script writes none.
    fn new(raw: &'static data::RawPack) -> Option<Self> {
        let (masks, transducer) = raw.open_forms()?;
        Some(Self {
            lang: raw.lang,
            raw,
            forms: Forms::new(masks, transducer)?,
            memory: Mutex::default(),
            constructions: OnceLock::new(),
            endings: OnceLock::new(),
            remark: raw.tag("brk"),
        })
    }

    /// Its constructions, its own and the shared ones; compiled when they are first asked for.
    pub fn constructions(&self) -> &Constructions {
        self.constructions
            .get_or_init(|| Constructions::new(self.raw.open_constructions(), &|name| self.raw.tag(name)))
    }

    /// The constructions as they stand in the data, for tests and `explain`.
    pub fn raw(&self) -> Vec<RawConstruction> {
        self.raw.open_constructions()
    }

    /// What people are told of one of its constructions.
    pub fn explained(&self, id: &str) -> Option<Explained> {
        data::explained(self, id)
    }

    /// The bit of a tag in this pack's notes; no bit for a name that its patterns do not use.
    pub fn tag(&self, name: &str) -> Tags {
        self.raw.tag(name)
    }

    /// Whether what an act is about stands before its verb.
    pub fn verb_last(&self) -> bool {
        self.raw.verb_last
    }

    /// The names of the tags that a note's unit has, for people.
    pub fn tag_names(&self, tags: Tags) -> impl Iterator<Item = &'static str> {
        let all = self.raw.tag_names().enumerate();
        all.filter(move |(i, _)| tags >> i & 1 == 1).map(|(_, name)| name)
    }

    /// Endings that a light stem cuts off, the longest first: forms `-…` with the tag `ending`.
    pub fn endings(&self) -> &[String] {
        self.endings.get_or_init(|| {
            let mut out = Vec::new();
            self.forms.each("-", ".", |form, tags| {
                if tags & tag("ending") != 0 && form.len() > 1 {
                    out.push(form[1..].to_owned());
                }
            });
            out
        })
    }

    /// The forms of the pack, for tests.
    pub fn forms(&self) -> Vec<String> {
        let mut out = Vec::new();
        self.forms.each("", "", |form, _| out.push(form.to_owned()));
        out
    }

    /// The tags that a message gives to the longest form that begins at token `i`, and how many tokens the form has; one token
    /// without tags otherwise.
    pub fn look_up(&self, folded: &str, tokens: &[Token], i: usize) -> (usize, Tags) {
        self.find(&mut self.memory(), folded, tokens, i, Read::Message)
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, memory: &mut Memory, folded: &str, tokens: &[Token], i: usize, read: Read) -> (usize, Tags) {
        let token = tokens[i];
        let head = self.forms.head(memory, token.of(folded), read);
        let mut best = self.forms.whole(&head, read).map(|tags| (1, tags));
        // The longest `…*` form that the words begin with, and how many words it touches.
        let mut prefix = self.forms.prefix(&head, read).map(|tags| (1, tags));
        let mut last = i;
        self.forms
            .walk_on(&head, &folded[token.end..], |length, found, starred| {
                let end = token.end + length;
                while last < tokens.len() && tokens[last].end < end {
                    last += 1;
                }
                if let Some(tags) = found.and_then(|at| self.forms.meant(at, read))
                    && tokens.get(last).is_some_and(|t| t.end == end)
                {
                    // A message is read by the forms of messages first, however long a form of notes is.
                    let spoken = |tags: Tags| read == Read::Message && tags & SPEECH != 0;
                    if spoken(tags) || !best.is_some_and(|b: (usize, Tags)| spoken(b.1)) {
                        best = Some((last + 1 - i, tags));
                    }
                }
                if let Some(tags) = starred.and_then(|at| self.forms.meant(at, read))
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
            (None, _) if token.class == Class::Number => return (1, tag("num")),
            (None, None) if token.class == Class::Word && read != Read::Either => (1, 0),
            (None, _) => return (1, 0),
        };
        if count > 1 || token.class != Class::Word || read == Read::Either {
            // So are endings.
            return (count, tags & !SPEECH);
        }
        let suffix = || self.forms.suffix(&head, read).unwrap_or(0);
        let ending = match (read, best, prefix) {
            // What a message says by a word's ending counts, whatever its beginning is.
            (Read::Message, ..) if tags & SPEECH == 0 => {
                Some(suffix()).filter(|t| tags == 0 || t & SPEECH != 0).unwrap_or(0)
            }
            (_, None, None) => suffix(),
            _ => 0,
        };
        let joined = if best.is_none() {
            self.forms.ending(&head, read).unwrap_or(0)
        } else {
            0
        };
        (1, (tags | ending | joined) & !SPEECH)
    }

    /// The text in the characters that the pack's forms are written in; every offset stays what it was.
    fn shaped<'a>(&self, folded: &'a str) -> Cow<'a, str> {
        let shape = |c: char| match self.raw.shapes.binary_search_by_key(&c, |s| s.0) {
            Ok(at) => self.raw.shapes[at].1,
            Err(_) => c,
        };
        if self.raw.shapes.is_empty() || folded.chars().all(|c| shape(c) == c) {
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
        let mut memory = self.memory();
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
            let (count, mut tags) = self.find(&mut memory, folded, &tokens[..limit], i, read);
            if read == Read::Note && token.of(folded) == "-" && blanks_around(folded, token) {
                tags |= self.remark;
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
