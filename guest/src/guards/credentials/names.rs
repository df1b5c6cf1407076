//! Values that are given to a secret name, in the syntax of any language: settings, code, shells, JSON, XML, sentences.

use super::pattern::{run, seek};
use super::rules::What;
use super::scan::Scan;
use super::value::{Given, Look, VALUE_MAX, is_common, is_key, is_password, is_placeholder, is_uuid};
use super::{forms, pattern};

/// Bytes of a name that are read.
const NAME_MAX: usize = 72;
/// Bytes between a name and its value.
const GAP_MAX: usize = 48;

/// What a name says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Password,
    Key,
    /// A key only where the value says so too.
    Weak,
}

/// A name in small letters, its words joined by `_`.
struct Name {
    words: String,
    kind: Option<Kind>,
    /// Whether capitals are all its letters, as in an environment.
    is_loud: bool,
    start: usize,
    end: usize,
}

/// Where a value stands.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// First byte.
    pub start: usize,
    /// One past the last.
    pub end: usize,
    /// How it is given.
    pub given: Given,
}

/// Reads the name that a word ends or holds, and the value it is given.
pub fn read(scan: &mut Scan, at: usize, end: usize, what: What) {
    let is_ascii = scan.text[at].is_ascii();
    let name = if is_ascii {
        named(scan, at, end)
    } else {
        said(at, end, what)
    };
    if is_ascii && name.end <= scan.named {
        return;
    }
    scan.named = name.end;
    let Some(kind) = name.kind else { return };
    let Some(place) = value(scan, &name) else { return };
    judge(scan, &name.words, kind, place);
}

/// A value that stands alone, its name known from elsewhere: one of JSON by its key.
pub fn judge_named(scan: &mut Scan, key: &str) {
    let bytes = key.as_bytes();
    let words = normal(bytes);
    let kind = kind_of(scan, &words, bytes.iter().all(|b| !b.is_ascii_lowercase()));
    let place = Place {
        start: 0,
        end: scan.text.len(),
        given: Given::Quoted,
    };
    if let Some(kind) = kind {
        judge(scan, &words, kind, place);
    }
}

fn judge(scan: &mut Scan, words: &str, kind: Kind, place: Place) {
    let text = scan.text;
    if place.end - place.start > VALUE_MAX {
        return;
    }
    let mut value = &text[place.start..place.end];
    let mut start = place.start;
    let ends = |w: &str| words.ends_with(w);
    if ends("auth") || ends("authorization") || ends("bearer") || ends("token") || ends("header") {
        // `Bearer x`, `token x`, `Basic x`.
        if let Some(skip) = forms::scheme(&text[start..text.len().min(start + 32)]) {
            let end = if place.given == Given::Quoted {
                place.end
            } else {
                scan.run_end(start + skip)
            };
            forms::authorization(scan, start, start + skip, end);
            return;
        }
    }
    if kind == Kind::Key && ends("auth") && forms::is_coded_pair(value) {
        let rule = scan.rules.form("secret");
        scan.span(rule, start, place.end);
        return;
    }
    if value.starts_with(b"0x") && kind != Kind::Password {
        value = &value[2..];
        start += 2;
    }
    let vendor = vendor(scan, words, &text[place.start..place.end]);
    let is_secret = match kind {
        Kind::Password => is_password(value, place.given),
        Kind::Key => {
            is_key(value, place.given, true) || (ends("secret") && is_thought_up(value, place.given)) || is_uuid(value)
        }
        // Hex behind a name that says little is a fingerprint.
        Kind::Weak => is_key(value, place.given, false) && !value.iter().all(u8::is_ascii_hexdigit),
    };
    if !is_secret && (vendor.is_none() || is_placeholder(value) || is_common(value)) {
        return;
    }
    let own = if kind == Kind::Password { "password" } else { "secret" };
    let shaped = || scan.shaped(start, place.end);
    let rule = vendor.or_else(shaped).unwrap_or_else(|| scan.rules.form(own));
    scan.span(rule, start, place.end);
}

/// Whether a value behind `secret` is what a person would choose: long, and of three kinds of characters.
fn is_thought_up(value: &[u8], given: Given) -> bool {
    let look = Look::at(value);
    value.len() >= 10 && look.digit > 0 && look.lower > 0 && look.upper + look.other > 0 && is_password(value, given)
}

