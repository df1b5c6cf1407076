//! What would pass: the user's own words that come nearest to a claim, and what is wrong with a quote that comes near.

use super::Checked;
use super::content::{ContentWord, same};
use super::history::History;
use super::judge::{Judged, Shown, Word};
use super::speech::{Reading, Sentence};
use super::topic::Topic;
use crate::text::fold::fold;

/// Messages that are read closely for one claim: those that share most with it.
const NEAR_MAX: usize = 4;

/// Adds to a failed verdict what would pass: the nearest sentence of the user that shares most of the claim's words, stands on its
/// side and is a commitment. For a quote that was not found, also which words differ.
pub fn explain(topic: &Topic, one: &Checked, history: &History, judged: &mut Judged) {
    if topic.words.is_empty() || judged.word == Word::Retracted {
        return;
    }
    let Some((said, sentence, text)) = nearest(topic, history) else {
        return;
    };
    if judged.word == Word::NotFound
        && let Some(quote) = one.quotes.first()
    {
        judged.note = difference(&fold(&quote.words), &fold(&text));
    }
    judged.would_pass = text;
    if judged.shown.is_empty() {
        judged.shown.push(Shown {
            said,
            span: sentence,
            note: "this would support it".to_owned(),
        });
    }
}

/// The best sentence of the user: the index of what was said, its bytes in the folded text, its words as they were typed.
fn nearest(topic: &Topic, history: &History) -> Option<(usize, (usize, usize), String)> {
    let stems: Vec<&str> = topic.words.iter().map(|w| w.stem.as_str()).collect();
    let mut best: Option<(usize, usize, (usize, usize), String)> = None;
    for said in history.near(&stems, NEAR_MAX) {
        let reading = Reading::new(&history.said()[said].message.text, topic.lang);
        for sentence in reading.sentences.iter().filter(|s| !reading.is_material(s.span)) {
            let score = score(topic, sentence);
            if score > best.as_ref().map_or(0, |b| b.0) {
                let (start, end) = reading.folded.original(sentence.span.0, sentence.span.1);
                let text = history.said()[said].message.text[start..end].trim().to_owned();
                best = Some((score, said, sentence.span, text));
            }
        }
    }
    best.map(|(_, said, span, text)| (said, span, text))
}

/// How many of the claim's words the sentence shares on the same side; 0 when it would not support the claim. Two shared words at
/// least, or all there are: one common word makes no evidence.
fn score(topic: &Topic, sentence: &Sentence) -> usize {
    let pairs: Vec<(&ContentWord, &ContentWord)> = topic
        .words
        .iter()
        .filter_map(|t| sentence.words.iter().find(|w| same(&t.stem, &w.stem)).map(|w| (t, w)))
        .collect();
    let agreeing = pairs
        .iter()
        .filter(|(t, w)| (t.negated != t.undone.is_some()) == (w.negated != w.undone.is_some()))
        .count();
    let enough = pairs.len() >= 2.min(topic.words.len()) && pairs.len() * 3 >= topic.words.len();
    if !enough || agreeing * 2 <= pairs.len() || sentence.doubt(sentence.span, topic.conditional).is_some() {
        0
    } else {
        agreeing
    }
}

/// The first words that differ between a quote and what was said, for the agent.
fn difference(quote: &str, said: &str) -> String {
    let quoted: Vec<&str> = quote.split(' ').collect();
    let spoken: Vec<&str> = said.split(' ').collect();
    let missing: Vec<&str> = quoted
        .iter()
        .filter(|w| !spoken.contains(*w))
        .take(4)
        .copied()
        .collect();
    let all = missing.len() == quoted.len();
    if missing.is_empty() {
        return "The words stand there in another order, or not side by side.".to_owned();
    }
    if all {
        String::new()
    } else {
        format!("Not in the user's words: {}.", missing.join(", "))
    }
}
