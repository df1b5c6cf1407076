//! The credentials guard: every rule finds its hits and leaves its misses, the corpus and the public reports come out right, and
//! redacting keeps what a text is.

use proptest::prelude::*;
use sayso_engine::guards::credentials::json::redact_strings;
use sayso_engine::guards::credentials::{find, markers, redact};
use serde_json::Value;
use std::path::{Path, PathBuf};

const KEY: &[u8] = b"a key for tests";

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus")
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
}

fn joined(parts: &[toml::Value]) -> String {
    parts.iter().map(|p| p.as_str().expect("a part")).collect()
}

/// A text in which the example of a rule stands as it would.
fn placed(kind: &str, rule: &toml::Value, example: &str) -> String {
    if kind != "named" {
        return format!("use {example} now\n");
    }
    let names = rule["names"].as_array().expect("names");
    let name = names[0].as_str().expect("a name").trim_matches('_').to_uppercase();
    format!("{name}_KEY=\"{example}\"\n")
}

#[test]
fn every_rule_finds_its_hits_and_leaves_its_misses() {
    let mut wrong = Vec::new();
    let mut rules = 0;
    for file in ["tokens-1", "tokens-2", "named", "forms"] {
        let text = read(&corpus().join(format!("rules/credentials-{file}.toml")));
        let table: toml::Table = toml::from_str(&text).expect("TOML");
        for (kind, list) in &table {
            for rule in list.as_array().expect("rules") {
                let id = rule["id"].as_str().expect("an id");
                rules += 1;
                for parts in rule["hits"].as_array().expect("hits") {
                    let example = joined(parts.as_array().expect("parts"));
                    let text = if kind == "form" {
                        example.clone()
                    } else {
                        placed(kind, rule, &example)
                    };
                    let found: usize = find(&text).iter().map(|h| h.span.1 - h.span.0).sum();
                    // A fixed part that says what it is may stay; of a form only the value goes.
                    if found == 0 || (kind != "form" && found * 10 < example.len() * 6) {
                        wrong.push(format!("{id} is not found in {text:?}"));
                    }
                }
                for miss in rule["misses"].as_array().expect("misses") {
                    let text = miss.as_str().expect("a text");
                    if !find(text).is_empty() {
                        wrong.push(format!("{id} is found in {text:?}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    assert!(rules >= 250, "{rules} rules");
}

#[test]
fn labelled_rows_come_out_right() {
    let mut wrong = Vec::new();
    let (mut found, mut secrets) = (0, 0);
    for line in read(&corpus().join("cases/credentials.jsonl")).lines() {
        let row: Value = serde_json::from_str(line).expect("a row");
        let parts = row["parts"]
            .as_array()
            .map(|p| p.iter().filter_map(Value::as_str).collect::<String>());
        let text = parts.unwrap_or_else(|| row["text"].as_str().expect("text or parts").to_owned());
        let (clean, _) = redact(&text, KEY);
        assert_eq!(redact(&clean, KEY).0, clean, "{}", row["id"]);
        match row["secret"].as_str() {
            Some(secret) => {
                secrets += 1;
                found += usize::from(!clean.contains(secret));
            }
            None if clean != text => wrong.push(format!("{}: {clean}", row["id"])),
            None => {}
        }
    }
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
    assert!(found * 100 >= secrets * 97, "{found} of {secrets}");
}

#[test]
fn structure_stays() {
    let body = [
        "WXD5e87cUnbft0kuOyOE9KReoSBEyGAzi3W5vDEx4IjsTsbKeo7",
        "BIGARdHdQKHNMH2fbb1EsfZ9dfjSEJBo4Xwyl1rGnPqRtvvHM8z",
    ];
    let (head, tail) = (
        ["-----BEGIN PRI", "VATE KEY-----"].concat(),
        ["-----END PRI", "VATE KEY-----"].concat(),
    );
    for (before, between) in [
        ("", "\n"),
        ("    ", "\n    "),
        ("+", "\n+"),
        ("\"", "\\n"),
        ("\"", "\\\\n"),
    ] {
        let text = format!(
            "{before}{head}{between}{}{between}{}{between}{tail}\nttl: 60\n",
            body[0], body[1]
        );
        let (clean, hits) = redact(&text, KEY);
        assert_eq!(hits.len(), 1, "{text}");
        assert!(
            !clean.contains(&body[0][..8]) && !clean.contains(&body[1][..8]),
            "{clean}"
        );
        assert!(
            clean.starts_with(&format!("{before}{head}{between}[redacted:private-key:")),
            "{clean}"
        );
        assert!(clean.ends_with(&format!("{between}{tail}\nttl: 60\n")), "{clean}");
        assert_eq!(clean.matches('\n').count(), text.matches('\n').count());
    }
}

/// A token that no file holds as a whole.
fn token() -> String {
    ["gh", "p_", "fOXlCYRpmu36qqNus38N670WuxkLeFw8NHO1"].concat()
}

#[test]
fn wrapped_coloured_and_coded_tokens_are_found() {
    let token = token();
    let half = |with: &str| format!("x {}{with}{} ok", &token[..20], &token[20..]);
    let hex: String = token.bytes().map(|b| format!("{b:02x}")).collect();
    let percent: String = token.bytes().map(|b| format!("%{b:02X}")).collect();
    let escaped: String = token.bytes().map(|b| format!("\\u{b:04x}")).collect();
    let coded = base64(format!("export TOKEN={token}\n").as_bytes());
    let texts = [
        half("\n"),
        half("\r\n    "),
        half("\n+"),
        half("\\\n"),
        half("\u{1b}[1;32m"),
        format!("\u{1b}[32m{token}\u{1b}[0m ok"),
        format!("{{\"out\": \"a\\n{token}\\tok\"}}"),
        format!("x={hex} ok"),
        format!("x={percent} ok"),
        format!("\"{escaped}\" ok"),
        format!("data: {coded} ok"),
        format!("{}\n{} ok", &coded[..48], &coded[48..]),
    ];
    for text in texts {
        let (clean, hits) = redact(&text, KEY);
        assert_eq!(hits.len(), 1, "{text:?} {clean:?}");
        assert!(clean.contains("ok"), "{clean:?}");
        for left in [
            &token[4..12],
            &token[30..],
            &hex[20..28],
            &percent[30..42],
            &coded[30..44],
        ] {
            assert!(!clean.contains(left), "{text:?} {clean:?}");
        }
        assert_eq!(redact(&clean, KEY).0, clean);
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let chunk = |c: &[u8]| {
        let bits = c.iter().fold(0_u32, |bits, &b| bits << 8 | u32::from(b)) << (8 * (3 - c.len()));
        (0..=c.len())
            .map(move |i| char::from(DIGITS[(bits >> (18 - 6 * i) & 63) as usize]))
            .collect::<String>()
    };
    bytes.chunks(3).map(chunk).collect()
}

#[test]
fn markers_carry_rule_and_keyed_digest() {
    let text = format!("a {} b {0}", token());
    let (clean, hits) = redact(&text, KEY);
    assert_eq!(hits.len(), 2);
    let marks: Vec<&str> = markers(&clean).into_iter().map(|m| &clean[m.0..m.1]).collect();
    assert!(
        marks[0].starts_with("[redacted:github-token:") && marks[0] == marks[1],
        "{clean}"
    );
    assert_ne!(redact(&text, b"another").0, clean);
}

#[test]
fn requests_keep_every_other_byte() {
    let token = token();
    let text = format!("{{\"b\" : 1.50,\"a\":[\"x \\u00e9\",\"k={token}\\n\"], \"password\":\"nV6yRt81QcZm\"}}");
    let out = redact_strings(&text, KEY);
    assert_eq!(out.rules.len(), 2, "{}", out.text);
    assert!(
        out.text
            .starts_with("{\"b\" : 1.50,\"a\":[\"x \\u00e9\",\"k=[redacted:")
            && out.text.contains("\"password\":\"[redacted:")
    );
    let value: Value = serde_json::from_str(&out.text).expect("still JSON");
    assert!(
        value["a"][1].as_str().expect("a text").ends_with(']')
            || value["a"][1].as_str().expect("a text").ends_with("]\n")
    );
    assert_eq!(redact_strings(&out.text, KEY).text, out.text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn redacting_twice_changes_nothing(pieces in proptest::collection::vec(piece(), 1..12)) {
        let text = pieces.concat();
        let (once, hits) = redact(&text, KEY);
        for hit in &hits {
            prop_assert!(text.get(hit.span.0..hit.span.1).is_some());
        }
        prop_assert_eq!(&redact(&once, KEY).0, &once);
    }
}

/// Pieces of which texts are made that are hard to redact.
fn piece() -> impl Strategy<Value = String> {
    let fixed = [
        "password: ",
        "token=",
        "\"api_key\": \"",
        "\"",
        "'",
        "\n",
        " ",
        "\\n",
        "\\\"",
        "://",
        "u:",
        "@host",
        "Bearer ",
        "eyJhbGciOiJIUzI1NiJ9.",
        "-----BEGIN PRIVATE KEY-----",
        "-----END",
        "\u{1b}[1m",
        "%3D",
        "é密码：",
        "[redacted:jwt:",
        "3f9a]",
        "\\u0067",
        "gh\u{70}_",
        "sk-",
        "Cookie: sid=",
    ];
    prop_oneof![
        (0..fixed.len()).prop_map(move |i| fixed[i].to_owned()),
        "[A-Za-z0-9]{6,44}",
        "[A-Za-z0-9+/]{30,64}",
        "\\PC{0,6}",
    ]
}
