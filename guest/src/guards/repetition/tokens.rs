//! Words, numbers and marks of a text as they come, one character at a time, without what a tired model varies: case, white
//! space, letters and marks said several times in a row.

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Letters; one character of a script without spaces.
    Word,
    /// One to nine digits.
    Number,
    /// Letters and digits in turn, or more digits: a name of something, not a count.
    Name,
    /// A mark, once or several times in a row.
    Mark,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// Equal for tokens that say the same; one for all numbers.
    pub hash: u32,
    /// The value of a number; of a mark the character.
    pub value: u32,
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// How many characters it has, doubled ones counted once.
    pub chars: u32,
    /// How many characters it has as written.
    pub written: u32,
    /// What stands before it.
    pub before: Gap,
    /// Whether it is written in capitals, two or more.
    pub capitals: bool,
    /// Whether it is one character of a script without spaces.
    pub dense: bool,
}

/// What stands before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    /// Nothing.
    None,
    /// White space in a line.
    Space,
    /// A line break.
    Line,
}

/// Letters from which a word is taken for one although digits and more letters follow; names mix them sooner.
const GLUED_CHARS: u32 = 4;
const NUMBER: u32 = 0x9E37_79B9;
const SEED: u32 = 0x811C_9DC5;

/// Mixes something into a hash.
pub const fn mix(hash: u32, with: u32) -> u32 {
    let x = (hash ^ with).wrapping_mul(0x85EB_CA6B);
    x ^ (x >> 15)
}

/// Letters or digits of a run of both.
#[derive(Clone, Copy)]
struct Part {
    token: Token,
    digits: bool,
    last: char,
    lower: bool,
    upper: u32,
}

/// Makes tokens of characters.
pub struct Tokens {
    parts: [Option<Part>; 2],
    /// Characters and end of the run of letters and digits beyond its parts, when these are more than two or too long for a number.
    name: Option<(u32, usize)>,
    whole: u32,
    mark: Option<Token>,
    gap: Gap,
}

impl Default for Tokens {
    fn default() -> Self {
        Self {
            parts: [None, None],
            name: None,
            whole: SEED,
            mark: None,
            gap: Gap::Line,
        }
    }
}

/// What a character is for a token.
enum Class {
    Letter(char),
    Digit(u32),
    Dense,
    Space,
    Line,
    Mark,
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' => Class::Letter(c),
        'A'..='Z' => Class::Letter(c.to_ascii_lowercase()),
        '0'..='9' => Class::Digit(c as u32 - 48),
        '\n' | '\r' | '\u{2028}' => Class::Line,
        ' ' | '\t' | '\u{B}' | '\u{C}' | '\u{A0}' | '\u{3000}' => Class::Space,
        '\0'..='\u{7F}' => Class::Mark,
        '\u{2000}'..='\u{2BFF}' | '\u{3001}'..='\u{3004}' | '\u{3007}'..='\u{3030}' => Class::Mark,
        '\u{FF10}'..='\u{FF19}' => Class::Digit(c as u32 - 0xFF10),
        '\u{3005}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}' => Class::Dense,
        '\u{0E00}'..='\u{0EFF}' => Class::Dense,
        '\u{1F000}'..='\u{1FFFF}' | '\u{E000}'..='\u{F8FF}' | '\u{FE00}'..='\u{FE0F}' => Class::Mark,
        _ if c.is_alphabetic() => Class::Letter(c.to_lowercase().next().unwrap_or(c)),
        _ if c.is_whitespace() => Class::Space,
        // Signs above and below letters belong to them; what is left are marks.
        '\u{300}'..='\u{36F}' | '\u{591}'..='\u{1DFF}' => Class::Letter(c),
        _ => Class::Mark,
    }
}

impl Tokens {
    /// Takes the character that begins at byte `at`; gives the tokens that end before it.
    pub fn push(&mut self, c: char, at: usize, out: &mut impl FnMut(Token)) {
        match class(c) {
            Class::Letter(lower) => self.letter(c, lower, at, out),
            Class::Digit(digit) => self.digit(c, digit, at, out),
            Class::Mark if (c == '\'' || c == '\u{2019}') && self.in_word() => self.letter('\'', '\'', at, out),
            Class::Dense => {
                self.flush(out);
                out(self.token(Kind::Word, mix(SEED, c as u32), c as u32, at, c, true));
            }
            Class::Space => {
                self.flush(out);
                self.gap = self.gap.max(Gap::Space);
            }
            Class::Line => {
                self.flush(out);
                self.gap = Gap::Line;
            }
            Class::Mark => {
                if let Some(mark) = &mut self.mark
                    && mark.value == c as u32
                {
                    mark.end = at + c.len_utf8();
                    return;
                }
                self.flush(out);
                self.mark = Some(self.token(Kind::Mark, mix(SEED, c as u32), c as u32, at, c, false));
            }
        }
    }

