//! The engine of sayso. It is given events and answers with verdicts and with what to store.
//!
//! Reading order: [`event`] (what comes in), [`verdict`] (what goes out), [`check`] (the session and its three verbs),
//! [`text`] (folding, tokens, segments, quotes), [`lexicon`] and [`rules`] (the language packs and the pattern language),
//! [`guards`] (what is judged), [`rows`] (what is stored), [`settings`], [`work`] (how much may be done for one answer).
//!
//! It knows nothing about files, clocks, networks, randomness or any host; `component.rs` alone knows WIT.
//! Same input, same bytes out: no hash maps with random order, no floats compared for equality.

pub mod check;
#[cfg(target_arch = "wasm32")]
mod component;
pub mod event;
pub mod explain;
pub mod guards;
pub mod lexicon;
pub mod rows;
pub mod rules;
pub mod settings;
pub mod text;
pub mod verdict;
pub mod work;
