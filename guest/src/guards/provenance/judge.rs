//! What a quote proves: one verdict for each claim, the first that applies of `corpus/LABELS.md` section 2.

use super::Checked;
use super::claims::{Claim, Kind};
use super::content::{ContentWord, content_words, same};
use super::history::{History, Place};
use super::speech::{Doubt, Reading, Sentence, is_assent};
use super::trace;
use crate::event::{Role, named};
use crate::lexicon::{self, tag};
use crate::settings::Settings;
use crate::text::fold::fold;
use crate::text::quotes::Quote;
use crate::text::words::tokens;
use std::collections::BTreeMap;

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

/// Later messages of the user that are read for a retraction.
const LATER_MAX: usize = 200;

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

/// The words of a claim by which it is known again in a later session: its sentence without quotations, letters and digits only.
/// Empty when too little is said to tell it from another claim.
pub fn identity(line: &str, claim: &Claim, quotes: &[Quote]) -> String {
    let mut words = String::new();
    let mut at = claim.content.0;
    for quote in quotes
        .iter()
        .filter(|q| q.outer.0 >= claim.content.0 && q.outer.1 <= claim.content.1)
    {
        words.push_str(&line[at..quote.outer.0]);
        words.push(' ');
        at = quote.outer.1;
    }
    words.push_str(&line[at..claim.content.1]);
    let folded: String = fold(&words)
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ')
        .collect();
    let folded = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    // "approved by the user" has 17 letters and says nothing of what was approved.
    if folded.chars().filter(|&c| c != ' ').count() * width(&folded) < 24 {
        String::new()
    } else {
        folded
    }
}

/// A CJK character says about as much as three letters.
fn width(folded: &str) -> usize {
    if folded.chars().any(crate::text::fold::is_cjk) {
        3
    } else {
        1
    }
}

/// What a claim is about.
pub struct Topic {
    /// Its content words, with the sign that the claim gives each.
    pub words: Vec<ContentWord>,
    /// Whether it names a condition itself.
    pub conditional: bool,
    /// Whether it says that the user was against it.
    pub negative: bool,
    /// The language of the claim; messages are most likely in it too.
    pub lang: &'static str,
}

/// The judge of one write: messages are read once, when they are first needed.
struct Judge<'a> {
    history: &'a History,
    settings: &'a Settings,
    readings: BTreeMap<usize, Reading>,
    /// The language of the write's first claim.
    likely: &'static str,
}

/// Judges all claims of a write; the places of all their quotes are looked up in one pass.
pub fn judge_all(after: &str, checked: &mut [Checked], history: &History, settings: &Settings) {
    let mut parts: Vec<String> = checked
        .iter()
        .flat_map(|c| &c.quotes)
        .flat_map(|q| quote_parts(&q.words))
        .collect();
    parts.sort_unstable();
    parts.dedup();
    let places = history.places(&parts);
    let found = |words: &str| -> Vec<Vec<Span>> {
        let parts_of = quote_parts(words);
        let each = parts_of
            .iter()
            .map(|p| parts.binary_search(p).map_or(&[][..], |at| &places[at]));
        joined(&parts_of, &each.collect::<Vec<_>>())
    };
    let likely = checked.first().map_or("", |c| c.claim.construction.0);
    let mut judge = Judge {
        history,
        settings,
        readings: BTreeMap::new(),
        likely,
    };
    for one in checked {
        let topic = topic(after, one);
        let mut best = Judged::default();
        for quote in &one.quotes {
            let judged = judge.quote(&topic, &fold(&quote.words), found(&quote.words));
            if best.word == Word::NoQuote || judged.word > best.word {
                best = judged;
            }
        }
        if !best.word.passes() {
            trace::explain(&topic, one, history, &mut best);
        }
        one.judged = best;
    }
}

/// The parts of a quote between ellipses, folded, without the marks that end a sentence.
fn quote_parts(words: &str) -> Vec<String> {
    let folded = fold(words);
    let parts = folded
        .split("...")
        .map(trimmed)
        .filter(|p| p.chars().any(char::is_alphanumeric));
    parts.map(str::to_owned).collect()
}

/// Drops marks around a quote's part: what typing puts at the end of a sentence, and brackets of an ellipsis.
fn trimmed(part: &str) -> &str {
    let ends = |c: char| {
        matches!(
            c,
            '.' | ','
                | '\u{3002}'
                | '\u{3001}'
                | '!'
                | '?'
                | ';'
                | ':'
                | '\u{2026}'
                | ' '
                | '\''
                | '"'
                | '['
                | ']'
                | '('
                | ')'
        )
    };
    part.trim_matches(ends)
}

