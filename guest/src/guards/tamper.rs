//! The tamper guard: is the agent reaching for sayso itself?
//!
//! Arguments that hold a program or name a place are read as a shell would read them, as far as that is reasonable: quotation marks,
//! backslashes, joined strings, simple variables, globs, `\x` escapes and base64 are seen through. Reads of what sayso tells pass.
//!
//! What it can't see: names that only come about when a program runs (downloaded scripts, arithmetic, substitutions of commands,
//! a link made earlier), and programs that were written to a file by one call and run by another.

use super::told::words;
use crate::text::arguments::{Argument, arguments};

/// Characters of one argument that are read; a longer one is a program of its own, and its beginning is read.
const READ_MAX: usize = 64 * 1024;
/// Variables of one command that are followed.
const VARIABLES_MAX: usize = 32;

/// A reach for sayso: the rule, and the argument.
#[derive(Debug)]
pub struct Reach {
    /// The rule's id.
    pub rule: &'static str,
    /// The JSON path of the argument.
    pub path: String,
    /// Its length in bytes.
    pub length: usize,
}

/// Whether the arguments of a call reach for sayso; the first that does.
pub fn reach(json: &str) -> Option<Reach> {
    arguments(json).iter().find_map(|argument| {
        let rule = judge(argument)?;
        Some(Reach {
            rule,
            path: argument.path.clone(),
            length: argument.text.len(),
        })
    })
}

fn judge(argument: &Argument) -> Option<&'static str> {
    let name = argument
        .path
        .split(['.', '['])
        .rev()
        .find(|part| !part.ends_with(']'))
        .unwrap_or_default();
    let named = |list: &str| words(list).split(' ').any(|w| w.eq_ignore_ascii_case(name));
    let end = (0..=READ_MAX.min(argument.text.len()))
        .rev()
        .find(|&at| argument.text.is_char_boundary(at));
    let text = &argument.text[..end.unwrap_or(0)];
    if named("tamper.place") {
        place(&text.to_ascii_lowercase())
    } else if named("tamper.program") || argument.path == "$" {
        program(text)
    } else {
        None
    }
}

/// The rule that a path breaks.
fn place(text: &str) -> Option<&'static str> {
    let path = clean(text);
    if is_own(&path) {
        Some("tamper.data")
    } else if path.contains("hermes") && path.ends_with("/config.yaml") {
        Some("tamper.settings")
    } else {
        None
    }
}

/// The rule that a program breaks.
fn program(text: &str) -> Option<&'static str> {
    let plain = clean(&expanded(&text.to_ascii_lowercase()));
    if let Some(rule) = commands(&plain) {
        return Some(rule);
    }
    // Strings that a program joins: without what stands between them.
    let joined: String = plain
        .chars()
        .filter(|c| !matches!(c, ' ' | '\t' | '+' | '(' | ')'))
        .collect();
    let parted = joined.replace(',', "/");
    if is_own(&plain) || joined.contains("plugin-data/sayso") || parted.contains("plugin-data/sayso") {
        return Some("tamper.data");
    }
    let hidden = text
        .split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '/' | '='))
        .filter(|w| w.len() >= 16);
    hidden.filter_map(decoded).find_map(|inner| {
        let inner = clean(&inner);
        commands(&inner).or_else(|| is_own(&inner).then_some("tamper.data"))
    })
}

/// Whether a text names the folder of the data or of the plugin, in words or by a glob.
fn is_own(text: &str) -> bool {
    text.match_indices("plugin-data").any(|(at, found)| {
        let rest = &text[at + found.len()..];
        match rest.strip_prefix('/') {
            Some(name) => fits(name),
            None => !rest.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ',')),
        }
    }) || text.match_indices("plugins/").any(|(at, found)| {
        let rest = &text[at + found.len()..];
        rest.strip_prefix("sayso")
            .is_some_and(|r| !r.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')))
    })
}

/// Whether the name that a path goes on with may be sayso's: `sayso`, `say*`, `s?yso`, `[rs]ayso`, or nothing.
fn fits(rest: &str) -> bool {
    let name = rest
        .split(|c: char| c.is_whitespace() || matches!(c, '/' | ';' | '|' | '&' | ')' | ','))
        .next()
        .unwrap_or_default();
    glob(name.as_bytes(), b"sayso")
}

