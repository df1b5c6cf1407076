//! The credentials guard: finds live keys, tokens and passwords in a text, and takes them out.
//!
//! `corpus/rules/credentials-*.toml` holds what vendors' keys look like; `forms.rs` and `names.rs` read what no pattern describes.
//! One pass finds where a literal of any rule stands (`scan.rs`), and only there anything more is looked at (`pattern.rs`,
//! `value.rs`). Lines with escapes or colours, and runs of base64 and hex, are looked at once more as they are meant (`views.rs`).
//!
//! What it can't see: a key without a shape of its own behind a name that does not say so; a password of letters only; a key in
//! pieces that the reader joins; a key in an image or an archive; a key of a vendor that is a number or a UUID and stands alone.

pub mod coded;
mod forms;
pub mod json;
mod names;
mod pattern;
pub mod rules;
mod scan;
mod value;
mod views;

use crate::check::keyed;

/// What opens a marker.
const MARKER: &str = "[redacted:";
/// Bytes of a credential from which on it is looked for everywhere in its text.
const REPEATED_MIN: usize = 8;
/// Bytes of a credential beyond which it is not.
const REPEATED_LONG: usize = 512;
/// Credentials of one text that are looked for everywhere.
const REPEATED_MAX: usize = 16;
/// A text is looked at again after its credentials are gone, at most so often: what was hidden by one may show.
const ROUNDS_MAX: usize = 3;

/// One credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// `credentials.thing`.
    pub rule: &'static str,
    /// Half-open bytes of the text: where the marker goes.
    pub span: (usize, usize),
    /// Further pieces of it, behind breaks of lines.
    pub more: Vec<(usize, usize)>,
}

impl Hit {
    /// The marker that takes its place.
    pub fn marker(&self, text: &str, key: &[u8]) -> String {
        let whole: Vec<u8> = self
            .pieces()
            .flat_map(|p| text.as_bytes().get(p.0..p.1).unwrap_or_default())
            .copied()
            .collect();
        let digest = keyed(key, &whole);
        let name = self.rule.strip_prefix("credentials.").unwrap_or(self.rule);
        let (a, b) = (
            digest.first().copied().unwrap_or(0),
            digest.get(1).copied().unwrap_or(0),
        );
        format!("{MARKER}{name}:{a:02x}{b:02x}]")
    }

    fn pieces(&self) -> impl Iterator<Item = (usize, usize)> {
        std::iter::once(self.span).chain(self.more.iter().copied())
    }
}

/// Every credential in a text, in order, none inside another.
pub fn find(text: &str) -> Vec<Hit> {
    let mut hits = views::find(text.as_bytes(), 0);
    repeated(text, &mut hits);
    tidy(text, hits)
}

/// The text with a marker in the place of each credential, and what they were. Doing it again changes nothing.
pub fn redact(text: &str, key: &[u8]) -> (String, Vec<Hit>) {
    let out = clean(text, key);
    (out.text, out.hits)
}

/// As [`redact`], with the way back.
pub fn clean(text: &str, key: &[u8]) -> Redacted {
    let mut hits = find(text);
    for _ in 0..ROUNDS_MAX {
        if hits.is_empty() {
            break;
        }
        let out = replaced(text, key, &hits);
        let more = find(&out.text);
        if more.is_empty() {
            return Redacted { hits, ..out };
        }
        hits.extend(more.iter().map(|hit| out.back(hit)));
        hits = tidy(text, hits);
    }
    let out = replaced(text, key, &hits);
    Redacted { hits, ..out }
}

/// What people are told of a rule: whose credential it is, and what.
pub fn meaning(rule: &str) -> Option<&'static rules::Rule> {
    rules::Rules::get().rules.iter().find(|r| r.id == rule)
}

/// Where markers stand in a text.
pub fn markers(text: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(at) = pattern::seek(&text.as_bytes()[from..], MARKER.as_bytes()).map(|i| from + i) {
        from = at + MARKER.len();
        let rest = &text.as_bytes()[from..];
        let id = pattern::run(rest, usize::MAX, |b| {
            b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'
        });
        if id > 0
            && let [b':', a, b, c, d, b']', ..] = rest[id..]
            && [a, b, c, d].iter().all(u8::is_ascii_hexdigit)
        {
            from += id + 6;
            out.push((at, from));
        }
    }
    out
}

/// A text with markers, and how far each piece has moved what stands behind it.
pub struct Redacted {
    /// The text.
    pub text: String,
    /// What stood in the places of the markers, in the text before.
    pub hits: Vec<Hit>,
    /// The end of each piece here, and in the text before.
    moved: Vec<(usize, usize)>,
}

