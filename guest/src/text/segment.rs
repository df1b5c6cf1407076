//! Segments: the lines of a note, what is code in them, and where sentences end.

use super::words::{Class, Token};

/// A line: half-open bytes into the text, without its line break.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Whether it stands in a fenced block, or is a fence.
    pub fenced: bool,
}

impl Line {
    /// Its text.
    pub fn of<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start..self.end]
    }
}

/// Cuts a text into lines and marks fenced blocks.
pub fn lines(text: &str) -> Vec<Line> {
    each_line(text).collect()
}

/// The lines one by one.
pub fn each_line(text: &str) -> impl Iterator<Item = Line> {
    let mut start = 0;
    let mut fence: Option<char> = None;
    text.split_inclusive('\n').map(move |piece| {
        if piece == "\n" {
            let line = Line {
                start,
                end: start,
                fenced: fence.is_some(),
            };
            start += 1;
            return line;
        }
        let end = start + piece.trim_end_matches(['\n', '\r']).len();
        let trimmed = piece.trim_start();
        let mark = [("```", '`'), ("~~~", '~')]
            .into_iter()
            .find(|m| trimmed.starts_with(m.0))
            .map(|m| m.1);
        let fenced = fence.is_some() || mark.is_some();
        let line = Line { start, end, fenced };
        match (fence, mark) {
            (None, Some(c)) => fence = Some(c),
            (Some(f), Some(c)) if f == c => fence = None,
            _ => {}
        }
        start += piece.len();
        line
    })
}

/// Code inside a line: half-open bytes of back-tick spans, and of words that only code has (`a.b()`, `x_y`, `a::b`, `--flag`,
/// paths, addresses).
pub fn code(line: &str) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    let bytes = line.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        if bytes[i] == b'`' {
            let ticks = bytes[i..].iter().take_while(|&&b| b == b'`').count();
            let mark = &line[i..i + ticks];
            match line[i + ticks..].find(mark) {
                Some(at) => {
                    let end = i + ticks + at + ticks;
                    out.push((i, end));
                    i = end;
                }
                // Unclosed: no later mark of this length closes either.
                None => i += ticks,
            }
            continue;
        }
        i += 1;
    }
    let mut at = 0;
    for word in line.split(|c: char| c.is_whitespace() || !c.is_ascii()) {
        let start = at;
        // The separator may be longer than a byte.
        at = start + word.len();
        at += line[at..].chars().next().map_or(0, char::len_utf8);
        if let Some((from, to)) = code_word(word) {
            out.push((start + from, start + to));
        }
    }
    out.sort_unstable();
    out
}

