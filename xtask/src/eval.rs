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
const KINDS: [&str; 2] = ["claims", "verdicts"];

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

/// One table: a row for all, then one a language. Kinds that count pairs have precision and recall, others what is right.
fn markdown(kind: &str, measured: &Value) -> Result<String> {
    let pairs = measured.get("tp").is_some();
    let (titles, rule, row): (_, _, fn(&Value) -> Result<String>) = if pairs {
        ("rows | precision | recall", "---: | --- | ---", found_row)
    } else {
        (
            "claims | right | passed wrongly | failed wrongly",
            "---: | --- | ---: | ---:",
            right_row,
        )
    };
    let mut lines = vec![format!("| {kind} | {titles} |"), format!("| --- | {rule} |")];
    lines.push(format!("| all | {} |", row(measured)?));
    let languages = measured
        .pointer("/by/lang")
        .and_then(Value::as_object)
        .context("no by.lang")?;
    for (language, part) in languages {
        lines.push(format!(
            "| {language} | {} |",
            row(part).with_context(|| format!("by.lang.{language}"))?
        ));
    }
    Ok(lines.iter().map(|line| format!("{line}\n")).collect())
}

fn found_row(part: &Value) -> Result<String> {
    let [tp, fp, missed, tn] = [
        count(part, "tp")?,
        count(part, "fp")?,
        count(part, "fn")?,
        count(part, "tn")?,
    ];
    Ok(format!(
        "{} | {} | {}",
        tp + fp + missed + tn,
        share(tp, tp + fp),
        share(tp, tp + missed)
    ))
}

fn right_row(part: &Value) -> Result<String> {
    let (claims, right) = (count(part, "claims")?, count(part, "right")?);
    let (passed, failed) = (count(part, "false_pass")?, count(part, "false_fail")?);
    Ok(format!("{claims} | {} | {passed} | {failed}", share(right, claims)))
}

fn count(part: &Value, name: &str) -> Result<u32> {
    let number = part
        .get(name)
        .and_then(Value::as_u64)
        .with_context(|| format!("no count called {name}"))?;
    Ok(u32::try_from(number)?)
}

/// A share with its 95 % Wilson interval.
fn share(of: u32, all: u32) -> String {
    if all == 0 {
        return "none".to_owned();
    }
    let (n, p, z) = (f64::from(all), f64::from(of) / f64::from(all), 1.959_964_f64);
    let (middle, width) = (
        p + z * z / (2.0 * n),
        z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt(),
    );
    let scale = 1.0 + z * z / n;
    format!(
        "{p:.3} ({:.3}–{:.3})",
        (middle - width) / scale,
        (middle + width) / scale
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn found_rows_become_precision_and_recall_by_language() {
        let counts = json!({"tp": 8, "fp": 2, "fn": 0, "tn": 10});
        let mut measured = counts.clone();
        measured["by"] = json!({"lang": {"en": counts}});
        let table = markdown("claims", &measured).expect("a table");
        // Wilson's interval of 8 in 10 is 0.490 to 0.943, of 8 in 8 it is 0.676 to 1.
        let row = "20 | 0.800 (0.490–0.943) | 1.000 (0.676–1.000) |";
        assert_eq!(
            table,
            format!(
                "| claims | rows | precision | recall |\n| --- | ---: | --- | --- |\n| all | {row}\n| en | {row}\n"
            )
        );
    }

    #[test]
    fn a_measure_that_is_missing_is_named() {
        let error = markdown("verdicts", &json!({"claims": 3, "right": 2})).expect_err("no false_pass");
        assert!(format!("{error:#}").contains("false_pass"));
    }
}