/// The vendor whose name stands in the name and whose pattern the value has.
fn vendor(scan: &Scan, words: &str, value: &[u8]) -> Option<&'static str> {
    if value.len() < 10
        || value.len() > 256
        || value.iter().any(|b| b.is_ascii_whitespace() || *b == b'(')
        || Look::at(value).digit == 0
    {
        return None;
    }
    let has = |name: &str| {
        let mut from = 0;
        while let Some(at) = words[from..].find(name).map(|i| i + from) {
            if at == 0 || words.as_bytes()[at - 1] == b'_' {
                return true;
            }
            from = at + name.len();
        }
        false
    };
    let rules = scan.rules;
    let is_named = |p: &&super::rules::Pattern| {
        let rule = &rules.rules[usize::from(p.rule)];
        (p.length.0..=p.length.1).contains(&value.len())
            && rule.kind == "named"
            && pattern::is_whole(value, &p.after)
            && rule.names.split(' ').any(has)
    };
    rules.patterns.iter().find(is_named).map(|p| rules.id(p))
}

fn said(at: usize, end: usize, what: What) -> Name {
    Name {
        words: String::new(),
        kind: Some(if what == What::Password {
            Kind::Password
        } else {
            Kind::Key
        }),
        is_loud: false,
        start: at,
        end,
    }
}

fn named(scan: &Scan, at: usize, end: usize) -> Name {
    let text = scan.text;
    let part = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    let before = text[at.saturating_sub(NAME_MAX)..at]
        .iter()
        .rev()
        .take_while(|&&b| part(b) || b == b'.')
        .count();
    let after = text[end..].iter().take(NAME_MAX).take_while(|&&b| part(b)).count();
    let (mut start, end) = (at - before, end + after);
    while matches!(text.get(start), Some(b'-' | b'.')) && start < at {
        start += 1;
    }
    let bytes = &text[start..end];
    let words = normal(bytes);
    let is_loud = bytes.iter().all(|b| !b.is_ascii_lowercase());
    Name {
        kind: kind_of(scan, &words, is_loud),
        words,
        is_loud,
        start,
        end,
    }
}

/// Small letters, `_` between the words.
fn normal(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len() + 8);
    let mut last = b'_';
    for (i, &byte) in name.iter().take(2 * NAME_MAX).enumerate() {
        let next = name.get(i + 1).copied().unwrap_or(b'_');
        let turns = byte.is_ascii_uppercase()
            && (last.is_ascii_lowercase() || (last.is_ascii_uppercase() && next.is_ascii_lowercase()));
        if turns && !out.ends_with('_') {
            out.push('_');
        }
        if byte.is_ascii_alphanumeric() {
            out.push(char::from(byte.to_ascii_lowercase()));
        } else if !out.is_empty() && !out.ends_with('_') && byte < 128 {
            out.push('_');
        }
        last = byte;
    }
    out
}

/// What a name says: the last of its words decides, endings such as `_value` and `_2` apart.
fn kind_of(scan: &Scan, words: &str, is_loud: bool) -> Option<Kind> {
    let rules = scan.rules;
    let tails = rules.words("tail");
    let mut rest = words.trim_end_matches('_');
    let (mut head, mut last) = rest.rsplit_once('_').unwrap_or(("", rest));
    for _ in 0..3 {
        let number = last.trim_start_matches('v');
        if head.is_empty() || !(tails.contains(&last) || number.bytes().all(|b| b.is_ascii_digit())) {
            break;
        }
        rest = head;
        (head, last) = rest.rsplit_once('_').unwrap_or(("", rest));
    }
    let ascii = |w: &&&str| w.is_ascii();
    if last == "pass"
        || (last.len() < 9
            && last.ends_with("pass")
            && ["db", "user", "smtp", "mail", "ftp", "admin", "root", "my", "ssh"]
                .iter()
                .any(|p| last.starts_with(p)))
    {
        return Some(Kind::Password);
    }
    if rules
        .words("password")
        .iter()
        .filter(ascii)
        .any(|w| w.len() > 4 && last.ends_with(w) || last == *w)
        || last.ends_with("pwd")
        || last.ends_with("phrase") && head.ends_with("pass")
    {
        return Some(Kind::Password);
    }
    if rules
        .words("key")
        .iter()
        .filter(ascii)
        .any(|w| last == *w || w.len() > 5 && last.ends_with(w))
        || last.ends_with("token")
    {
        return Some(Kind::Key);
    }
    if last != "key" && last != "keys" {
        return (matches!(
            last,
            "pat" | "sas" | "session" | "sessionid" | "salt" | "seed" | "signature" | "creds" | "sid" | "code" | "pem"
        ) && is_loud
            && head.len() > 1)
            .then_some(Kind::Weak);
    }
    let before = head.rsplit('_').next().unwrap_or_default();
    if rules.words("not_key").contains(&before) {
        return None;
    }
    if rules.words("before_key").contains(&before) {
        return Some(Kind::Key);
    }
    (last == "key" && (is_loud || before.is_empty() || before.len() > 2)).then_some(Kind::Weak)
}

