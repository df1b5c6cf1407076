//! Readings: messages that were read closely, kept for the next claim and the next write.

use super::speech::Reading;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Bytes of text whose readings are kept as new, and as many as old; a reading takes about thirty times as much.
const TEXT_BYTES_MAX: usize = 1 << 19;

/// Readings by message and by the language that the message was most likely in. What is used stays: a reading is new when it is
/// used, all grow old when there are too many new ones, and what is old then is forgotten when they do so again.
#[derive(Clone, Default)]
pub struct Readings(RefCell<Kept>);

type ByMessage = BTreeMap<(usize, &'static str), Rc<Reading>>;

#[derive(Clone, Default)]
struct Kept {
    new: ByMessage,
    old: ByMessage,
    /// Of the texts of `new`.
    bytes: usize,
}

impl Readings {
    /// The reading of message `said`, whose text is `text`; whether it had to be made stands beside it.
    pub fn get(&self, said: usize, text: &str, likely: &'static str) -> (Rc<Reading>, bool) {
        let mut kept = self.0.borrow_mut();
        let key = (said, likely);
        if let Some(reading) = kept.new.get(&key) {
            return (Rc::clone(reading), false);
        }
        let before = kept.old.remove(&key);
        let made = before.is_none();
        let reading = before.unwrap_or_else(|| Rc::new(Reading::new(text, likely)));
        if kept.bytes + text.len() > TEXT_BYTES_MAX {
            kept.old = std::mem::take(&mut kept.new);
            kept.bytes = 0;
        }
        kept.bytes += text.len();
        kept.new.insert(key, Rc::clone(&reading));
        (reading, made)
    }

    /// Half-open bytes in the text of message `said` behind those of its folded text, where it was read.
    pub fn original(&self, said: usize, span: (usize, usize)) -> Option<(usize, usize)> {
        let kept = self.0.borrow();
        let found = |of: &ByMessage| {
            let (key, reading) = of.range((said, "")..).next()?;
            (key.0 == said).then(|| reading.folded.original(span.0, span.1))
        };
        found(&kept.new).or_else(|| found(&kept.old))
    }

    /// Forgets all readings.
    pub fn clear(&self) {
        self.0.take();
    }
}
