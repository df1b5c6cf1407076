//! Which packs read a line: by its script, and among the languages of the Latin script by the words that a pack knows.

use super::forms::Read;
use super::{Pack, pack, tag};
use crate::text::fold::is_cjk;
use crate::text::words::{Class, Token};

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
    let holding = tag("func")
        | tag("light")
        | tag("act")
        | tag("conj")
        | tag("pron")
        | tag("user")
        | tag("assent")
        | tag("polite")
        | tag("neg")
        | tag("ask")
        | tag("ask-any")
        | tag("cond")
        | tag("hedge")
        | tag("retract")
        | tag("first");
    let mut best = ("en", 0);
    for lang in ["en", "es", "de", "fr", "pt"] {
        let Some(pack) = pack(lang) else { continue };
        let mut memory = pack.memory();
        let mut known = 0;
        let mut i = 0;
        while i < tokens.len() {
            let (count, tags) = pack.find(&mut memory, folded, tokens, i, Read::Either);
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
