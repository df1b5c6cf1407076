//! Words: a folded text cut into tokens.
//!
//! A word is a run of letters and digits, with apostrophes inside; a possessive `'s` and an elided article (`l'`, `d'`) are
//! tokens of their own. In scripts without spaces each character is a token. Every other visible character is a token too.

use super::fold::is_cjk;

/// What a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Letters, with digits perhaps.
    Word,
    /// Digits only, with separators between them.
    Number,
    /// One character of a script written without spaces.
    Cjk,
    /// Anything else that can be seen.
    Mark,
}

/// A token: half-open bytes into the folded text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What it is made of.
    pub class: Class,
}

impl Token {
    /// Its text.
    pub fn of<'a>(&self, folded: &'a str) -> &'a str {
        &folded[self.start..self.end]
    }
}

/// Cuts a folded text into tokens.
pub fn tokens(folded: &str) -> Vec<Token> {
    let mut out = Vec::with_capacity(folded.len() / 5 + 1);
    let char_at = |at: usize| folded[at..].chars().next();
    let mut next = 0;
    while let Some(c) = char_at(next) {
        let start = next;
        next += c.len_utf8();
        if c.is_whitespace() {
            continue;
        }
        if is_cjk(c) || !c.is_alphanumeric() {
            let class = if is_cjk(c) { Class::Cjk } else { Class::Mark };
            out.push(Token {
                start,
                end: next,
                class,
            });
            continue;
        }
        let mut digits = c.is_numeric();
        loop {
            // Most letters are of ASCII.
            let letters = folded.as_bytes()[next..].iter().take_while(|b| b.is_ascii_lowercase());
            let letters = letters.count();
            digits &= letters == 0;
            next += letters;
            let Some(n) = char_at(next) else { break };
            let after = next + n.len_utf8();
            let inside = || n == '\'' && char_at(after).is_some_and(|m| m.is_alphabetic() && !is_cjk(m));
            let decimal = digits && (n == '.' || n == ',') && char_at(after).is_some_and(char::is_numeric);
            let joins = decimal || (n.is_alphanumeric() && !is_cjk(n)) || is_mark(n) || inside();
            if !joins {
                break;
            }
            digits &= n.is_numeric() || decimal;
            next = after;
        }
        push_word(folded, start, next, digits, &mut out);
    }
    out
}

/// Combining marks that stay after composition belong to their letter.
fn is_mark(c: char) -> bool {
    matches!(c as u32, 0x0300..=0x036F | 0x3099 | 0x309A)
}

/// Splits off a possessive or an elided article, so that the noun stands alone.
fn push_word(folded: &str, start: usize, end: usize, digits: bool, out: &mut Vec<Token>) {
    let word = &folded[start..end];
    let class = if digits { Class::Number } else { Class::Word };
    if let Some(noun) = word.strip_suffix("'s").filter(|n| !n.is_empty()) {
        let cut = start + noun.len();
        out.push(Token { start, end: cut, class });
        out.push(Token {
            start: cut,
            end,
            class: Class::Word,
        });
        return;
    }
    if let Some(at) = word.find('\'') {
        let article = &word[..at];
        let elided = matches!(
            article,
            "l" | "d" | "j" | "c" | "n" | "s" | "m" | "qu" | "jusqu" | "lorsqu" | "puisqu"
        );
        if elided && at + 1 < word.len() {
            let cut = start + at + 1;
            out.push(Token { start, end: cut, class });
            out.push(Token { start: cut, end, class });
            return;
        }
    }
    out.push(Token { start, end, class });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        tokens(text).iter().map(|t| t.of(text)).collect()
    }

    #[test]
    fn cuts_words_possessives_and_elisions() {
        assert_eq!(
            cut("the user's call: don't"),
            ["the", "user", "'s", "call", ":", "don't"]
        );
        assert_eq!(cut("l'utilisateur d'accord"), ["l'", "utilisateur", "d'", "accord"]);
        assert_eq!(cut("9.5 eur, v2"), ["9.5", "eur", ",", "v2"]);
        assert_eq!(cut("用户选redis了"), ["用", "户", "选", "redis", "了"]);
    }
}
