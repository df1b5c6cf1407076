//! Content words: what a stretch of text is about, and on which side of a negation each word stands.
//!
//! A content word is one that its language's pack knows as nothing else: no function word, light verb, act, negation, mark.
//! Words are compared by a light stem; scripts without spaces by pairs of characters. A word's sign is the parity of the
//! negations over it (`neg`, `neg-after`, `neg-both`; a prohibition, `neg-set`, stands above what it finds); words beside an undoing verb (`anti`: "cancel", "remove"; or any
//! verb of rejection) are marked.

use crate::lexicon::{Pack, Tags, Unit, tag};
use crate::text::fold::is_cjk;
use std::sync::OnceLock;

/// Letters that a stem keeps at least.
const STEM_CHARS_MIN: usize = 3;

/// One content word of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentWord {
    /// What it is compared by.
    pub stem: String,
    /// Half-open bytes in the folded text.
    pub span: (usize, usize),
    /// Whether an odd number of negations stands over it.
    pub negated: bool,
    /// The undoing verb that stands beside it, if one does: half-open bytes in the folded text.
    pub undone: Option<(usize, usize)>,
}

/// The tags by which words are no content words, looked up once.
struct Known {
    nothing: Tags,
    neg: Tags,
    neg_after: Tags,
    neg_both: Tags,
    anti: Tags,
    stop: Tags,
    wide: Tags,
    slight: Tags,
    polite: Tags,
    quest: Tags,
    particle: Tags,
    set: Tags,
    end: Tags,
    contrast: Tags,
}

fn known() -> &'static Known {
    static KNOWN: OnceLock<Known> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let all = [
            "func",
            "light",
            "user",
            "pron",
            "act",
            "neg",
            "neg-after",
            "neg-both",
            "not-neg",
            "cond",
            "hedge",
            "ask",
            "ask-any",
            "ask-end",
            "polite",
            "assent",
            "retract",
            "retract-bare",
            "says",
            "says3",
            "first",
            "stop",
            "conj",
            "scope-end",
            "contrast",
            "aux",
            "modal",
            "colon",
            "dash",
            "open",
            "close",
            "cell",
            "quest",
            "excl",
            "gt",
        ];
        Known {
            nothing: all.iter().fold(0, |tags, name| tags | tag(name)),
            neg: tag("neg"),
            neg_after: tag("neg-after"),
            neg_both: tag("neg-both"),
            anti: tag("anti") | tag("rejection"),
            stop: tag("stop"),
            wide: tag("neg-wide"),
            polite: tag("polite"),
            quest: tag("quest"),
            slight: tag("func") | tag("light"),
            particle: tag("particle"),
            set: tag("neg-set"),
            end: tag("scope-end"),
            contrast: tag("contrast"),
        }
    })
}

/// The content words of a sentence's units, in order, with their signs.
pub fn content_words(folded: &str, units: &[Unit], pack: &Pack) -> Vec<ContentWord> {
    let known = known();
    let mut out = Vec::new();
    // Where each content word stands among the units, for the clauses below.
    let mut places = Vec::new();
    let mut i = 0;
    while i < units.len() {
        let run = cjk_run(folded, &units[i..], known.nothing);
        if run > 0 {
            let from = out.len();
            pairs(folded, &units[i..i + run], known.nothing, &mut out);
            places.resize(places.len() + out.len() - from, i);
            i += run;
            continue;
        }
        let text = &folded[units[i].start..units[i].end];
        if units[i].tags & known.nothing == 0 && text.chars().any(char::is_alphanumeric) {
            for (stem, span) in stems(text, units[i].start, pack) {
                out.push(ContentWord {
                    stem,
                    span,
                    negated: false,
                    undone: None,
                });
                places.push(i);
            }
        }
        i += 1;
    }
    // "Wouldn't a lighter primer do?" denies nothing; "can you please not use it?" does.
    let asked =
        units.last().is_some_and(|u| u.tags & known.quest != 0) && !units.iter().any(|u| u.tags & known.polite != 0);
    for clause in clauses(units) {
        sign(units, clause, asked, &places, &mut out);
    }
    out
}

