//! A text as it is meant: without colours, with escapes resolved, out of base64 and hex. What is found there is brought back to
//! the bytes of the text.

use super::pattern::run;
use super::scan::Scan;
use super::{Hit, coded};
use memchr::{memchr, memchr3, memrchr};

/// Escapes in escapes are resolved so often, and codes in codes.
const DEPTH_MAX: usize = 4;
/// Characters of base64 or hex from which on they are decoded.
const CODED_MIN: usize = 32;

/// Everything that is found in a text, in it as it stands and as it is meant.
pub fn find(text: &[u8], depth: usize) -> Vec<Hit> {
    let mut hits = Scan::over(text);
    if depth < DEPTH_MAX {
        meant(text, depth, &mut hits);
        decoded(text, depth, &mut hits);
    }
    hits
}

/// Looks at the lines that hold escapes or colours.
fn meant(text: &[u8], depth: usize, hits: &mut Vec<Hit>) {
    let mut done = 0;
    while let Some(at) = next_escape(text, done) {
        let start = memrchr(b'\n', &text[done..at]).map_or(done, |i| done + i + 1);
        let mut end = at;
        // Lines with escapes that follow each other are one text.
        loop {
            end = memchr(b'\n', &text[end..]).map_or(text.len(), |i| end + i + 1);
            let next = memchr(b'\n', &text[end..]).map_or(text.len(), |i| end + i + 1);
            if end == text.len() || next_escape(&text[..next], end).is_none() {
                break;
            }
        }
        let view = View::of(&text[start..end]);
        for hit in find(&view.bytes, depth + 1) {
            let back = |span: (usize, usize)| view.back(start, span);
            hits.push(Hit {
                rule: hit.rule,
                span: back(hit.span),
                more: hit.more.into_iter().map(back).collect(),
            });
        }
        done = end;
    }
}

