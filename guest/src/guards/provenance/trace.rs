//! What would pass: the user's own words that come nearest to a claim, and what is wrong with a quote that comes near.

use super::Checked;
use super::content::{ContentWord, same};
use super::history::History;
use super::judge::{Judged, Shown, Word};
use super::places::trimmed;
use super::speech::Sentence;
use super::topic::Topic;
use crate::lexicon::packs_for;
use crate::text::fold::fold;
use crate::text::words::tokens;
use crate::work::Work;

/// Messages that are read closely for one claim: those that share most with it.
const NEAR_MAX: usize = 4;

/// Words of a quote that are tried as the seam of two messages.
const SEAMS_MAX: usize = 24;

/// Adds to a failed verdict what would pass: the nearest sentence of the user that shares most of the claim's words, stands on its
/// side and is a commitment. For a quote that was not found, also how it comes near: stitched from two messages, one word changed,
/// in another language. `stitched` tells whether to ask the first of these, which costs most.
pub fn explain(topic: &Topic, one: &Checked, history: &History, work: &Work, stitched: bool, judged: &mut Judged) {
    if topic.words.is_empty() || judged.word == Word::Retracted {
        return;
    }
    let quote = one
        .quotes
        .first()
        .map(|q| q.folded.clone())
        .filter(|_| judged.word == Word::NotFound);
    if let Some(quote) = &quote
        && stitched
        && is_stitched(quote, history, work)
    {
        judged.note = "Its two halves were said in different messages.".to_owned();
    }
    let Some((said, sentence, text)) = nearest(topic, history, work) else {
        return;
    };
    if let Some(quote) = &quote
        && judged.note.is_empty()
    {
        judged.note = difference(quote, &fold(&text));
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

/// Whether the user said the beginning of the quote in one message and the rest in another. Where a beginning was not said, no
/// longer one was, and where an end was not, neither: so the longest of each decides.
fn is_stitched(quote: &str, history: &History, work: &Work) -> bool {
    let seams: Vec<usize> = quote.match_indices(' ').map(|(at, _)| at).take(SEAMS_MAX).collect();
    let halves = |at: usize| [trimmed(&quote[..at]), trimmed(&quote[at + 1..])];
    if seams.iter().any(|&at| halves(at).contains(&"")) {
        return false;
    }
    let said = |half: &str| history.is_said(half, work);
    let beginnings = seams.partition_point(|&at| said(halves(at)[0]));
    let ends = seams.partition_point(|&at| !said(halves(at)[1]));
    ends < beginnings
}

/// The best sentence of the user: the index of what was said, its bytes in the folded text, its words as they were typed.
fn nearest(topic: &Topic, history: &History, work: &Work) -> Option<(usize, (usize, usize), String)> {
    let stems: Vec<&str> = topic.words.iter().map(|w| w.stem.as_str()).collect();
    let mut best: Option<(usize, usize, (usize, usize), String)> = None;
    for said in history.near(&stems, NEAR_MAX) {
        let reading = history.reading(said, topic.lang, work);
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

/// How a quote differs from what was said, for the agent.
fn difference(quote: &str, said: &str) -> String {
    let words = |text: &str| -> Vec<String> {
        tokens(text)
            .iter()
            .map(|t| t.of(text).to_owned())
            .filter(|w| w.chars().any(char::is_alphanumeric))
            .collect()
    };
    let (quoted, spoken) = (words(quote), words(said));
    let missing: Vec<&String> = quoted.iter().filter(|w| !spoken.contains(w)).collect();
    if language(quote) != language(said) && missing.len() * 2 > quoted.len() {
        return "It may be a translation; only the user's own words prove it.".to_owned();
    }
    match missing.as_slice() {
        [] => "The words stand there in another order, or not side by side.".to_owned(),
        [one] => format!("One word differs: the user did not write \u{201C}{one}\u{201D} there."),
        _ if missing.len() == quoted.len() => String::new(),
        many => {
            let first: Vec<&str> = many.iter().take(4).map(|w| w.as_str()).collect();
            format!("Not in the user's words: {}.", first.join(", "))
        }
    }
}

/// The language of a text, as far as its script and its words tell.
fn language(text: &str) -> &'static str {
    packs_for(text, &tokens(text), "").first().map_or("", |pack| pack.lang)
}
