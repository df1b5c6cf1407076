//! Exact repetition: which of a text's runs are loops, and which are filling, numbers or lists.

use super::limits;
use super::tokens::{Gap, Kind, Token, Tokens};
use crate::text::periods::Run;

/// What one copy is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// White space.
    Blank,
    /// Marks, or digits without anything between them.
    Fill,
    /// Lines of marks.
    Lines,
    /// Numbers and what separates them: data, however often.
    Numbers,
    /// Single words with commas between them, in brackets: data.
    List,
    /// One word.
    Word,
    /// Words.
    Words,
}

/// Bytes before a run that show whether it stands in an encoded blob.
const ENCODED_BYTES: usize = 48;

/// A run, measured in characters.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// Half-open bytes, at the borders of characters.
    pub span: (usize, usize),
    /// Bytes of one copy.
    pub unit: usize,
    /// Code points of one copy.
    pub period: usize,
    /// Code points in all.
    pub chars: usize,
    /// What one copy is made of.
    pub shape: Shape,
}

impl Exact {
    /// The run between borders of characters, if two copies are left of it.
    pub fn of(text: &str, run: &Run) -> Option<Self> {
        let start = (run.start..run.end).find(|&i| text.is_char_boundary(i))?;
        let end = (start..=run.end).rev().find(|&i| text.is_char_boundary(i))?;
        if end - start < 2 * run.period {
            return None;
        }
        let unit = text.get(start..start + run.period)?;
        let period = unit.chars().count();
        let rest = text[start..end].len() % run.period;
        let chars = (end - start) / run.period * period + text[start..start + rest].chars().count();
        Some(Self {
            span: (start, end),
            unit: run.period,
            period,
            chars,
            shape: if is_encoded(&text[..start]) {
                Shape::Numbers
            } else {
                shape(unit, Some(&text[end..]))
            },
        })
    }

    /// Whole copies.
    pub const fn copies(&self) -> usize {
        self.chars / self.period
    }

    /// Bytes beyond the first copy.
    pub const fn score(&self) -> usize {
        self.span.1 - self.span.0 - self.unit
    }

    /// Whether it is what a stuck model writes.
    pub const fn is_loop(&self, text: &str) -> bool {
        let percent = (self.span.1 - self.span.0) * 100 / text.len();
        let copies = self.copies();
        let full = percent >= limits::FULL_PERCENT;
        let sure = self.chars >= limits::SURE_CHARS;
        let fair = percent >= limits::SAID_PERCENT && self.chars >= limits::SAID_CHARS;
        match self.shape {
            Shape::Numbers | Shape::List => false,
            Shape::Blank => full && self.chars >= limits::BLANK_CHARS,
            Shape::Fill => percent >= limits::FILL_PERCENT && self.chars >= limits::FILL_CHARS,
            Shape::Lines => full && sure && copies >= limits::WORD_COPIES,
            Shape::Word => copies >= limits::WORD_COPIES && (sure || fair),
            Shape::Words => {
                copies >= limits::SURE_COPIES && sure
                    || copies >= limits::COPIES && fair
                    || copies >= 3 && self.period >= limits::LONG_CHARS && full
            }
        }
    }
}

/// Whether what stands before a run is the beginning of an encoded blob, whose empty parts are runs.
pub fn is_encoded(before: &str) -> bool {
    let mut kinds = [0_u32; 3];
    for byte in before.bytes().rev().take(ENCODED_BYTES) {
        match byte {
            b'a'..=b'z' => kinds[0] += 1,
            b'A'..=b'Z' => kinds[1] += 1,
            b'0'..=b'9' => kinds[2] += 1,
            b'+' | b'/' | b'-' | b'_' => {}
            _ => return false,
        }
    }
    kinds.iter().all(|&k| k > 1)
}

/// What a unit is made of, seen with what follows its last copy, where that is known.
pub fn shape(unit: &str, after: Option<&str>) -> Shape {
    if unit.trim().is_empty() {
        return Shape::Blank;
    }
    let (mut words, mut pairs, mut commas, mut digits, mut marks) = (0, 0, 0, 0, 0);
    let mut last = Kind::Mark;
    let mut count = |token: &Token| {
        match token.kind {
            // A byte of an erased area, as hex: ff.
            Kind::Word if token.chars == 1 && token.written > 1 && !token.dense => digits += 1,
            Kind::Word => {
                words += 1;
                pairs += usize::from(last == Kind::Word && (token.before == Gap::Space || token.dense));
            }
            Kind::Number | Kind::Name => digits += 1,
            Kind::Mark => {
                marks += 1;
                commas += usize::from(token.value == ',' as u32);
            }
        }
        last = token.kind;
    };
    // Twice, so that what meets where copies meet is seen.
    let mut tokens = Tokens::default();
    for (at, c) in unit.char_indices().chain(unit.char_indices()) {
        tokens.push(c, at, &mut count);
    }
    tokens.flush(&mut count);
    let distinct = |c: char| unit.chars().all(|d| d == c || d.is_whitespace());
    let line = unit.contains('\n');
    let one = unit.chars().find(|c| !c.is_whitespace()).is_some_and(distinct);
    if words == 0 || one {
        let separated = marks > 0 || unit.contains(char::is_whitespace);
        return match (digits > 0 && separated, line) {
            (true, _) => Shape::Numbers,
            (false, true) => Shape::Lines,
            (false, false) => Shape::Fill,
        };
    }
    if pairs == 0 && commas > 0 && commas + 1 >= words && after.is_none_or(closes) {
        return Shape::List;
    }
    if words <= 2 { Shape::Word } else { Shape::Words }
}

/// Whether what follows ends an item and then a list.
fn closes(after: &str) -> bool {
    let mut rest = after.chars().take(64);
    let next = rest.find(|c| !c.is_alphanumeric() && !c.is_whitespace() && !matches!(c, ',' | '_' | '"' | '\'' | '.'));
    matches!(next, Some(']' | '}' | ')'))
}
