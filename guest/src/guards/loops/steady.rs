//! What stays of a result when time stamps, durations and request ids are taken out of it (`corpus/rules/loops.toml`, `fold`).
//!
//! A line is cut into runs of digits, runs of letters, blanks and single signs; a time is found by its clock or its unit and then
//! takes in what belongs to it. Long lines are read in pieces, so that the work is linear and the memory small.

use crate::guards::told::words;
use std::sync::OnceLock;

/// Stands for what was taken out.
const OUT: char = '\u{1}';

/// Tokens that are looked at together; a time that stands across the border of two pieces is not seen.
const PIECE: usize = 1024;

/// Tokens that the date before a clock may have.
const DATE_TOKENS: usize = 14;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Digits,
    Letters,
    Blank,
    Sign,
}

#[derive(Clone, Copy)]
struct Token<'a> {
    kind: Kind,
    text: &'a str,
}

/// The lists in which a word may stand, one bit each.
const NAMES: [&str; 8] = [
    "loops.weekday",
    "loops.month",
    "loops.zone",
    "loops.clock",
    "loops.unit",
    "loops.short",
    "loops.took",
    "loops.loose",
];
const WEEKDAY: u8 = 1;
const MONTH: u8 = 2;
const ZONE: u8 = 4;
const CLOCK: u8 = 8;
const UNIT: u8 = 16;
const SHORT: u8 = 32;
const TOOK: u8 = 64;
const LOOSE: u8 = 128;

/// The words that are asked for.
struct Lists {
    /// By the low bits of their first byte, each with its list.
    words: Vec<Vec<(u8, &'static str)>>,
    unit: &'static str,
    time: &'static str,
    id: &'static str,
}

impl Lists {
    fn get() -> &'static Self {
        static LISTS: OnceLock<Lists> = OnceLock::new();
        LISTS.get_or_init(|| {
            let mut buckets: Vec<Vec<(u8, &'static str)>> = vec![Vec::new(); 32];
            for (bit, name) in NAMES.iter().enumerate() {
                for word in words(name).split(' ') {
                    buckets[bucket(word)].push((1 << bit, word));
                }
            }
            Self {
                words: buckets,
                unit: words("loops.unit"),
                time: words("loops.time"),
                id: words("loops.id"),
            }
        })
    }

    /// Whether a word stands in a list. Letters beyond ASCII are compared as they are written.
    #[inline(never)]
    fn holds(&self, list: u8, word: &str) -> bool {
        let near = &self.words[bucket(word)];
        near.iter()
            .any(|(of, one)| of & list != 0 && one.eq_ignore_ascii_case(word))
    }
}

/// Equal for letters in either case.
fn bucket(word: &str) -> usize {
    word.bytes().next().map_or(0, |b| usize::from(b & 31))
}

/// The text without what may change without telling anything.
#[inline(never)]
pub fn steady(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let lists = Lists::get();
    let mut piece = Vec::new();
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        while !rest.is_empty() {
            rest = cut(rest, &mut piece);
            Piece {
                tokens: &piece,
                gone: vec![false; piece.len()],
                lists,
            }
            .write(&mut out);
        }
    }
    out
}

/// Cuts at most [`PIECE`] tokens off a line; gives what is left of it.
fn cut<'a>(line: &'a str, tokens: &mut Vec<Token<'a>>) -> &'a str {
    tokens.clear();
    let mut rest = line;
    while tokens.len() < PIECE {
        let Some(first) = rest.chars().next() else { break };
        let kind = kind_of(first);
        let length = match kind {
            Kind::Sign => first.len_utf8(),
            _ => rest.find(|c| kind_of(c) != kind).unwrap_or(rest.len()),
        };
        let (text, after) = rest.split_at(length);
        tokens.push(Token { kind, text });
        rest = after;
    }
    rest
}

fn kind_of(c: char) -> Kind {
    match c {
        '0'..='9' => Kind::Digits,
        ' ' | '\t' | '\u{a0}' | '\u{3000}' => Kind::Blank,
        _ if c.is_alphabetic() => Kind::Letters,
        _ => Kind::Sign,
    }
}

struct Piece<'a> {
    tokens: &'a [Token<'a>],
    gone: Vec<bool>,
    lists: &'static Lists,
}

