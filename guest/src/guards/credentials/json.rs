//! Credentials in the strings of a JSON text: everything else stays as it is written, byte for byte.

use super::scan::Scan;
use super::{Hit, names, redact, tidy};

/// A JSON text with its strings redacted, and how many credentials went.
pub struct Strings {
    /// The text.
    pub text: String,
    /// The rules of what was found, once for each credential.
    pub rules: Vec<&'static str>,
}

/// Redacts every string of a JSON text, keys included. A value's key counts as its name. Text that is no JSON is redacted as it is.
pub fn redact_strings(text: &str, key: &[u8]) -> Strings {
    let mut out = Strings {
        text: String::with_capacity(text.len()),
        rules: Vec::new(),
    };
    let bytes = text.as_bytes();
    let mut name = String::new();
    let mut at = 0;
    while let Some(open) = memchr::memchr(b'"', &bytes[at..]).map(|i| at + i) {
        let Some(close) = closing(bytes, open + 1) else { break };
        out.text.push_str(&text[at..=open]);
        let raw = &text[open + 1..close];
        let is_key = bytes[close + 1..].iter().find(|b| !b.is_ascii_whitespace()) == Some(&b':');
        let value: Option<String> = if raw.contains('\\') {
            serde_json::from_str(&text[open..=close]).ok()
        } else {
            Some(raw.to_owned())
        };
        match value
            .as_deref()
            .and_then(|v| string(v, if is_key { "" } else { &name }, key))
        {
            Some((clean, hits)) => {
                let quoted = serde_json::to_string(&clean).unwrap_or_default();
                out.text.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
                out.rules.extend(hits.iter().map(|h| h.rule));
            }
            None => out.text.push_str(raw),
        }
        out.text.push('"');
        // A list gives its name to each of its strings.
        if is_key {
            name = value.unwrap_or_default();
        }
        at = close + 1;
    }
    out.text.push_str(&text[at..]);
    out
}

/// A string redacted, none when nothing is in it.
fn string(value: &str, name: &str, key: &[u8]) -> Option<(String, Vec<Hit>)> {
    if !name.is_empty() && value.len() <= 4096 && !value.contains('\n') {
        let mut scan = Scan::new(value.as_bytes());
        names::judge_named(&mut scan, name);
        let hits = tidy(value, scan.hits);
        if !hits.is_empty() {
            let out = super::replaced(value, key, &hits);
            return Some((out.text, hits));
        }
    }
    let (clean, hits) = redact(value, key);
    (!hits.is_empty()).then_some((clean, hits))
}

fn closing(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    while let Some(i) = memchr::memchr2(b'"', b'\\', &bytes[at..]) {
        at += i;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
        if at > bytes.len() {
            return None;
        }
    }
    None
}
