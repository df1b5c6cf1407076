//! What a quote proves: one verdict for each claim, the first that applies of `corpus/LABELS.md` section 2.

use super::Checked;
use super::attach::Attached;
use super::content::ContentWord;
use super::history::History;
use super::places::{Span, joined};
use super::speech::{Doubt, Reading, is_assent};
use super::topic::{Topic, reversed, shared, topic};
use super::trace;
use crate::event::{Role, named};
use crate::settings::Settings;
use crate::verdict::FINDINGS_MAX;
use crate::work::Work;
use std::collections::BTreeMap;
use std::rc::Rc;

named!(
    /// The verdicts on a claim, in the order in which the first that applies wins.
    Word {
        NoQuote = "no-quote", NotFound = "not-found", WrongSpeaker = "wrong-speaker", QuotedMaterial = "quoted-material",
        Unrelated = "unrelated", NegationDropped = "negation-dropped", NotACommitment = "not-a-commitment",
        Retracted = "retracted", Assented = "assented", Supported = "supported",
    }
);

impl Word {
    /// Whether a claim with this verdict may be stored.
    pub const fn passes(self) -> bool {
        matches!(self, Self::Assented | Self::Supported)
    }

    /// The rule id of its finding.
    pub const fn rule(self) -> &'static str {
        match self {
            Self::NoQuote => "provenance.no-quote",
            Self::NotFound => "provenance.not-found",
            Self::WrongSpeaker => "provenance.wrong-speaker",
            Self::QuotedMaterial => "provenance.quoted-material",
            Self::Unrelated => "provenance.unrelated",
            Self::NegationDropped => "provenance.negation-dropped",
            Self::NotACommitment => "provenance.not-a-commitment",
            Self::Retracted => "provenance.retracted",
            Self::Assented => "provenance.assented",
            Self::Supported => "provenance.supported",
        }
    }
}

/// Failed claims of one write for which it is asked whether their quote was stitched from two messages.
const STITCHED_MAX: usize = 4;

/// Places of one quote that are judged: the newest first, since the last word counts.
const PLACES_JUDGED_MAX: usize = 16;

/// Evidence before it is turned into a finding's: the index of what was said, bytes into its folded text, and what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Index into [`History::said`].
    pub said: usize,
    /// Half-open bytes into its folded text.
    pub span: (usize, usize),
    /// What it shows.
    pub note: String,
}

/// The verdict on one claim.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The verdict.
    pub word: Word,
    /// What is wrong, or right, in a few words for the agent.
    pub note: String,
    /// What speaks for or against.
    pub shown: Vec<Shown>,
    /// A quote that would pass, in the user's own spelling, or "".
    pub would_pass: String,
}

impl Judged {
    fn new(word: Word, note: &str, shown: Vec<Shown>) -> Self {
        Self {
            word,
            note: note.to_owned(),
            shown,
            would_pass: String::new(),
        }
    }
}

impl Default for Judged {
    fn default() -> Self {
        Self {
            word: Word::NoQuote,
            note: String::new(),
            shown: Vec::new(),
            would_pass: String::new(),
        }
    }
}

/// What judging a claim costs besides what is read for it, and a quote of a claim.
const STEPS_A_CLAIM: usize = 2_000;
const STEPS_A_QUOTE: usize = 400;

/// The judge of one write: messages are read once, when they are first needed.
pub(super) struct Judge<'a> {
    pub(super) history: &'a History,
    settings: &'a Settings,
    pub(super) readings: BTreeMap<usize, Rc<Reading>>,
    pub(super) work: &'a Work,
    /// The language of the write's first claim.
    likely: &'static str,
}

