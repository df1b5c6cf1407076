//! The rules as `build/credentials.rs` packed them, opened when a text is first looked at.
//!
//! All literals stand in one table by their first three bytes, so that one pass over a text finds where anything may begin.

use crate::text::search::Patterns;
use miniz_oxide::inflate::decompress_to_vec;
use std::sync::OnceLock;

/// Slots of the table of literals: a power of two.
const SLOTS: usize = 1 << 13;
/// No further literal in a slot.
pub const NONE: u16 = u16::MAX;

/// What is known by a form that code reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The pattern of that index.
    Token(u16),
    /// A word that ends the name of a password.
    Password,
    /// A word that ends the name of a random value.
    Key,
    /// `key`, which is secret behind some words only.
    BareKey,
    /// `-----BEGIN`.
    Block,
    /// The key lines of a PuTTY file.
    Putty,
    /// Base64 of `-----BEGIN`.
    CodedBlock,
    /// The start of a JSON web token.
    Jwt,
    /// `://`.
    Url,
    /// `Bearer `.
    Bearer,
    /// A header of cookies.
    Cookie,
    /// ` -p` or ` -a` of a program that takes a password so.
    Flag,
    /// ` -u` of a program that takes name and password.
    UserFlag,
    /// A port of PostgreSQL in a `.pgpass` line.
    Pgpass,
    /// Words that announce the words of a wallet.
    Seed,
}

/// One rule, for people.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// `credentials.thing`.
    pub id: &'static str,
    /// Whose credential it is.
    pub vendor: &'static str,
    /// What it is.
    pub what: &'static str,
    /// `token`, `named` or `form`.
    pub kind: &'static str,
    /// Words of which one stands in the name, of a `named` rule.
    pub names: &'static str,
}

/// So many characters of a class.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    /// The set of ASCII characters.
    pub class: u128,
    /// At least so many.
    pub min: u16,
    /// At most so many.
    pub max: u16,
}

/// One pattern: items around a literal.
#[derive(Debug)]
pub struct Pattern {
    /// The index of its rule.
    pub rule: u16,
    /// What stands before the literal, from the last to the first.
    pub before: Vec<Item>,
    /// What stands after it; all of it for a `named` rule.
    pub after: Vec<Item>,
    /// Bytes that `after` takes at least and at most.
    pub length: (usize, usize),
}

/// A literal of the table.
pub struct Literal {
    /// Its bytes; in small letters where `folded`.
    pub bytes: Vec<u8>,
    /// Whether capitals do not matter.
    pub folded: bool,
    /// What may stand there.
    pub what: What,
    /// The next literal of the slot.
    pub next: u16,
}

/// Everything that was packed.
pub struct Rules {
    /// In the order of the files.
    pub rules: Vec<Rule>,
    /// All patterns.
    pub patterns: Vec<Pattern>,
    literals: Vec<Literal>,
    slots: Vec<u16>,
    /// Words that a placeholder holds.
    pub placeholders: Patterns,
    /// Words by the name of their list.
    words: Vec<(&'static str, Vec<&'static str>)>,
}

/// Literals that code reads, the words of names apart.
const FORMS: &[(&str, What)] = &[
    ("-----begin", What::Block),
    ("---- begin", What::Block),
    ("private-lines:", What::Putty),
    ("ls0tls1crudjti", What::CodedBlock),
    ("eyj", What::Jwt),
    ("://", What::Url),
    ("bearer ", What::Bearer),
    ("cookie: ", What::Cookie),
    ("cookie=", What::Cookie),
    (" -b ", What::Cookie),
    (" -p", What::Flag),
    (" -a ", What::Flag),
    (" -u", What::UserFlag),
    (" --user", What::UserFlag),
    (":5432:", What::Pgpass),
    ("seed phrase", What::Seed),
    ("recovery phrase", What::Seed),
    ("seed words", What::Seed),
    ("mnemonic", What::Seed),
    ("助记词", What::Seed),
    ("助記詞", What::Seed),
    ("key", What::BareKey),
];

/// The three bytes that open a literal, capitals made small.
pub const fn opening(a: u8, b: u8, c: u8) -> u32 {
    (a as u32 | (b as u32) << 8 | (c as u32) << 16) | 0x20_20_20
}

/// The slot of an opening.
pub const fn slot(opening: u32) -> usize {
    (opening.wrapping_mul(0x9E37_79B1) >> (32 - SLOTS.trailing_zeros())) as usize
}

