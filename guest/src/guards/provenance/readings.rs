//! Readings: messages that were read closely, kept for the next claim and the next write.

use super::speech::Reading;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Bytes of text whose readings are kept; a reading takes about thirty times as much.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// Readings by message and by the language that the message was most likely in.
#[derive(Clone, Default)]
pub struct Readings(RefCell<Kept>);

#[derive(Clone, Default)]
struct Kept {
    by_message: BTreeMap<(usize, &'static str), Rc<Reading>>,
    bytes: usize,
}

impl Readings {
    /// The reading of message `said`, whose text is `text`; whether it had to be made stands beside it.
    pub fn get(&self, said: usize, text: &str, likely: &'static str) -> (Rc<Reading>, bool) {
        let mut kept = self.0.borrow_mut();
        if let Some(reading) = kept.by_message.get(&(said, likely)) {
            return (Rc::clone(reading), false);
        }
        let reading = Rc::new(Reading::new(text, likely));
        if kept.bytes + text.len() > TEXT_BYTES_MAX {
            *kept = Kept::default();
        }
        kept.bytes += text.len();
        kept.by_message.insert((said, likely), Rc::clone(&reading));
        (reading, true)
    }

    /// Half-open bytes in the text of message `said` behind those of its folded text, where it was read.
    pub fn original(&self, said: usize, span: (usize, usize)) -> Option<(usize, usize)> {
        let kept = self.0.borrow();
        let (key, reading) = kept.by_message.range((said, "")..).next()?;
        (key.0 == said).then(|| reading.folded.original(span.0, span.1))
    }

    /// Forgets all readings.
    pub fn clear(&self) {
        self.0.take();
    }
}
