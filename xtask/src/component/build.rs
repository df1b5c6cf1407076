//! Compiling the guest to a core module whose bytes depend on its sources and the pinned toolchain alone.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::run;
use crate::setup::TARGET;
use crate::workspace::Workspace;

/// Settings that a person's shell may hold and that would change the bytes.
const SHED: [&str; 8] = [
    "CARGO_BUILD_",
    "CARGO_ENCODED_",
    "CARGO_INCREMENTAL",
    "CARGO_PROFILE_",
    "CARGO_TARGET_",
    "CARGO_UNSTABLE_",
    "RUSTC",
    "RUSTFLAGS",
];

/// What every host of today runs beside the first version of WebAssembly: looking for words in long texts takes a fraction of the
/// time with vectors.
const FEATURES: [&str; 2] = ["-C", "target-feature=+simd128"];

/// One place to build in.
pub struct Build {
    /// The folder of the workspace's `Cargo.toml`.
    pub root: PathBuf,
    /// Where cargo puts what it makes.
    pub target: PathBuf,
    /// Cargo's own folder, which holds the sources of the dependencies.
    pub cargo_home: PathBuf,
}

impl Build {
    /// A build of the checkout where it stands.
    pub fn in_place(workspace: &Workspace) -> Result<Self> {
        Ok(Self {
            root: workspace.root.clone(),
            target: workspace.target.join("component/build"),
            cargo_home: cargo_home()?,
        })
    }

    /// The linked core module: WASI not yet closed, the WIT of its exports in custom sections.
    pub fn core(&self) -> Result<Vec<u8>> {
        let toolchain = Toolchain::pinned(&self.root)?;
        run::show(self.cargo().args(["fetch", "--quiet", "--locked", "--target", TARGET]))?;
        let mut flags = self.remappings(&toolchain)?;
        flags.extend(FEATURES.map(OsString::from));
        let flags = flags.join("\x1f".as_ref());
        // Only the cdylib: beside an rlib cargo would leave out link-time optimisation.
        let what = [
            "rustc",
            "--package",
            "sayso-engine",
            "--lib",
            "--crate-type",
            "cdylib",
            "--release",
        ];
        let how = [
            "--locked",
            "--target",
            TARGET,
            "--",
            "-C",
            "link-arg=--skip-wit-component",
        ];
        run::show(self.cargo().env("CARGO_ENCODED_RUSTFLAGS", flags).args(what).args(how))?;
        let module = self.target.join(TARGET).join("release/sayso_engine.wasm");
        fs::read(&module).with_context(|| format!("cannot read {}", module.display()))
    }

    fn cargo(&self) -> Command {
        let mut command = run::cargo(&self.root);
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            if SHED.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(&*name);
            }
        }
        command
            .env("CARGO_HOME", &self.cargo_home)
            .env("CARGO_TARGET_DIR", &self.target);
        command
    }

    /// Compiler flags that give each folder of this machine a name of its own. Where two match, the later one counts.
    fn remappings(&self, toolchain: &Toolchain) -> Result<Vec<OsString>> {
        let mut pairs = vec![
            (self.root.clone(), "/sayso".to_owned()),
            (self.target.clone(), "/build".to_owned()),
            (
                toolchain.sysroot.join("lib/rustlib/src/rust"),
                format!("/rustc/{}", toolchain.commit),
            ),
        ];
        // Each registry has a folder whose name depends on its address.
        let registries = self.cargo_home.join("registry/src");
        let found = fs::read_dir(&registries).with_context(|| format!("cannot read {}", registries.display()))?;
        for registry in found {
            pairs.push((registry?.path(), "/crates".to_owned()));
        }
        let flag = |(from, to): (PathBuf, String)| {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(from);
            flag.push("=");
            flag.push(to);
            flag
        };
        Ok(pairs.into_iter().map(flag).collect())
    }
}

/// Cargo's own folder on this machine.
pub fn cargo_home() -> Result<PathBuf> {
    if let Some(home) = env::var_os("CARGO_HOME").filter(|home| !home.is_empty()) {
        return Ok(std::path::absolute(home)?);
    }
    Ok(env::home_dir().context("there is no home folder")?.join(".cargo"))
}

struct Toolchain {
    sysroot: PathBuf,
    /// The commit of rustc, by which the standard library names its own sources.
    commit: String,
}

impl Toolchain {
    /// The toolchain in use, which must be the one that `rust-toolchain.toml` names.
    fn pinned(root: &Path) -> Result<Self> {
        let version = run::capture(Command::new("rustc").arg("-vV").current_dir(root))?;
        let field = |name: &str| {
            let line = version
                .lines()
                .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.with_context(|| format!("`rustc -vV` names no {name}"))
        };
        let pins = fs::read_to_string(root.join("rust-toolchain.toml"))?;
        let release = field("release")?;
        ensure!(
            pins.lines().any(|line| line == format!("channel = \"{release}\"")),
            "rustc is {release}, but the component's bytes are those of the toolchain in rust-toolchain.toml"
        );
        let sysroot = run::capture(Command::new("rustc").args(["--print", "sysroot"]).current_dir(root))?;
        Ok(Self {
            sysroot: sysroot.trim().into(),
            commit: field("commit-hash")?.to_owned(),
        })
    }
}
