//! The bounds guard: a result that is too long to read keeps its head, its tail and the telling lines between.
//!
//! Lines that say that something failed, warn, sum up, name a place in a file, or break into a run of like lines are telling. Cuts
//! stand between lines where they can, and between grapheme clusters otherwise. JSON stays JSON: long texts in it are shortened,
//! long lists keep their ends. What is told is characters (code points) and lines.
//!
//! What it can't see: which of many ordinary lines somebody will want. The whole text can be asked for.

use super::told::{BOUNDS_CANDIDATES, BOUNDS_HEAD, BOUNDS_LINE, BOUNDS_MARK, words};
use crate::text::unicode::is_mark;
use serde_json::Value;

/// The longest result that passes uncut.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Code points.
    pub characters: usize,
    /// Lines.
    pub lines: usize,
}

/// Items of a list or an object in a shortened JSON document, at first.
const ITEMS: usize = 1 << 16;
/// Below so many characters a text in a JSON document is not cut.
const TEXT_MIN: usize = 400;
/// A cut goes back over at most so many characters to find the border of a cluster.
const CLUSTER_MAX: usize = 64;

/// A shorter text when `text` is longer than the limits. `id` is by what the whole can be asked for.
pub fn shorten(text: &str, limits: Limits, id: &str) -> Option<String> {
    let long = text.chars().count() > limits.characters;
    if let Some(value) = document(text) {
        return shorten_json(text, &value, long, limits, id);
    }
    plain(text, limits, id, "")
}

/// The JSON object or list that a text is.
fn document(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(text).ok()
}

fn shorten_json(text: &str, value: &Value, long: bool, limits: Limits, id: &str) -> Option<String> {
    let mut fit = Fit {
        limits,
        items: ITEMS,
        id,
        cut: false,
    };
    let mut short = fit.value(value, &mut String::new());
    if !long && !fit.cut {
        return None;
    }
    while short.chars().count() > limits.characters {
        if fit.limits.characters < TEXT_MIN && fit.items < 4 {
            let whole = Limits {
                characters: limits.characters / 2,
                ..limits
            };
            let text = plain(text, whole, id, "").unwrap_or_default();
            return Some(Value::from(vec![text]).to_string());
        }
        fit.limits.characters = fit.limits.characters * 3 / 4;
        fit.items = (fit.items / 2).max(2);
        short = fit.value(value, &mut String::new());
    }
    Some(short)
}

/// Writes a JSON value with less in it.
struct Fit<'a> {
    limits: Limits,
    items: usize,
    id: &'a str,
    cut: bool,
}

impl Fit<'_> {
    fn value(&mut self, value: &Value, path: &mut String) -> String {
        match value {
            Value::String(text) => {
                let short = plain(text, self.limits, self.id, path);
                self.cut |= short.is_some();
                short.map_or_else(|| value.to_string(), |s| Value::from(s).to_string())
            }
            Value::Array(items) => {
                let each = items.iter().enumerate().map(|(i, item)| (i.to_string(), item));
                self.list(each.collect(), path, false)
            }
            Value::Object(map) => {
                let each = map.iter().map(|(key, item)| (key.clone(), item));
                self.list(each.collect(), path, true)
            }
            _ => value.to_string(),
        }
    }

    fn list(&mut self, items: Vec<(String, &Value)>, path: &mut String, named: bool) -> String {
        let mut out = String::from(if named { "{" } else { "[" });
        let (kept, end) = (self.items.div_ceil(2), path.len());
        for (i, (name, item)) in items.iter().enumerate() {
            if i >= kept && i + kept < items.len() {
                if i == kept {
                    self.cut = true;
                    let left = items.len() - 2 * kept;
                    let mark = format!(
                        "[sayso left out {left} items; sayso_result(id=\"{}\") shows them]",
                        self.id
                    );
                    let mark = Value::from(mark);
                    let mark = if named {
                        format!("\"…\":{mark}")
                    } else {
                        mark.to_string()
                    };
                    out.push_str(&mark);
                    out.push(',');
                }
                continue;
            }
            if named {
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
            }
            path.push('/');
            path.push_str(name);
            out.push_str(&self.value(item, path));
            path.truncate(end);
            out.push(',');
        }
        if out.ends_with(',') {
            out.pop();
        }
        out.push(if named { '}' } else { ']' });
        out
    }
}

