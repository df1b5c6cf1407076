//! Items against a text: each takes as much as it may, in one way only, so that a match costs what it reads.

use super::rules::{Item, Pattern};

/// A token may be broken over so many lines.
const BREAKS_MAX: usize = 6;
/// From this column on a terminal or an e-mail program may have broken a line.
const WRAP_COLUMN: usize = 60;

/// Where a match stands, and the breaks inside it.
#[derive(Debug, Default)]
pub struct Match {
    /// First byte.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// What is not part of the token although it stands in it: line breaks with the white space around them.
    pub breaks: Vec<(usize, usize)>,
    /// How far the text was looked at, also without a match.
    pub reach: usize,
}

/// Whether a byte is of a class.
#[inline]
pub const fn has(class: u128, byte: u8) -> bool {
    byte < 128 && class >> byte & 1 == 1
}

/// How many of the first `most` bytes are so. Not a generic function: it is called from a hundred places.
#[inline(never)]
pub fn run(text: &[u8], most: usize, is: fn(u8) -> bool) -> usize {
    text.iter().take(most).take_while(|b| is(**b)).count()
}

/// Where bytes stand in others first.
#[inline(never)]
pub fn seek(text: &[u8], part: &[u8]) -> Option<usize> {
    let (&first, rest) = part.split_first()?;
    let mut at = 0;
    while let Some(i) = memchr::memchr(first, text.get(at..)?) {
        at += i + 1;
        if text[at..].starts_with(rest) {
            return Some(at - 1);
        }
    }
    None
}

/// Sorts in place (heap sort): little code, and never slower than n log n.
pub fn sort(items: &mut [[usize; 3]]) {
    let sift = |items: &mut [[usize; 3]], mut root: usize| {
        loop {
            let mut child = 2 * root + 1;
            if child >= items.len() {
                return;
            }
            if child + 1 < items.len() && items[child] < items[child + 1] {
                child += 1;
            }
            if items[root] >= items[child] {
                return;
            }
            items.swap(root, child);
            root = child;
        }
    };
    for root in (0..items.len() / 2).rev() {
        sift(items, root);
    }
    for end in (1..items.len()).rev() {
        items.swap(0, end);
        sift(&mut items[..end], 0);
    }
}

/// Letters and digits.
pub const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// The pattern around a literal at `at..end`; none leaves how far it looked.
pub fn around(text: &[u8], at: usize, end: usize, pattern: &Pattern) -> Result<Match, usize> {
    let mut out = Match {
        start: at,
        ..Match::default()
    };
    for item in &pattern.before {
        let most = usize::from(item.max).min(out.start);
        let count = text[out.start - most..out.start]
            .iter()
            .rev()
            .take_while(|&&b| has(item.class, b))
            .count();
        if count < usize::from(item.min) {
            return Err(end);
        }
        out.start -= count;
    }
    if !begins(text, out.start) {
        return Err(end);
    }
    out.end = end;
    after(text, &pattern.after, &mut out)?;
    Ok(out)
}

/// Whether a token can begin here: not behind a letter or digit, unless that ends an escape or a colour.
pub fn begins(text: &[u8], at: usize) -> bool {
    let Some(&last) = text[..at].last() else { return true };
    if !is_word(last) {
        return true;
    }
    let before = &text[at.saturating_sub(14)..at - 1];
    match last {
        // `\n`, `\t`, `\r` of a text in quotes.
        b'n' | b't' | b'r' if before.last() == Some(&b'\\') => true,
        // The end of `ESC [ 1 ; 32 m`.
        b'm' => {
            let parameters = before
                .iter()
                .rev()
                .take_while(|b| b.is_ascii_digit() || **b == b';')
                .count();
            before[..before.len() - parameters].ends_with(b"[")
        }
        // `/bot123:` in the address of a Telegram bot.
        b't' => before.ends_with(b"/bo"),
        // `%3D` and `%20`.
        b'0'..=b'9' | b'A'..=b'F' => matches!(before, [.., b'%', b'2' | b'3']),
        _ => false,
    }
}

/// Takes the items from `out.end` on.
fn after(text: &[u8], items: &[Item], out: &mut Match) -> Result<(), usize> {
    for (i, item) in items.iter().enumerate() {
        let mut count = 0;
        loop {
            let most = (usize::from(item.max) - count).min(text.len() - out.end);
            let run = text[out.end..out.end + most]
                .iter()
                .take_while(|&&b| has(item.class, b))
                .count();
            out.end += run;
            count += run;
            let is_last = i + 1 == items.len();
            if count >= usize::from(item.min) && !(is_last && is_cut(text, out, item.class)) {
                break;
            }
            match broken(text, out.end, item.class) {
                Some(next) if out.breaks.len() < BREAKS_MAX && out.end > out.start && count < usize::from(item.max) => {
                    out.breaks.push((out.end, next));
                    out.end = next;
                }
                _ if count >= usize::from(item.min) => break,
                _ => return Err(out.end),
            }
        }
    }
    // What goes on behind its greatest length is something else.
    let full = items.last().is_some_and(|last| last.max < 1024);
    if full && text.get(out.end).is_some_and(|&b| is_word(b)) {
        return Err(out.end);
    }
    out.reach = out.end;
    Ok(())
}

/// Where a token goes on behind a line break: on the next line, behind white space and the signs of a diff or a quotation.
fn broken(text: &[u8], at: usize, class: u128) -> Option<usize> {
    let mut next = at;
    if text.get(next) == Some(&b'\\') {
        next += 1;
    }
    if text.get(next) == Some(&b'\r') {
        next += 1;
    }
    if text.get(next) != Some(&b'\n') {
        return None;
    }
    next += 1;
    let limit = next + 40;
    while next < limit && matches!(text.get(next), Some(b' ' | b'\t' | b'>' | b'|' | b'+')) {
        next += 1;
    }
    let run = text[next..].iter().take(4).take_while(|&&b| has(class, b)).count();
    (run == 4).then_some(next)
}

/// Whether a token that is long enough was cut by the width of a line, and its rest stands at the start of the next one.
fn is_cut(text: &[u8], out: &Match, class: u128) -> bool {
    let from = out.breaks.last().map_or(out.start, |b| b.1);
    let column = text[out.end.saturating_sub(WRAP_COLUMN)..from.max(out.end.saturating_sub(WRAP_COLUMN))]
        .iter()
        .rev()
        .take_while(|&&b| b != b'\n')
        .count()
        + (out.end - from);
    if column < WRAP_COLUMN {
        return false;
    }
    let Some(next) = broken(text, out.end, class) else {
        return false;
    };
    // The rest fills its line, or holds digits: words of the next line do not.
    let rest = &text[next..(next + 512).min(text.len())];
    let rest = &rest[..rest.iter().take_while(|&&b| has(class, b)).count()];
    let ends = matches!(
        text.get(next + rest.len()),
        None | Some(b'\n' | b'\r' | b'"' | b'\'' | b'\\')
    );
    ends && (rest.iter().any(u8::is_ascii_digit) || rest.len() >= 40)
}

/// Whether the items are the whole of a value.
pub fn is_whole(value: &[u8], items: &[Item]) -> bool {
    let mut at = 0;
    for item in items {
        let most = usize::from(item.max).min(value.len() - at);
        let count = value[at..at + most].iter().take_while(|&&b| has(item.class, b)).count();
        if count < usize::from(item.min) {
            return false;
        }
        at += count;
    }
    at == value.len()
}
