//! Python: finding one, and environments under `target/venvs`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::run;
use crate::workspace::Workspace;

/// Tried in this order. 3.11 comes first because Hermes 0.19.0 runs on no newer one.
const NAMES: [&str; 6] = [
    "python3.11",
    "python3.12",
    "python3.13",
    "python3.14",
    "python3",
    "python",
];
const OLDEST: (u32, u32) = (3, 11);
const PROBE: &str = "import sys, venv, ensurepip; print(*sys.version_info[:2], sys.executable)";

/// One environment.
pub struct Venv {
    directory: PathBuf,
}

impl Venv {
    /// The environment called `name`, whether it exists or not.
    pub fn named(workspace: &Workspace, name: &str) -> Self {
        Self {
            directory: workspace.target.join("venvs").join(name),
        }
    }

    /// Makes the environment unless the stamp says that it holds just these requirements. `inputs` are files
    /// that requirements refer to. Returns whether anything was done.
    pub fn provide(&self, workspace: &Workspace, requirements: &[&str], inputs: &[&Path]) -> Result<bool> {
        let python = find()?;
        let stamp = self.stamp(&python, requirements, inputs)?;
        let stamp_file = self.directory.join("sayso-stamp");
        if fs::read_to_string(&stamp_file).is_ok_and(|found| found == stamp) {
            return Ok(false);
        }
        run::capture(
            clean(&mut Command::new(&python))
                .args(["-m", "venv", "--clear"])
                .arg(&self.directory),
        )?;
        let install = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
        ];
        run::show(
            self.python()?
                .args(install)
                .args(requirements)
                .current_dir(&workspace.root),
        )?;
        fs::write(stamp_file, stamp)?;
        Ok(true)
    }

    /// Its interpreter, to be given arguments.
    pub fn python(&self) -> Result<Command> {
        self.program("python")
    }

    /// One of its programs, to be given arguments.
    pub fn program(&self, name: &str) -> Result<Command> {
        let path = self
            .directory
            .join(if cfg!(windows) { "Scripts" } else { "bin" })
            .join(name);
        let path = if cfg!(windows) {
            path.with_extension("exe")
        } else {
            path
        };
        if !path.is_file() {
            bail!(
                "{} is missing: run `cargo xtask setup` (for Hermes with --hermes)",
                path.display()
            );
        }
        let mut command = Command::new(path);
        clean(&mut command);
        Ok(command)
    }

    /// Changes whenever the environment has to be made again. The folder is part of it: an environment can't be moved.
    fn stamp(&self, python: &Path, requirements: &[&str], inputs: &[&Path]) -> Result<String> {
        let mut hash = Sha256::new();
        for part in [python.to_string_lossy(), self.directory.to_string_lossy()] {
            hash.update(part.as_bytes());
            hash.update([0]);
        }
        for requirement in requirements {
            hash.update(requirement.as_bytes());
            hash.update([0]);
        }
        for input in inputs {
            hash.update(fs::read(input).with_context(|| format!("cannot read {}", input.display()))?);
        }
        Ok(format!("{:x}", hash.finalize()))
    }
}

/// Takes away what would let an environment see the packages of another.
fn clean(command: &mut Command) -> &mut Command {
    command
        .env_remove("PYTHONPATH")
        .env_remove("PYTHONHOME")
        .env_remove("VIRTUAL_ENV")
}

/// The first Python that is new enough and can make environments.
fn find() -> Result<PathBuf> {
    let mut seen = Vec::new();
    for name in NAMES {
        let Ok(output) = clean(&mut Command::new(name)).args(["-c", PROBE]).output() else {
            continue;
        };
        let said = String::from_utf8_lossy(&output.stdout);
        let words: Vec<&str> = said.trim().splitn(3, ' ').collect();
        match words[..] {
            [major, minor, path] => match (major.parse(), minor.parse()) {
                (Ok(major), Ok(minor)) if (major, minor) >= OLDEST => return Ok(path.into()),
                _ => seen.push(format!("{name} is {major}.{minor}")),
            },
            // Names that only print a complaint (pyenv's shims) land here too.
            _ => seen.push(format!("{name} has no venv module or does not start")),
        }
    }
    let seen = if seen.is_empty() {
        "none was found".to_owned()
    } else {
        seen.join("; ")
    };
    bail!("Python 3.11 or newer with its venv module is needed ({seen}); on Debian: apt install python3 python3-venv")
}
