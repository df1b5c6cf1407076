//! The guards, one module each. A guard is given what is judged and the session's memory, and gives back findings; it decides nothing.

pub mod bounds;
pub mod credentials;
pub mod loops;
pub mod provenance;
pub mod repetition;
pub mod tamper;
pub mod told;