/// Judges all claims of a write; the places of all their quotes are looked up in one pass.
/// Returns how many were judged before the work was spent.
pub fn judge_all(after: &str, checked: &mut [Checked], history: &History, settings: &Settings, work: &Work) -> usize {
    // Claims of one line share its quotes.
    let own = |i: usize| i == 0 || !Rc::ptr_eq(&checked[i - 1].quotes, &checked[i].quotes);
    let mut parts: Vec<String> = (0..checked.len())
        .filter(|&i| own(i))
        .flat_map(|i| checked[i].quotes.iter())
        .flat_map(|q| q.parts.iter().cloned())
        .collect();
    parts.sort_unstable();
    parts.dedup();
    let places = history.places(&parts, work);
    let found = |quote: &Attached| -> Vec<Vec<Span>> {
        let each = quote
            .parts
            .iter()
            .map(|p| parts.binary_search(p).map_or(&[][..], |at| &places[at]));
        joined(&quote.parts, &each.collect::<Vec<_>>())
    };
    let likely = checked.first().map_or("", |c| c.claim.construction.0);
    let mut judge = Judge {
        history,
        settings,
        readings: BTreeMap::new(),
        work,
        likely,
    };
    let mut explained = 0;
    for (i, one) in checked.iter_mut().enumerate() {
        if !work.take(STEPS_A_CLAIM) {
            return i;
        }
        let topic = topic(after, one);
        let mut best = Judged::default();
        for quote in one.quotes.iter() {
            if !work.take(STEPS_A_QUOTE + quote.folded.len()) {
                return i;
            }
            let judged = judge.quote(&topic, &quote.folded, found(quote));
            if best.word == Word::NoQuote || judged.word > best.word {
                best = judged;
            }
        }
        // Only what is shown needs explaining; the more costly question is asked for the first few.
        if !best.word.passes() && explained < FINDINGS_MAX {
            trace::explain(&topic, one, history, work, explained < STITCHED_MAX, &mut best);
            explained += 1;
        }
        one.judged = best;
    }
    if work.is_spent() { 0 } else { checked.len() }
}

impl Judge<'_> {
    /// What was said, read once.
    pub(super) fn reading(&mut self, said: usize) -> Rc<Reading> {
        let (history, likely, work) = (self.history, self.likely, self.work);
        let reading = self
            .readings
            .entry(said)
            .or_insert_with(|| history.reading(said, likely, work));
        Rc::clone(reading)
    }

    /// The verdict on one quote: the best that any place of it gives.
    fn quote(&mut self, topic: &Topic, folded: &str, ways: Vec<Vec<Span>>) -> Judged {
        if ways.is_empty() {
            return Judged {
                word: Word::NotFound,
                ..Judged::default()
            };
        }
        let mut best: Option<Judged> = None;
        let human = |way: &&Vec<Span>| self.history.said()[way[0].0].is_human() && self.is_principal(way[0].0);
        let chosen: Vec<&Vec<Span>> = ways.iter().rev().filter(human).take(PLACES_JUDGED_MAX).collect();
        if chosen.is_empty() {
            let shown = Shown {
                said: ways[0][0].0,
                span: ways[0][0].1,
                note: "somebody else said it here".to_owned(),
            };
            return Judged {
                word: Word::WrongSpeaker,
                shown: vec![shown],
                ..Judged::default()
            };
        }
        for way in chosen {
            let judged = self.place(topic, folded, way);
            if best.as_ref().is_none_or(|b| judged.word > b.word) {
                best = Some(judged);
            }
        }
        best.unwrap_or_default()
    }

    /// In a shared chat only the principals' words support a claim.
    pub(super) fn is_principal(&self, said: usize) -> bool {
        let author = &self.history.said()[said].message.author;
        self.settings.principals.is_empty() || self.settings.principals.contains(author)
    }

    /// The verdict on one place of a quote.
    fn place(&mut self, topic: &Topic, folded: &str, way: &[Span]) -> Judged {
        let said = way[0].0;
        let show = |note: &str| shown(way, note);
        let assent = is_assent(folded, self.likely);
        let text = &self.history.said()[said].message.text;
        let reading = self.reading(said);
        if way.iter().all(|&(_, span)| reading.is_material(span)) {
            let note = "it stands in what the user pasted or quoted";
            return Judged::new(Word::QuotedMaterial, "", show(note));
        }
        if assent {
            return self.assent(topic, said, show("the user assents here"));
        }
        let words: Vec<&ContentWord> = way.iter().flat_map(|&(_, span)| reading.words_at(span)).collect();
        let pairs = shared(&topic.words, &words);
        if pairs.is_empty() {
            // Words of two languages can't be compared; that it is a question there can be told all the same.
            let foreign = reading.sentences_at(way[0].1).all(|s| s.pack.lang != topic.lang);
            if let Some(doubt) = doubt(&reading, way, topic).filter(|_| foreign) {
                return Judged::new(Word::NotACommitment, doubt.note(), show("the user weighs it here"));
            }
            return Judged::new(Word::Unrelated, "", show("the user says this, about something else"));
        }
        if reversed(topic, &pairs, way[0]) && !agrees_in_its_language(topic, &reading, way[0], &words) {
            let spoken: Vec<String> = reading
                .sentences_at(way[0].1)
                .map(|s| reading.spoken(s.span, text))
                .collect();
            let note = format!(
                "You wrote \u{201C}{folded}\u{201D}; the user wrote \u{201C}{}\u{201D}.",
                spoken.join(" ")
            );
            return Judged::new(Word::NegationDropped, &note, show("the user says the opposite here"));
        }
        if let Some(doubt) = doubt(&reading, way, topic) {
            return Judged::new(Word::NotACommitment, doubt.note(), show("the user weighs it here"));
        }
        let words: Vec<ContentWord> = words.iter().map(|w| (*w).clone()).collect();
        let here = show("the user says it here");
        match self.retraction(said, topic, &words) {
            Some(later) => Judged::new(Word::Retracted, "", [here, vec![later]].concat()),
            None => Judged::new(Word::Supported, "", here),
        }
    }

    /// A bare assent is read together with the assistant's row that it answers.
    fn assent(&mut self, topic: &Topic, said: usize, shown: Vec<Shown>) -> Judged {
        let before = (0..said)
            .rev()
            .find(|&i| self.history.said()[i].message.role != Role::Tool);
        let Some(asked) = before.filter(|&i| self.history.said()[i].message.role == Role::Assistant) else {
            return Judged {
                word: Word::Unrelated,
                note: "It answers nothing that the agent said.".to_owned(),
                shown,
                ..Judged::default()
            };
        };
        if !self.settings.accept_assent {
            let note = "Bare assents don't count by your settings.".to_owned();
            return Judged {
                word: Word::NotACommitment,
                note,
                shown,
                ..Judged::default()
            };
        }
        let proposal = self.reading(asked);
        let words: Vec<&ContentWord> = proposal.sentences.iter().flat_map(|s| &s.words).collect();
        let pairs = shared(&topic.words, &words);
        let Some(last) = pairs.last().map(|p| p.1.span) else {
            let note = "It answers a row of the agent about something else.".to_owned();
            return Judged {
                word: Word::Unrelated,
                note,
                shown,
                ..Judged::default()
            };
        };
        let about: Vec<ContentWord> = pairs.iter().map(|p| p.1.clone()).collect();
        let proposed = Shown {
            said: asked,
            span: last,
            note: "the agent proposed it here".to_owned(),
        };
        if let Some(later) = self.retraction(said, topic, &about) {
            return Judged {
                word: Word::Retracted,
                shown: [shown, vec![proposed, later]].concat(),
                ..Judged::default()
            };
        }
        Judged {
            word: Word::Assented,
            shown: [shown, vec![proposed]].concat(),
            ..Judged::default()
        }
    }
}