/// Whether a glob may mean a name. Sets of characters and braces are taken to mean anything from there on.
fn glob(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, _) => name.is_empty() || name == b"sayso",
        (Some((b'*' | b'[' | b'{' | b'$' | b'`', _)), _) => true,
        (Some((b'?', pattern)), Some((_, name))) => glob(pattern, name),
        (Some((a, pattern)), Some((b, name))) => a == b && glob(pattern, name),
        _ => false,
    }
}

/// The rule that a command line breaks by the commands in it.
fn commands(plain: &str) -> Option<&'static str> {
    let is = |list: &str, word: &str| words(list).split(' ').any(|w| w == word);
    for part in plain.split([';', '|', '&', '\n', '(', ')', '`']) {
        let all: Vec<&str> = part.split_whitespace().collect();
        let base = |word: &str| word.rsplit('/').next().unwrap_or_default() == "sayso";
        if let Some(at) = all.iter().position(|w| base(w)) {
            let shown = matches!(all.first(), Some(&("echo" | "printf" | "grep" | "cat" | "ls" | "git")));
            let next = all[at + 1..].iter().find(|w| !w.starts_with('-'));
            if !shown && next.is_some_and(|w| is("tamper.change", w)) {
                return Some("tamper.command");
            }
            let managed = all[..at].iter().any(|w| is("tamper.manage", w));
            let manager = all[..at]
                .iter()
                .any(|w| w.ends_with("plugins") || w.starts_with("pip") || *w == "uv");
            if managed
                && manager
                && all[..at].iter().all(|w| *w != "list")
                && (all.contains(&"hermes") || !all.contains(&"install"))
            {
                return Some("tamper.settings");
            }
        }
        let config = all
            .windows(2)
            .any(|w| w[0] == "config" && matches!(w[1], "set" | "unset" | "edit"));
        if config && all.iter().any(|w| w.starts_with("plugins")) {
            return Some("tamper.settings");
        }
        let file = all
            .iter()
            .any(|w| w.ends_with("/config.yaml") && (w.contains("hermes")));
        let writes = part.contains('>')
            || all
                .iter()
                .any(|w| is("tamper.write", w.split('(').next().unwrap_or_default()));
        if file && writes {
            return Some("tamper.settings");
        }
    }
    None
}

/// Without quotation marks and backslashes, and with the path's empty parts taken out.
fn clean(text: &str) -> String {
    let mut out: String = text.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
    while out.contains("//") || out.contains("/./") {
        out = out.replace("/./", "/").replace("//", "/");
    }
    out
}

/// Simple variables and `\x` escapes replaced by what they stand for.
fn expanded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\x") {
        out.push_str(&rest[..at]);
        let code = rest
            .get(at + 2..at + 4)
            .and_then(|h| u8::from_str_radix(h, 16).ok())
            .filter(u8::is_ascii);
        match code {
            Some(byte) => out.push(char::from(byte)),
            None => out.push_str("\\x"),
        }
        rest = &rest[at + if code.is_some() { 4 } else { 2 }..];
    }
    out.push_str(rest);
    let mut variables: Vec<(String, String)> = Vec::new();
    for word in out.split([';', ' ', '\n', '&']) {
        if let Some((name, value)) = word.split_once('=')
            && !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && value.len() < 100
            && variables.len() < VARIABLES_MAX
        {
            variables.push((name.to_owned(), value.to_owned()));
        }
    }
    for (name, value) in &variables {
        if out.len() > 2 * READ_MAX {
            break;
        }
        out = out
            .replace(&format!("${{{name}}}"), value)
            .replace(&format!("${name}"), value);
    }
    out
}

/// The text that base64 stands for, if it is one.
fn decoded(word: &str) -> Option<String> {
    let (mut bits, mut count, mut out) = (0_u32, 0, Vec::with_capacity(word.len()));
    for byte in word.bytes().filter(|&b| b != b'=') {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    String::from_utf8(out).ok().map(|text| text.to_ascii_lowercase())
}
