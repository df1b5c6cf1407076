//! What a value looks like: made at random, thought up by a person, or standing for another.

use super::pattern::{run, seek};
use super::rules::Rules;

/// Bytes of the longest value.
pub const VALUE_MAX: usize = 4096;
/// Bytes of a value by which it is judged.
const LOOK_MAX: usize = 256;

/// Counts of the characters of a value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Look {
    /// Capitals.
    pub upper: usize,
    /// Small letters.
    pub lower: usize,
    /// Digits.
    pub digit: usize,
    /// Everything else.
    pub other: usize,
    /// Neighbours of two of the first three kinds.
    pub turns: usize,
    /// Different characters.
    pub distinct: u32,
}

impl Look {
    /// Looks at a value.
    pub fn at(value: &[u8]) -> Self {
        let mut out = Self::default();
        let mut seen = 0_u128;
        let mut last = 3;
        for &byte in value.iter().take(LOOK_MAX) {
            seen |= 1 << (byte & 127);
            let kind = match byte {
                b'A'..=b'Z' => 0,
                b'a'..=b'z' => 1,
                b'0'..=b'9' => 2,
                _ => 3,
            };
            *[&mut out.upper, &mut out.lower, &mut out.digit, &mut out.other][kind] += 1;
            out.turns += usize::from(kind != last && kind != 3 && last != 3);
            last = kind;
        }
        out.distinct = seen.count_ones();
        out
    }

    /// Letters and digits.
    pub const fn words(&self) -> usize {
        self.upper + self.lower + self.digit
    }

    /// Whether it was made at random: the kinds of characters change more often than in words, names and numbers.
    /// Shares of turns in 60 random values of 20 characters each: base62 0.45 to 0.8, base36 0.2 to 0.6, hex 0.2 to 0.7; in 400
    /// identifiers of source files: two cases without digits under 0.36, with digits under 0.3, one case with digits under 0.15.
    pub fn is_random(&self) -> bool {
        let turns = self.turns * 100;
        let of = self.words();
        if of < 8 || self.distinct < 6 || self.other * 3 > of {
            return false;
        }
        match (self.upper > 0 && self.lower > 0, self.digit > 0) {
            (true, true) => turns >= of * 30,
            (true, false) => turns >= of * 40,
            (false, true) => turns >= of * 16 && self.digit < of,
            (false, false) => false,
        }
    }
}

/// Whether a value holds a word by which people and manuals say that another one goes there, or nothing but a filler.
pub fn is_placeholder(value: &[u8]) -> bool {
    let folded: Vec<u8> = value.iter().take(LOOK_MAX).map(u8::to_ascii_lowercase).collect();
    let mut holds = false;
    Rules::get().placeholders.each(&folded, |_, _| {
        holds = true;
        false
    });
    if holds {
        return true;
    }
    let distinct = Look::at(&folded).distinct as usize;
    // Of 16 random hex digits fewer than 5 differ once in a million times.
    (folded.len() >= 6 && distinct <= 3) || (folded.len() >= 14 && distinct <= 4) || is_counting(&folded)
}

/// Whether every character is the one before it and one, as in `abcdefgh` or `12345678`, but for a few.
fn is_counting(value: &[u8]) -> bool {
    let steps = value.windows(2).filter(|w| w[1] == w[0].wrapping_add(1)).count();
    value.len() >= 6 && steps * 4 >= value.len() * 3
}

/// Whether bytes stand in others.
pub fn holds(text: &[u8], part: &[u8]) -> bool {
    seek(text, part).is_some()
}

