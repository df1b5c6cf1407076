//! `cargo xtask bench` and `cargo xtask calibrate`: what the host measures itself.

use std::path::PathBuf;

use anyhow::Result;

use crate::python::Venv;
use crate::run;
use crate::setup::DEVELOPMENT;
use crate::workspace::Workspace;

/// Runs the host's own measurements in the development environment.
pub fn bench(workspace: &Workspace, json: bool) -> Result<()> {
    let mut command = Venv::named(workspace, DEVELOPMENT).python()?;
    command.args(["-m", "sayso.bench"]).args(json.then_some("--json"));
    run::show(command.current_dir(&workspace.root))
}

/// Counts how often ordinary files repeat themselves, and writes the table that the repetition guard's findings name.
pub fn calibrate(workspace: &Workspace, folders: &[PathBuf]) -> Result<()> {
    let mut command = Venv::named(workspace, DEVELOPMENT).python()?;
    let table = workspace.root.join("corpus/rules/repetition-background.toml");
    command.args(["-m", "sayso.calibrate"]).arg(table).args(folders);
    run::show(command.current_dir(&workspace.root))
}
