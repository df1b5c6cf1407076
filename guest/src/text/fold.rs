//! Folding: what typing and rendering change without changing the words is made equal, with a way back to bytes.
//!
//! Folded are Unicode compatibility forms (NFKC), case, the shape of quotes, apostrophes and dashes, runs of white space and
//! line breaks, zero-width and soft-hyphen characters, markdown emphasis marks, and white space between Latin and CJK
//! characters. Nothing else: a changed word stays changed.

use super::unicode::{combining_class, nfkc};

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
            let at = (start as u32, end as u32);
            if c.is_ascii() {
                map.push(at);
            } else {
                map.resize(folded.len(), at);
            }
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
pub const fn is_cjk(c: char) -> bool {
    c as u32 >= 0x3005
        && matches!(c as u32,
        0x3040..=0x30FF | 0x31F0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x323AF
        | 0x3005..=0x3007)
}

/// Combining marks kept on one letter, and read at once; a pile of more is noise, and is cut.
const PILE_MAX: usize = 30;

fn run(text: &str, out: impl FnMut(char, usize, usize)) {
    let mut writer = Writer::new(out);
    let bytes = text.as_bytes();
    let mut cluster = String::new();
    let mut next = 0;
    while let Some(byte) = bytes.get(next) {
        if byte.is_ascii() && bytes.get(next + 1).is_none_or(u8::is_ascii) {
            writer.put(char::from(byte.to_ascii_lowercase()), (next, next + 1), true);
            next += 1;
            if byte.is_ascii_alphanumeric() {
                next = writer.go_on(bytes, next);
            }
            continue;
        }
        let Some((at, c)) = visible(text, next) else { break };
        let mut end = at + c.len_utf8();
        cluster.clear();
        cluster.push(shape(c));
        let mut count = 0;
        while let Some((joined, n)) = visible(text, end).filter(|&(_, n)| joins(n)) {
            if count < PILE_MAX {
                cluster.push(n);
            }
            count += 1;
            end = joined + n.len_utf8();
        }
        if count == 0 && is_composed(c) {
            c.to_lowercase().for_each(|l| writer.put(l, (at, end), true));
        } else {
            write_cluster(&cluster, count == 0, (at, end), &mut writer);
        }
        next = end;
    }
    writer.settle(None);
}

/// The first character at or after `from` that is seen, and where it stands.
fn visible(text: &str, from: usize) -> Option<(usize, char)> {
    let found = text[from..].char_indices().find(|&(_, c)| !is_invisible(c));
    found.map(|(at, c)| (from + at, c))
}

/// Whether NFKC and [`shape`] leave the character alone: most letters of the languages that are read.
const fn is_composed(c: char) -> bool {
    matches!(c as u32, 0x00C0..=0x00FF | 0x0400..=0x0482 | 0x3041..=0x3096 | 0x30A1..=0x30FA | 0x4E00..=0x9FFF | 0xAC00..=0xD7A3)
}

/// Writes a letter with its marks: composed, in lower case, and composed again where lower case took it apart.
fn write_cluster(cluster: &str, alone: bool, at: (usize, usize), writer: &mut Writer<impl FnMut(char, usize, usize)>) {
    if alone {
        for c in nfkc(cluster).chars().flat_map(char::to_lowercase) {
            writer.put(shape(c), at, true);
        }
        return;
    }
    let mut piled = 0;
    let lower: String = nfkc(cluster).chars().flat_map(char::to_lowercase).collect();
    for c in nfkc(&lower).chars() {
        piled = if combining_class(c) == 0 { 0 } else { piled + 1 };
        if piled <= PILE_MAX {
            // A mark of emphasis with an accent is none.
            writer.put(shape(c), at, false);
        }
    }
}

/// Whether a character is read together with the one before it: an accent, or what is taken apart into accents, a vowel, a voice.
fn joins(c: char) -> bool {
    !c.is_ascii()
        && (combining_class(c) != 0 || matches!(c as u32, 0x0F73 | 0x0F75 | 0x0F81 | 0x1160..=0x11FF | 0xFF9E | 0xFF9F))
}

/// Puts characters out: without marks of emphasis, with white space joined.
struct Writer<F> {
    out: F,
    /// Marks of emphasis, or what looks like them, until it is known what stands behind.
    marks: Marks,
    /// The character before the marks.
    before: Option<char>,
    /// White space was seen and not yet written; where its first character stands.
    space: Option<(usize, usize)>,
    /// The last character written.
    last: Option<char>,
}

/// A run of `*`, `_` and `~`.
#[derive(Default)]
struct Marks {
    first: char,
    /// Whether not all are the same.
    mixed: bool,
    at: Vec<(usize, usize)>,
}

/// Marks of a run that may still be a part of the words, such as `a____b`.
const MARKS_MAX: usize = 64;

impl<F: FnMut(char, usize, usize)> Writer<F> {
    fn new(out: F) -> Self {
        Self {
            out,
            marks: Marks::default(),
            before: None,
            space: None,
            last: None,
        }
    }

