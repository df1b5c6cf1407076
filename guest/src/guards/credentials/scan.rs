//! One pass over a text: wherever a literal of the table stands, what may stand there is looked at.

use super::pattern::{self, Match};
use super::rules::{NONE, Pattern, Rules, What, opening, slot};
use super::value::{Look, is_placeholder};
use super::{Hit, forms, names};

/// A text being looked at.
pub struct Scan<'a> {
    /// Its bytes.
    pub text: &'a [u8],
    /// The rules.
    pub rules: &'static Rules,
    /// What was found, in order of its beginnings as far as forms allow.
    pub hits: Vec<Hit>,
    /// Nothing is looked for before here: it was found already.
    pub done: usize,
    /// The end of the last name that was read.
    pub named: usize,
    /// The last run of characters without white space.
    pub run: (usize, usize),
    /// The end of the last run of base64 that begins like a web token.
    pub coded: usize,
    /// The end of the last header of cookies.
    pub cookies: usize,
    /// Up to where each pattern has been tried in vain.
    vain: Vec<u32>,
}

/// From so many characters on a vain match is remembered: shorter ones are as quickly tried again.
const VAIN_MIN: usize = 48;

impl<'a> Scan<'a> {
    /// Looks through a text.
    pub fn over(text: &'a [u8]) -> Vec<Hit> {
        let mut scan = Self::new(text);
        scan.go();
        scan.hits
    }

    /// A text before it is looked through.
    pub fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            rules: Rules::get(),
            hits: Vec::new(),
            done: 0,
            named: 0,
            run: (0, 0),
            coded: 0,
            cookies: 0,
            vain: Vec::new(),
        }
    }

    fn go(&mut self) {
        let mut at = 0;
        let mut last = [0; 2];
        for (i, &byte) in self.text.iter().enumerate() {
            let first = self.rules.first(slot(opening(last[0], last[1], byte)));
            last = [last[1], byte];
            if first != NONE && i >= 2 && i - 2 >= at {
                self.look(i - 2, first);
                at = self.done;
            }
        }
    }

    /// Looks at every literal that may stand at a place.
    fn look(&mut self, at: usize, first: u16) {
        let mut next = first;
        while let Some(literal) = self.rules.literal(next) {
            next = literal.next;
            let end = at + literal.bytes.len();
            let Some(here) = self.text.get(at..end) else { continue };
            let stands = if literal.folded {
                here.eq_ignore_ascii_case(&literal.bytes)
            } else {
                here == literal.bytes
            };
            if !stands {
                continue;
            }
            match literal.what {
                What::Token(pattern) => self.token(at, end, pattern),
                What::Password | What::Key | What::BareKey => names::read(self, at, end, literal.what),
                what => forms::read(self, at, end, what),
            }
            if self.done > at {
                return;
            }
        }
    }

    fn token(&mut self, at: usize, end: usize, index: u16) {
        let index = usize::from(index);
        let pattern = &self.rules.patterns[index];
        if self.vain.get(index).is_some_and(|&until| at < until as usize) {
            return;
        }
        let reach = match pattern::around(self.text, at, end, pattern) {
            Ok(found) if found.start >= self.done && is_token(self.text, &found, at, end, pattern) => {
                self.found(self.rules.id(pattern), found);
                return;
            }
            Ok(found) => found.reach,
            Err(reach) => reach,
        };
        if reach > at + VAIN_MIN {
            if self.vain.is_empty() {
                self.vain = vec![0; self.rules.patterns.len()];
            }
            self.vain[index] = reach as u32;
        }
    }

    /// The rule of the token that a value is by its shape.
    pub fn shaped(&self, start: usize, end: usize) -> Option<&'static str> {
        let &[a, b, c, ..] = self.text.get(start..)? else {
            return None;
        };
        let mut next = self.rules.first(slot(opening(a, b, c)));
        while let Some(literal) = self.rules.literal(next) {
            next = literal.next;
            if let What::Token(index) = literal.what
                && self.text[start..].starts_with(&literal.bytes)
                && let pattern = &self.rules.patterns[usize::from(index)]
                && let Ok(found) = pattern::around(self.text, start, start + literal.bytes.len(), pattern)
                && found.end == end
            {
                return Some(self.rules.id(pattern));
            }
        }
        None
    }

    /// Keeps a match.
    pub fn found(&mut self, rule: &'static str, found: Match) {
        let mut start = found.start;
        let mut pieces = Vec::with_capacity(found.breaks.len());
        for (end, next) in found.breaks {
            pieces.push((start, end));
            start = next;
        }
        pieces.push((start, found.end));
        self.pieces(rule, pieces);
    }

    /// Keeps the pieces of a credential, in order.
    pub fn pieces(&mut self, rule: &'static str, pieces: Vec<(usize, usize)>) {
        if let (Some(first), Some(last)) = (pieces.first(), pieces.last()) {
            self.done = self.done.max(last.1);
            self.hits.push(Hit {
                rule,
                span: *first,
                more: pieces[1..].to_vec(),
            });
        }
    }

    /// Keeps one span.
    pub fn span(&mut self, rule: &'static str, start: usize, end: usize) {
        self.pieces(rule, vec![(start, end)]);
    }

    /// One past the last character of the value without quotes that begins at a place. Asked again inside the same value it
    /// costs nothing.
    pub fn run_end(&mut self, at: usize) -> usize {
        if at < self.run.0 || at >= self.run.1 {
            let length = self.text[at..].iter().position(|&b| stops(b));
            self.run = (at, length.map_or(self.text.len(), |n| at + n));
        }
        self.run.1.max(at)
    }
}

/// Whether a character ends a value without quotes.
const fn stops(byte: u8) -> bool {
    byte.is_ascii_whitespace()
        || matches!(
            byte,
            b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | 0x1B | 128..|b')'| b']' | b'}' | b',' | b';' | b'|'
        )
}

/// Whether what a pattern found is a token: neither a placeholder nor words.
fn is_token(text: &[u8], found: &Match, at: usize, end: usize, pattern: &Pattern) -> bool {
    let mut body = text[found.start..at].to_vec();
    let mut from = end;
    for &(until, next) in &found.breaks {
        body.extend_from_slice(&text[from.min(until)..until]);
        from = next;
    }
    body.extend_from_slice(&text[from.min(found.end)..found.end]);
    body.truncate(1024);
    if is_placeholder(&body) {
        return false;
    }
    let look = Look::at(&body);
    // Digits alone may be a number that a fixed part makes a token; words have small letters only.
    let is_mixed = look.digit > 0 && look.upper + look.lower > 0 || look.upper > 0;
    let is_long =
        end - at >= 4 || text[end - 1].is_ascii_alphanumeric() || !pattern.before.is_empty() || body.len() >= 30;
    let of = look.words();
    is_mixed && (look.is_random() || (is_long && of * 20 <= look.turns * 100 + of * 8) || (is_long && look.lower == 0))
}