/// Half-open bytes in the folded text of something said.
type Span = (usize, (usize, usize));

/// The ways in which all parts occur in order in one message; each way is a list of spans.
fn joined(parts: &[String], places: &[&[Place]]) -> Vec<Vec<Span>> {
    let Some(first) = places.first() else { return Vec::new() };
    let mut out = Vec::new();
    for start in first.iter() {
        let mut way = vec![(start.said, (start.at, start.at + parts[0].len()))];
        for (part, places) in parts.iter().zip(places).skip(1) {
            let from = way[way.len() - 1].1.1;
            let next = places.iter().find(|p| p.said == start.said && p.at >= from);
            let Some(next) = next else { break };
            way.push((next.said, (next.at, next.at + part.len())));
        }
        if way.len() == parts.len() {
            out.push(way);
        }
    }
    out
}

/// What the claim is about: the words of its sentence, without its quotations and without the user and the act.
fn topic(after: &str, one: &Checked) -> Topic {
    let line = &after[one.at..];
    let (start, end) = one.claim.content;
    let mut text = String::new();
    let mut at = start;
    // Quotations inside the sentence are the evidence, not the claim.
    for quote in one
        .quotes
        .iter()
        .filter(|q| q.span.0 >= one.at + start && q.span.1 <= one.at + end)
    {
        let (from, to) = (quote.span.0 - one.at, quote.span.1 - one.at);
        if from > at {
            text.push_str(&line[at..from]);
        }
        text.push(' ');
        at = to.max(at);
    }
    text.push_str(&line[at.min(end)..end]);
    // The head's place in the shortened text: the same distance from its beginning unless a quotation stood before it.
    let lang = one.claim.construction.0;
    let head = fold(&line[one.claim.head.0..one.claim.head.1]);
    let folded = fold(&text);
    let cut = tokens(&folded);
    let negative = one.claim.negative || one.claim.kind == Kind::Rejection;
    let Some(pack) = lexicon::pack(lang) else {
        return Topic {
            words: Vec::new(),
            conditional: false,
            negative,
            lang,
        };
    };
    let mut units = pack.units(&folded, &cut, &[]);
    let head_start = folded.find(&head).unwrap_or(0);
    let head_end = head_start + head.len();
    // Negations up to the head made the claim what it is (a rejection): they don't count a second time.
    let signs = tag("neg") | tag("neg-both") | tag("neg-after") | tag("anti") | tag("rejection");
    let verb_last = matches!(pack.lang, "ja" | "ko");
    for unit in &mut units {
        let put_out = if verb_last {
            unit.end > head_start
        } else {
            unit.start < head_end
        };
        if put_out && unit.tags & signs != 0 {
            unit.tags = tag("func");
        }
    }
    let mut words = content_words(&folded, &units, pack);
    if negative {
        words.iter_mut().for_each(|w| w.negated = !w.negated);
    }
    let conditional = units
        .iter()
        .any(|u| u.tags & (tag("cond") | tag("cond-first") | tag("cond-claim")) != 0);
    Topic {
        lang,
        words,
        conditional,
        negative,
    }
}

/// The content words that a topic and a stretch share, as pairs (of the topic, of the stretch).
fn shared<'a>(topic: &'a [ContentWord], words: &[&'a ContentWord]) -> Vec<(&'a ContentWord, &'a ContentWord)> {
    words
        .iter()
        .filter_map(|w| topic.iter().find(|t| same(&t.stem, &w.stem)).map(|t| (t, *w)))
        .collect()
}

/// Whether the shared words stand on opposite sides: more of them negated on one side only than on both or none. For a claim that the
/// user was against something one word on the same side is enough: where and when it holds is not negated. An undoing verb on one side
/// ("cancel X", "X was rejected") may be what makes up for a negation on the other.
fn reversed(topic: &Topic, pairs: &[(&ContentWord, &ContentWord)], quote: Span) -> bool {
    let opposite = pairs.iter().filter(|(t, w)| {
        if t.negated != w.negated {
            return (t.negated != t.undone.is_some()) != (w.negated != w.undone.is_some());
        }
        // An undoing verb that was cut off: neither the quote nor the claim has it.
        let cut_off = w.undone.is_some_and(|verb| verb.1 <= quote.1.0 || verb.0 >= quote.1.1);
        cut_off && t.undone.is_none() && !t.negated && !w.negated
    });
    let opposite = opposite.count();
    if topic.negative {
        opposite == pairs.len()
    } else {
        opposite * 2 > pairs.len()
    }
}

