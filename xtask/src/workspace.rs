//! Where things stand.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// The checkout and its `target` folder, as absolute paths.
pub struct Workspace {
    /// The folder of the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// Where all that is made goes: `CARGO_TARGET_DIR`, else `target` in the root.
    pub target: PathBuf,
}

impl Workspace {
    /// Finds the checkout that this program was built from.
    pub fn find() -> Result<Self> {
        // `cargo run` sets the variable for the program too, so a moved checkout is found where it is now.
        let manifest = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let root = Path::new(&manifest)
            .parent()
            .context("xtask has no parent folder")?
            .to_path_buf();
        ensure!(
            root.join("wit/world.wit").is_file(),
            "{} is not sayso's checkout",
            root.display()
        );
        let target = match env::var_os("CARGO_TARGET_DIR").filter(|dir| !dir.is_empty()) {
            Some(dir) => std::path::absolute(dir)?,
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// The component that ships with the host.
    pub fn shipped(&self) -> PathBuf {
        self.root.join("host-python/sayso/engine.wasm")
    }

    /// A path below the root as people write it.
    pub fn shown<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}
