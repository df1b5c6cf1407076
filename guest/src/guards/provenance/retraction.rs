//! Retraction: whether a later message of the user takes back what an earlier one said.

use super::content::{ContentWord, same};
use super::judge::{Judge, Shown};
use super::speech::{Reading, Sentence};
use super::topic::Topic;

/// Later messages of the user that are read for a retraction.
const LATER_MAX: usize = 200;

impl Judge<'_> {
    /// Where a later message of the user takes back what was said, if one does.
    pub(super) fn retraction(&mut self, said: usize, topic: &Topic, words: &[ContentWord]) -> Option<Shown> {
        let later: Vec<usize> = (said + 1..self.history.said().len())
            .filter(|&i| self.history.said()[i].is_human() && self.is_principal(i))
            .take(LATER_MAX)
            .collect();
        let about: Vec<&ContentWord> = words.iter().chain(&topic.words).collect();
        let stems: Vec<&str> = about.iter().map(|w| w.stem.as_str()).collect();
        // A retraction without a topic takes back the last thing that the user committed to.
        let mut last_word = true;
        // What the user said in between: a retraction that fits one of these better is about that.
        let mut between: Vec<usize> = Vec::new();
        for at in later {
            // Once something else was decided, only what shares a word takes anything back.
            if last_word || self.history.may_share(at, &stems) {
                let found = self.taken_back_in(at, &about, words, last_word, &between);
                if found.is_some() || self.work.is_spent() {
                    return found;
                }
                last_word = last_word && !commits(&self.reading(at));
            }
            between.push(at);
        }
        None
    }

    fn taken_back_in(
        &mut self,
        at: usize,
        about: &[&ContentWord],
        words: &[ContentWord],
        last_word: bool,
        between: &[usize],
    ) -> Option<Shown> {
        let reading = self.reading(at);
        for sentence in reading.sentences.iter().filter(|s| !reading.is_material(s.span)) {
            self.work.take(sentence.words.len() * about.len());
            if !takes_back(sentence, about, words, last_word) {
                continue;
            }
            let fit = |others: &mut dyn Iterator<Item = &ContentWord>| {
                let others: Vec<&ContentWord> = others.collect();
                sentence
                    .words
                    .iter()
                    .filter(|w| others.iter().any(|o| same(&o.stem, &w.stem)))
                    .count()
            };
            let own = fit(&mut about.iter().copied());
            let better = between.iter().any(|&i| {
                let other = self.reading(i);
                commits(&other) && fit(&mut other.own_words()) > own
            });
            if !better {
                return Some(Shown {
                    said: at,
                    span: sentence.span,
                    note: "the user takes it back here".to_owned(),
                });
            }
        }
        None
    }
}

/// Whether a later sentence takes back words said before: by a word of taking back with a shared topic (or none of its own, when
/// nothing else was decided in between), by negating them, or by an undoing verb over them.
fn takes_back(sentence: &Sentence, about: &[&ContentWord], said: &[ContentWord], last_word: bool) -> bool {
    let shares = |w: &&ContentWord| about.iter().any(|a| same(&a.stem, &w.stem));
    let common: Vec<&ContentWord> = sentence.words.iter().filter(shares).collect();
    let question = sentence.doubt(sentence.span, true).is_some();
    let (named, bare) = sentence.takes_back();
    if named && !common.is_empty() || bare && last_word && !question {
        return true;
    }
    if question {
        return false;
    }
    let against = |w: &&&ContentWord| {
        let before = said.iter().find(|s| same(&s.stem, &w.stem));
        before.is_some_and(|s| (w.negated && !s.negated) || (w.undone.is_some() && s.undone.is_none() && !s.negated))
    };
    let opposed: Vec<&&ContentWord> = common.iter().filter(against).collect();
    // "72 percent now, not 68": the value alone is taken back.
    let value = opposed.iter().any(|w| w.stem.chars().any(char::is_numeric));
    !opposed.is_empty() && (value || opposed.len() * 3 >= common.len())
}

/// Whether a message holds something that could itself be taken back: own content words, not a question.
fn commits(reading: &Reading) -> bool {
    reading
        .sentences
        .iter()
        .any(|s| !s.words.is_empty() && s.words.len() > 1 && s.doubt(s.span, false).is_none())
}
