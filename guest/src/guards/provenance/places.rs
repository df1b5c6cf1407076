//! Where a quote stands: its parts, and the ways in which they all occur in order in one message.

use super::history::Place;
use crate::text::fold::fold;

/// The parts of a quote between ellipses, folded, without the marks that end a sentence.
pub fn quote_parts(words: &str) -> Vec<String> {
    let folded = fold(words);
    let parts = folded
        .split("...")
        .map(trimmed)
        .filter(|p| p.chars().any(char::is_alphanumeric));
    parts.map(str::to_owned).collect()
}

/// Drops marks around a quote's part: what typing puts at the end of a sentence, and brackets of an ellipsis.
pub fn trimmed(part: &str) -> &str {
    let ends = |c: char| {
        matches!(
            c,
            '.' | ','
                | '\u{3002}'
                | '\u{3001}'
                | '!'
                | '?'
                | ';'
                | ':'
                | '\u{2026}'
                | ' '
                | '\''
                | '"'
                | '['
                | ']'
                | '('
                | ')'
        )
    };
    part.trim_matches(ends)
}

/// Half-open bytes in the folded text of something said.
pub type Span = (usize, (usize, usize));

/// The ways in which all parts occur in order in one message; each way is a list of spans.
pub fn joined(parts: &[String], places: &[&[Place]]) -> Vec<Vec<Span>> {
    let Some(first) = places.first() else { return Vec::new() };
    let mut out = Vec::new();
    for start in first.iter() {
        let mut way = vec![(start.said, (start.at, start.at + parts[0].len()))];
        for (part, places) in parts.iter().zip(places).skip(1) {
            let from = way[way.len() - 1].1.1;
            let next = places.iter().find(|p| p.said == start.said && p.at >= from);
            let Some(next) = next else { break };
            way.push((next.said, (next.at, next.at + part.len())));
        }
        if way.len() == parts.len() {
            out.push(way);
        }
    }
    out
}