/// How many units from here are characters of a script without spaces that may be parts of words: untagged ones, and function words of
/// one character that are no mere particles (地 is "-ly", and the first half of 地毯).
fn cjk_run(folded: &str, units: &[Unit], nothing: Tags) -> usize {
    let known = known();
    let single = |u: &&Unit| {
        let text = &folded[u.start..u.end];
        let part = u.tags & nothing & !known.slight == 0 && u.tags & known.particle == 0;
        // A tagged word of several characters is what its tags say.
        let whole = u.tags & nothing == 0 || text.chars().nth(1).is_none();
        part && whole && text.chars().all(is_cjk)
    };
    let mut run = 0;
    for unit in units.iter().take_while(single) {
        if run > 0 && units[run - 1].end != unit.start {
            break;
        }
        run += 1;
    }
    // A run of function words alone is no content.
    if units[..run].iter().all(|u| u.tags & nothing != 0) {
        0
    } else {
        run
    }
}

/// Pairs of neighbouring characters; a run of one is a word by itself. Kana say little alone and only join.
fn pairs(folded: &str, units: &[Unit], nothing: Tags, out: &mut Vec<ContentWord>) {
    let (start, end) = (units[0].start, units[units.len() - 1].end);
    let chars: Vec<(usize, char)> = folded[start..end].char_indices().map(|(i, c)| (start + i, c)).collect();
    let mut push = |from: usize, to: usize| {
        let span = (chars[from].0, chars[to].0 + chars[to].1.len_utf8());
        out.push(ContentWord {
            stem: folded[span.0..span.1].to_owned(),
            span,
            negated: false,
            undone: None,
        });
    };
    let hiragana = |c: char| matches!(c as u32, 0x3041..=0x309F);
    // A character means something when its unit does.
    let means = |i: usize| {
        units
            .iter()
            .any(|u| u.start <= chars[i].0 && chars[i].0 < u.end && u.tags & nothing == 0)
    };
    if chars.len() == 1 && !hiragana(chars[0].1) {
        push(0, 0);
    }
    for i in 1..chars.len() {
        match (hiragana(chars[i - 1].1), hiragana(chars[i].1)) {
            (false, false) if means(i - 1) || means(i) => push(i - 1, i),
            // A lone ideograph between kana: the stem of a verb or an adjective.
            (true, false) if chars.get(i + 1).is_none_or(|n| hiragana(n.1)) => push(i, i),
            (false, true) if i == 1 => push(0, 0),
            _ => {}
        }
    }
}

/// The stems of one unit: one a word; a unit of several words (a name in the pack) gives several.
fn stems(text: &str, start: usize, pack: &Pack) -> Vec<(String, (usize, usize))> {
    let tokens = crate::text::words::tokens(text);
    let words = tokens.iter().filter(|t| t.of(text).chars().any(char::is_alphanumeric));
    words
        .map(|t| (stem(t.of(text), pack), (start + t.start, start + t.end)))
        .collect()
}

/// A light stem: the longest ending of the pack is cut off; Hangul words keep their first two syllables.
pub fn stem(word: &str, pack: &Pack) -> String {
    let hangul = |c: char| matches!(c as u32, 0xAC00..=0xD7A3);
    if word.chars().next().is_some_and(hangul) {
        return word.chars().take(2).collect();
    }
    if word.chars().any(char::is_numeric) {
        return word.to_owned();
    }
    let count = word.chars().count();
    let cut = pack
        .endings()
        .iter()
        .filter(|e| word.ends_with(e.as_str()) && count >= STEM_CHARS_MIN + e.chars().count())
        .max_by_key(|e| e.len());
    let stem = cut.map_or(word, |e| &word[..word.len() - e.len()]);
    // "stopping" and "stop", "planned" and "plan".
    let mut chars = stem.chars().rev();
    let doubled = cut.is_some() && chars.next() == chars.next() && stem.chars().count() > STEM_CHARS_MIN;
    let doubled = doubled && !stem.ends_with(['l', 's', 'o', 'e', 'a']);
    let last = stem.char_indices().next_back().map_or(0, |(at, _)| at);
    if doubled {
        stem[..last].to_owned()
    } else {
        stem.to_owned()
    }
}

/// Half-open ranges of units between stops.
fn clauses(units: &[Unit]) -> Vec<(usize, usize)> {
    let stop = known().stop;
    let mut out = Vec::new();
    let mut start = 0;
    for (i, unit) in units.iter().enumerate() {
        if unit.tags & stop != 0 {
            out.push((start, i));
            start = i + 1;
        }
    }
    out.push((start, units.len()));
    out
}