/// Where the next escape begins.
fn next_escape(text: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(i) = memchr3(b'\\', b'%', 0x1B, &text[at..]) {
        at += i;
        if escape(&text[at..]).is_some() {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// How many bytes an escape takes, and the byte it means; none of it for a colour.
fn escape(text: &[u8]) -> Option<(usize, Option<u8>)> {
    let code = |digits: &[u8]| {
        coded::hex(digits)
            .first()
            .copied()
            .filter(|b| b.is_ascii_graphic() || b.is_ascii_whitespace() || *b == 0x1B)
    };
    match text {
        [b'%', a, b, ..] => Some((3, Some(code(&[*a, *b])?))),
        [b'\\', b'u', b'0', b'0', a, b, ..] => Some((6, Some(code(&[*a, *b])?))),
        [b'\\', b'x', a, b, ..] => Some((4, Some(code(&[*a, *b])?))),
        [b'\\', b'0', b'3', b'3', ..] => Some((4, Some(0x1B))),
        [b'\\', b'e', b'[', ..] => Some((2, Some(0x1B))),
        [b'\\', b'n', ..] => Some((2, Some(b'\n'))),
        [b'\\', b'r', ..] => Some((2, Some(b'\r'))),
        [b'\\', b't', ..] => Some((2, Some(b'\t'))),
        [b'\\', c @ (b'"' | b'\'' | b'/' | b'\\' | b'$' | b'`' | b'_' | b'-'), ..] => Some((2, Some(*c))),
        [0x1B, ..] => Some((colour(text), None)),
        _ => None,
    }
}

/// The length of a sequence that begins with ESC: `ESC [ ... letter`, `ESC ] ... BEL`, or two bytes.
pub fn colour(text: &[u8]) -> usize {
    match text.get(1) {
        Some(b'[') => {
            let inner = run(&text[2..], 24, |b| (0x20..0x40).contains(&b));
            (3 + inner).min(text.len())
        }
        Some(b']') => {
            let inner = text[2..]
                .iter()
                .take(512)
                .position(|&b| b == 7 || b == b'\n' || b == 0x1B);
            inner.map_or(2, |n| n + 3).min(text.len())
        }
        Some(b'(' | b')') => 3.min(text.len()),
        _ => 1,
    }
}

/// A text with its escapes resolved, and the way back.
struct View {
    bytes: Vec<u8>,
    /// Where each byte began, and one past the last.
    starts: Vec<u32>,
    /// How many bytes it was written with.
    widths: Vec<u8>,
}

impl View {
    fn of(text: &[u8]) -> Self {
        let mut out = Self {
            bytes: Vec::with_capacity(text.len()),
            starts: Vec::with_capacity(text.len() + 1),
            widths: Vec::with_capacity(text.len()),
        };
        let mut at = 0;
        while at < text.len() {
            let escaped = if matches!(text[at], b'\\' | b'%' | 0x1B) {
                escape(&text[at..])
            } else {
                None
            };
            let (width, byte) = escaped.unwrap_or((1, Some(text[at])));
            if let Some(byte) = byte {
                out.bytes.push(byte);
                out.starts.push(at as u32);
                out.widths.push(width as u8);
            }
            at += width;
        }
        out
    }

    /// The span of the text, which begins at `base`, that a span of the view was.
    fn back(&self, base: usize, span: (usize, usize)) -> (usize, usize) {
        let start = self.starts.get(span.0).map_or(0, |&s| s as usize);
        let last = span.1.saturating_sub(1);
        let end = self
            .starts
            .get(last)
            .map_or(start, |&s| s as usize + usize::from(self.widths[last]));
        (base + start, base + end.max(start))
    }
}

/// Looks into runs of base64 and hex that hold a text. A run that holds a credential is one as a whole.
fn decoded(text: &[u8], depth: usize, hits: &mut Vec<Hit>) {
    let is_coded = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_');
    let mut at = 0;
    while at + CODED_MIN <= text.len() {
        // Every run that is long enough holds a place that is looked at.
        let probe = at + CODED_MIN - 1;
        let back = text[at..=probe].iter().rev().take_while(|&&b| is_coded(b)).count();
        if back < CODED_MIN {
            at = probe + 1 - back;
            if back == 0 {
                at = probe + 1;
            }
            continue;
        }
        let length = CODED_MIN + text[probe + 1..].iter().take_while(|&&b| is_coded(b)).count();
        let (end, pieces) = block(text, at, length);
        let whole: Vec<u8> = pieces.iter().flat_map(|p| &text[p.0..p.1]).copied().collect();
        if let Some(rule) = within(&whole, depth) {
            let mut pieces = pieces;
            if let Some(last) = pieces.last_mut() {
                last.1 += run(&text[last.1..], 2, |b| b == b'=');
            }
            hits.push(Hit {
                rule,
                span: pieces[0],
                more: pieces[1..].to_vec(),
            });
        }
        at = end;
    }
}

/// The lines of equal length that a run begins.
fn block(text: &[u8], at: usize, length: usize) -> (usize, Vec<(usize, usize)>) {
    let mut pieces = vec![(at, at + length)];
    let mut end = at + length;
    if length < 48 {
        return (end, pieces);
    }
    loop {
        let gap = run(&text[end..], 40, |b| b.is_ascii_whitespace());
        if gap == 0 || !text[end..end + gap].contains(&b'\n') {
            break;
        }
        let from = end + gap;
        let next = run(&text[from..], length, |b| {
            b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/')
        });
        // A shorter last line is one, a word of the next sentence is not.
        let is_line = next >= 16 || matches!(text.get(from + next), None | Some(b'\n' | b'\r' | b'=' | b'"' | b'\''));
        if next == 0 || (next < length && !is_line) {
            break;
        }
        pieces.push((from, from + next));
        end = from + next;
        if next < length {
            break;
        }
    }
    (end, pieces)
}

/// The rule by which a decoded run holds a credential.
fn within(run: &[u8], depth: usize) -> Option<&'static str> {
    let first = |inner: Vec<u8>| {
        coded::is_text(&inner)
            .then(|| find(&inner, depth + 1))
            .and_then(|hits| hits.first().map(|h| h.rule))
    };
    let opens = |inner: Vec<u8>| coded::is_text(&inner);
    let head = &run[..run.len().min(64)];
    let is_hex = run.len().is_multiple_of(2) && head.iter().all(u8::is_ascii_hexdigit);
    if is_hex
        && opens(coded::hex(head))
        && let Some(rule) = first(coded::hex(run))
    {
        return Some(rule);
    }
    opens(coded::base64(head)).then(|| first(coded::base64(run))).flatten()
}
