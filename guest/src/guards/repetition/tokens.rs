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

/// What the token that is being read is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Letters,
    Digits,
    Name,
    Mark,
}

/// Makes tokens of characters.
pub struct Tokens {
    open: Open,
    /// The token that is being read.
    now: Token,
    /// The part before it, where letters meet digits.
    first: Option<Token>,
    last: char,
    lower: bool,
    upper: u32,
    gap: Gap,
}

impl Default for Tokens {
    fn default() -> Self {
        let now = Token {
            kind: Kind::Mark,
            hash: 0,
            value: 0,
            start: 0,
            end: 0,
            chars: 0,
            written: 0,
            before: Gap::Line,
            capitals: false,
            dense: false,
        };
        Self {
            open: Open::Nothing,
            now,
            first: None,
            last: '\0',
            lower: false,
            upper: 0,
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

/// Where tokens go.
type Out<'a> = &'a mut dyn FnMut(&Token);

impl Tokens {
    /// Takes the character that begins at byte `at`; gives the tokens that end before it.
    pub fn push(&mut self, c: char, at: usize, out: Out<'_>) {
        if self.open == Open::Letters && c.is_ascii_lowercase() {
            self.lower = true;
            self.grow(c, at + 1);
            return;
        }
        let end = at + c.len_utf8();
        match class(c) {
            Class::Letter(lower) => {
                self.inread_letters_(at, out);
                self.lower |= c == lower;
                self.upper += u32::from(c != lower);
                self.grow(lower, end);
            }
            Class::Digit(digit) => {
                self.read_digits(at, out);
                self.now.value = self.now.value.wrapping_mul(10).wrapping_add(digit);
                self.now.end = end;
                self.now.chars += 1;
                if self.open == Open::Name {
                    self.now.hash = mix(self.now.hash, digit);
                }
            }
            Class::Mark if (c == '\'' || c == '\u{2019}') && self.open == Open::Letters => self.grow('\'', end),
            Class::Mark if self.open == Open::Mark && self.now.value == c as u32 => self.now.end = end,
            Class::Mark => {
                self.flush(out);
                self.start(Kind::Mark, c, at);
                self.open = Open::Mark;
            }
            Class::Dense => {
                self.flush(out);
                self.start(Kind::Word, c, at);
                self.now.dense = true;
                out(&self.now);
            }
            Class::Space => {
                self.flush(out);
                self.gap = self.gap.max(Gap::Space);
            }
            Class::Line => {
                self.flush(out);
                self.gap = Gap::Line;
            }
        }
    }

    /// Begins a token with a character.
    fn start(&mut self, kind: Kind, c: char, at: usize) {
        self.now = Token {
            kind,
            hash: mix(SEED, c as u32),
            value: c as u32,
            start: at,
            end: at + c.len_utf8(),
            chars: 1,
            written: 1,
            before: std::mem::replace(&mut self.gap, Gap::None),
            capitals: false,
            dense: false,
        };
    }

    /// Begins letters or digits, which are empty yet.
    fn begin(&mut self, open: Open, at: usize) {
        let (kind, hash) = if open == Open::Digits {
            (Kind::Number, NUMBER)
        } else {
            (Kind::Word, SEED)
        };
        self.start(kind, '\0', at);
        (self.now.hash, self.now.value, self.now.chars, self.now.written) = (hash, 0, 0, 0);
        (self.last, self.lower, self.upper) = ('\0', false, 0);
        self.open = open;
    }

    fn grow(&mut self, lower: char, end: usize) {
        self.now.end = end;
        self.now.written += 1;
        if self.last != lower {
            self.last = lower;
            self.now.chars += 1;
            self.now.hash = mix(self.now.hash, lower as u32);
        }
    }

    fn inread_letters_(&mut self, at: usize, out: Out<'_>) {
        match (self.open, self.first) {
            (Open::Letters | Open::Name, _) => {}
            (Open::Digits, None) => self.meet(Open::Letters, at),
            (Open::Digits, Some(first)) if first.kind == Kind::Word && first.chars >= GLUED_CHARS => {
                // A word and its number, glued to the next word.
                self.flush(out);
                self.begin(Open::Letters, at);
            }
            (Open::Digits, Some(_)) => self.name(),
            _ => {
                self.flush(out);
                self.begin(Open::Letters, at);
            }
        }
    }

    fn read_digits(&mut self, at: usize, out: Out<'_>) {
        match (self.open, self.first) {
            (Open::Digits, _) if self.now.chars == 9 => self.name(),
            (Open::Digits | Open::Name, _) => {}
            (Open::Letters, None) => self.meet(Open::Digits, at),
            (Open::Letters, Some(_)) => self.name(),
            _ => {
                self.flush(out);
                self.begin(Open::Digits, at);
            }
        }
    }

    /// Puts the token aside as the first part of a run of letters and digits.
    fn meet(&mut self, open: Open, at: usize) {
        self.now.capitals = self.upper > 1 && !self.lower;
        self.first = Some(self.now);
        self.begin(open, at);
    }

    /// Makes one name of what was read of a run of letters and digits.
    fn name(&mut self) {
        let now = self.now;
        let exact = |t: &Token| mix(t.hash, t.value);
        if let Some(first) = self.first.take() {
            self.now = Token {
                hash: mix(exact(&first), exact(&now)),
                end: now.end,
                chars: first.chars + now.chars,
                written: first.written + now.written,
                ..first
            };
        } else {
            self.now.hash = exact(&now);
        }
        self.now.kind = Kind::Name;
        self.open = Open::Name;
    }

    /// Gives what is unfinished: at the end of the text, and where a token can't go on.
    pub fn flush(&mut self, out: Out<'_>) {
        if let Some(first) = self.first.take() {
            out(&first);
        }
        if self.open != Open::Nothing {
            self.now.capitals = self.open == Open::Letters && self.upper > 1 && !self.lower;
            self.open = Open::Nothing;
            out(&self.now);
        }
    }
}
