//! What the build script wrote of the guards of calls: their limits, their words, and what people are told of their rules.

use miniz_oxide::inflate::decompress_to_vec;
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/calls.rs"));

/// One rule, as `corpus/rules` tells it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Told {
    /// `guard.thing`.
    pub id: &'static str,
    /// The name of its level.
    pub level: &'static str,
    /// What was found, one sentence.
    pub reason: &'static str,
    /// What would pass.
    pub pass: &'static str,
}

/// Every rule of these guards.
pub fn rules() -> impl Iterator<Item = Told> {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| opened(include_bytes!(concat!(env!("OUT_DIR"), "/calls-rules.z"))));
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        Some(Told {
            id: lines.next()?,
            level: lines.next()?,
            reason: lines.next()?,
            pass: lines.next()?,
        })
    })
}

/// The rule of that id; an empty one for an id that no file has, which a test rules out.
pub fn rule(id: &str) -> Told {
    rules().find(|r| r.id == id).unwrap_or_default()
}

/// The words of one list, such as `loops.month`, with blanks between them.
pub fn words(list: &str) -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| opened(include_bytes!(concat!(env!("OUT_DIR"), "/calls-words.z"))));
    let named = |line: &'static str| line.strip_prefix(list)?.strip_prefix(' ');
    text.lines().find_map(named).unwrap_or_default()
}

fn opened(blob: &[u8]) -> String {
    String::from_utf8(decompress_to_vec(blob).unwrap_or_default()).unwrap_or_default()
}
