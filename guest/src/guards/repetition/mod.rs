//! The repetition guard: is this text data, or a model stuck in a loop?
//!
//! Two looks at one text. [`exact`] takes the runs that [`crate::text::periods`] finds, of any period; [`near`] looks for parts
//! without news, whatever varies in them. Both then ask what the text is made of: sentences that come again are a loop; numbers,
//! records, lists, rules and code that are regular on purpose are data. What is only noteworthy is an observation.
//!
//! What it can't see: a loop that invents new words or unforeseeable numbers in every copy; counters in code and records, which
//! generated files have too; exact copies of numbers with separators (a grid of zeros).

pub mod answer;
pub mod exact;
pub mod limits;
pub mod near;
pub mod stream;
pub mod tokens;

use crate::text::periods::{self, Run};
use exact::Exact;
use near::{Region, Watch};
use tokens::Tokens;

/// Runs that are looked at closely, longest first. More are parts of these in any text that people or models write.
const RUNS_MAX: usize = 64;
/// Observations of one text.
const NOTED_MAX: usize = 4;
/// Loops of one text.
const LOOPS_MAX: usize = 16;

/// Why a part of a text is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Exact copies.
    Exact,
    /// Copies that differ without saying anything new.
    Near,
    /// Sentences or lines in any order.
    NoNewInformation,
    /// Too few copies for a loop.
    Copies,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Near, Self::NoNewInformation, Self::Copies];

    /// Its id.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Exact => "repetition.exact",
            Self::Near => "repetition.near",
            Self::NoNewInformation => "repetition.no-new-information",
            Self::Copies => "repetition.copies",
        }
    }
}

/// A part of a text that repeats.
#[derive(Clone, Copy, Debug)]
pub struct Repetition {
    /// What it is.
    pub rule: Rule,
    /// Half-open bytes.
    pub span: (usize, usize),
    /// Bytes of the first copy.
    pub unit: usize,
    /// Code points of one copy; of copies that differ, of a copy on average.
    pub period: usize,
    /// How often it is said.
    pub copies: usize,
    /// Bytes beyond the first copy.
    pub score: usize,
}

impl Repetition {
    /// Whether a stuck model writes so.
    pub fn is_loop(&self) -> bool {
        self.rule != Rule::Copies
    }
}

/// What repeats in a text: loops in the order of the text, then what is only noted.
pub fn judge(text: &str) -> Vec<Repetition> {
    let runs = longest(periods::outer_runs(text.as_bytes(), limits::RUN_BYTES));
    let mut loops: Vec<Repetition> = Vec::new();
    let mut noted: Vec<Repetition> = Vec::new();
    for run in &runs {
        if loops.len() == LOOPS_MAX || overlaps(&loops, run.start, run.end) {
            continue;
        }
        let Some(exact) = Exact::of(text, run) else { continue };
        if exact.is_loop(text) {
            insert(&mut loops, found(Rule::Exact, &exact));
        } else if exact.period >= limits::NOTED_CHARS
            && noted.len() < NOTED_MAX
            && !overlaps(&noted, run.start, run.end)
        {
            noted.push(found(Rule::Copies, &exact));
        }
    }
    for region in regions(text) {
        if loops.len() < LOOPS_MAX && !overlaps(&loops, region.start, region.end) {
            insert(&mut loops, varied(text, &region));
        }
    }
    noted.retain(|r| !overlaps(&loops, r.span.0, r.span.1));
    loops.extend(noted);
    loops
}

/// The longest runs, at most [`RUNS_MAX`], longest first.
fn longest(runs: Vec<Run>) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::with_capacity(RUNS_MAX + 1);
    for run in runs {
        if out.len() < RUNS_MAX || out.last().is_some_and(|last| last.len() < run.len()) {
            let at = out.partition_point(|r| r.len() >= run.len());
            out.insert(at, run);
            out.truncate(RUNS_MAX);
        }
    }
    out
}

/// Adds one where it stands in the text.
fn insert(found: &mut Vec<Repetition>, one: Repetition) {
    let at = found.partition_point(|r| r.span < one.span);
    found.insert(at, one);
}

fn overlaps(found: &[Repetition], start: usize, end: usize) -> bool {
    found.iter().any(|r| r.span.0 < end && start < r.span.1)
}

fn found(rule: Rule, exact: &Exact) -> Repetition {
    Repetition {
        rule,
        span: exact.span,
        unit: exact.unit,
        period: exact.period,
        copies: exact.copies(),
        score: exact.score(),
    }
}

/// The parts without news that are loops.
fn regions(text: &str) -> Vec<Region> {
    let mut watch = Watch::new((text.len() / 4).next_power_of_two().ilog2().clamp(8, 17));
    let mut out = Vec::new();
    let mut tokens = Tokens::default();
    let is_loop = |region: &Region| region.is_loop(text.len());
    let mut take = |token: &tokens::Token| out.extend(watch.token(token).filter(is_loop));
    for (at, c) in text.char_indices() {
        tokens.push(c, at, &mut take);
    }
    tokens.flush(&mut take);
    out.extend(watch.end().filter(is_loop));
    out
}

fn varied(text: &str, region: &Region) -> Repetition {
    let bytes = region.end - region.start;
    let copies = (region.copies() / 100).max(1) as usize;
    let chars = text[region.start..region.end].chars().count();
    let mut unit = bytes / copies;
    while !text.is_char_boundary(region.start + unit) {
        unit += 1;
    }
    Repetition {
        rule: if region.is_in_turn() {
            Rule::Near
        } else {
            Rule::NoNewInformation
        },
        span: (region.start, region.end),
        unit,
        period: chars / copies,
        copies,
        score: bytes - unit,
    }
}

/// The text with every loop collapsed to its first copy.
pub fn collapsed(text: &str, found: &[Repetition]) -> String {
    let mut out = String::new();
    let mut from = 0;
    for repetition in found.iter().filter(|r| r.is_loop()) {
        let (start, end) = repetition.span;
        if start >= from {
            out.push_str(&text[from..start + repetition.unit]);
            from = end;
        }
    }
    out.push_str(&text[from..]);
    out
}
