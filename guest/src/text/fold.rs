//! Folding: what typing and rendering change without changing the words is made equal, with a way back to bytes.
//!
//! Folded are Unicode compatibility forms (NFKC), case, the shape of quotes, apostrophes and dashes, runs of white space and
//! line breaks, zero-width and soft-hyphen characters, markdown emphasis marks, and white space between Latin and CJK
//! characters. Nothing else: a changed word stays changed.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::canonical_combining_class;

/// A folded text and the way back.
#[derive(Clone, Debug, Default)]
pub struct Folded {
    /// The folded text.
    pub text: String,
    /// For each byte of `text`, the half-open bytes in the original of the character it came from.
    map: Vec<(u32, u32)>,
    /// The original's length in bytes.
    len: usize,
}

impl Folded {
    /// Folds `text` and keeps the way back.
    pub fn new(text: &str) -> Self {
        let mut folded = String::with_capacity(text.len());
        let mut map = Vec::with_capacity(text.len());
        run(text, |c, start, end| {
            folded.push(c);
            map.resize(folded.len(), (start as u32, end as u32));
        });
        Self {
            text: folded,
            map,
            len: text.len(),
        }
    }

    /// The original's half-open bytes behind the folded bytes `start..end`.
    pub fn original(&self, start: usize, end: usize) -> (usize, usize) {
        let from = self.map.get(start).map_or(self.len, |m| m.0 as usize);
        let to = if start < end {
            self.map[end.min(self.map.len()) - 1].1 as usize
        } else {
            from
        };
        (from, to)
    }

    /// The folded offset of the first folded character that began at or after the original byte `at`.
    pub fn folded_at(&self, at: usize) -> usize {
        self.map.partition_point(|m| (m.0 as usize) < at)
    }
}

/// Folds `text`; equal to `Folded::new(text).text`.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    run(text, |c, _, _| out.push(c));
    out
}

/// Whether a character belongs to a script that is written without spaces between words.
pub fn is_cjk(c: char) -> bool {
    matches!(c as u32,
        0x3040..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x323AF
        | 0x3005..=0x3007)
}

/// What the folder remembers between characters.
struct State {
    /// White space was seen and not yet written; where its first character stands.
    space: Option<(usize, usize)>,
    /// The last character written.
    last: Option<char>,
}

fn run(text: &str, mut out: impl FnMut(char, usize, usize)) {
    let mut state = State {
        space: None,
        last: None,
    };
    let mut chars = text.char_indices().peekable();
    let mut cluster = String::new();
    while let Some((at, c)) = chars.next() {
        if c.is_ascii() {
            let combining = chars
                .peek()
                .is_some_and(|&(_, n)| !n.is_ascii() && canonical_combining_class(n) != 0);
            if !combining {
                if emphasis(text, at, c) {
                    continue;
                }
                emit(c.to_ascii_lowercase(), (at, at + 1), &mut state, &mut out);
                continue;
            }
        }
        if is_invisible(c) {
            continue;
        }
        cluster.clear();
        cluster.push(c);
        let mut end = at + c.len_utf8();
        while let Some(&(_, n)) = chars.peek() {
            let joins = canonical_combining_class(n) != 0 || matches!(n as u32, 0x1160..=0x11FF | 0xFF9E | 0xFF9F);
            // A cluster is bounded: a pile of a thousand accents is folded in pieces.
            if !joins || cluster.len() > 64 {
                break;
            }
            cluster.push(n);
            end += n.len_utf8();
            chars.next();
        }
        for n in cluster.nfkc() {
            for l in n.to_lowercase() {
                emit(shape(l), (at, end), &mut state, &mut out);
            }
        }
    }
}

/// Writes one character, joining white space as the rules say.
fn emit(c: char, at: (usize, usize), state: &mut State, out: &mut impl FnMut(char, usize, usize)) {
    if c.is_whitespace() {
        if state.last.is_some() && state.space.is_none() {
            state.space = Some(at);
        }
        return;
    }
    if let Some(space) = state.space.take()
        && let Some(last) = state.last
    {
        let mixed = is_cjk(last) != is_cjk(c) && (is_cjk(last) || is_cjk(c));
        let words = last.is_alphanumeric() && c.is_alphanumeric();
        if !(mixed && words) {
            out(' ', space.0, space.1);
        }
    }
    out(c, at.0, at.1);
    state.last = Some(c);
}

/// Curly and straight quotes, and all dashes, become one shape.
fn shape(c: char) -> char {
    match c {
        '\u{2018}' | '\u{2019}' | '\u{201A}' | '\u{201B}' | '\u{2032}' | '\u{00B4}' | '\u{02BC}' => '\'',
        '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{201F}' | '\u{2033}' | '\u{301D}' | '\u{301E}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' => '-',
        _ => c,
    }
}

/// Characters that are not seen: zero width, direction marks, soft hyphen, variation selectors.
fn is_invisible(c: char) -> bool {
    matches!(c as u32,
        0x00AD | 0x061C | 0x180E | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2064 | 0x2066..=0x206F
        | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE007F)
}

/// Whether the ASCII character at `at` is a markdown emphasis mark and not a part of the words.
fn emphasis(text: &str, at: usize, c: char) -> bool {
    match c {
        '`' => true,
        '*' | '~' => {
            let bytes = text.as_bytes();
            let double = bytes.get(at + 1) == Some(&bytes[at]) || (at > 0 && bytes[at - 1] == bytes[at]);
            if double || c == '~' {
                return double;
            }
            let (before, after) = (text[..at].chars().next_back(), text[at + 1..].chars().next());
            let space = |n: Option<char>| n.is_none_or(char::is_whitespace);
            let digit = |n: Option<char>| n.is_some_and(|n| n.is_ascii_digit());
            !(space(before) && space(after) || digit(before) && digit(after))
        }
        '_' => {
            let word = |n: Option<char>| n.is_some_and(|n| n.is_alphanumeric() || n == '_');
            !(word(text[..at].chars().next_back()) && word(text[at + 1..].chars().next()))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_what_rendering_changes() {
        assert_eq!(fold("Don\u{2019}t  use\n**Redis**"), "don't use redis");
        assert_eq!(fold("ＡＢＣ ﬁne — ok"), "abc fine - ok");
        assert_eq!(fold("用 Redis 做队列"), "用redis做队列");
        assert_eq!(fold("snake_case _it_ `x`"), "snake_case it x");
        assert_eq!(fold("2 * 3, 2*3, *hi*"), "2 * 3, 2*3, hi");
        assert_eq!(fold("e\u{301}te\u{301}"), "été");
        assert_eq!(fold("zero\u{200B}width"), "zerowidth");
    }

    #[test]
    fn is_idempotent_and_maps_back() {
        for text in ["Use **Redis** — now", "ﬁ ﬁ", "用 Redis", "a\u{301}b", "", "  x  "] {
            let once = Folded::new(text);
            assert_eq!(fold(&once.text), once.text, "{text:?}");
            for (i, c) in once.text.char_indices() {
                let (start, end) = once.original(i, i + c.len_utf8());
                assert!(
                    text.is_char_boundary(start) && text.is_char_boundary(end) && start <= end,
                    "{text:?} {i}"
                );
            }
        }
        let folded = Folded::new("Use **Redis** now");
        let at = folded.text.find("redis").unwrap();
        assert_eq!(folded.original(at, at + 5), (6, 11));
    }
}