impl Rules {
    /// The rules, opened once.
    pub fn get() -> &'static Self {
        static RULES: OnceLock<Rules> = OnceLock::new();
        RULES.get_or_init(Self::open)
    }

    fn open() -> Self {
        let text = decompress_to_vec(include_bytes!(concat!(env!("OUT_DIR"), "/credentials.text.z")));
        let text: &'static str = String::leak(String::from_utf8(text.unwrap_or_default()).unwrap_or_default());
        let blob = decompress_to_vec(include_bytes!(concat!(env!("OUT_DIR"), "/credentials.patterns.z")));
        let mut out = Self {
            rules: Vec::new(),
            patterns: Vec::new(),
            literals: Vec::new(),
            slots: vec![NONE; SLOTS],
            placeholders: Patterns::new(&[]),
            words: Vec::new(),
        };
        for record in text.split_terminator('\u{1E}') {
            let fields: Vec<&'static str> = record.split('\u{1F}').collect();
            match fields[..] {
                [id, vendor, what, kind, names, ..] => out.rules.push(Rule {
                    id: String::leak(["credentials.", id].concat()),
                    vendor,
                    what,
                    kind,
                    names,
                }),
                [name, list, ..] => out.words.push((&name[1..], list.split('\n').collect())),
                _ => {}
            }
        }
        out.open_patterns(&blob.unwrap_or_default());
        let placeholders: Vec<String> = out.words("placeholder").iter().map(|&w| w.to_owned()).collect();
        out.placeholders = Patterns::new(&placeholders);
        for &(word, what) in FORMS {
            out.add(word.as_bytes().to_vec(), true, what);
        }
        for (list, what) in [("password", What::Password), ("key", What::Key)] {
            for word in out.words(list).to_vec() {
                out.add(word.as_bytes().to_vec(), true, what);
            }
        }
        out
    }

    /// Reads the patterns; a damaged blob, which the build script does not write, gives fewer.
    fn open_patterns(&mut self, blob: &[u8]) -> Option<()> {
        let (&count, rest) = blob.split_first()?;
        let (classes, mut rest) = rest.split_at_checked(usize::from(count) * 16)?;
        let mut take = |n: usize| {
            let (taken, after) = rest.split_at_checked(n)?;
            rest = after;
            Some(taken)
        };
        while let Some(head) = take(5) {
            let rule = u16::from_le_bytes([head[0], head[1]]);
            let (before, literal, after) = (usize::from(head[2]), usize::from(head[3]), usize::from(head[4]));
            let mut items = Vec::with_capacity(before + literal + after);
            for raw in take(5 * (before + literal + after))?.chunks_exact(5) {
                let class = classes.get(usize::from(raw[0]) * 16..)?.first_chunk::<16>()?;
                items.push(Item {
                    class: u128::from_le_bytes(*class),
                    min: u16::from_le_bytes([raw[1], raw[2]]),
                    max: u16::from_le_bytes([raw[3], raw[4]]),
                });
            }
            let bytes: Vec<u8> = items[before..before + literal]
                .iter()
                .map(|i| i.class.trailing_zeros() as u8)
                .collect();
            if literal > 0 {
                self.add(bytes, false, What::Token(self.patterns.len() as u16));
            }
            let after = items[before + literal..].to_vec();
            let sum = |of: fn(&Item) -> u16| after.iter().map(|i| usize::from(of(i))).sum();
            self.patterns.push(Pattern {
                rule,
                before: items[..before].to_vec(),
                length: (sum(|i| i.min), sum(|i| i.max)),
                after,
            });
        }
        Some(())
    }

    /// Puts a literal before the others of its slot: what is added later is looked at first.
    fn add(&mut self, bytes: Vec<u8>, folded: bool, what: What) {
        if let [a, b, c, ..] = bytes[..] {
            let at = &mut self.slots[slot(opening(a, b, c))];
            let next = std::mem::replace(at, self.literals.len() as u16);
            self.literals.push(Literal {
                bytes,
                folded,
                what,
                next,
            });
        }
    }

    /// The first literal of a slot.
    #[inline]
    pub fn first(&self, slot: usize) -> u16 {
        self.slots[slot & (SLOTS - 1)]
    }

    /// A literal by its index.
    pub fn literal(&self, index: u16) -> Option<&Literal> {
        self.literals.get(usize::from(index))
    }

    /// A list of words.
    pub fn words(&self, list: &str) -> &[&'static str] {
        self.words
            .iter()
            .find(|(name, _)| *name == list)
            .map_or(&[], |(_, words)| words)
    }

    /// The id of a form.
    pub fn form(&self, id: &str) -> &'static str {
        let is = |r: &&Rule| r.id.strip_prefix("credentials.") == Some(id);
        self.rules.iter().rev().find(is).map_or("credentials.secret", |r| r.id)
    }

    /// The id of a pattern's rule.
    pub fn id(&self, pattern: &Pattern) -> &'static str {
        self.rules
            .get(usize::from(pattern.rule))
            .map_or("credentials.secret", |r| r.id)
    }
}
