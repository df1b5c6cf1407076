//! Unicode's compatibility forms (NFKC), from tables that the build makes small and that are opened when they are first needed.
//!
//! The crate `unicode-normalization` does the same with 110 KB of tables in the component; the tests compare with it.

use std::sync::OnceLock;

/// The tables, each sorted by its first part.
#[derive(Default)]
struct Tables {
    /// A character, and where its decomposition stands in `apart`.
    apart_at: Vec<(char, u16, u8)>,
    apart: Vec<char>,
    classes: Vec<(char, u8)>,
    pairs: Vec<((char, char), char)>,
    /// The first and the last of each range.
    marks: Vec<(char, char)>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let blob = include_bytes!(concat!(env!("OUT_DIR"), "/unicode.z"));
        let text = miniz_oxide::inflate::decompress_to_vec(blob).unwrap_or_default();
        let text = String::from_utf8(text).unwrap_or_default();
        let mut parts = text.split('\0');
        let mut part = || parts.next().unwrap_or_default();
        let mut out = Tables::default();
        for line in part().split_terminator('\n') {
            let mut chars = line.chars();
            let Some(c) = chars.next() else { continue };
            let from = out.apart.len();
            out.apart.extend(chars);
            out.apart_at.push((c, from as u16, (out.apart.len() - from) as u8));
        }
        let mut chars = part().chars();
        while let (Some(c), Some(class)) = (chars.next(), chars.next()) {
            out.classes.push((c, class as u32 as u8));
        }
        let mut chars = part().chars();
        while let (Some(first), Some(second), Some(whole)) = (chars.next(), chars.next(), chars.next()) {
            out.pairs.push(((first, second), whole));
        }
        let mut chars = part().chars();
        while let (Some(first), Some(last)) = (chars.next(), chars.next()) {
            out.marks.push((first, last));
        }
        out.pairs.sort_unstable_by_key(|(pair, _)| *pair);
        out
    })
}

/// The canonical combining class: 0 for a character that begins something.
pub fn combining_class(c: char) -> u8 {
    if c < '\u{300}' {
        return 0;
    }
    let classes = &tables().classes;
    classes.binary_search_by_key(&c, |e| e.0).map_or(0, |at| classes[at].1)
}

/// Whether a character is a mark on the one before it (general category M).
pub fn is_mark(c: char) -> bool {
    if c < '\u{300}' {
        return false;
    }
    let marks = &tables().marks;
    marks.get(marks.partition_point(|m| m.1 < c)).is_some_and(|m| m.0 <= c)
}

/// The text in its compatibility form, composed (NFKC).
pub fn nfkc(text: &str) -> String {
    let mut chars: Vec<(char, u8)> = Vec::with_capacity(text.len());
    for c in text.chars() {
        take_apart(c, |c| chars.push((c, combining_class(c))));
    }
    // Marks of one letter stand in the order of their classes.
    for marks in chars.chunk_by_mut(|a, b| a.1 != 0 && b.1 != 0) {
        marks.sort_by_key(|m| m.1);
    }
    compose(&chars)
}

fn take_apart(c: char, mut out: impl FnMut(char)) {
    let hangul = (c as u32).wrapping_sub(0xAC00);
    if c.is_ascii() {
        out(c);
    } else if hangul < 11_172 {
        let parts = [0x1100 + hangul / 588, 0x1161 + hangul % 588 / 28, 0x11A7 + hangul % 28];
        let count = if hangul.is_multiple_of(28) { 2 } else { 3 };
        parts[..count].iter().filter_map(|&p| char::from_u32(p)).for_each(out);
    } else {
        let tables = tables();
        match tables.apart_at.binary_search_by_key(&c, |e| e.0) {
            Ok(at) => {
                let (_, from, count) = tables.apart_at[at];
                let from = usize::from(from);
                tables.apart[from..from + usize::from(count)]
                    .iter()
                    .copied()
                    .for_each(out);
            }
            Err(_) => out(c),
        }
    }
}

/// Composes what was taken apart: each mark with the last character that begins something, unless a mark of its class or a character
/// that begins something stands between.
fn compose(chars: &[(char, u8)]) -> String {
    let mut out: Vec<(char, u8)> = Vec::with_capacity(chars.len());
    let mut starter: Option<usize> = None;
    for &(c, class) in chars {
        if let Some(at) = starter {
            let last = out[out.len() - 1].1;
            let adjacent = out.len() == at + 1;
            if (adjacent || last < class && last != 0)
                && let Some(whole) = pair(out[at].0, c)
            {
                out[at].0 = whole;
                continue;
            }
        }
        if class == 0 {
            starter = Some(out.len());
        }
        out.push((c, class));
    }
    out.into_iter().map(|(c, _)| c).collect()
}

fn pair(first: char, second: char) -> Option<char> {
    let (l, v) = (
        (first as u32).wrapping_sub(0x1100),
        (second as u32).wrapping_sub(0x1161),
    );
    if l < 19 && v < 21 {
        return char::from_u32(0xAC00 + (l * 21 + v) * 28);
    }
    let (lv, t) = (
        (first as u32).wrapping_sub(0xAC00),
        (second as u32).wrapping_sub(0x11A7),
    );
    if lv < 11_172 && lv % 28 == 0 && (1..28).contains(&t) {
        return char::from_u32(first as u32 + t);
    }
    let pairs = &tables().pairs;
    pairs
        .binary_search_by_key(&(first, second), |e| e.0)
        .ok()
        .map(|at| pairs[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization;

    #[test]
    fn every_character_is_what_the_standard_says() {
        for c in '\0'..=char::MAX {
            let text = c.to_string();
            assert_eq!(nfkc(&text), text.nfkc().collect::<String>(), "{c:?}");
            let class = unicode_normalization::char::canonical_combining_class(c);
            assert_eq!(combining_class(c), class, "{c:?}");
            assert_eq!(is_mark(c), unicode_normalization::char::is_combining_mark(c), "{c:?}");
        }
    }

    proptest! {
        #[test]
        fn so_is_every_text(text in "([a-zA-Z가-힣각ᄀ-하-ᅵᆨ-ᇂ]|\\PC|[\u{300}-\u{36f}\u{591}-\u{5af}\u{3099}\u{309a}]){0,24}") {
            prop_assert_eq!(nfkc(&text), text.nfkc().collect::<String>());
        }
    }
}
