//! Running other programs.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// The cargo that started this task, so that all builds are of one toolchain.
pub fn cargo(directory: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(directory);
    command
}

/// Runs a program with its output shown.
pub fn show(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// Runs a program with its output shown, and hands each line of its standard output to `read` as well.
pub fn watch(command: &mut Command, mut read: impl FnMut(&str)) -> Result<()> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    let output = child.stdout.take().context("no standard output")?;
    let mut shown = std::io::stdout().lock();
    for bytes in BufReader::new(output).split(b'\n') {
        let text = String::from_utf8_lossy(&bytes?).into_owned();
        writeln!(shown, "{text}")?;
        read(&text);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{}` failed ({status})", line(command));
    }
    Ok(())
}

/// Runs a program and returns its standard output. What it says on standard error is part of the error.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("`{}` failed ({}): {}", line(command), output.status, said.trim());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// A command as a person would type it, by program name.
fn line(command: &Command) -> String {
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or(command.get_program());
    let words: Vec<OsString> = std::iter::once(program)
        .chain(command.get_args())
        .map(OsStr::to_os_string)
        .collect();
    words
        .iter()
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}
