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
pub fn eval(
    workspace: &Workspace,
    kind: Option<&str>,
    files: &[PathBuf],
    as_table: bool,
) -> Result<()> {
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
    let entries =
        fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.sort();
    KINDS
        .iter()
        .map(|kind| {
            let files: Vec<_> = paths
                .iter()
                .filter(|path| is_of(path, kind))
                .cloned()
                .collect();
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
    let mut rows =
        vec!["| rows labelled for | language | rows | measure | 95 % interval |".to_owned()];
    rows.push("| --- | --- | ---: | --- | --- |".to_owned());
    for (kind, files) in chosen {
        let mut command = Venv::named(workspace, DEVELOPMENT).program("sayso")?;
        let said = run::capture(command.args(["eval", kind, "--json"]).args(files))?;
        let measured: Value =
            serde_json::from_str(&said).context("`sayso eval --json` printed no JSON")?;
        rows.extend(lines(&measured)?);
    }
    Ok(rows.iter().map(|row| format!("{row}\n")).collect())
}
fn lines(_m: &Value) -> Result<Vec<String>> {
    Ok(vec![])
}
