//! `cargo xtask component`: the engine as one file that imports nothing.

mod build;
mod elsewhere;
mod seal;
mod weigh;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::workspace::Workspace;
use build::Build;
use seal::Names;

/// The largest file that the host's plugin catalogue takes, in bytes.
const MOST: usize = 1 << 20;

/// Builds and seals, writes the shipped file and its twin, and prints where the bytes go.
pub fn make(workspace: &Workspace) -> Result<()> {
    let core = Build::in_place(workspace)?.core()?;
    let shipped = seal::seal(&core, Names::Stubs)?;
    let twin = seal::seal(&core, Names::All)?;
    ensure!(
        weigh::code(&shipped.core)? == weigh::code(&twin.core)?,
        "the twin's code differs from the shipped code: a trap could not be read with it"
    );
    let twin_path = workspace.target.join("component/engine.named.wasm");
    fs::write(&twin_path, &twin.component)?;
    write(&workspace.shipped(), &shipped.component)?;
    weigh::print(&shipped, &twin)?;
    println!(
        "written: {}, twin {}",
        workspace.shown(&workspace.shipped()),
        workspace.shown(&twin_path)
    );
    fits(&shipped.component)
}

/// Builds from a copy of the sources elsewhere and compares with the shipped file. The bytes are promised on x86-64
/// Linux; elsewhere the imports and exports have to be equal.
pub fn check(workspace: &Workspace) -> Result<()> {
    let path = workspace.shipped();
    let shipped = fs::read(&path).with_context(|| {
        format!(
            "cannot read {}: `cargo xtask component` makes it",
            workspace.shown(&path)
        )
    })?;
    let rebuilt = seal::seal(&elsewhere::core(workspace)?, Names::Stubs)?.component;
    let (was, is) = (seal::surface(&shipped)?, seal::surface(&rebuilt)?);
    ensure!(
        was == is,
        "the shipped component has {was:?}, the sources give {is:?}: run `cargo xtask component`"
    );
    if shipped == rebuilt {
        println!(
            "{} is what the sources give, byte for byte: {}",
            workspace.shown(&path),
            weigh::sha256(&shipped)
        );
    } else if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        let kept = workspace.target.join("component/engine.rebuilt.wasm");
        fs::create_dir_all(workspace.target.join("component"))?;
        fs::write(&kept, &rebuilt)?;
        bail!(
            "{} ({} bytes, {}) is not what the sources give ({} bytes, {}, kept as {}): run `cargo xtask component`",
            workspace.shown(&path),
            shipped.len(),
            weigh::sha256(&shipped),
            rebuilt.len(),
            weigh::sha256(&rebuilt),
            workspace.shown(&kept)
        );
    } else {
        println!("the imports and exports are equal; the bytes are compared on x86-64 Linux only");
    }
    fits(&shipped)
}

fn fits(component: &[u8]) -> Result<()> {
    ensure!(
        component.len() <= MOST,
        "the component has {} bytes, more than {MOST}",
        component.len()
    );
    Ok(())
}

/// Replaces a file in one step, and leaves one that is right already untouched.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    if fs::read(path).is_ok_and(|found| found == bytes) {
        return Ok(());
    }
    let next = path.with_extension("wasm.next");
    fs::write(&next, bytes)
        .and_then(|()| fs::rename(&next, path))
        .with_context(|| format!("cannot write {}", path.display()))
}