/// Finds the value behind a name.
fn value(scan: &mut Scan, name: &Name) -> Option<Place> {
    let text = scan.text;
    let mut at = name.end;
    // `${NAME:?required}` reads a value.
    if text[..name.start].ends_with(b"${") {
        return None;
    }
    let closers = run(&text[at..], 3, |b| {
        matches!(b, b'"' | b'\'' | b'`' | b']' | b')' | b'*')
    });
    at += closers;
    let is_quoted = closers > 0;
    let gap = blank(text, at);
    let loose = gap > at;
    match text.get(gap..)? {
        [b'=', b'=' | b'~', ..] | [b':', b':', ..] | [b'!', ..] => None,
        [b'=', b'>', ..] | [b':', b'=', ..] => {
            after(scan, name, gap + 2, if loose { Given::Loose } else { Given::Bare })
        }
        [b'=', ..] => after(
            scan,
            name,
            gap + 1,
            if loose && !name.is_loud {
                Given::Loose
            } else {
                Given::Bare
            },
        ),
        [b':', ..] => after(scan, name, gap + 1, Given::Bare),
        [0xEF, 0xBC, 0x9A | 0x9D, ..] => after(scan, name, gap + 3, Given::Bare),
        [b'>', ..] if tagged(text, name.start) && name.words != "key" => after(scan, name, gap + 1, Given::Bare),
        [b',', ..] if is_quoted => pair(scan, name, gap + 1),
        [b'(', ..] if !loose => after(scan, name, gap + 1, Given::Loose).filter(|p| p.given == Given::Quoted),
        [b'|', ..] if loose => after(scan, name, gap + 1, Given::Bare),
        rest => spoken(scan, name, gap, rest, loose),
    }
}

fn tagged(text: &[u8], start: usize) -> bool {
    start > 0 && text[start - 1] == b'<'
}

fn blank(text: &[u8], at: usize) -> usize {
    at + run(&text[at..], GAP_MAX, |b| matches!(b, b' ' | b'\t'))
}

/// `"NAME", "value"` and `"name": "NAME", "value": "..."`.
fn pair(scan: &mut Scan, name: &Name, at: usize) -> Option<Place> {
    let text = scan.text;
    let skip = run(&text[at..], GAP_MAX, |b| {
        b.is_ascii_whitespace() || matches!(b, b'"' | b'\'')
    });
    let inner = at + skip;
    let Some(found) = labelled(text, inner) else {
        return after(scan, name, at, Given::Loose).filter(|p| p.given == Given::Quoted);
    };
    after(scan, name, found, Given::Bare)
}

/// Behind `value` and its separator.
fn labelled(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..(at + 12).min(text.len()))?;
    let word = [&b"value"[..], b"Value", b"VALUE"].iter().any(|w| rest.starts_with(w));
    let close = rest
        .get(5..)?
        .iter()
        .take_while(|b| matches!(b, b'"' | b'\'' | b' '))
        .count();
    (word && matches!(rest.get(5 + close), Some(b':' | b'='))).then_some(at + 5 + close + 1)
}

/// White space, a sentence, or a line break between name and value.
fn spoken(scan: &mut Scan, name: &Name, at: usize, rest: &[u8], loose: bool) -> Option<Place> {
    let text = scan.text;
    // YAML: `name: NAME` and `value: ...` on the next line; XML: `key="NAME" value="..."`.
    let skip = run(rest, GAP_MAX, |b| b.is_ascii_whitespace());
    if (skip > 0 || loose)
        && let Some(found) = labelled(text, at + skip)
    {
        return after(scan, name, found, Given::Bare);
    }
    for word in [
        "是", "为", "為", "は", "：", "is ", "ist ", "es ", "est ", "é ", "lautet ", "to ", "= ", "was ",
    ] {
        if rest.starts_with(word.as_bytes()) && (loose || !word.is_ascii()) {
            return after(scan, name, at + word.len(), Given::Said);
        }
    }
    if !loose {
        return None;
    }
    let line = text[name.start.saturating_sub(160)..name.start]
        .rsplit(|&b| b == b'\n')
        .next()
        .unwrap_or_default();
    let is_flag = name.start > 0 && text[name.start - 1] == b'-';
    let is_listed = [
        "machine ",
        "ENV ",
        "set -",
        "setx ",
        "login ",
        "default ",
        "SetEnv ",
        "requirepass",
        "masterauth ",
    ]
    .iter()
    .any(|w| super::value::holds(line, w.as_bytes()));
    if is_flag || is_listed {
        return after(scan, name, at, Given::Bare);
    }
    // `the password for the database is ...`
    let rest = &rest[..rest.len().min(GAP_MAX + 8)];
    let rest = &rest[..rest
        .iter()
        .position(|b| matches!(b, b'\n' | b'.' | b'"'))
        .unwrap_or(rest.len())];
    let starts = [
        &b"for "[..],
        b"of ",
        b"on ",
        b"to ",
        b"in ",
        b"f\xC3\xBCr ",
        b"para ",
        b"pour ",
    ]
    .iter()
    .any(|w| rest.starts_with(w));
    let is = seek(rest, b" is ")
        .map(|i| i + 4)
        .or_else(|| seek(rest, b": ").map(|i| i + 2));
    match is {
        Some(skip) if starts => after(scan, name, at + skip, Given::Said),
        _ => None,
    }
}

