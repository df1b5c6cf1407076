//! Tool calls: the repetition guard.

use super::{Found, Session, act};
use crate::event::Call;
use crate::guards::repetition::answer::finding;
use crate::guards::repetition::{judge, limits};
use crate::settings::Mode;
use crate::text::arguments::{Argument, arguments};
use crate::verdict::{Action, GuardName};

impl Session {
    /// Judges every text in the arguments; the arguments as a whole where they are many short texts.
    pub(super) fn check_repetition(&self, call: &Call, found: &mut Vec<Found>) {
        let mode = self.settings.mode(GuardName::Repetition);
        if mode == Mode::Off {
            return;
        }
        let mut texts = arguments(&call.arguments);
        texts.retain(|a| a.text.len() >= limits::RUN_BYTES);
        let long: usize = texts.iter().map(|a| a.text.len()).sum();
        if long * 2 < call.arguments.len() {
            texts.push(Argument {
                path: "$".to_owned(),
                text: call.arguments.clone(),
            });
        }
        for argument in &texts {
            for one in judge(&argument.text) {
                found.push(Found {
                    finding: finding(&argument.text, &argument.path, &one),
                    action: if one.is_loop() { act(mode) } else { Action::Allow },
                });
            }
        }
    }
}