/// Whether a value is no value but says where one comes from, or is hashed, or was redacted.
fn is_elsewhere(value: &[u8]) -> bool {
    let starts = |p: &str| value.starts_with(p.as_bytes());
    let is_hash = [
        "$1$", "$2", "$5$", "$6$", "$7$", "$y$", "$apr1$", "$argon2", "$pbkdf2", "pbkdf2", "{SSHA", "{SHA", "{CRYPT",
        "sha1$", "sha256:", "sha512:", "sha384-", "sha512-", "sha256-", "scrypt:", "bcrypt", "md5:", "ENC[", "AQICA",
        "arn:", "pk_live_", "pk_test_", "phc_", "pk.eyJ", "ssh-", "AAAAC3Nz", "AAAAB3Nz", "rzp_",
    ]
    .iter()
    .any(|p| starts(p));
    let is_reference = match value {
        [b'$', next, ..] => next.is_ascii_alphabetic() || matches!(next, b'{' | b'(' | b'_' | b'$'),
        [b'%', .., b'%'] | [b'@', ..] | [b'{', ..] | [b'[', ..] | [b'(', ..] | [b'&', ..] | [b'|', ..] => true,
        [b'/' | b'~', rest @ ..] => rest.contains(&b'/') || rest.contains(&b'.'),
        [b'.', b'/' | b'.', ..] | [b':', ..] => true,
        _ => false,
    };
    is_hash || is_reference || holds(value, b"::") || holds(value, b"://") || is_number(value)
}

/// A number as code has it: `131072u32`, `0x1F`, `1_000L`.
fn is_number(value: &[u8]) -> bool {
    let digits = run(value, usize::MAX, |b| b.is_ascii_digit() || matches!(b, b'_' | b'.'));
    let rest = &value[digits..];
    let is_typed = matches!(rest, [] | [b'u' | b'i' | b'f' | b'U' | b'L' | b'l', ..])
        && rest
            .iter()
            .skip(1)
            .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    (digits > 0 && is_typed && rest.len() < 5) || (value.starts_with(b"0x") && value.len() < 20)
}

/// How a value is given to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// In quotes.
    Quoted,
    /// Without quotes, as in settings and in a shell.
    Bare,
    /// Without quotes behind white space, as in code.
    Loose,
    /// In a sentence.
    Said,
}

/// Whether a value is a password.
pub fn is_password(value: &[u8], given: Given) -> bool {
    if value.len() < 6 || value.len() > 128 || is_elsewhere(value) || is_placeholder(value) || is_common(value) {
        return false;
    }
    let look = Look::at(value);
    if holds(value, b" ") {
        // A passphrase: words in quotes, not a message to people.
        let has_mark = value
            .iter()
            .any(|b| matches!(b, b'.' | b',' | b':' | b'(' | b'%' | b'{' | b'\''));
        return given == Given::Quoted && look.digit > 0 && look.lower > 4 && !has_mark && value.len() < 40;
    }
    let letters = look.upper + look.lower;
    let mixed = look.digit > 0 && letters > 0;
    let marks = value
        .iter()
        .filter(|b| b.is_ascii_punctuation() && !matches!(b, b'_' | b'-' | b'.'))
        .count();
    if is_code(value, given) {
        return false;
    }
    match given {
        Given::Quoted | Given::Bare => {
            mixed && !is_numbered_word(&look, value)
                || (marks > 0 && look.upper > 0 && look.lower > 3 && value.len() >= 8 && !has_syntax(value))
        }
        Given::Loose => {
            mixed
                && (look.is_random()
                    || marks > 0 && !has_syntax(value)
                    || look.upper > 0 && look.lower > 0 && look.digit > 1)
        }
        Given::Said => mixed && (marks > 0 || look.digit > 1 || look.upper > 0 && look.lower > 0),
    }
}

/// A word with one digit behind it, as variables have.
fn is_numbered_word(look: &Look, value: &[u8]) -> bool {
    look.digit == 1
        && look.upper == 0
        && look.turns <= 1
        && value.last().is_some_and(u8::is_ascii_digit)
        && look.other == 0
        && value.len() < 7
        || look.digit > 0 && (look.upper == 0 || look.lower == 0) && value.contains(&b'_') && !look.is_random()
}

/// Whether a value is one that nobody keeps secret.
pub fn is_common(value: &[u8]) -> bool {
    let folded: Vec<u8> = value.iter().take(32).map(u8::to_ascii_lowercase).collect();
    Rules::get().words("common").iter().any(|w| w.as_bytes() == folded)
}