/// Whether the claim, read in the language of the quoted words, stands on the same side after all: its negation may be in that
/// language ("User: nicht umbenennen").
fn agrees_in_its_language(topic: &Topic, reading: &Reading, quote: Span, words: &[&ContentWord]) -> bool {
    let Some(pack) = reading
        .sentences_at(quote.1)
        .map(|s| s.pack)
        .find(|p| p.lang != topic.lang)
    else {
        return false;
    };
    let again = topic.read_by(pack);
    let pairs = shared(&again.words, words);
    !pairs.is_empty() && !reversed(&again, &pairs, quote)
}

/// The places of a quote's parts as evidence.
fn shown(way: &[Span], note: &str) -> Vec<Shown> {
    way.iter()
        .map(|&(said, span)| Shown {
            said,
            span,
            note: note.to_owned(),
        })
        .collect()
}

/// Whether a word touches the span.
pub(super) fn touches(word: &ContentWord, span: (usize, usize)) -> bool {
    word.span.0 < span.1 && span.0 < word.span.1
}

/// What keeps the quoted words from being a commitment: what holds of every sentence they touch.
fn doubt(reading: &Reading, way: &[Span], topic: &Topic) -> Option<Doubt> {
    let mut found = None;
    for &(_, span) in way {
        for sentence in reading.sentences_at(span) {
            match sentence.doubt(span, topic.conditional) {
                Some(doubt) => found = Some(doubt),
                None if sentence.words.iter().any(|w| touches(w, span)) => return None,
                None => {}
            }
        }
    }
    found
}