impl Judge<'_> {
    fn reading(&mut self, said: usize) -> &Reading {
        let text = &self.history.said()[said].message.text;
        let likely = self.likely;
        self.readings.entry(said).or_insert_with(|| Reading::new(text, likely))
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
    fn is_principal(&self, said: usize) -> bool {
        let author = &self.history.said()[said].message.author;
        self.settings.principals.is_empty() || self.settings.principals.contains(author)
    }

    /// The verdict on one place of a quote.
    fn place(&mut self, topic: &Topic, folded: &str, way: &[Span]) -> Judged {
        let said = way[0].0;
        let show = |note: &str| {
            way.iter()
                .map(|&(said, span)| Shown {
                    said,
                    span,
                    note: note.to_owned(),
                })
                .collect::<Vec<_>>()
        };
        let assent = is_assent(folded, self.likely);
        let reading = self.reading(said);
        if way.iter().all(|&(_, span)| reading.is_material(span)) {
            return Judged {
                word: Word::QuotedMaterial,
                shown: show("it stands in what the user pasted or quoted"),
                ..Judged::default()
            };
        }
        if assent {
            return self.assent(topic, said, show("the user assents here"));
        }
        let words: Vec<&ContentWord> = way
            .iter()
            .flat_map(|&(_, span)| {
                reading
                    .sentences_at(span)
                    .flat_map(move |s| s.words.iter().filter(move |w| touches(w, span)))
            })
            .collect();
        let pairs = shared(&topic.words, &words);
        if pairs.is_empty() {
            return Judged {
                word: Word::Unrelated,
                shown: show("the user says this, about something else"),
                ..Judged::default()
            };
        }
        if reversed(topic, &pairs, way[0]) {
            let note = if topic.negative {
                "The user is for it there."
            } else {
                "A negation governs these words there."
            };
            let shown = show("the user says the opposite here");
            return Judged {
                word: Word::NegationDropped,
                note: note.to_owned(),
                shown,
                ..Judged::default()
            };
        }
        if let Some(doubt) = doubt(reading, way, topic) {
            let shown = show("the user weighs it here");
            return Judged {
                word: Word::NotACommitment,
                note: doubt.note().to_owned(),
                shown,
                ..Judged::default()
            };
        }
        let stems: Vec<ContentWord> = words.iter().map(|w| (*w).clone()).collect();
        if let Some(later) = self.retraction(said, topic, &stems) {
            return Judged {
                word: Word::Retracted,
                shown: [show("the user says it here"), vec![later]].concat(),
                ..Judged::default()
            };
        }
        Judged {
            word: Word::Supported,
            shown: show("the user says it here"),
            ..Judged::default()
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

    /// Where a later message of the user takes back what was said, if one does.
    fn retraction(&mut self, said: usize, topic: &Topic, words: &[ContentWord]) -> Option<Shown> {
        let later: Vec<usize> = (said + 1..self.history.said().len())
            .filter(|&i| self.history.said()[i].is_human() && self.is_principal(i))
            .take(LATER_MAX)
            .collect();
        let about: Vec<&ContentWord> = words.iter().chain(&topic.words).collect();
        // A retraction without a topic takes back the last thing that the user committed to.
        let mut last_word = true;
        // What the user said in between: a retraction that fits one of these better is about that.
        let mut between: Vec<usize> = Vec::new();
        for at in later {
            let found = self.taken_back_in(at, &about, words, last_word, &between);
            if found.is_some() {
                return found;
            }
            let reading = self.reading(at);
            last_word &= !commits(reading);
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
        between.iter().for_each(|&i| _ = self.reading(i));
        self.reading(at);
        let reading = &self.readings[&at];
        for sentence in reading.sentences.iter().filter(|s| !reading.is_material(s.span)) {
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
            let better = between.iter().any(|i| {
                let other = &self.readings[i];
                commits(other) && fit(&mut other.own_words()) > own
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

/// Whether a word is at least half inside the span.
fn touches(word: &ContentWord, span: (usize, usize)) -> bool {
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
    !opposed.is_empty() && (value || opposed.len() * 2 >= common.len())
}

/// Whether a message holds something that could itself be taken back: own content words, not a question.
fn commits(reading: &Reading) -> bool {
    reading
        .sentences
        .iter()
        .any(|s| !s.words.is_empty() && s.words.len() > 1 && s.doubt(s.span, false).is_none())
}
