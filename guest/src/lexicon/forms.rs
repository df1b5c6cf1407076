//! The forms of a pack: a transducer that is walked byte by byte, and a memory of the words that were walked before.
//!
//! Most words of a text are words that it had before, and packs ask about each of them several times. So where a walk stands at
//! the end of a word is kept for the words that fit a slot; what a text says does not depend on what is kept.

use super::data::Masks;
use super::{Tags, tag};
use fst::raw::{Fst, Node, Output};
use fst::{IntoStreamer, Streamer};

/// What is read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Read {
    /// A note that is about to be stored.
    Note,
    /// What somebody said.
    Message,
    /// Whichever it is: only whether the pack knows the word matters.
    Either,
}

/// Set by the build script on forms of `speech.csv` alone, in the masks for notes: they would join or hide words of a note.
const SPEECH_ONLY: Tags = 1 << 127;

/// Set by the build script on forms of `speech.csv`, in the masks for messages: they come before longer forms of notes.
pub const SPEECH: Tags = 1 << 127;

/// Set on every form where only that matters: the tags of a form may be such that no pattern asks for them.
const KNOWN: Tags = 1 << 126;

/// Words kept: a power of two. About 100 KB a pack that is used.
pub const SLOTS: usize = 2048;

/// Bytes of a word that is kept; longer ones are walked each time.
const KEY_BYTES: usize = 24;

/// Bytes of the longest form `*…` or `+…`; the build script makes sure.
const PART_BYTES_MAX: usize = 48;

/// No index of masks.
const NONE: u16 = u16::MAX;

/// The forms of a pack.
pub struct Forms {
    transducer: Fst<&'static [u8]>,
    masks: Vec<Masks>,
    /// Where the forms `*…` and `+…` begin, if there are any.
    suffixes: Option<State>,
    endings: Option<State>,
}

/// A word as numbers.
pub type Key = [u64; KEY_BYTES / 8];

/// A point in the transducer.
#[derive(Clone, Copy)]
struct State {
    node: usize,
    out: Output,
}

/// What a walk over one word found. Fields with three values are for each kind of reading.
#[derive(Clone, Copy)]
pub struct Head {
    key: Key,
    /// Where the walk stands at the word's end, unless it ended before.
    state: Option<(u32, u32)>,
    /// How forms go on there: most words end every form that they begin.
    next: Next,
    whole: u16,
    prefix: [u16; 3],
    suffix: [u16; 3],
    ending: [u16; 3],
    /// Whether the two above were looked for.
    parted: [bool; 3],
}

/// The words that were walked before.
#[derive(Default)]
pub struct Memory(Vec<Head>);

impl Forms {
    /// None for a transducer that is damaged; the build script writes none.
    pub fn new(masks: Vec<Masks>, transducer: &'static [u8]) -> Option<Self> {
        let transducer = Fst::new(transducer).ok()?;
        let mut forms = Self {
            transducer,
            masks,
            suffixes: None,
            endings: None,
        };
        let root = State {
            node: forms.transducer.root().addr(),
            out: Output::zero(),
        };
        forms.suffixes = forms.step(&forms.node(root), root, b'*');
        forms.endings = forms.step(&forms.node(root), root, b'+');
        Some(forms)
    }

    /// All forms, in order, with the mask of messages.
    pub fn each(&self, from: &str, to: &str, mut tell: impl FnMut(&str, Tags)) {
        let range = self.transducer.range().ge(from);
        let range = if to.is_empty() { range } else { range.lt(to) };
        let mut stream = range.into_stream();
        while let Some((form, at)) = stream.next() {
            let tags = self.masks.get(at.value() as usize).map_or(0, |m| m.1);
            tell(&String::from_utf8_lossy(form), tags);
        }
    }

