//! JSON texts that mean the same value as one text.

use serde_json::Value;

/// Stands before a number that was made a text, so that `1` and `"1"` differ.
const NUMBER: &str = "\\u0001";

/// The same text for the same value: order of keys, white space, escapes, and ways to write a number don't matter. Numbers are
/// compared exactly, however long. Of a key that stands twice the last counts, as for every reader. What is no JSON is left as it is.
pub fn canonical(json: &str) -> String {
    match serde_json::from_str::<Value>(&numbers_as_texts(json)) {
        Ok(value) => value.to_string(),
        Err(_) => json.to_owned(),
    }
}

fn numbers_as_texts(json: &str) -> String {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len() + json.len() / 8);
    let (mut at, mut copied) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at += 1;
                while bytes.get(at).is_some_and(|&b| b != b'"') {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let length = bytes[at..]
                    .iter()
                    .take_while(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
                let end = at + length.count();
                out.push_str(&json[copied..at]);
                out.push('"');
                out.push_str(NUMBER);
                number(&json[at..end], &mut out);
                out.push('"');
                (at, copied) = (end, end);
            }
            _ => at += 1,
        }
    }
    out.push_str(&json[copied..]);
    out
}

/// A number as its digits without zeros at either end, and a power of ten.
fn number(text: &str, out: &mut String) {
    let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |rest| ("-", rest));
    let Ok(power) = power.parse::<i64>() else {
        out.push_str(text);
        return;
    };
    let digits = format!("{whole}{part}");
    let front = digits.trim_start_matches('0');
    let kept = front.trim_end_matches('0');
    if kept.is_empty() {
        out.push_str("0e0");
        return;
    }
    let power = power
        .saturating_sub(part.len() as i64)
        .saturating_add((front.len() - kept.len()) as i64);
    out.push_str(sign);
    out.push_str(kept);
    out.push('e');
    out.push_str(&power.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_one_text() {
        for (a, b) in [
            (r#"{"b":1,"a":[2]}"#, r#"{ "a" : [2.0], "b": 10e-1 }"#),
            (r#"{"a":"\u00e9\/"}"#, r#"{"a":"é/"}"#),
            (r#"{"a":-0}"#, r#"{"a":0.00}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (
                r#"[123456789012345678901234567890]"#,
                r#"[1.2345678901234567890123456789e29]"#,
            ),
            (r#"["\"1"]"#, r#"[ "\u00221" ]"#),
        ] {
            assert_eq!(canonical(a), canonical(b), "{a} {b}");
        }
    }

    #[test]
    fn different_values_are_two_texts() {
        for (a, b) in [
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":1}"#, r#"{"a":true}"#),
            (r#"{"a":null}"#, r#"{}"#),
            (r#"[1,2]"#, r#"[2,1]"#),
            (r#"[9007199254740993]"#, r#"[9007199254740992]"#),
            (
                r#"[123456789012345678901234567890]"#,
                r#"[123456789012345678901234567891]"#,
            ),
            (r#"["a b"]"#, r#"["a  b"]"#),
            (r#"{"a": "#, r#"{"a":"#),
            (r#"[1]"#, r#"[10]"#),
            (r#"[-1]"#, r#"[1]"#),
        ] {
            assert_ne!(canonical(a), canonical(b), "{a} {b}");
        }
    }

    #[test]
    fn what_is_no_json_is_left() {
        for broken in [
            r#"{"a": "half"#,
            "1e99999999999999999999",
            "\"\\",
            "-",
            &"[".repeat(100_000),
        ] {
            canonical(broken);
        }
        assert_eq!(canonical(r#"{"a": "half"#), r#"{"a": "half"#);
    }
}
