//! What the build script wrote: tables, and blobs that are opened when they are first needed.

use super::{Pack, Tags};
use miniz_oxide::inflate::decompress_to_vec;
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// Stands behind each field, each record, and each line of a field that has several.
const FIELD_END: char = '\u{1F}';
const RECORD_END: char = '\u{1E}';
const LINE_END: char = '\u{1D}';

/// The tags of a form: in notes, in messages.
pub type Masks = (Tags, Tags);

/// One pack as the build script wrote it.
pub struct RawPack {
    /// BCP 47 primary tag.
    pub lang: &'static str,
    /// Characters that are read as others of as many bytes, sorted.
    pub shapes: &'static [(char, char)],
    /// The tags that only this pack has in notes, sorted; their bits follow those of [`SHARED_TAGS`].
    pub tags: &'static [&'static str],
    /// Whether what an act is about stands before its verb: of two acts of one subject, each then reaches to its own verb.
    pub verb_last: bool,
    /// Compressed: pairs of masks (in notes, in messages), then a transducer from each form to the index of its pair.
    forms: &'static [u8],
    /// Compressed: records of [`RawConstruction`]s.
    constructions: &'static [u8],
}

/// One construction as the build script wrote it.
#[derive(Clone, Copy)]
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
}

/// What people are told of a construction.
#[derive(Clone, Debug)]
pub struct Explained {
    /// The languages that have it.
    pub languages: Vec<String>,
    /// Why it is there.
    pub reason: String,
    /// Lines it must find.
    pub hits: Vec<String>,
    /// Lines it must not find.
    pub misses: Vec<String>,
}

/// All packs, in the order of their tags.
pub fn raw_packs() -> &'static [RawPack] {
    &PACKS
}

/// The names of the tags of messages, in the order of their bits.
pub fn message_tag_names() -> impl Iterator<Item = &'static str> {
    SHARED_TAGS.iter().chain(MESSAGE_TAGS).copied()
}

impl RawPack {
    /// The names of the tags of notes, in the order of their bits.
    pub fn tag_names(&self) -> impl Iterator<Item = &'static str> {
        SHARED_TAGS.iter().chain(self.tags).copied()
    }

    /// The bit of a tag in notes; no bit for a name that the pack does not use.
    pub fn tag(&self, name: &str) -> Tags {
        let own = |_| self.tags.binary_search(&name).map(|i| SHARED_TAGS.len() + i);
        SHARED_TAGS.binary_search(&name).or_else(own).map_or(0, |i| 1 << i)
    }

    /// The masks and the transducer; none when the blob is damaged, which the build script does not write. What is opened stays
    /// for the life of the process: packs are opened once.
    pub fn open_forms(&self) -> Option<(Vec<Masks>, &'static [u8])> {
        let blob: &'static [u8] = Vec::leak(decompress_to_vec(self.forms).ok()?);
        let (count, mut rest) = blob.split_at_checked(2)?;
        let count = u16::from_le_bytes([count[0], count[1]]);
        let mut mask = || {
            let (&bits, after) = rest.split_first()?;
            let (bits, after) = after.split_at_checked(usize::from(bits))?;
            rest = after;
            Some(bits.iter().fold(0, |mask, bit| mask | 1 << bit))
        };
        let masks = (0..count)
            .map(|_| Some((mask()?, mask()?)))
            .collect::<Option<Vec<_>>>()?;
        Some((masks, rest))
    }

    /// The constructions, its own and the shared ones.
    pub fn open_constructions(&self) -> Vec<RawConstruction> {
        let text: &'static str = String::leak(text(self.constructions));
        let each = records(text).map(|[id, pattern, claim, not, scope, strong]| RawConstruction {
            id,
            pattern,
            claim,
            not,
            scope,
            strong: !strong.is_empty(),
        });
        each.collect()
    }
}

/// What people are told of a construction of a pack; its own stand before the shared ones.
pub fn explained(pack: &Pack, id: &str) -> Option<Explained> {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| text(include_bytes!(concat!(env!("OUT_DIR"), "/examples.z"))));
    let lines = |field: &str| field.split(LINE_END).map(str::to_owned).collect();
    let has = |langs: &str, lang: &str| langs.is_empty() || langs.split(' ').any(|l| l == lang);
    let found = records::<5>(text).find(|[langs, name, ..]| *name == id && has(langs, pack.lang));
    found.map(|[langs, _, reason, hits, misses]| Explained {
        languages: PACKS
            .iter()
            .map(|p| p.lang)
            .filter(|l| has(langs, l))
            .map(str::to_owned)
            .collect(),
        reason: reason.to_owned(),
        hits: lines(hits),
        misses: lines(misses),
    })
}

/// A blob of text; empty when it is damaged.
fn text(blob: &[u8]) -> String {
    String::from_utf8(decompress_to_vec(blob).unwrap_or_default()).unwrap_or_default()
}

/// Records of so many fields; others are passed over.
fn records<const N: usize>(text: &str) -> impl Iterator<Item = [&str; N]> {
    text.split_terminator(RECORD_END).filter_map(|record| {
        let mut fields = record.split_terminator(FIELD_END);
        let mut out = [""; N];
        for field in &mut out {
            *field = fields.next()?;
        }
        Some(out)
    })
}