/// Sets the signs that the negations of one clause cause. A negation reaches forward to the end of its clause or to a joining
/// word; one that finds no content word there reaches into the next clause when a stop directly follows it ("do not, and I mean
/// it, …"), else back over its own clause ("Redis won't do").
fn sign(units: &[Unit], clause: (usize, usize), asked: bool, places: &[usize], words: &mut [ContentWord]) {
    let known = known();
    let range = |from: usize, to: usize| {
        (
            places.partition_point(|&p| p < from),
            places.partition_point(|&p| p < to),
        )
    };
    let covers = |from: usize, to: usize| range(from, to).0 < range(from, to).1;
    let flip = |words: &mut [ContentWord], (from, to): (usize, usize)| {
        words[from..to].iter_mut().for_each(|w| w.negated = !w.negated);
    };
    let negations = if asked {
        0
    } else {
        known.neg | known.neg_both | known.neg_after
    };
    // What negates the whole clause comes first: the "n'" of "il n'est pas question de" does not undo it.
    for i in (clause.0..clause.1).filter(|&i| units[i].tags & negations & known.neg_both != 0) {
        let from = (clause.0..i)
            .rev()
            .find(|&j| units[j].tags & known.contrast != 0)
            .map_or(clause.0, |j| j + 1);
        let to = if i + 1 == clause.1 {
            contrast(units, i + 1)
        } else {
            reach(units, clause, i, &covers)
        };
        flip(words, range(from, to));
    }
    for i in clause.0..clause.1 {
        let tags = units[i].tags;
        if tags & known.anti != 0 && tags & (known.neg | known.neg_both | known.neg_after) == 0 {
            let (from, to) = joined(units, clause, i, known.end | known.contrast);
            let (from, to) = range(from, to);
            let verb = (units[i].start, units[i].end);
            words[from..to].iter_mut().for_each(|w| w.undone = Some(verb));
        }
        if tags & negations & known.neg_after != 0 {
            flip(words, range(clause.0, i));
        } else if tags & negations & known.neg != 0 && tags & known.neg_both == 0 {
            let wide = tags & known.wide != 0 || i + 1 == clause.1;
            let end = if wide {
                contrast(units, i + 1)
            } else {
                reach(units, clause, i, &covers)
            };
            let after = range(i + 1, end);
            let before = range(clause.0, i);
            let first = !words[before.0..before.1].iter().any(|w| w.negated);
            let over = if after.0 == after.1 && first { before } else { after };
            if tags & known.set != 0 {
                words[over.0..over.1].iter_mut().for_each(|w| w.negated = true);
            } else {
                flip(words, over);
            }
        }
    }
}

/// Where a negation at unit `i` ends: at the first joining word behind a content word, or with its clause.
fn reach(units: &[Unit], clause: (usize, usize), i: usize, covers: &dyn Fn(usize, usize) -> bool) -> usize {
    let known = known();
    let cuts = |j: &usize| units[*j].tags & (known.end | known.contrast) != 0 && covers(i + 1, *j);
    (i + 1..clause.1).find(cuts).unwrap_or(clause.1)
}

/// The part of a clause around unit `i` that no joining word cuts off.
fn joined(units: &[Unit], clause: (usize, usize), i: usize, cuts: Tags) -> (usize, usize) {
    let from = (clause.0..i)
        .rev()
        .find(|&j| units[j].tags & cuts != 0)
        .map_or(clause.0, |j| j + 1);
    let to = (i + 1..clause.1)
        .find(|&j| units[j].tags & cuts != 0)
        .unwrap_or(clause.1);
    (from, to)
}

/// Where a wide negation ends: at a "but", or with the sentence.
fn contrast(units: &[Unit], from: usize) -> usize {
    (from..units.len())
        .find(|&j| units[j].tags & known().contrast != 0)
        .unwrap_or(units.len())
}

/// Whether two stems are the same word: equal, or so alike that only an ending can differ.
pub fn same(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    // Four letters in common are four bytes at least; most words differ there.
    match (a.as_bytes().get(..4), b.as_bytes().get(..4)) {
        (Some(a), Some(b)) if a == b => {}
        _ => return false,
    }
    let short = |s: &str| s.chars().count();
    let (la, lb) = (short(a), short(b));
    if la.min(lb) < 4 || a.chars().any(|c| c.is_numeric() || is_cjk(c)) || b.chars().any(char::is_numeric) {
        return false;
    }
    let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    // "archiv" and "archive", "bestell" and "bestellung": long common beginnings, short different ends.
    common >= 4 && la - common <= 2 && lb - common <= 2 && common * 3 >= la.max(lb) * 2
}