    /// Takes one character; `bare` if it stands for itself and may be a mark.
    fn put(&mut self, c: char, at: (usize, usize), bare: bool) {
        match c {
            '`' if bare => {}
            '*' | '_' | '~' if bare => {
                if self.marks.at.is_empty() {
                    self.marks.first = c;
                }
                self.marks.mixed |= self.marks.first != c;
                if self.marks.at.len() <= MARKS_MAX {
                    self.marks.at.push(at);
                }
            }
            _ => {
                self.settle(Some(c));
                self.emit(c, at);
                self.before = Some(c);
            }
        }
    }

    /// Writes the letters and digits of ASCII that follow one, but for the last where an accent may stand behind it. Where it ends.
    fn go_on(&mut self, bytes: &[u8], mut at: usize) -> usize {
        while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii_alphanumeric())
            && bytes.get(at + 1).is_none_or(u8::is_ascii)
        {
            let c = char::from(byte.to_ascii_lowercase());
            (self.out)(c, at, at + 1);
            (self.before, self.last) = (Some(c), Some(c));
            at += 1;
        }
        at
    }

    /// Writes the marks that wait, if they belong to the words before `after`.
    fn settle(&mut self, after: Option<char>) {
        if self.marks.at.is_empty() {
            return;
        }
        let marks = std::mem::take(&mut self.marks);
        let both = |test: fn(Option<char>) -> bool| test(self.before) && test(after);
        let words = match (marks.first, marks.at.len()) {
            _ if marks.mixed => false,
            // `snake_case`
            ('_', 1..=MARKS_MAX) => both(|c| c.is_some_and(char::is_alphanumeric)),
            // `2 * 3`, `2*3`
            ('*', 1) => both(|c| c.is_none_or(char::is_whitespace)) || both(|c| c.is_some_and(|c| c.is_ascii_digit())),
            // `~/notes`
            ('~', 1) => true,
            _ => false,
        };
        if words {
            marks.at.into_iter().for_each(|at| self.emit(marks.first, at));
        }
    }

    /// Writes one character, joining white space as the rules say.
    fn emit(&mut self, c: char, at: (usize, usize)) {
        if c.is_whitespace() {
            if self.last.is_some() && self.space.is_none() {
                self.space = Some(at);
            }
            return;
        }
        if let Some(space) = self.space.take()
            && let Some(last) = self.last
        {
            let mixed = is_cjk(last) != is_cjk(c) && (is_cjk(last) || is_cjk(c));
            let words = last.is_alphanumeric() && c.is_alphanumeric();
            if !(mixed && words) {
                (self.out)(' ', space.0, space.1);
            }
        }
        (self.out)(c, at.0, at.1);
        self.last = Some(c);
    }
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
    !c.is_ascii()
        && matches!(c as u32,
        0x00AD | 0x061C | 0x180E | 0x200B..=0x200F | 0x202A..=0x202E | 0x2060..=0x2064 | 0x2066..=0x206F
        | 0xFE00..=0xFE0F | 0xFEFF | 0xE0000..=0xE007F)
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
        assert_eq!(fold("don\u{B4}t, 5\u{2033}"), "don't, 5\"");
        assert_eq!(fold("cafe\u{301}_au and café_au"), "café_au and café_au");
        assert_eq!(
            fold("__init__, a__b, ***~~_x_~~***, ~/notes, 2`*`3"),
            "init, a__b, x, ~/notes, 2*3"
        );
        assert_eq!(fold("a\u{200B}\u{301} か\u{AD}\u{FF9E}"), "áが");
    }

    #[test]
    fn every_character_is_folded_once() {
        // Where characters that fold stand; the ideographs and syllables between them are alike.
        let blocks = [
            0..=0x33FF,
            0xA000..=0xAC10,
            0xD7A0..=0xFFFF,
            0x1_0400..=0x1_1FFF,
            0x1_D000..=0x1_F2FF,
        ];
        let all = blocks.into_iter().flatten().filter_map(char::from_u32);
        // With an accent, and where two kinds of words meet, there is more to compose and to join.
        let around = |c: char| [format!("{c}"), format!("a{c}\u{327}\u{301}"), format!("{c}{c} 用{c} a")];
        let wrong = all.flat_map(around).find(|text| fold(&fold(text)) != fold(text));
        assert_eq!(wrong, None);
    }

    #[test]
    fn composed_characters_are_left_alone() {
        let all = (0..=0xFFFF).filter_map(char::from_u32).filter(|&c| is_composed(c));
        let wrong = all
            .into_iter()
            .find(|&c| !nfkc(&c.to_string()).chars().eq([c]) || shape(c) != c || is_invisible(c) || joins(c));
        assert_eq!(wrong, None);
    }

    #[test]
    fn piles_of_marks_are_cut_and_stay_so() {
        for pile in [
            "\u{301}\u{327}",
            "\u{344}",
            "\u{3099}",
            "\u{FF9E}",
            "\u{1161}",
            "_",
            "*",
            "~",
            "*_",
        ] {
            let text = format!("a{}b", pile.repeat(500));
            assert_eq!(fold(&fold(&text)), fold(&text), "{pile:?}");
        }
        assert!(fold(&("e".to_owned() + &"\u{301}".repeat(10_000))).len() < 100);
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
