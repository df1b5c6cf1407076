//! The texts inside a tool call's arguments, each with its JSON path.

use serde_json::Value;

/// One text in the arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Where it stands, as in `$.edits[0].content`; "$" for arguments that are no JSON.
    pub path: String,
    /// The text, escapes resolved.
    pub text: String,
}

/// Characters of one key in a path: a longer one is cut, so that paths stay small beside the texts.
const KEY_CHARS_MAX: usize = 64;

/// Every string value, keys of an object in their sorted order; the raw text as one where the model's JSON is broken.
/// Keys are no values. Nesting deeper than the JSON reader's limit counts as broken.
pub fn arguments(json: &str) -> Vec<Argument> {
    let mut found = Vec::new();
    match serde_json::from_str::<Value>(json) {
        Ok(value) => walk(&value, &mut "$".to_owned(), &mut found),
        Err(_) => found.push(Argument {
            path: "$".to_owned(),
            text: json.to_owned(),
        }),
    }
    found
}

fn walk(value: &Value, path: &mut String, found: &mut Vec<Argument>) {
    let end = path.len();
    match value {
        Value::String(text) => found.push(Argument {
            path: path.clone(),
            text: text.clone(),
        }),
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                path.push_str(&format!("[{i}]"));
                walk(item, path, found);
                path.truncate(end);
            }
        }
        Value::Object(map) => {
            for (key, item) in map {
                let key: String = key.chars().take(KEY_CHARS_MAX).collect();
                if key.chars().all(|c| c.is_alphanumeric() || c == '_') && !key.is_empty() {
                    path.push('.');
                    path.push_str(&key);
                } else {
                    path.push_str(&format!("[{}]", Value::from(key)));
                }
                walk(item, path, found);
                path.truncate(end);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_its_path() {
        let found = arguments(r#"{"path":"a","edits":[{"new text":"b\n"},7,["c"]]}"#);
        let paths: Vec<_> = found.iter().map(|a| (a.path.as_str(), a.text.as_str())).collect();
        assert_eq!(
            paths,
            [
                ("$.edits[0][\"new text\"]", "b\n"),
                ("$.edits[2][0]", "c"),
                ("$.path", "a")
            ]
        );
    }

    #[test]
    fn broken_json_is_one_text() {
        let broken = r#"{"content": "half"#;
        assert_eq!(arguments(broken)[0].text, broken);
        assert_eq!(arguments(&"[".repeat(100_000)).len(), 1);
    }
}
