//! Turns `corpus/rules/credentials-*.toml` into one blob: patterns as lists of items, words, and what people are told of each rule.
//! `src/guards/credentials/rules.rs` reads it. Alternatives are written out here, so that the engine knows only lists.

use std::collections::BTreeSet;
use std::path::Path;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    id: String,
    vendor: String,
    what: String,
    #[serde(default)]
    names: Vec<String>,
    #[serde(default)]
    patterns: Vec<String>,
    #[allow(dead_code, reason = "for the tests")]
    hits: Vec<Vec<String>>,
    #[allow(dead_code, reason = "for the tests")]
    misses: Vec<String>,
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    #[serde(default)]
    token: Vec<Rule>,
    #[serde(default)]
    named: Vec<Rule>,
    #[serde(default)]
    form: Vec<Rule>,
}

/// A part of a pattern: so many characters of a class.
#[derive(Clone, Debug, PartialEq)]
struct Item {
    class: u128,
    min: u16,
    max: u16,
}

/// At most so many of a class without an upper bound. A token that is longer is found up to there, and its rest with it.
const MANY: u16 = 4096;
/// The least length of a literal by which a pattern is looked for.
const LITERAL_MIN: usize = 3;
/// A class of at most so many characters is written out where a literal is needed.
const WRITTEN_OUT_MAX: u32 = 36;
const FIELD: char = '\u{1F}';
const RECORD: char = '\u{1E}';

/// What is put into the component.
pub struct Packed {
    /// Records of id, vendor, what, kind.
    pub text: String,
    /// Classes, then patterns.
    pub patterns: Vec<u8>,
}

