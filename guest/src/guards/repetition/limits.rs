//! The thresholds of `corpus/rules/repetition.toml`, where each has its unit and its reason.

include!(concat!(env!("OUT_DIR"), "/repetition.rs"));
