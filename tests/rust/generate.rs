//! Texts of cases: a string, `{"text": s}`, `{"concat": [..]}` or `{"generate": {..}}`, as `corpus/cases` spells them.
//!
//! `generate` writes `unit` (itself a text) `repeat` times, joined by `sep`, between `prefix` and `suffix`; each copy is changed by
//! the entries of `jitter` in order. `chars` is the length that must come out, in code points.

use serde_json::Value;

/// Expands a text; the error says what is wrong with it.
pub fn text(value: &Value) -> Result<String, String> {
    if let Some(plain) = value.as_str() {
        return Ok(plain.to_owned());
    }
    if let Some(inner) = value.get("text") {
        return text(inner);
    }
    if let Some(parts) = value.get("concat").and_then(Value::as_array) {
        return parts.iter().map(text).collect();
    }
    match value.get("generate") {
        Some(generator) => generated(generator),
        None => Err(format!("no text: {value}")),
    }
}

fn generated(generator: &Value) -> Result<String, String> {
    let word = |key: &str| generator.get(key).map_or(Ok(String::new()), text);
    let unit = word("unit")?;
    let copies = number(generator, "repeat")?;
    let mut changes = match generator.get("jitter").and_then(Value::as_array) {
        Some(entries) => entries.iter().map(Change::read).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let separator = word("sep")?;
    let mut out = word("prefix")?;
    for i in 0..copies {
        if i > 0 {
            out += &separator;
        }
        let change = |copy: String, change: &mut Change| change.apply(&copy, i);
        out += &changes.iter_mut().fold(unit.clone(), change);
    }
    out += &word("suffix")?;
    let (wanted, got) = (number(generator, "chars")?, out.chars().count() as u64);
    if wanted == got {
        Ok(out)
    } else {
        Err(format!("{got} characters came out, not {wanted}"))
    }
}

fn number(of: &Value, key: &str) -> Result<u64, String> {
    of[key].as_u64().ok_or_else(|| format!("{key:?} must be a number"))
}

/// One entry of `jitter`.
struct Change {
    slot: String,
    by: By,
}

enum By {
    /// `start + i * step` (both 1 unless given) in a width, filled with noughts or blanks.
    Counter {
        start: i64,
        step: i64,
        width: usize,
        noughts: bool,
    },
    Cycle(Vec<String>),
    Choice(Vec<String>, Draw),
    Random(Vec<char>, u64, Draw),
    Ramp {
        character: String,
        start: u64,
        step: u64,
    },
}

impl Change {
    fn read(entry: &Value) -> Result<Self, String> {
        let word = |key: &str| {
            entry[key]
                .as_str()
                .map(str::to_owned)
                .ok_or_else(|| format!("{key:?} must be a text"))
        };
        let values = || {
            let all = entry["values"].as_array().filter(|all| !all.is_empty());
            all.ok_or("\"values\" must be a list")?
                .iter()
                .map(text)
                .collect::<Result<Vec<_>, _>>()
        };
        let draw = || Draw(entry["seed"].as_u64().unwrap_or(0));
        let by = match word("kind")?.as_str() {
            "counter" => {
                let format = entry["format"].as_str().unwrap_or("d");
                let digits = format
                    .strip_suffix('d')
                    .ok_or_else(|| format!("format {format:?}: only d is known"))?;
                By::Counter {
                    start: entry["start"].as_i64().unwrap_or(1),
                    step: entry["step"].as_i64().unwrap_or(1),
                    width: if digits.is_empty() { Ok(0) } else { digits.parse() }
                        .map_err(|_| format!("format {format:?}"))?,
                    noughts: digits.starts_with('0'),
                }
            }
            "cycle" => By::Cycle(values()?),
            "choice" => By::Choice(values()?, draw()),
            "rand" => By::Random(word("alphabet")?.chars().collect(), number(entry, "length")?, draw()),
            "ramp" => By::Ramp {
                character: word("char")?,
                start: entry["start"].as_u64().unwrap_or(1),
                step: entry["step"].as_u64().unwrap_or(1),
            },
            other => return Err(format!("no jitter is called {other:?}")),
        };
        Ok(Self {
            slot: word("slot")?,
            by,
        })
    }

    /// The copy number `i` with its slots filled.
    fn apply(&mut self, copy: &str, i: u64) -> String {
        match &mut self.by {
            By::Counter {
                start,
                step,
                width,
                noughts,
            } => {
                let (value, width) = (*start + i as i64 * *step, *width);
                let shown = if *noughts {
                    format!("{value:0width$}")
                } else {
                    format!("{value:width$}")
                };
                copy.replace(&self.slot, &shown)
            }
            By::Cycle(values) => copy.replace(&self.slot, &values[i as usize % values.len()]),
            By::Choice(values, draw) => each(copy, &self.slot, || values[draw.next(values.len())].clone()),
            By::Random(alphabet, length, draw) => each(copy, &self.slot, || {
                (0..*length).map(|_| alphabet[draw.next(alphabet.len())]).collect()
            }),
            By::Ramp { character, start, step } => {
                copy.replace(&self.slot, &character.repeat((*start + i * *step) as usize))
            }
        }
    }
}

/// Replaces each slot by a text of its own.
fn each(copy: &str, slot: &str, mut next: impl FnMut() -> String) -> String {
    let mut parts = copy.split(slot);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out += &next();
        out += part;
    }
    out
}

/// The generator behind `choice` and `rand`: one for each entry of `jitter`, kept over all copies.
struct Draw(u64);

impl Draw {
    fn next(&mut self, below: usize) -> usize {
        self.0 = (self.0 * 1_103_515_245 + 12_345) % (1 << 31);
        (self.0 >> 16) as usize % below
    }
}

#[cfg(test)]
mod tests {
    use super::text;
    use serde_json::json;

    #[test]
    fn texts_are_expanded() {
        let jitter = json!([
            {"kind": "counter", "slot": "{n}", "format": "03d", "start": 8, "step": 2},
            {"kind": "cycle", "slot": "{c}", "values": ["x", "yy"]},
            {"kind": "ramp", "slot": "{r}", "char": "="},
        ]);
        let generator = json!({"unit": {"concat": ["{n}", "{c}", {"text": "{r}"}]}, "repeat": 3, "sep": "|",
            "prefix": "<", "suffix": ">", "jitter": jitter, "chars": 23});
        assert_eq!(
            text(&json!({"generate": generator})),
            Ok("<008x=|010yy==|012x===>".to_owned())
        );
    }

    #[test]
    fn draws_are_those_of_the_format() {
        // From seed 1: 1103527590 and 377401575, shifted by 16 bits: 16838 and 5758.
        let jitter = json!([{"kind": "rand", "slot": "{r}", "alphabet": "0123456789", "length": 1, "seed": 1}]);
        let generator = json!({"unit": "{r}-{r} ", "repeat": 1, "jitter": jitter, "chars": 4});
        assert_eq!(text(&json!({"generate": generator})), Ok("8-8 ".to_owned()));
    }

    #[test]
    fn wrong_texts_are_refused() {
        for wrong in [
            json!(1),
            json!({"generate": {"unit": "a", "repeat": 2, "chars": 3}}),
            json!({"generate": {"unit": "a", "repeat": 1, "chars": 1, "jitter": [{"kind": "flip", "slot": "a"}]}}),
        ] {
            assert!(text(&wrong).is_err(), "{wrong}");
        }
    }
}