/// Whether marks in a value are those of code and paths.
fn has_syntax(value: &[u8]) -> bool {
    value.iter().any(|b| {
        matches!(
            b,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'=' | b'/' | b'\\' | b'"' | b'`' | b'|' | b';'
        )
    })
}

/// Whether a value without quotes is an expression, a type or a path.
fn is_code(value: &[u8], given: Given) -> bool {
    if given == Given::Quoted {
        return false;
    }
    if value.iter().any(|b| matches!(b, b'(' | b'[' | b'{' | b'<' | b'\\')) || value.starts_with(b"--") {
        return true;
    }
    // `self.password2`, `config.secrets.api`.
    let mut parts = value.split(|&b| b == b'.').filter(|p| !p.is_empty());
    let is_name = |p: &[u8]| {
        let look = Look::at(p);
        p[0].is_ascii_alphabetic()
            && p.iter().all(|&b| b.is_ascii_alphanumeric() || b == b'_')
            && (!look.is_random() && look.digit < 3)
    };
    value.contains(&b'.') && parts.all(is_name)
}

/// Whether a value is a key: made at random, and long enough that it was not thought up.
pub fn is_key(value: &[u8], given: Given, strong: bool) -> bool {
    if value.len() < 12
        || value.len() > VALUE_MAX
        || is_elsewhere(value)
        || is_placeholder(value)
        || is_code(value, given)
    {
        return false;
    }
    let long = given == Given::Quoted && value.len() >= 30;
    if !value.iter().all(|&b| b.is_ascii_graphic())
        || value
            .iter()
            .any(|b| matches!(b, b'{' | b'<' | b'`' | b'\\') || *b == b'(' && !long)
    {
        return false;
    }
    let look = Look::at(value);
    let least = match (given, strong) {
        (Given::Quoted | Given::Bare, true) => 12,
        (Given::Said | Given::Loose, true) => 16,
        (_, false) => 20,
    };
    if value.contains(&b'.') && value.contains(&b'/') && !value.contains(&b'+') && look.other * 6 > look.words() {
        return false;
    }
    if given != Given::Quoted && is_identifier(value, &look) {
        return false;
    }
    value.len() >= least && look.is_random() && !is_dated(value) && !is_words(value)
}

/// Whether a value without quotes is rather a name of code: in 4,000 such names at most one group of digits stands, and half of the
/// neighbours or fewer are of two kinds.
fn is_identifier(value: &[u8], look: &Look) -> bool {
    let groups = value
        .windows(2)
        .filter(|w| w[0].is_ascii_digit() && !w[1].is_ascii_digit())
        .count();
    let is_name = value[0].is_ascii_alphabetic() && value.iter().all(|&b| b.is_ascii_alphanumeric() || b == b'_');
    let half = look.turns * 2 < look.words();
    is_name
        && look.upper > 0
        && look.lower > 0
        && (look.digit == 0 && (value.len() < 24 || half) || groups < 2 && half && value.len() < 40)
}

/// Whether a value begins with a date, as in names of releases and logs.
fn is_dated(value: &[u8]) -> bool {
    matches!(value, [b'2', b'0', a, b, b'-', c, ..] if a.is_ascii_digit() && b.is_ascii_digit() && c.is_ascii_digit())
}

/// Whether a value is words with signs between them, and only one of them in five holds a digit.
fn is_words(value: &[u8]) -> bool {
    let parts: Vec<&[u8]> = value
        .split(|b| matches!(b, b'-' | b'_' | b'.' | b'/' | b':'))
        .filter(|p| !p.is_empty())
        .collect();
    let plain = parts.iter().filter(|p| !Look::at(p).is_random() && p.len() > 1).count();
    parts.len() > 2 && plain * 5 >= parts.len() * 4 && !parts.iter().any(|p| p.len() >= 16 && Look::at(p).is_random())
}

/// Eight, four, four, four and twelve hex digits.
pub fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(i, b)| {
            if matches!(i, 8 | 13 | 18 | 23) {
                *b == b'-'
            } else {
                b.is_ascii_hexdigit()
            }
        })
        && Look::at(value).distinct > 5
}
