//! Every chore of the project. `cargo xtask` lists them, `cargo xtask TASK --help` explains one.
//!
//! All that the tasks make or install stands under `target/` (or `CARGO_TARGET_DIR`), but for the Rust target
//! `wasm32-wasip2`, which `setup` asks rustup for, and the files that are committed because they ship.

mod bench;
mod bless;
mod ci;
mod component;
mod eval;
mod python;
mod run;
mod setup;
mod suites;
mod tally;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use workspace::Workspace;

/// Chores of sayso: build, test, measure.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Get what the other tasks need: the wasm32-wasip2 target and Python environments under target/venvs
    ///
    /// Needs rustup (for the target, once) and Python 3.11 or newer. Does nothing where nothing is missing.
    Setup {
        /// Also make the two environments that hold real Hermes Agents (0.19.0 and 0.22.2)
        #[arg(long)]
        hermes: bool,
    },
    /// Build the engine into host-python/sayso/engine.wasm, sealed: a component that imports nothing
    ///
    /// Prints its size, its SHA-256 and where the bytes go. The twin target/component/engine.named.wasm has the same
    /// code with every function's name, to read a trap with. Fails above 1 MiB, and when the engine or a dependency
    /// reaches for anything outside.
    Component {
        /// Build from a copy of the sources in another folder, and compare with the shipped file byte for byte
        #[arg(long)]
        check: bool,
    },
    /// Run the tests: the engine natively, then the host and the component from Python
    Test {
        /// Leave out the Python tests marked `slow`
        #[arg(long)]
        quick: bool,
        #[command(subcommand)]
        suite: Option<Suite>,
    },
    /// Everything that must be green before a change lands
    Ci,
    /// Measure the guards on labelled rows with `sayso eval` (without arguments: all of corpus/cases)
    Eval {
        /// What the rows are labelled for: claims, verdicts, …
        #[arg(requires = "files")]
        kind: Option<String>,
        /// JSON Lines files in the format that corpus/README.md describes
        files: Vec<PathBuf>,
        /// Print the README's Markdown table
        #[arg(long)]
        table: bool,
    },
    /// Time the engine, a hook call and a fresh process
    Bench {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Count how often ordinary files repeat themselves (without arguments: where installed packages stand)
    ///
    /// Writes corpus/rules/repetition-background.toml from half of the files, chosen by their content. Counts only: no
    /// name of a file and no text. `sayso scan-files --half check` looks at the other half.
    Calibrate {
        /// Folders with text files
        folders: Vec<PathBuf>,
    },
    /// Make again all that is generated and committed: the component, the README's table of measures
    Bless,
}

#[derive(Subcommand)]
enum Suite {
    /// Real Hermes Agents of both versions, driven by a scripted model on 127.0.0.1
    Hermes,
}

fn perform(task: Task) -> Result<()> {
    let workspace = Workspace::find()?;
    match task {
        Task::Setup { hermes } => setup::setup(&workspace, hermes),
        Task::Component { check: false } => component::make(&workspace),
        Task::Component { check: true } => component::check(&workspace),
        Task::Test { quick, suite: None } => suites::all(&workspace, quick),
        Task::Test {
            suite: Some(Suite::Hermes),
            ..
        } => suites::hermes(&workspace),
        Task::Ci => ci::ci(&workspace),
        Task::Eval { kind, files, table } => eval::eval(&workspace, kind.as_deref(), &files, table),
        Task::Bench { json } => bench::bench(&workspace, json),
        Task::Calibrate { folders } => bench::calibrate(&workspace, &folders),
        Task::Bless => bless::bless(&workspace),
    }
}

fn main() -> ExitCode {
    let Some(task) = Arguments::parse().task else {
        println!("{}", Arguments::command().render_help());
        return ExitCode::SUCCESS;
    };
    match perform(task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