impl Piece<'_> {
    fn write(mut self, out: &mut String) {
        if self.tokens.iter().any(|t| t.kind == Kind::Digits) {
            for at in 0..self.tokens.len() {
                self.labelled(at);
                if self.tokens[at].kind == Kind::Digits && !self.gone[at] {
                    self.number(at);
                }
            }
            self.bridge();
        }
        let mut after_out = false;
        for (token, &gone) in self.tokens.iter().zip(&self.gone) {
            if !gone {
                out.push_str(token.text);
            } else if !after_out {
                out.push(OUT);
            }
            after_out = gone;
        }
    }

    /// Times with nothing but blanks and commas between them are one time.
    fn bridge(&mut self) {
        let mut last = None;
        for at in 0..self.tokens.len() {
            if self.gone[at] {
                if let Some(from) = last {
                    self.gone[from..at].fill(true);
                }
                last = Some(at);
            } else if self.tokens[at].kind != Kind::Blank && self.tokens[at].text != "," {
                last = None;
            }
        }
    }

    #[inline(never)]
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |t| t.text)
    }

    fn before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).map_or("", |i| self.text(i))
    }

    #[inline(never)]
    fn digits(&self, at: usize) -> usize {
        self.tokens
            .get(at)
            .filter(|t| t.kind == Kind::Digits)
            .map_or(0, |t| t.text.len())
    }

    #[inline(never)]
    fn is_blank(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|t| t.kind == Kind::Blank)
    }

    #[inline(never)]
    fn is_letters(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|t| t.kind == Kind::Letters)
    }

    #[inline(never)]
    fn in_list(&self, at: usize, list: u8) -> bool {
        self.is_letters(at) && self.lists.holds(list, self.text(at))
    }

    /// The end of the number at `at`: digits, and a part after a point or a comma.
    fn number_end(&self, at: usize) -> usize {
        let part = matches!(self.text(at + 1), "." | ",") && self.digits(at + 2) > 0;
        at + if part { 3 } else { 1 }
    }

    /// Takes out a time that begins with the number at `at`, or has its clock there.
    fn number(&mut self, at: usize) {
        let span = self
            .clock(at)
            .or_else(|| self.compact(at))
            .or_else(|| self.epoch(at))
            .or_else(|| self.duration(at));
        if let Some((from, to)) = span {
            self.gone[from..to].fill(true);
        }
    }

    /// `10:00:01`, with the date before it and the zone behind it.
    #[inline(never)]
    fn clock(&self, at: usize) -> Option<(usize, usize)> {
        let minutes = self.text(at + 1) == ":" && self.digits(at + 2) == 2;
        let inside = self.before(at, 1) == ":" && self.digits(at.wrapping_sub(2)) < 4;
        let glued = at > 0 && self.is_letters(at - 1) && !self.before(at, 1).eq_ignore_ascii_case("t");
        if !minutes || self.digits(at) > 3 || inside || glued {
            return None;
        }
        let full = self.text(at + 3) == ":" && self.digits(at + 4) == 2;
        let mut end = if full { self.number_end(at + 4) } else { at + 3 };
        if self.text(end) == ":" && self.digits(end + 1) > 0 {
            return None;
        }
        let from = self.date_before(at);
        let zoned = self.zone_end(end);
        let enclosed = matches!((self.before(at, 1), self.text(end)), ("[", "]") | ("(", ")"));
        let told = self.is_blank(at.wrapping_sub(1))
            && (self.in_list(at.wrapping_sub(2), CLOCK)
                || self.before(at, 2) == "at" && self.in_list(at.wrapping_sub(4), CLOCK));
        if !full && from == at && zoned.is_none() && !enclosed && !told {
            return None;
        }
        end = zoned.unwrap_or(end);
        if from < at && self.is_blank(end) && self.digits(end + 1) == 4 {
            end += 2;
        }
        Some((from, end))
    }

    /// Where the zones behind a clock end, if there are any: `Z`, ` UTC`, ` PM`, `+02:00`, ` +0200`.
    fn zone_end(&self, end: usize) -> Option<usize> {
        let mut found = None;
        let mut end = end;
        for _ in 0..3 {
            let next = end + usize::from(self.is_blank(end));
            if self.in_list(next, ZONE) {
                end = next + 1;
            } else if matches!(self.text(next), "+" | "-") && matches!(self.digits(next + 1), 2 | 4) {
                let long = self.text(next + 2) == ":" && self.digits(next + 3) == 2;
                end = next + if long { 4 } else { 2 };
            } else {
                break;
            }
            found = Some(end);
        }
        found
    }

    /// Where the date begins that stands before a clock; the clock's own place when none does.
    #[inline(never)]
    fn date_before(&self, clock: usize) -> usize {
        let may_belong = |at: usize| match self.tokens[at].kind {
            Kind::Digits => matches!(self.digits(at), 1 | 2 | 4 | 8),
            Kind::Blank => true,
            Kind::Sign => matches!(self.text(at), "-" | "/" | "." | "," | ":"),
            Kind::Letters => {
                self.in_list(at, MONTH) || self.in_list(at, WEEKDAY) || matches!(self.text(at), "T" | "t" | "at" | "um")
            }
        };
        let first = (clock.saturating_sub(DATE_TOKENS)..clock)
            .rev()
            .take_while(|&at| may_belong(at))
            .last();
        (first.unwrap_or(clock)..clock)
            .find(|&from| self.is_date(from, clock))
            .unwrap_or(clock)
    }

    /// Whether these tokens are a whole date and what joins it to a clock.
    #[inline(never)]
    fn is_date(&self, from: usize, to: usize) -> bool {
        if matches!(self.tokens[from].kind, Kind::Blank | Kind::Sign)
            || from > 0 && self.digits(from) > 0 && self.is_letters(from - 1)
        {
            return false;
        }
        let all = |list: u8| (from..to).filter(|&at| self.in_list(at, list)).count();
        let numbers: Vec<usize> = (from..to).filter(|&at| self.digits(at) > 0).collect();
        if all(MONTH) > 0 {
            return numbers.len() <= 3;
        }
        let first = numbers.first().map_or(0, |&at| self.digits(at));
        match numbers[..] {
            [day] => first == 8 && day == from,
            [a, b, c] => {
                let joined = b == a + 2 && c == b + 2 && self.text(a + 1) == self.text(b + 1);
                joined
                    && matches!(self.text(a + 1), "-" | "/" | ".")
                    && (first == 4 || self.digits(c) == 4 || self.digits(c) == 2)
            }
            // A weekday alone: "Tue 10:00:01".
            [] => all(WEEKDAY) > 0,
            _ => false,
        }
    }

    /// `20310304T100001Z`.
    fn compact(&self, at: usize) -> Option<(usize, usize)> {
        let joined = matches!(self.text(at + 1), "T" | "t" | "-" | "_");
        let found = self.digits(at) == 8 && joined && self.digits(at + 2) == 6;
        found.then(|| (at, self.zone_end(at + 3).unwrap_or(at + 3)))
    }

    /// Seconds or milliseconds since 1970, alone on a line.
    fn epoch(&self, at: usize) -> Option<(usize, usize)> {
        let end = self.number_end(at);
        let alone = at == 0 && self.tokens[end..].iter().all(|t| t.text.trim().is_empty());
        let likely = matches!(self.digits(at), 10 | 13) && self.text(at).starts_with(['1', '2']);
        (alone && likely).then_some((at, end))
    }

    /// `1.92s`, `81 ms`, `1m 3s`.
    #[inline(never)]
    fn duration(&self, at: usize) -> Option<(usize, usize)> {
        if at > 0
            && (self.is_letters(at - 1) && self.text(at - 1).is_ascii()
                || matches!(self.before(at, 1), "_" | "." | "-"))
        {
            return None;
        }
        let (mut next, mut end) = (at, None);
        while self.digits(next) > 0 {
            let after = self.number_end(next);
            let unit = after + usize::from(self.is_blank(after));
            if !self.is_unit(unit) {
                let compound = unit == after && self.in_list(unit, SHORT);
                let told = self.is_blank(at.wrapping_sub(1)) && self.in_list(at.wrapping_sub(2), TOOK);
                let goes_on = self.digits(unit + 1 + usize::from(self.is_blank(unit + 1))) > 0;
                if !compound || !(told || end.is_some() || goes_on && self.goes_on_as_duration(unit)) {
                    break;
                }
            }
            end = Some(unit + 1);
            next = unit + 1 + usize::from(self.is_blank(unit + 1));
        }
        // A place, not a time: "5s.txt", "10s_backup".
        let end = end?;
        let named = self.text(end) == "_" || self.text(end) == "." && self.is_letters(end + 1);
        (!named).then_some((at, end))
    }

    /// Whether behind a short unit a number with a unit follows: the `3s` of `1m 3s`.
    fn goes_on_as_duration(&self, unit: usize) -> bool {
        let number = unit + 1 + usize::from(self.is_blank(unit + 1));
        let after = self.number_end(number);
        self.is_unit(after + usize::from(self.is_blank(after)))
    }

    fn is_unit(&self, at: usize) -> bool {
        let text = self.text(at);
        self.in_list(at, UNIT)
            // In scripts without blanks more may follow: 12秒后.
            || self.is_letters(at) && !text.is_ascii() && self.lists.unit.split(' ').any(|u| !u.is_ascii() && text.starts_with(u))
    }

    /// Takes out the value of a field whose name ends at `at`, or an id that says itself that it is one.
    #[inline(never)]
    fn labelled(&mut self, at: usize) {
        if self.gone[at] || !self.is_named(at) {
            return;
        }
        if let Some(end) = self.own_id(at) {
            self.gone[at..end].fill(true);
            return;
        }
        if self.joins(at + 1) && self.is_named(at + 2) {
            return;
        }
        let quote = at + 1 + usize::from(matches!(self.text(at + 1), "\"" | "'"));
        let sign = quote + usize::from(self.is_blank(quote));
        let assigned = matches!(self.text(sign), ":" | "=" | "：");
        let mut value = sign + usize::from(assigned);
        value += usize::from(self.is_blank(value));
        let quoted = matches!(self.text(value), "\"" | "'");
        value += usize::from(quoted);
        let said = assigned || self.is_blank(at + 1) && self.text(at).eq_ignore_ascii_case("id");
        let id_end = self.run(value, |t| {
            matches!(t.kind, Kind::Digits | Kind::Letters) || matches!(t.text, "-" | "_" | "=" | "+" | "/" | ".")
        });
        if said && self.is_field(at, false) && self.has(value, id_end, Kind::Digits) {
            self.gone[value..id_end].fill(true);
            return;
        }
        let end = if quoted {
            self.run(value, |t| !matches!(t.text, "\"" | "'" | "\n"))
        } else {
            self.run(value, |t| t.kind == Kind::Digits || matches!(t.text, "." | ":"))
        };
        if assigned && self.has(value, end, Kind::Digits) && self.is_field(at, true) {
            self.gone[value..end].fill(true);
        }
    }

    /// Whether the name that ends at `at` is that of a time, or of an id.
    fn is_field(&self, at: usize, time: bool) -> bool {
        let mut start = at;
        while start > 0 && (self.is_named(start - 1) || self.joins(start - 1)) && at - start < 12 {
            start -= 1;
        }
        let name = self.name(start, at);
        // "request id", in two words.
        let two = start >= 2 && self.is_blank(start - 1) && self.is_letters(start - 2);
        let longer = if two { self.name(start - 2, at) } else { String::new() };
        if time {
            self.lists.time.split(' ').any(|l| name == l || longer == l)
        } else {
            self.lists
                .id
                .split(' ')
                .any(|l| name.ends_with(l) || longer.ends_with(l))
        }
    }

    fn has(&self, from: usize, to: usize, kind: Kind) -> bool {
        (from..to).any(|at| self.tokens[at].kind == kind)
    }

    /// The end of an id that begins at `at`: `req_8f3a2b`, `request 8f3a2b`, a UUID in brackets.
    #[inline(never)]
    fn own_id(&self, at: usize) -> Option<usize> {
        let next = self.text(at + 1);
        let joined = next == "_" || next == "-" || next == " " || next == "#";
        if joined && self.in_list(at, LOOSE) {
            let end = self.run(at + 2, |t| {
                matches!(t.kind, Kind::Digits | Kind::Letters) || matches!(t.text, "-" | "_")
            });
            let length: usize = self.tokens[(at + 2).min(end)..end].iter().map(|t| t.text.len()).sum();
            if length >= 6 && self.has(at + 2, end, Kind::Digits) && self.has(at + 2, end, Kind::Letters) {
                return Some(end);
            }
        }
        if !matches!(self.before(at, 1), "(" | "[") {
            return None;
        }
        let end = self.run(at, |t| matches!(t.kind, Kind::Digits | Kind::Letters) || t.text == "-");
        let text: String = self.tokens[at..end].iter().map(|t| t.text).collect();
        let parts: Vec<usize> = text.split('-').map(str::len).collect();
        let whole = parts == [8, 4, 4, 4, 12] && text.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
        (whole && matches!(self.text(end), ")" | "]")).then_some(end)
    }

    fn is_named(&self, at: usize) -> bool {
        self.is_letters(at) || self.digits(at) > 0
    }

    fn joins(&self, at: usize) -> bool {
        matches!(self.text(at), "_" | "-")
    }

    /// A name in lower case without what joins its parts.
    fn name(&self, from: usize, to: usize) -> String {
        let parts = (from..=to)
            .filter(|&at| self.is_named(at))
            .map(|at| self.text(at).to_ascii_lowercase());
        parts.collect()
    }

    #[inline(never)]
    fn run(&self, from: usize, belongs: impl Fn(&Token<'_>) -> bool) -> usize {
        let from = from.min(self.tokens.len());
        from + self.tokens[from..].iter().take_while(|t| belongs(t)).count()
    }
}