pub fn pack(folder: &Path) -> Packed {
    let read = |name: &str| -> String {
        let file = folder.join(name);
        std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
    };
    let mut rules = Rules::default();
    for name in [
        "credentials-tokens-1.toml",
        "credentials-tokens-2.toml",
        "credentials-named.toml",
        "credentials-forms.toml",
    ] {
        let more: Rules = toml::from_str(&read(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
        rules.token.extend(more.token);
        rules.named.extend(more.named);
        rules.form.extend(more.form);
    }
    let words: std::collections::BTreeMap<String, Vec<String>> =
        toml::from_str(&read("credentials-words.toml")).unwrap_or_else(|e| panic!("credentials-words.toml: {e}"));
    let mut text = String::new();
    let mut classes: Vec<u128> = Vec::new();
    let mut patterns = Vec::new();
    let mut seen = BTreeSet::new();
    for (kind, group) in [("token", &rules.token), ("named", &rules.named), ("form", &rules.form)] {
        for rule in group {
            let index = seen.len() as u16;
            assert!(seen.insert(&rule.id), "{}: used twice", rule.id);
            for field in [&rule.id, &rule.vendor, &rule.what, kind, &rule.names.join(" ")] {
                text.push_str(field);
                text.push(FIELD);
            }
            text.push(RECORD);
            for pattern in &rule.patterns {
                for items in expanded(pattern) {
                    write_pattern(index, kind == "token", items, &rule.id, &mut classes, &mut patterns);
                }
            }
        }
    }
    for (name, list) in &words {
        text.push_str(&format!("={name}{FIELD}{}{FIELD}{RECORD}", list.join("\n")));
    }
    let mut blob = vec![classes.len() as u8];
    classes.iter().for_each(|c| blob.extend(c.to_le_bytes()));
    blob.extend(patterns);
    Packed { text, patterns: blob }
}

/// Rule, whether it is looked for by its literal, items before the literal from the last to the first, literal, items after it.
fn write_pattern(rule: u16, token: bool, items: Vec<Item>, id: &str, classes: &mut Vec<u128>, out: &mut Vec<u8>) {
    let variants = if token {
        with_literal(items, id)
    } else {
        vec![(items, 0, 0)]
    };
    for (items, start, end) in variants {
        out.extend(rule.to_le_bytes());
        out.push(start as u8);
        out.push((end - start) as u8);
        out.push((items.len() - end) as u8);
        let before = items[..start].iter().rev();
        for item in before.chain(&items[start..]) {
            let at = classes.iter().position(|c| *c == item.class).unwrap_or_else(|| {
                classes.push(item.class);
                classes.len() - 1
            });
            out.push(u8::try_from(at).expect("few classes"));
            out.extend(item.min.to_le_bytes());
            out.extend(item.max.to_le_bytes());
        }
    }
}

fn is_literal(item: &Item) -> bool {
    item.class.count_ones() == 1 && item.min == 1 && item.max == 1
}

/// The pattern with its first long run of literal characters, classes written out where there is none.
fn with_literal(items: Vec<Item>, id: &str) -> Vec<(Vec<Item>, usize, usize)> {
    let run = |from: usize| items[from..].iter().take_while(|i| is_literal(i)).count();
    let leading = run(0);
    let next = items.get(leading);
    let is_small = next.is_some_and(|i| i.class.count_ones() <= 8 && i.min == 1 && i.max == 1);
    let found = (0..items.len()).find(|&i| run(i) >= LITERAL_MIN);
    match found {
        Some(0) => vec![(items.clone(), 0, leading)],
        Some(start) if !(is_small && start <= 4) => {
            let end = start + run(start);
            vec![(items, start, end)]
        }
        _ => {
            let next = next.unwrap_or_else(|| panic!("{id}: no literal"));
            assert!(
                next.class.count_ones() <= WRITTEN_OUT_MAX && next.min > 0,
                "{id}: no literal of {LITERAL_MIN} characters"
            );
            let each = (0..128).filter(|bit| next.class >> bit & 1 == 1);
            each.flat_map(|bit| {
                let mut more = items[..leading].to_vec();
                more.push(Item {
                    class: 1 << bit,
                    min: 1,
                    max: 1,
                });
                if next.max > 1 {
                    more.push(Item {
                        class: next.class,
                        min: next.min - 1,
                        max: next.max - 1,
                    });
                }
                more.extend_from_slice(&items[leading + 1..]);
                with_literal(more, id)
            })
            .collect()
        }
    }
}

/// All lists of items that a pattern stands for.
fn expanded(pattern: &str) -> Vec<Vec<Item>> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut lists = vec![Vec::new()];
    let mut at = 0;
    while at < chars.len() {
        if chars[at] == '(' {
            let end = closing(&chars, at);
            let mut choices: Vec<Vec<Item>> = alternatives(&chars[at + 1..end])
                .iter()
                .flat_map(|a| expanded(a))
                .collect();
            at = end + 1;
            if chars.get(at) == Some(&'?') {
                choices.push(Vec::new());
                at += 1;
            }
            lists = lists
                .iter()
                .flat_map(|list: &Vec<Item>| choices.iter().map(move |c| [list.as_slice(), c].concat()))
                .collect();
            continue;
        }
        let mut items = atom(&chars, &mut at);
        count(&chars, &mut at, &mut items, pattern);
        lists.iter_mut().for_each(|list| list.extend(items.iter().cloned()));
    }
    lists
}

fn closing(chars: &[char], open: usize) -> usize {
    let mut depth = 0;
    let mut at = open;
    loop {
        match chars[at] {
            '\\' => at += 1,
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
        at += 1;
    }
}

fn alternatives(chars: &[char]) -> Vec<String> {
    let mut out = vec![String::new()];
    let mut depth = 0;
    let mut at = 0;
    while at < chars.len() {
        match chars[at] {
            '|' if depth == 0 => out.push(String::new()),
            c => {
                depth += i32::from(c == '(') - i32::from(c == ')');
                out.last_mut().expect("one").push(c);
                if c == '\\' {
                    at += 1;
                    out.last_mut().expect("one").push(chars[at]);
                }
            }
        }
        at += 1;
    }
    out
}

fn set(text: &str) -> u128 {
    let chars: Vec<char> = text.chars().collect();
    let mut out = 0;
    let mut at = 0;
    while at < chars.len() {
        let (from, mut to) = (chars[at] as u32, chars[at] as u32);
        if at + 2 < chars.len() && chars[at + 1] == '-' {
            to = chars[at + 2] as u32;
            at += 2;
        }
        assert!(to < 128 && from <= to, "{text:?}");
        (from..=to).for_each(|c| out |= 1 << c);
        at += 1;
    }
    out
}

fn one(class: u128) -> Item {
    Item { class, min: 1, max: 1 }
}

fn atom(chars: &[char], at: &mut usize) -> Vec<Item> {
    let c = chars[*at];
    *at += 1;
    if c == '[' {
        let end = *at + chars[*at..].iter().position(|&c| c == ']').expect("a closed class");
        let class = set(&chars[*at..end].iter().collect::<String>());
        *at = end + 1;
        return vec![one(class)];
    }
    if c != '\\' {
        return vec![one(1 << (c as u32))];
    }
    let c = chars[*at];
    *at += 1;
    let class = match c {
        'a' => set("A-Za-z0-9"),
        'w' => set("A-Za-z0-9_-"),
        'h' => set("0-9a-f"),
        'H' => set("0-9A-Fa-f"),
        'U' => set("A-Z0-9"),
        'l' => set("a-z0-9"),
        'd' => set("0-9"),
        'B' => set("A-Za-z0-9+/"),
        'S' => (33..127).fold(0, |set, c| set | 1 << c),
        'u' => {
            let hex = |n| Item {
                class: set("0-9A-Fa-f"),
                min: n,
                max: n,
            };
            let dash = one(1 << u32::from(b'-'));
            return vec![
                hex(8),
                dash.clone(),
                hex(4),
                dash.clone(),
                hex(4),
                dash.clone(),
                hex(4),
                dash,
                hex(12),
            ];
        }
        c => 1 << (c as u32),
    };
    vec![one(class)]
}

fn count(chars: &[char], at: &mut usize, items: &mut [Item], pattern: &str) {
    let last = items.last_mut().expect("an atom");
    match chars.get(*at) {
        Some('?') => {
            last.min = 0;
            *at += 1;
        }
        Some('{') => {
            let end = *at + chars[*at..].iter().position(|&c| c == '}').expect("a closed count");
            let text: String = chars[*at + 1..end].iter().collect();
            let number = |n: &str| n.parse().unwrap_or_else(|_| panic!("{pattern:?}: {n:?} is no count"));
            (last.min, last.max) = match text.split_once(',') {
                None => (number(&text), number(&text)),
                Some((min, "")) => (number(min), MANY),
                Some((min, max)) => (number(min), number(max)),
            };
            *at = end + 1;
        }
        _ => {}
    }
}