    fn token(&mut self, kind: Kind, hash: u32, value: u32, at: usize, c: char, dense: bool) -> Token {
        let before = std::mem::replace(&mut self.gap, Gap::None);
        Token {
            kind,
            hash,
            value,
            start: at,
            end: at + c.len_utf8(),
            chars: 1,
            written: 1,
            before,
            capitals: false,
            dense,
        }
    }

    fn in_word(&self) -> bool {
        self.parts[1].or(self.parts[0]).is_some_and(|p| !p.digits)
    }

    /// The part that grows by this character; a new one where letters and digits meet.
    fn part(&mut self, digits: bool, c: char, at: usize, out: &mut impl FnMut(Token)) -> Option<&mut Part> {
        if self.mark.is_some() {
            self.flush(out);
        }
        self.whole = mix(self.whole, c as u32);
        if let Some(name) = &mut self.name {
            *name = (name.0 + 1, at + c.len_utf8());
            return None;
        }
        let slot = usize::from(self.parts[1].is_some());
        let place = match &self.parts[slot] {
            Some(part) if part.digits == digits => slot,
            Some(_) if slot == 1 && self.parts[0].is_some_and(|p| !p.digits && p.token.chars >= GLUED_CHARS) => {
                // A word and its number, glued to the next word.
                self.flush(out);
                0
            }
            Some(_) if slot == 1 => {
                self.name = Some((1, at + c.len_utf8()));
                return None;
            }
            Some(_) => 1,
            None => 0,
        };
        if self.parts[place].is_none() {
            let (kind, hash) = if digits {
                (Kind::Number, NUMBER)
            } else {
                (Kind::Word, SEED)
            };
            let mut token = self.token(kind, hash, 0, at, c, false);
            token.chars = 0;
            token.written = 0;
            self.parts[place] = Some(Part {
                token,
                digits,
                last: '\0',
                lower: false,
                upper: 0,
            });
        }
        self.parts[place].as_mut()
    }

    fn letter(&mut self, c: char, lower: char, at: usize, out: &mut impl FnMut(Token)) {
        let Some(part) = self.part(false, lower, at, out) else {
            return;
        };
        part.token.end = at + c.len_utf8();
        part.token.written += 1;
        part.lower |= c == lower && c != '\'';
        part.upper += u32::from(c != lower);
        if part.last != lower {
            part.last = lower;
            part.token.chars += 1;
            part.token.hash = mix(part.token.hash, lower as u32);
        }
    }

    fn digit(&mut self, c: char, digit: u32, at: usize, out: &mut impl FnMut(Token)) {
        let Some(part) = self.part(true, c, at, out) else {
            return;
        };
        part.token.end = at + c.len_utf8();
        part.token.chars += 1;
        part.token.value = part.token.value.wrapping_mul(10).wrapping_add(digit);
        if part.token.chars > 9 {
            self.name = Some((0, at + c.len_utf8()));
        }
    }

    /// Gives what is unfinished: at the end of the text, and where a token can't go on.
    pub fn flush(&mut self, out: &mut impl FnMut(Token)) {
        if let Some(mark) = self.mark.take() {
            out(mark);
        }
        let parts = std::mem::take(&mut self.parts);
        let whole = std::mem::replace(&mut self.whole, SEED);
        if let (Some((more, end)), Some(first)) = (self.name.take(), parts[0]) {
            let chars = parts.iter().flatten().map(|p| p.token.chars).sum::<u32>() + more;
            out(Token {
                kind: Kind::Name,
                hash: whole,
                value: 0,
                end,
                chars,
                ..first.token
            });
            return;
        }
        for mut part in parts.into_iter().flatten() {
            part.token.capitals = part.upper > 1 && !part.lower;
            out(part.token);
        }
    }
}