/// Shortens a text that is no JSON, or stands in JSON at `path`.
#[inline(never)]
fn plain(text: &str, limits: Limits, id: &str, path: &str) -> Option<String> {
    let (total, lines) = (text.chars().count(), text.lines().count());
    if total <= limits.characters && lines <= limits.lines {
        return None;
    }
    let share = |all: usize| all * BOUNDS_HEAD / 100;
    let room = limits.characters.saturating_sub(BOUNDS_MARK);
    let rows = limits.lines.saturating_sub(3);
    let head = head_end(text, share(room), share(rows));
    let tail = tail_start(text, share(room), share(rows)).max(head);
    let told = telling(
        &text[head..tail],
        room - 2 * share(room),
        rows.saturating_sub(2 * share(rows)),
    );
    let offset = text[..head].chars().count();
    let left = total - offset - text[tail..].chars().count() - told.1;
    let gone = text[head..tail].lines().count().saturating_sub(told.2);
    let place = if path.is_empty() || path.len() > 60 {
        String::new()
    } else {
        format!(", path={}", Value::from(path))
    };
    let mark = format!(
        "[sayso left out {left} of {total} characters ({gone} lines) from here on: sayso_result(id=\"{id}\"{place}, offset={offset}) shows them]"
    );
    let gap = |before: &str| {
        if before.is_empty() || before.ends_with('\n') {
            ""
        } else {
            "\n"
        }
    };
    Some(format!(
        "{}{}{mark}\n{}{}",
        &text[..head],
        gap(&text[..head]),
        told.0,
        &text[tail..]
    ))
}

/// The end of as many characters and lines as may be kept; at a line's end when that is near.
fn head_end(text: &str, characters: usize, lines: usize) -> usize {
    let by_characters = text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at);
    let by_lines = text
        .match_indices('\n')
        .nth(lines.saturating_sub(1))
        .map_or(text.len(), |(at, _)| at + 1);
    let end = by_characters.min(by_lines);
    if end == text.len() || text[..end].ends_with('\n') {
        return end;
    }
    match text[..end].rfind('\n') {
        Some(line) if line + 1 >= end - end / 4 => line + 1,
        _ => border(text, end, false),
    }
}

/// The start of as many characters and lines from the end.
fn tail_start(text: &str, characters: usize, lines: usize) -> usize {
    let by_characters = match characters {
        0 => text.len(),
        n => text.char_indices().nth_back(n - 1).map_or(0, |(at, _)| at),
    };
    let body = text.strip_suffix('\n').unwrap_or(text);
    let by_lines = body
        .rmatch_indices('\n')
        .nth(lines.saturating_sub(1))
        .map_or(0, |(at, _)| at + 1);
    let start = by_characters.max(by_lines);
    if start == 0 || text[..start].ends_with('\n') {
        return start;
    }
    match text[start..].find('\n') {
        Some(line) if line < (text.len() - start) / 4 => start + line + 1,
        _ => border(text, start, true),
    }
}

/// The nearest border of a grapheme cluster, before or behind `at`.
fn border(text: &str, at: usize, behind: bool) -> usize {
    let mut at = at;
    for _ in 0..CLUSTER_MAX {
        let (before, after) = text.split_at(at);
        let (Some(last), Some(next)) = (before.chars().next_back(), after.chars().next()) else {
            break;
        };
        if !joined(before, last, next) {
            break;
        }
        at = if behind {
            at + next.len_utf8()
        } else {
            at - last.len_utf8()
        };
    }
    at
}

/// Whether two neighbours belong to one cluster.
fn joined(before: &str, last: char, next: char) -> bool {
    let flag = |c: char| matches!(c, '\u{1F1E6}'..='\u{1F1FF}');
    let hangul = |c: char| matches!(c, '\u{1160}'..='\u{11FF}');
    is_mark(next)
        || matches!(next, '\u{200D}' | '\u{FE00}'..='\u{FE0F}' | '\u{1F3FB}'..='\u{1F3FF}' | '\u{E0020}'..='\u{E007F}' | '\u{200C}')
        || last == '\u{200D}'
        || last == '\r' && next == '\n'
        || matches!(last, '\u{1100}'..='\u{11FF}') && hangul(next)
        || matches!(last, '\u{AC00}'..='\u{D7A3}') && hangul(next)
        || flag(last) && flag(next) && before.chars().rev().take_while(|&c| flag(c)).count() % 2 == 1
}

/// The kinds of telling lines, the most telling first.
const KINDS: usize = 5;