/// Where in a word the code is, if it is code.
fn code_word(word: &str) -> Option<(usize, usize)> {
    let from = word.len() - word.trim_start_matches(['(', '[', '"', '\'', '*']).len();
    let to = word
        .trim_end_matches([',', ';', ':', '.', '!', '?', '"', '\'', '*', ']', '|'])
        .len();
    if from >= to {
        return None;
    }
    let core = &word[from..to];
    // Most words: nothing below is made of letters and digits alone.
    if core.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let letters = core.bytes().filter(u8::is_ascii_alphabetic).count();
    if letters == 0 {
        return None;
    }
    let b = core.as_bytes();
    let inner =
        |i: usize| i > 0 && i + 1 < b.len() && b[i - 1].is_ascii_alphanumeric() && b[i + 1].is_ascii_alphanumeric();
    let snake = (1..b.len()).any(|i| b[i] == b'_' && inner(i));
    // A dotted name: two letters on each side, so that "e.g." and "2.5x" stay words.
    let dotted = core.split('.').count() > 1
        && core
            .split('.')
            .all(|p| p.len() >= 2 && p.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_'))
        && !core.split('.').any(|p| p.bytes().all(|c| c.is_ascii_digit()));
    let marks = ["::", "->", "=>", "==", "!=", "://", "()", "={", "=\""]
        .iter()
        .any(|m| core.contains(m));
    let call = core
        .find('(')
        .is_some_and(|p| p > 0 && b[p - 1].is_ascii_alphanumeric() && core.ends_with(')') && p + 1 < b.len() - 1)
        && !core.contains(' ')
        && core[..core.find('(').unwrap_or(0)].len() > 2
        && core.contains(['_', '=', '\'', '"']);
    let path =
        core.starts_with("/") && core.matches('/').count() > 1 || core.starts_with("./") || core.starts_with("~/");
    let flag = core.starts_with("--") && b.get(2).is_some_and(u8::is_ascii_alphabetic);
    let sigil = (core.starts_with('$') || core.starts_with('@') || core.starts_with('<'))
        && letters > 1
        && !core.starts_with("<-");
    let assign = core
        .find('=')
        .is_some_and(|i| i > 0 && i + 1 < b.len() && b[i - 1].is_ascii_alphanumeric());
    (snake || dotted || marks || call || path || flag || sigil || assign).then_some((from, to))
}

/// Whether the token at `i` ends a sentence. A full stop inside an abbreviation, a number or a file name does not.
pub fn ends_sentence(folded: &str, tokens: &[Token], i: usize) -> bool {
    let token = tokens[i];
    if token.class != Class::Mark {
        return false;
    }
    match token.of(folded) {
        "?" | "!" | "。" | "！" | "？" | "；" | "…" | "¿" | "¡" => true,
        ";" => true,
        "." => {
            let next = tokens.get(i + 1);
            let spaced = next.is_none_or(|n| n.start > token.end);
            let closing = next.is_some_and(|n| matches!(n.of(folded), "\"" | ")" | "'" | "»" | "」"));
            let abbreviation = i.checked_sub(1).is_some_and(|b| is_abbreviation(tokens[b].of(folded)));
            (spaced || closing) && !abbreviation && !(i > 0 && is_ordinal(tokens[i - 1], next, folded))
        }
        _ => false,
    }
}

/// Whether a number before a full stop is a day and the word after it a German month: "3. Mai" is no end.
fn is_ordinal(number: Token, next: Option<&Token>, folded: &str) -> bool {
    let day = number.of(folded);
    let month = next.map_or("", |n| n.of(folded));
    day.len() <= 2 && day.bytes().all(|b| b.is_ascii_digit()) && MONTHS.contains(&month)
}

/// German months, folded.
const MONTHS: [&str; 14] = [
    "januar",
    "jänner",
    "februar",
    "feber",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
];

/// Words whose full stop seldom ends a sentence. Single letters count too.
fn is_abbreviation(word: &str) -> bool {
    word.chars().count() == 1 && word.chars().all(char::is_alphabetic)
        || matches!(
            word,
            "vs" | "etc"
                | "mr"
                | "mrs"
                | "ms"
                | "dr"
                | "st"
                | "no"
                | "approx"
                | "incl"
                | "nr"
                | "bzw"
                | "ca"
                | "sr"
                | "sra"
                | "env"
                | "resp"
                | "тыс"
                | "руб"
                | "им"
        )
}

#[cfg(test)]
mod tests {
    use super::super::words::tokens;
    use super::*;

    #[test]
    fn marks_code_and_leaves_prose() {
        let find = |line: &'static str| code(line).iter().map(|&(s, e)| &line[s..e]).collect::<Vec<_>>();
        assert_eq!(
            find("`if user.approved:` then user.approved, x_y and --dry-run"),
            ["`if user.approved:`", "user.approved", "x_y", "--dry-run"]
        );
        assert_eq!(
            find("User decided (Dana) to use v2.5, e.g. 9 EUR/month and/or CI."),
            Vec::<&str>::new()
        );
        assert_eq!(find("用户 see ~/notes/a.md，ok"), ["~/notes/a.md"]);
    }

    #[test]
    fn ends_sentences() {
        let text = "the user agreed. it is v2.5 e.g. here? yes";
        let all = tokens(text);
        let ends: Vec<usize> = (0..all.len())
            .filter(|&i| ends_sentence(text, &all, i))
            .map(|i| all[i].start)
            .collect();
        assert_eq!(ends, [15, text.find('?').unwrap()]);
    }

    #[test]
    fn fences() {
        let text = "a\n```\nb\n```\nc";
        assert_eq!(
            lines(text).iter().map(|l| l.fenced).collect::<Vec<_>>(),
            [false, true, true, true, false]
        );
    }
}