impl Redacted {
    /// A text in which nothing was looked for.
    pub fn of(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            hits: Vec::new(),
            moved: Vec::new(),
        }
    }

    /// The span in the text before. One that ends inside a marker ends with its credential.
    pub fn original(&self, span: (usize, usize)) -> (usize, usize) {
        let place = |at: usize| {
            let before = self.moved.partition_point(|m| m.0 <= at);
            let shifted = before
                .checked_sub(1)
                .map_or(at, |i| self.moved[i].1 + (at - self.moved[i].0));
            let limit = self.moved.get(before).map_or(usize::MAX, |m| m.1);
            shifted.min(limit)
        };
        (place(span.0), place(span.1))
    }

    fn back(&self, hit: &Hit) -> Hit {
        Hit {
            rule: hit.rule,
            span: self.original(hit.span),
            more: hit.more.iter().map(|&s| self.original(s)).collect(),
        }
    }
}

fn replaced(text: &str, key: &[u8], hits: &[Hit]) -> Redacted {
    let mut pieces: Vec<[usize; 3]> = Vec::new();
    for (i, hit) in hits.iter().enumerate() {
        pieces.push([hit.span.0, hit.span.1, i]);
        pieces.extend(hit.more.iter().map(|p| [p.0, p.1, usize::MAX]));
    }
    pattern::sort(&mut pieces);
    let mut out = Redacted {
        text: String::with_capacity(text.len()),
        hits: Vec::new(),
        moved: Vec::with_capacity(pieces.len()),
    };
    let mut at = 0;
    for [start, end, hit] in pieces {
        out.text.push_str(&text[at..start]);
        if let Some(hit) = hits.get(hit) {
            out.text.push_str(&hit.marker(text, key));
        }
        colours(&text[start..end], &mut out.text);
        out.moved.push((out.text.len(), end));
        at = end;
    }
    out.text.push_str(&text[at..]);
    out
}

/// Keeps the colours that a credential held: a terminal would show the rest of the text otherwise.
fn colours(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(at) = rest.find('\u{1B}') {
        let length = views::colour(&rest.as_bytes()[at..]);
        let Some(sequence) = rest.get(at..at + length) else {
            return;
        };
        out.push_str(sequence);
        rest = &rest[at + length..];
    }
}

/// Adds the places where a credential that was found stands once more, without what made it one.
fn repeated(text: &str, hits: &mut Vec<Hit>) {
    let text = text.as_bytes();
    let mut values: Vec<(&[u8], &'static str)> = Vec::new();
    for hit in hits.iter().filter(|h| h.more.is_empty()) {
        let value = text.get(hit.span.0..hit.span.1).unwrap_or_default();
        if values.len() == REPEATED_MAX || !(REPEATED_MIN..=REPEATED_LONG).contains(&value.len()) {
            continue;
        }
        let look = value::Look::at(value);
        let telling = look.digit > 0 && look.words() > look.digit && (look.is_random() || value.len() >= 12);
        if telling && !value.contains(&b' ') && values.iter().all(|v| v.0 != value) {
            values.push((value, hit.rule));
        }
    }
    for (value, rule) in values {
        let mut from = 0;
        while let Some(at) = text.get(from..).and_then(|rest| pattern::seek(rest, value)) {
            let start = from + at;
            from = start + value.len();
            let apart = |b: Option<&u8>| b.is_none_or(|b| !b.is_ascii_alphanumeric());
            if value.len() >= 16 || (apart(text[..start].last()) && apart(text.get(from))) {
                hits.push(Hit {
                    rule,
                    span: (start, from),
                    more: Vec::new(),
                });
            }
        }
    }
}

/// Puts hits in order, joins those that overlap, and leaves out what stands in a marker or cuts a character.
fn tidy(text: &str, mut hits: Vec<Hit>) -> Vec<Hit> {
    let markers = markers(text);
    let is_marked = |p: (usize, usize)| {
        let next = markers.partition_point(|m| m.1 <= p.0);
        markers.get(next).is_some_and(|m| m.0 < p.1)
    };
    hits.retain(|h| {
        h.pieces()
            .all(|p| p.0 < p.1 && text.is_char_boundary(p.0) && text.is_char_boundary(p.1) && !is_marked(p))
    });
    // Of equal beginnings the longest comes first: its rule names it.
    let mut pieces: Vec<[usize; 3]> = Vec::new();
    for (i, hit) in hits.iter().enumerate() {
        pieces.extend(hit.pieces().map(|p| [p.0, usize::MAX - p.1, i]));
    }
    pattern::sort(&mut pieces);
    let mut owner: Vec<usize> = (0..hits.len()).collect();
    let mut kept: Vec<[usize; 3]> = Vec::new();
    for [start, end, hit] in pieces {
        let end = usize::MAX - end;
        match kept.last_mut() {
            Some(last) if start < last[1] => {
                last[1] = last[1].max(end);
                owner[hit] = owner[last[2]];
            }
            _ => kept.push([start, end, hit]),
        }
    }
    let mut out: Vec<Hit> = Vec::new();
    let mut places = vec![usize::MAX; hits.len()];
    for [start, end, hit] in kept {
        let owner = owner[hit];
        if let Some(first) = out.get_mut(places[owner]) {
            first.more.push((start, end));
        } else {
            places[owner] = out.len();
            out.push(Hit {
                rule: hits[owner].rule,
                span: (start, end),
                more: Vec::new(),
            });
        }
    }
    out
}
