//! `cargo xtask ci`: every step, its seconds, and the first that fails.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::python::Venv;
use crate::setup::{self, DEVELOPMENT, HERMES, TARGET};
use crate::tally::Tally;
use crate::workspace::Workspace;
use crate::{component, run, suites};

/// Runs all steps in order. The last line printed is the number of tests that passed and failed.
pub fn ci(workspace: &Workspace) -> Result<()> {
    let mut steps = Steps::default();
    steps.step("setup", || setup::setup(workspace, true))?;
    for (name, arguments) in CARGO {
        steps.step(name, || {
            run::show(run::cargo(&workspace.root).args(arguments.iter().copied()))
        })?;
    }
    for (name, arguments) in PYTHON {
        steps.step(name, || {
            let mut command = Venv::named(workspace, DEVELOPMENT).python()?;
            // Each tool keeps its cache in the folder it is told, or beside the sources.
            command.env("RUFF_CACHE_DIR", workspace.target.join("ruff"));
            command.env("MYPY_CACHE_DIR", workspace.target.join("mypy"));
            run::show(command.args(arguments.iter().copied()).current_dir(&workspace.root))
        })?;
    }
    steps.step("component --check", || component::check(workspace))?;
    steps.tests("tests, native", || suites::native(workspace))?;
    steps.tests("tests, Python", || suites::python(workspace, false))?;
    for version in &HERMES {
        steps.tests(&format!("tests, Hermes {}", version.version), || {
            suites::hermes_in(workspace, version)
        })?;
    }
    steps.summary();
    Ok(())
}

const CARGO: [(&str, &[&str]); 3] = [
    ("rustfmt", &["fmt", "--all", "--check"]),
    (
        "clippy, native",
        &[
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ],
    ),
    (
        "clippy, wasm",
        &[
            "clippy",
            "--locked",
            "--package",
            "sayso-engine",
            "--lib",
            "--target",
            TARGET,
            "--",
            "-D",
            "warnings",
        ],
    ),
];

const SETTINGS: &str = "host-python/pyproject.toml";

const PYTHON: [(&str, &[&str]); 3] = [
    (
        "ruff format",
        &[
            "-m",
            "ruff",
            "format",
            "--config",
            SETTINGS,
            "--check",
            "--quiet",
            "--diff",
            "host-python",
            "tests",
        ],
    ),
    (
        "ruff check",
        &[
            "-m",
            "ruff",
            "check",
            "--config",
            SETTINGS,
            "--quiet",
            "host-python",
            "tests",
        ],
    ),
    (
        "mypy",
        &["-m", "mypy", "--config-file", SETTINGS, "--strict", "host-python/sayso"],
    ),
];

#[derive(Default)]
struct Steps {
    /// What each step was called, its seconds and its tests.
    done: Vec<(String, f64, Option<Tally>)>,
}

impl Steps {
    fn step(&mut self, name: &str, perform: impl FnOnce() -> Result<()>) -> Result<()> {
        self.timed(name, || perform().map(|()| None))
    }

    fn tests(&mut self, name: &str, perform: impl FnOnce() -> Result<Tally>) -> Result<()> {
        self.timed(name, || perform().map(Some))
    }

    fn timed(&mut self, name: &str, perform: impl FnOnce() -> Result<Option<Tally>>) -> Result<()> {
        println!("\n==> {name}");
        let started = Instant::now();
        let outcome = perform();
        let seconds = started.elapsed().as_secs_f64();
        match outcome {
            Ok(tally) => {
                println!("<== {name}: ok, {seconds:.1} s");
                self.done.push((name.to_owned(), seconds, tally));
                Ok(())
            }
            Err(error) => {
                println!("<== {name}: FAILED, {seconds:.1} s");
                self.summary_of_steps();
                Err(error).with_context(|| format!("step `{name}` failed"))
            }
        }
    }

    fn summary(&self) {
        self.summary_of_steps();
        let mut total = Tally::default();
        self.done
            .iter()
            .filter_map(|(_, _, tally)| *tally)
            .for_each(|tally| total += tally);
        println!("\n{total}");
    }

    fn summary_of_steps(&self) {
        println!("\nstep                        seconds  tests");
        for (name, seconds, tally) in &self.done {
            let tests = tally.map_or_else(String::new, |tally| tally.to_string());
            println!("{name:<26} {seconds:>8.1}  {tests}");
        }
        println!(
            "{:<26} {:>8.1}",
            "all",
            self.done.iter().map(|(_, seconds, _)| seconds).sum::<f64>()
        );
    }
}