/// The value that begins behind a separator.
fn after(scan: &mut Scan, name: &Name, from: usize, given: Given) -> Option<Place> {
    let text = scan.text;
    let mut at = blank(text, from);
    // A block of YAML, or a value on the next line of its own.
    if let Some(skip) = folded(text, at) {
        at = skip;
    }
    at += run(&text[at..], 2, |b| b == b'*');
    // `r"`, `b'`, `f"`, `@"`.
    let prefix = usize::from(matches!(
        text.get(at..at + 2),
        Some([b'r' | b'b' | b'f' | b'u' | b'R' | b'@' | b'$' | b'L', b'"' | b'\''])
    ));
    match text.get(at + prefix) {
        Some(&quote @ (b'"' | b'\'' | b'`')) => {
            let place = quoted(text, at + prefix, quote)?;
            let formatted =
                prefix == 1 && matches!(text[at], b'f' | b'$') && text[place.start..place.end].contains(&b'{');
            (!formatted).then_some(place)
        }
        Some(_) => {
            let place = bare(scan, name, at, given)?;
            // `password: str = "..."`.
            let next = blank(text, place.end);
            let is_type = given == Given::Bare
                && text.get(next) == Some(&b'=')
                && text.get(next + 1) != Some(&b'=')
                && place.end - at < 24
                && next > place.end;
            if is_type {
                return after(scan, name, next + 1, Given::Loose);
            }
            Some(place)
        }
        None => None,
    }
}

fn folded(text: &[u8], at: usize) -> Option<usize> {
    let mark = run(&text[at..], 3, |b| matches!(b, b'|' | b'>' | b'-' | b'\\'));
    let mut next = at + mark;
    if text.get(next) == Some(&b'\r') {
        next += 1;
    }
    if text.get(next) != Some(&b'\n') || mark == 0 {
        return None;
    }
    Some(next + 1 + run(&text[next + 1..], GAP_MAX, |b| matches!(b, b' ' | b'\t')))
}

/// A value in quotes; a doubled apostrophe is part of it.
fn quoted(text: &[u8], open: usize, quote: u8) -> Option<Place> {
    let triple = text.get(open + 1) == Some(&quote) && text.get(open + 2) == Some(&quote);
    let start = open + if triple { 3 } else { 1 };
    let mut end = start;
    while end < text.len().min(start + VALUE_MAX) {
        match text[end] {
            b'\\' => end += 1,
            b'\n' if !triple => return None,
            b if b == quote && quote == b'\'' && text.get(end + 1) == Some(&quote) && end > start => end += 1,
            b if b == quote => {
                return (end > start).then_some(Place {
                    start,
                    end,
                    given: Given::Quoted,
                });
            }
            _ => {}
        }
        end += 1;
    }
    None
}

/// A value without quotes: up to white space, and to what closes or separates where that can't be part of it.
fn bare(scan: &mut Scan, name: &Name, at: usize, given: Given) -> Option<Place> {
    let mut end = scan.run_end(at);
    let text = scan.text;
    let in_query = name.start > 0 && matches!(text[name.start - 1], b'?' | b'&');
    if in_query {
        end = at + run(&text[at..end], usize::MAX, |b| b != b'&' && b != b'#');
    }
    while end > at
        && matches!(text[end - 1], b'.' | b',' | b';' | b':' | b'!' | b'?')
        && (given == Given::Said || !matches!(text[end - 1], b'!' | b'?'))
    {
        end -= 1;
    }
    (end > at).then_some(Place { start: at, end, given })
}
