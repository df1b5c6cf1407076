//! `cargo xtask eval`: the guards measured on labelled rows.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::python::Venv;
use crate::run;
use crate::setup::DEVELOPMENT;
use crate::workspace::Workspace;

/// What the corpus is labelled for, each with files that start with its name.
const KINDS: [&str; 5] = ["claims", "verdicts", "repetition", "calls", "credentials"];

/// Measures the given files, or the whole corpus when there are none.
pub fn eval(workspace: &Workspace, kind: Option<&str>, files: &[PathBuf], as_table: bool) -> Result<()> {
    let chosen = match kind {
        Some(kind) => vec![(kind.to_owned(), files.to_vec())],
        None => corpus(workspace)?,
    };
    if as_table {
        print!("{}", table_of(workspace, &chosen)?);
        return Ok(());
    }
    for (kind, files) in &chosen {
        run::show(
            Venv::named(workspace, DEVELOPMENT)
                .program("sayso")?
                .args(["eval", kind])
                .args(files),
        )?;
    }
    Ok(())
}

/// The README's table for the whole corpus.
pub fn table(workspace: &Workspace) -> Result<String> {
    table_of(workspace, &corpus(workspace)?)
}

/// Each kind with its files, in alphabetical order.
fn corpus(workspace: &Workspace) -> Result<Vec<(String, Vec<PathBuf>)>> {
    let folder = workspace.root.join("corpus/cases");
    let entries = fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.sort();
    KINDS
        .iter()
        .map(|kind| {
            let files: Vec<_> = paths.iter().filter(|path| is_of(path, kind)).cloned().collect();
            ensure!(!files.is_empty(), "corpus/cases has no {kind}*.jsonl");
            Ok(((*kind).to_owned(), files))
        })
        .collect()
}

fn is_of(path: &Path, kind: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with(kind) && name.ends_with(".jsonl")
}

fn table_of(workspace: &Workspace, chosen: &[(String, Vec<PathBuf>)]) -> Result<String> {
    let mut tables = Vec::new();
    for (kind, files) in chosen {
        let mut command = Venv::named(workspace, DEVELOPMENT).program("sayso")?;
        let said = run::capture(command.args(["eval", kind, "--json"]).args(files))?;
        let measured: Value = serde_json::from_str(&said).context("`sayso eval --json` printed no JSON")?;
        tables.push(markdown(kind, &measured).with_context(|| format!("in the measures for {kind}"))?);
    }
    Ok(tables.join("\n"))
}

/// What `sayso eval --json` counts and measures, by whether the kind has pairs to find or claims to judge.
struct Columns {
    counts: &'static [(&'static str, &'static str)],
    shares: &'static [&'static str],
}

const FOUND: Columns = Columns {
    counts: &[("rows", "rows")],
    shares: &["precision", "recall"],
};

const JUDGED: Columns = Columns {
    counts: &[
        ("claims", "claims"),
        ("false_pass", "passed wrongly"),
        ("false_fail", "failed wrongly"),
        ("missed", "missed"),
        ("invented", "invented"),
    ],
    shares: &["accuracy"],
};

const SEQUENCES: Columns = Columns {
    counts: &[("rows", "sequences"), ("right", "right")],
    shares: &["accuracy"],
};

/// One table: a row for all, then one a language where there are languages.
fn markdown(kind: &str, measured: &Value) -> Result<String> {
    let columns = match kind {
        "calls" => SEQUENCES,
        _ if measured.get("accuracy").is_some() => JUDGED,
        _ => FOUND,
    };
    let titles = columns
        .counts
        .iter()
        .map(|(_, title)| *title)
        .chain(columns.shares.iter().copied());
    let rules = columns
        .counts
        .iter()
        .map(|_| "---:")
        .chain(columns.shares.iter().map(|_| "---"));
    let mut lines = vec![line(kind, titles), line("---", rules)];
    lines.push(line("all", columns.cells(measured)?));
    let languages = measured.pointer("/by/lang").and_then(Value::as_object);
    for (language, part) in languages.into_iter().flatten() {
        lines.push(line(
            language,
            columns.cells(part).with_context(|| format!("by.lang.{language}"))?,
        ));
    }
    Ok(lines.concat())
}

fn line(first: &str, cells: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let cells: String = cells.into_iter().map(|cell| format!(" {} |", cell.as_ref())).collect();
    format!("| {first} |{cells}\n")
}

impl Columns {
    fn cells(&self, part: &Value) -> Result<Vec<String>> {
        let counts = self.counts.iter().map(|(name, _)| {
            let number = part
                .get(name)
                .and_then(Value::as_u64)
                .with_context(|| format!("no count called {name}"))?;
            Ok(number.to_string())
        });
        counts.chain(self.shares.iter().map(|name| share(part, name))).collect()
    }
}

/// A share with its 95 % interval. One of nothing is null.
fn share(part: &Value, name: &str) -> Result<String> {
    let value = part.get(name).with_context(|| format!("no share called {name}"))?;
    let Some(value) = value.as_f64() else {
        return Ok("–".to_owned());
    };
    let bound = |at: usize| {
        let bound = part.pointer(&format!("/wilson/{name}/{at}")).and_then(Value::as_f64);
        bound.with_context(|| format!("no interval for {name}"))
    };
    Ok(format!("{value:.3} ({:.3} to {:.3})", bound(0)?, bound(1)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn found_rows_show_precision_and_recall_by_language() {
        let mut measured = json!({
            "rows": 20, "precision": 0.8, "recall": null, "wilson": {"precision": [0.4902, 0.9433], "recall": [0, 1]}
        });
        measured["by"] = json!({"lang": {"en": measured}});
        let row = "20 | 0.800 (0.490 to 0.943) | – |";
        assert_eq!(
            markdown("claims", &measured).expect("a table"),
            format!(
                "| claims | rows | precision | recall |\n| --- | ---: | --- | --- |\n| all | {row}\n| en | {row}\n"
            )
        );
    }

    #[test]
    fn sequences_have_no_languages() {
        let measured = json!({"rows": 4, "right": 3, "accuracy": 0.75, "wilson": {"accuracy": [0.301, 0.954]}});
        assert_eq!(
            markdown("calls", &measured).expect("a table"),
            "| calls | sequences | right | accuracy |\n| --- | ---: | ---: | --- |\n| all | 4 | 3 | 0.750 (0.301 to 0.954) |\n"
        );
    }

    #[test]
    fn a_measure_that_is_missing_is_named() {
        let error = markdown("verdicts", &json!({"claims": 3, "accuracy": 0.5})).expect_err("no false_pass");
        assert!(format!("{error:#}").contains("false_pass"));
    }
}