    /// What a walk over the word finds.
    pub fn head(&self, memory: &mut Memory, word: &str, read: Read) -> Head {
        let Some(key) = key(word) else {
            let mut head = self.walk_word(Key::default(), word);
            self.add_parts(&mut head, word, read);
            return head;
        };
        if memory.0.is_empty() {
            memory.0.resize(SLOTS, EMPTY);
        }
        let at = place(&key, |at| memory.0[at].key);
        let kept = &mut memory.0[at];
        if kept.key != key {
            *kept = self.walk_word(key, word);
        }
        self.add_parts(kept, word, read);
        *kept
    }

    /// Looks for the forms that the word ends with, unless that was done, or need not be.
    fn add_parts(&self, head: &mut Head, word: &str, read: Read) {
        if head.parted[read as usize] || read == Read::Either {
            return;
        }
        head.parted[read as usize] = true;
        if let Some(from) = self.suffixes {
            head.suffix[read as usize] = self.last_part(from, word, 1, read);
        }
        if let Some(from) = self.endings {
            head.ending[read as usize] = self.last_part(from, word, 0, read);
        }
    }

    /// How forms go on behind the word.
    pub fn goes_on(&self, memory: &mut Memory, word: &str) -> Next {
        self.head(memory, word, Read::Either).next
    }

    fn next(&self, state: State) -> Next {
        let bytes = |node: &Node<'_>| node.transitions().fold(0, |all, t| all | bit(t.inp));
        let node = self.node(state);
        Next {
            first: bytes(&node),
            second: self
                .step(&node, state, b' ')
                .map_or(0, |state| bytes(&self.node(state))),
        }
    }

    fn walk_word(&self, key: Key, word: &str) -> Head {
        let mut head = Head { key, ..EMPTY };
        let root = State {
            node: self.transducer.root().addr(),
            out: Output::zero(),
        };
        let state = self.run(root, word, |length, found, starred| {
            if let Some(at) = found.filter(|_| length == word.len()) {
                head.whole = at;
            }
            for read in [Read::Note, Read::Message, Read::Either] {
                if let Some(at) = starred.filter(|&at| self.meant(at, read).is_some()) {
                    head.prefix[read as usize] = at;
                }
            }
            true
        });
        head.next = state.map_or(Next::default(), |state| self.next(state));
        head.state = state.and_then(|s| Some((u32::try_from(s.node).ok()?, u32::try_from(s.out.value()).ok()?)));
        head
    }

    /// The longest form behind `from` that the word ends with; at least `skip` characters stand before it.
    fn last_part(&self, from: State, word: &str, skip: usize, read: Read) -> u16 {
        let part = |(start, _)| {
            let part = &word[start..];
            let mut whole = None;
            self.run(from, part, |length, found, _| {
                whole = found.filter(|_| length == part.len());
                true
            });
            whole.filter(|&at| self.meant(at, read).is_some())
        };
        let longest = word.len().saturating_sub(PART_BYTES_MAX);
        let mut parts = word.char_indices().skip(skip).filter(|&(start, _)| start >= longest);
        parts.find_map(part).unwrap_or(NONE)
    }

    /// Goes on behind the word, and tells at each length after it what ends there: a form, and a form with a `*` behind it. Goes on
    /// while it is told to.
    pub fn walk_on(&self, head: &Head, text: &str, tell: impl FnMut(usize, Option<u16>, Option<u16>) -> bool) {
        if let Some((node, out)) = head.state
            && head.next.may_be(text.as_bytes())
        {
            let from = State {
                node: node as usize,
                out: Output::new(u64::from(out)),
            };
            self.run(from, text, tell);
        }
    }

