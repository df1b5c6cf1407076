//! The same build in other folders: whatever of a machine's paths, of git or of an old build reaches the bytes shows.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::build::{Build, cargo_home};
use crate::workspace::Workspace;

/// All that the component is made of, and what cargo needs to read the workspace.
const SOURCES: [&str; 9] = [
    ".cargo",
    "Cargo.lock",
    "Cargo.toml",
    "corpus",
    "guest",
    "rust-toolchain.toml",
    "tests/rust",
    "wit",
    "xtask",
];

/// Builds the core module from a copy of the sources, with another cargo home and target folder, all of them at
/// another depth and with spaces in their names. The copy is removed afterwards.
pub fn core(workspace: &Workspace) -> Result<Vec<u8>> {
    let scratch = tempfile::Builder::new().prefix("sayso check ").tempdir()?;
    let root = scratch.path().join("some where/quite/deep down/sayso");
    for name in SOURCES {
        let from = workspace.root.join(name);
        if from.exists() {
            copy(&from, &root.join(name))?;
        }
    }
    let build = Build {
        root,
        target: scratch.path().join("made here"),
        cargo_home: scratch.path().join("cargo home"),
    };
    borrow_cargo_home(&build.cargo_home)?;
    build.core()
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let failed = || format!("cannot copy {}", from.display());
    if from.is_dir() {
        fs::create_dir_all(to).with_context(failed)?;
        for entry in fs::read_dir(from).with_context(failed)? {
            let name = entry?.file_name();
            copy(&from.join(&name), &to.join(&name))?;
        }
    } else {
        fs::create_dir_all(to.parent().context("a file has no folder")?)?;
        fs::copy(from, to).with_context(failed)?;
    }
    Ok(())
}

/// A cargo home under another path that shares the real one's downloads, their lock, and its settings.
#[cfg(unix)]
fn borrow_cargo_home(home: &Path) -> Result<()> {
    let real = cargo_home()?;
    fs::create_dir_all(home)?;
    for name in ["registry", "git", "config.toml", "config", ".package-cache"] {
        if real.join(name).exists() {
            std::os::unix::fs::symlink(real.join(name), home.join(name))?;
        }
    }
    Ok(())
}

/// Without symbolic links the dependencies are downloaded again.
#[cfg(not(unix))]
fn borrow_cargo_home(home: &Path) -> Result<()> {
    fs::create_dir_all(home)
        .with_context(|| format!("cannot make {} beside {}", home.display(), cargo_home()?.display()))
}