/// The kind of a line by its words; none for an ordinary one.
pub fn kind(line: &str) -> Option<usize> {
    let lists = [words("bounds.error"), words("bounds.warning"), words("bounds.total")];
    let none = words("bounds.none");
    let mut found = None;
    let mut before = "";
    for word in line.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
        for (kind, list) in lists.iter().enumerate() {
            let named = |l: &str| {
                l.eq_ignore_ascii_case(word) || !l.is_ascii() && word.contains(l) || kind < 2 && ends_as_name(word, l)
            };
            let denied = || none.split(' ').any(|n| n.eq_ignore_ascii_case(before));
            if found.is_none_or(|f| kind < f) && list.split(' ').any(named) && !denied() {
                found = Some(kind);
            }
        }
        before = word;
    }
    found.or_else(|| names_place(line).then_some(3))
}

/// Whether a name ends with a word that begins with a capital: `AssertionError`.
fn ends_as_name(name: &str, word: &str) -> bool {
    let at = name.len().saturating_sub(word.len());
    name.len() > word.len()
        && name.is_char_boundary(at)
        && name[at..].starts_with(|c: char| c.is_ascii_uppercase())
        && name[at..].eq_ignore_ascii_case(word)
}

/// Whether a line names a line of a file: `src/main.rs:12`.
fn names_place(line: &str) -> bool {
    line.match_indices(':').any(|(at, _)| {
        let before = line[..at].rsplit([' ', '"', '(']).next().unwrap_or_default();
        line[at + 1..].starts_with(|c: char| c.is_ascii_digit()) && before.contains('.') && before.len() > 3
    })
}

/// What a line looks like when its digits are left out of account.
fn shape(line: &str) -> u64 {
    let digit = |b: u8| if b.is_ascii_digit() { b'0' } else { b };
    let mut last = 0;
    line.bytes().map(digit).fold(0xcbf2_9ce4_8422_2325, |hash, b| {
        let again = b == b'0' && last == b'0';
        last = b;
        if again {
            hash
        } else {
            (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        }
    })
}

/// The telling lines of what is left out, with their characters and number.
fn telling(middle: &str, characters: usize, lines: usize) -> (String, usize, usize) {
    let candidates = candidates(middle);
    let mut chosen: Vec<(usize, usize)> = Vec::new();
    let (mut room, mut rows) = (characters, lines);
    for kind in &candidates {
        // From both ends in turn: the first failure is often the cause, the last the outcome.
        let order = (0..kind.len()).map(|i| if i % 2 == 0 { i / 2 } else { kind.len() - 1 - i / 2 });
        for (start, end) in order.map(|i| kind[i]) {
            let size = middle[start..end].chars().take(BOUNDS_LINE).count() + 2;
            if size > room || rows == 0 {
                break;
            }
            if let Err(at) = chosen.binary_search(&(start, end)) {
                chosen.insert(at, (start, end));
                (room, rows) = (room - size, rows - 1);
            }
        }
    }
    let (mut out, mut count) = (String::new(), 0);
    for &(start, end) in &chosen {
        let line = &middle[start..end];
        let cut = line
            .char_indices()
            .nth(BOUNDS_LINE)
            .map_or(line.len(), |(at, _)| border(line, at, false));
        out.push_str(&line[..cut]);
        count += line[..cut].chars().count() + 1;
        out.push_str(if cut < line.len() { "…\n" } else { "\n" });
    }
    (out, count, chosen.len())
}

/// The telling lines of each kind: some from the beginning, some from the end.
fn candidates(middle: &str) -> Vec<Vec<(usize, usize)>> {
    let mut found: Vec<Vec<(usize, usize)>> = vec![Vec::new(); KINDS];
    let mut add = |kind: usize, span: (usize, usize)| {
        let kind = &mut found[kind];
        if kind.len() == 2 * BOUNDS_CANDIDATES {
            kind.remove(BOUNDS_CANDIDATES);
        }
        kind.push(span);
    };
    let (mut at, mut one, mut two) = (0, 0, (0, (0, 0)));
    for line in middle.split_inclusive('\n') {
        let text = line.trim_end_matches(['\n', '\r']);
        let span = (at, at + text.len());
        at += line.len();
        if let Some(kind) = kind(text) {
            add(kind, span);
        }
        // The line before stands alone between two that look alike.
        let shape = shape(text);
        let (middle_shape, middle_span) = two;
        if one == shape && middle_shape != shape && middle_span.1 > middle_span.0 {
            add(4, middle_span);
        }
        (one, two) = (middle_shape, (shape, span));
    }
    found
}
