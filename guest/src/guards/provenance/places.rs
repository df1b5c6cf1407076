//! Where a quote stands: its parts, and the ways in which they all occur in order in one message.

use super::history::Place;

/// The parts of a folded quote between ellipses, without the marks that end a sentence.
pub fn quote_parts(folded: &str) -> Vec<String> {
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
            let behind = Place {
                said: start.said,
                at: from,
            };
            let next = places.get(places.partition_point(|p| *p < behind));
            let Some(next) = next.filter(|p| p.said == start.said) else {
                break;
            };
            way.push((next.said, (next.at, next.at + part.len())));
        }
        if way.len() == parts.len() {
            out.push(way);
        }
    }
    out
}