    /// Follows the text through the transducer. Gives back where it stands when all of the text was walked.
    fn run(
        &self,
        from: State,
        text: &str,
        mut tell: impl FnMut(usize, Option<u16>, Option<u16>) -> bool,
    ) -> Option<State> {
        let mut state = from;
        let mut node = self.node(state);
        for (i, &byte) in text.as_bytes().iter().enumerate() {
            state = self.step(&node, state, byte)?;
            node = self.node(state);
            let end = |node: &Node<'_>, state: State| {
                node.is_final()
                    .then(|| state.out.cat(node.final_output()).value() as u16)
            };
            let found = end(&node, state);
            let starred = self
                .step(&node, state, b'*')
                .and_then(|state| end(&self.node(state), state));
            if (found.is_some() || starred.is_some()) && !tell(i + 1, found, starred) {
                return None;
            }
        }
        Some(state)
    }

    fn node(&self, state: State) -> Node<'_> {
        self.transducer.node(state.node)
    }

    fn step(&self, node: &Node<'_>, state: State, byte: u8) -> Option<State> {
        let step = node.transition(node.find_input(byte)?);
        Some(State {
            node: step.addr,
            out: state.out.cat(step.out),
        })
    }

    /// The tags of the masks at an index where they are read; none in notes for a form of messages alone.
    pub fn meant(&self, at: u16, read: Read) -> Option<Tags> {
        let (note, message) = *self.masks.get(usize::from(at))?;
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

    /// The tags of the whole word.
    pub fn whole(&self, head: &Head, read: Read) -> Option<Tags> {
        self.meant(head.whole, read)
    }

    /// The tags of the longest `…*` form that the word begins with.
    pub fn prefix(&self, head: &Head, read: Read) -> Option<Tags> {
        self.meant(head.prefix[read as usize], read)
    }

    /// The tags of the longest `*…` form that the word ends with.
    pub fn suffix(&self, head: &Head, read: Read) -> Option<Tags> {
        self.meant(head.suffix[read as usize], read)
    }

    /// The tags of the longest `+…` form that the word ends with, or is.
    pub fn ending(&self, head: &Head, read: Read) -> Option<Tags> {
        self.meant(head.ending[read as usize], read)
    }
}

const EMPTY: Head = Head {
    key: [0; KEY_BYTES / 8],
    state: None,
    next: Next { first: 0, second: 0 },
    whole: NONE,
    prefix: [NONE; 3],
    suffix: [NONE; 3],
    ending: [NONE; 3],
    parted: [false; 3],
};

/// How forms go on behind a word.
#[derive(Clone, Copy, Default)]
pub struct Next {
    /// The bytes by which they do, as [`bit`]s.
    first: u64,
    /// The bytes behind a blank, if that is one of them.
    second: u64,
}

impl Next {
    /// Whether a form may go on as the text does; when this says no, none does.
    pub fn may_be(&self, text: &[u8]) -> bool {
        match text {
            [b' ', second, ..] => self.second & bit(*second) != 0,
            [first, ..] => self.first & bit(*first) != 0,
            [] => false,
        }
    }
}

/// One of 64 bits for a byte.
const fn bit(byte: u8) -> u64 {
    1 << (byte & 63)
}

/// The word as numbers; none for a word that is too long, or is nothing but NUL.
pub fn key(word: &str) -> Option<Key> {
    let mut bytes = [0; KEY_BYTES];
    bytes.get_mut(..word.len())?.copy_from_slice(word.as_bytes());
    let mut key = [0; KEY_BYTES / 8];
    for (number, eight) in key.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = eight.try_into().map_or(0, u64::from_le_bytes);
    }
    (key[0] != 0).then_some(key)
}

/// The place of a word among [`SLOTS`], where `kept` tells which word has a place: one of two, so that words that meet in one don't
/// drive each other out.
pub fn place(key: &Key, kept: impl Fn(usize) -> Key) -> usize {
    let mixed = key.iter().fold(0, |hash: u64, n| {
        (hash.rotate_left(26) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    let first = (mixed >> 40) as usize % SLOTS;
    let second = (mixed >> 24) as usize % SLOTS;
    match (kept(first), kept(second)) {
        (found, _) if found == *key || found == Key::default() => first,
        (_, found) if found == *key || found == Key::default() => second,
        _ if mixed >> 23 & 1 == 0 => first,
        _ => second,
    }
}
