//! The tables of Unicode's compatibility forms, small: the crate that has them is right and large, so the build asks it once for each
//! character. `src/text/unicode.rs` reads what is written here.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, compose, is_combining_mark};

/// Hangul syllables are taken apart by arithmetic.
const HANGUL: std::ops::RangeInclusive<char> = '\u{AC00}'..='\u{D7A3}';

/// Four tables of text, each ended by a NUL: characters with their decompositions and an end of line; characters with their
/// combining class as a character; first, second and composed characters; first and last characters of the
/// ranges of combining marks.
pub fn pack() -> Vec<u8> {
    let all = || ('\u{80}'..=char::MAX).filter(|c| !HANGUL.contains(c));
    let mut out = String::new();
    for c in all() {
        let apart: String = std::iter::once(c).nfkd().collect();
        if !apart.chars().eq([c]) {
            out.push(c);
            out.push_str(&apart);
            out.push('\n');
        }
    }
    out.push('\0');
    for c in all() {
        let class = canonical_combining_class(c);
        if class != 0 {
            out.push(c);
            out.push(char::from(class));
        }
    }
    out.push('\0');
    for c in all() {
        let apart: Vec<char> = std::iter::once(c).nfd().collect();
        let Some((&last, rest)) = apart.split_last() else {
            continue;
        };
        let mut before = rest.iter().copied().nfc();
        if let (Some(first), None) = (before.next(), before.next())
            && compose(first, last) == Some(c)
        {
            out.extend([first, last, c]);
        }
    }
    out.push('\0');
    let mut range: Option<(char, char)> = None;
    for c in all().filter(|&c| is_combining_mark(c)) {
        match &mut range {
            Some((_, last)) if *last as u32 + 1 == c as u32 => *last = c,
            _ => {
                out.extend(range.into_iter().flat_map(|(first, last)| [first, last]));
                range = Some((c, c));
            }
        }
    }
    out.extend(range.into_iter().flat_map(|(first, last)| [first, last]));
    out.push('\0');
    out.into_bytes()
}
