//! `cargo xtask test`: the suites, and how many tests each ran.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::python::Venv;
use crate::run;
use crate::setup::{DEVELOPMENT, HERMES, Hermes};
use crate::tally::Tally;
use crate::workspace::Workspace;

/// Runs what needs no Hermes. `quick` leaves out the Python tests marked `slow`. The native tests come first: they write down
/// the answers with which the Python tests compare the component's.
pub fn all(workspace: &Workspace, quick: bool) -> Result<()> {
    let mut tally = native(workspace)?;
    tally += python(workspace, quick)?;
    println!("{tally}");
    Ok(())
}

/// Runs the tests in both real Hermes Agents.
pub fn hermes(workspace: &Workspace) -> Result<()> {
    let mut tally = Tally::default();
    for version in &HERMES {
        tally += hermes_in(workspace, version)?;
    }
    println!("{tally}");
    Ok(())
}

/// The engine's tests and xtask's own, on this machine's processor.
pub fn native(workspace: &Workspace) -> Result<Tally> {
    let mut tally = Tally::default();
    let tests = ["test", "--locked", "--workspace", "--no-fail-fast"];
    let mut command = run::cargo(&workspace.root);
    command.env("CARGO_TARGET_DIR", &workspace.target).args(tests);
    run::watch(&mut command, |line| tally.read(line))?;
    some(tally, "cargo test")
}

/// The host's tests, and the component's through the host.
pub fn python(workspace: &Workspace, quick: bool) -> Result<Tally> {
    let mut marks = vec![];
    if quick {
        marks.extend(["-m", "not slow"]);
    }
    pytest(
        workspace,
        &Venv::named(workspace, DEVELOPMENT),
        "tests/python",
        &marks,
        &[],
    )
}

/// The tests in one real Hermes Agent, whose version they find in `SAYSO_HERMES`.
pub fn hermes_in(workspace: &Workspace, version: &Hermes) -> Result<Tally> {
    let told = [("SAYSO_HERMES", version.version)];
    pytest(workspace, &version.venv(workspace), "tests/hermes", &[], &told)
        .with_context(|| format!("in Hermes {}", version.version))
}

fn pytest(
    workspace: &Workspace,
    venv: &Venv,
    folder: &str,
    arguments: &[&str],
    told: &[(&str, &str)],
) -> Result<Tally> {
    ensure!(holds_tests(&workspace.root.join(folder)), "{folder} holds no test_*.py");
    let mut cache = std::ffi::OsString::from("cache_dir=");
    cache.push(workspace.target.join("pytest"));
    let mut command = venv.python()?;
    // So that its lines come as they are written, although they pass through a pipe.
    command.env("PYTHONUNBUFFERED", "1");
    command
        .args(["-m", "pytest", "-q", "-c", "host-python/pyproject.toml", "-o"])
        .arg(cache);
    // The native tests wrote their answers there.
    command.env("CARGO_TARGET_DIR", &workspace.target);
    command
        .args(arguments)
        .arg(folder)
        .envs(told.iter().copied())
        .current_dir(&workspace.root);
    let mut tally = Tally::default();
    run::watch(&mut command, |line| tally.read(line))?;
    some(tally, folder)
}

fn holds_tests(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        entry.path().is_dir() && holds_tests(&entry.path()) || name.starts_with("test_") && name.ends_with(".py")
    })
}

/// A suite that ran nothing is a broken suite.
fn some(tally: Tally, suite: &str) -> Result<Tally> {
    ensure!(tally.ran() > 0, "{suite} ran no test");
    Ok(tally)
}
