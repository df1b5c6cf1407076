//! Text, folded once and cut into what the guards ask about. Reading order: [`fold`], [`words`], [`segment`], [`quotes`], [`search`],
//! [`arguments`], [`canonical`].
//!
//! Knows nothing about claims, users or languages' meanings; only about characters.

pub mod arguments;
pub mod canonical;
pub mod fold;
pub mod periods;
pub mod quotes;
pub mod search;
pub mod segment;
pub mod unicode;
pub mod words;
