//! `cargo xtask bench`.

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
