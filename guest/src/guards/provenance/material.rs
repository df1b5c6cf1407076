//! Pasted and quoted material: which parts of a message are not the user's own words.
//!
//! Block quotes, fenced blocks, forwarded mail from its header on, chat exports, log lines, lines after an introduction that says
//! whose they are ("the caterer wrote:"), and quotations between quotation marks. Blind: foreign text pasted without any sign.

use crate::lexicon::{packs_for, tag};
use crate::text::fold::fold;
use crate::text::quotes::quotes;
use crate::text::segment::{self, Line};
use crate::text::words::tokens;

/// Half-open byte ranges of the message that are material, in order.
pub fn material(text: &str) -> Vec<(usize, usize)> {
    let lines = segment::lines(text);
    let mut out = Vec::new();
    let mut mail = false;
    // Lines after an introduction are material until a blank line.
    let mut introduced = false;
    for (i, line) in lines.iter().enumerate() {
        let raw = line.of(text);
        let trimmed = raw.trim();
        let blank = trimmed.is_empty();
        if is_rule(trimmed) {
            mail = !mail && is_mail_header(lines.get(i + 1).map_or("", |l| l.of(text)));
            out.push((line.start, line.end));
            continue;
        }
        mail |= is_mail_header(raw) && lines.get(i + 1).is_some_and(|l| is_mail_header(l.of(text)));
        introduced &= !blank;
        let own = !(line.fenced
            || mail
            || introduced
            || trimmed.starts_with('>')
            || is_chat_line(trimmed)
            || is_log_line(trimmed));
        if own {
            out.extend(quotations(raw, line));
        } else if !blank {
            out.push((line.start, line.end));
        }
        if own && introduces(trimmed) {
            introduced = true;
        }
    }
    out
}

/// Quotations inside the user's own line: two words at least, or two characters of a script without spaces.
fn quotations(raw: &str, line: &Line) -> Vec<(usize, usize)> {
    let found = quotes(raw).into_iter().filter(|q| {
        let inner = &raw[q.inner.0..q.inner.1];
        tokens(&fold(inner))
            .iter()
            .filter(|t| t.class != crate::text::words::Class::Mark)
            .count()
            > 1
    });
    found
        .map(|q| (line.start + q.outer.0, line.start + q.outer.1))
        .collect()
}

/// A line of dashes, perhaps with a title between: how mail programs set off what they quote.
fn is_rule(trimmed: &str) -> bool {
    let dashes = |c: char| matches!(c, '-' | '_' | '=' | '\u{2500}');
    let lead = trimmed.chars().take_while(|&c| dashes(c)).count();
    lead >= 5 && (trimmed.chars().all(dashes) || trimmed.chars().rev().take_while(|&c| dashes(c)).count() >= 3)
}

/// `From: …`, `主题：…`: a word of at most twenty characters that some pack tags `mail-header`, and a colon.
fn is_mail_header(raw: &str) -> bool {
    let folded = fold(raw);
    let Some((name, _)) = folded.split_once(':') else {
        return false;
    };
    !name.is_empty() && name.chars().count() <= 20 && has_only(name, "mail-header")
}

/// Whether the text is one unit with that tag in a pack of its script.
fn has_only(text: &str, name: &str) -> bool {
    let cut = tokens(text);
    !cut.is_empty()
        && crate::lexicon::packs().any(|pack| {
            let (count, tags) = pack.look_up(text, &cut, 0);
            count == cut.len() && tags & tag(name) != 0
        })
}

/// `[18:02] Joe: …`, `三栋老李：…` after a time in brackets, `12/03/24, 18:02 - Joe: …`.
fn is_chat_line(trimmed: &str) -> bool {
    let Some(rest) = after_stamp(trimmed) else { return false };
    let rest = rest.trim_start_matches([' ', '-', '|', ']', ')']);
    let colon = rest.char_indices().find(|&(_, c)| c == ':' || c == '\u{FF1A}');
    colon.is_some_and(|(at, _)| at > 0 && rest[..at].chars().count() <= 30)
}

/// A time stamp or a level word at the beginning.
fn is_log_line(trimmed: &str) -> bool {
    let level = |word: &str| {
        let word = word.trim_matches(['[', ']', ':', '(', ')']);
        matches!(
            word,
            "WARN" | "WARNING" | "ERROR" | "INFO" | "DEBUG" | "TRACE" | "FATAL" | "CRITICAL" | "NOTICE"
        )
    };
    if trimmed.split_whitespace().next().is_some_and(level) {
        return true;
    }
    let dated = trimmed.as_bytes().get(..10).is_some_and(|d| {
        d.iter().enumerate().all(|(i, b)| {
            if i == 4 || i == 7 {
                *b == b'-' || *b == b'/'
            } else {
                b.is_ascii_digit()
            }
        })
    });
    dated && (trimmed.split_whitespace().take(4).any(level) || after_stamp(trimmed).is_some())
}

/// What follows a clock time near the beginning of the line: within brackets, or after a date.
fn after_stamp(trimmed: &str) -> Option<&str> {
    let head: String = trimmed.chars().take(28).collect();
    let at = head
        .find(':')
        .filter(|&i| i > 0 && head.as_bytes()[i - 1].is_ascii_digit())?;
    let tail = head[at + 1..]
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b':')
        .count();
    let starts = trimmed.starts_with(['[', '(', '\u{3010}']) || trimmed.as_bytes()[0].is_ascii_digit();
    (tail >= 2 && starts && (trimmed.starts_with(['[', '(', '\u{3010}']) || at > 3)).then(|| &trimmed[at + 1 + tail..])
}

/// Whether a line announces somebody else's words: it ends in a colon and has a word of passing on, or of somebody else.
fn introduces(trimmed: &str) -> bool {
    if !trimmed.ends_with([':', '\u{FF1A}']) {
        return false;
    }
    let folded = fold(trimmed);
    let cut = tokens(&folded);
    let wanted = tag("pasted") | tag("third") | tag("says3");
    packs_for(&folded, &cut, "")
        .iter()
        .any(|pack| pack.units(&folded, &cut, &[]).iter().any(|u| u.tags & wanted != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        material(text).into_iter().map(|(s, e)| &text[s..e]).collect()
    }

    #[test]
    fn tells_own_words_from_pasted_ones() {
        assert_eq!(found("look:\n> use fish\n\nwhat now?"), ["> use fish"]);
        assert_eq!(found("chat\n[18:02] Joe: let's go\nnot me"), ["[18:02] Joe: let's go"]);
        assert_eq!(found("a\n```\nb\n```\nc"), ["```", "b", "```"]);
        assert_eq!(
            found("2025-02-03 02:11 WARN switch\nwhy?"),
            ["2025-02-03 02:11 WARN switch"]
        );
        assert_eq!(found("he wrote \"sell the boat\" today"), ["\"sell the boat\""]);
        assert_eq!(found("call it \"blue\" at 18:30: fine"), Vec::<&str>::new());
    }
}
