//! Speech: what the user meant by the words around a quote. Is it a question, a condition, an idea, somebody else's wish, a bare
//! assent, a retraction?
//!
//! A message is read line by line (a line break ends a sentence), each line by the packs of its script. The words that decide are
//! data: `speech.csv` of each pack (`corpus/README.md` lists the tags).

use super::content::{ContentWord, content_words};
use super::judge::touches;
use super::material::material;
use crate::lexicon::{Pack, Tags, Unit, packs_for, sentences, tag};
use crate::text::fold::Folded;
use crate::text::segment;
use crate::text::words::{Token, tokens};

/// Characters of a sentence that are repeated to the agent.
const SPOKEN_CHARS_MAX: usize = 160;

/// A sentence of a message. Offsets are bytes in the message's folded text.
pub struct Sentence {
    /// The pack that read it.
    pub pack: &'static Pack,
    /// Its units.
    pub units: Vec<Unit>,
    /// Half-open.
    pub span: (usize, usize),
    /// What it is about.
    pub words: Vec<ContentWord>,
}

/// A message, read.
pub struct Reading {
    /// Its text, folded, with the way back.
    pub folded: Folded,
    /// Its sentences, in order.
    pub sentences: Vec<Sentence>,
    /// Half-open byte ranges in the folded text that are not the user's own words.
    pub material: Vec<(usize, usize)>,
}

/// What keeps words from being the user's own commitment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// It is asked.
    Question,
    /// It depends on something.
    Condition,
    /// It is weighed.
    Idea,
    /// Somebody else wants it.
    SomebodyElse,
}

impl Doubt {
    /// For the agent.
    pub const fn note(self) -> &'static str {
        match self {
            Self::Question => "It is a question there.",
            Self::Condition => "It depends on a condition there; a claim that names the condition would pass.",
            Self::Idea => "It is an idea being weighed there.",
            Self::SomebodyElse => "It is somebody else's wish or word there.",
        }
    }
}

impl Reading {
    /// Reads a message that is most likely in that language.
    pub fn new(text: &str, likely: &str) -> Self {
        let folded = Folded::new(text);
        let all = tokens(&folded.text);
        let mut out = Vec::new();
        for line in segment::lines(text) {
            let (start, end) = (folded.folded_at(line.start), folded.folded_at(line.end));
            let from = all.partition_point(|t| t.start < start);
            let to = all.partition_point(|t| t.start < end);
            if from < to {
                read_line(&folded.text, &all[from..to], likely, &mut out);
            }
        }
        let material = material(text)
            .into_iter()
            .map(|(s, e)| (folded.folded_at(s), folded.folded_at(e)));
        let material = material.filter(|(s, e)| s < e).collect();
        Self {
            folded,
            sentences: out,
            material,
        }
    }

    /// Whether the folded bytes stand wholly in what the user pasted or quoted.
    pub fn is_material(&self, span: (usize, usize)) -> bool {
        // Neighbouring material lines join: a quote may run over their break.
        let mut at = span.0;
        for &(start, end) in &self.material {
            if start <= at && at < end {
                at = end;
                // A line break or a blank between two pieces folds to one byte.
                if self.folded.text[at..].starts_with(' ') {
                    at += 1;
                }
            }
        }
        at >= span.1
    }

    /// The sentences that the folded bytes touch.
    pub fn sentences_at(&self, span: (usize, usize)) -> impl Iterator<Item = &Sentence> {
        self.sentences
            .iter()
            .filter(move |s| s.span.0 < span.1 && span.0 < s.span.1)
    }

    /// Folded bytes as they were typed in `text`, the message that was read; at most a line's worth.
    pub fn spoken(&self, span: (usize, usize), text: &str) -> String {
        let (start, end) = self.folded.original(span.0, span.1);
        text[start..end].trim().chars().take(SPOKEN_CHARS_MAX).collect()
    }

    /// The content words that the folded bytes touch.
    pub fn words_at(&self, span: (usize, usize)) -> impl Iterator<Item = &ContentWord> {
        self.sentences_at(span)
            .flat_map(move |s| s.words.iter().filter(move |w| touches(w, span)))
    }

    /// The content words of everything that is the user's own.
    pub fn own_words(&self) -> impl Iterator<Item = &ContentWord> {
        self.sentences
            .iter()
            .filter(|s| !self.is_material(s.span))
            .flat_map(|s| &s.words)
    }
}

fn read_line(folded: &str, line: &[Token], likely: &str, out: &mut Vec<Sentence>) {
    let (start, end) = (line[0].start, line[line.len() - 1].end);
    let text = &folded[start..end];
    let shifted: Vec<Token> = line
        .iter()
        .map(|t| Token {
            start: t.start - start,
            end: t.end - start,
            class: t.class,
        })
        .collect();
    // The first pack reads the line; a script with its own pack comes before Latin loan words.
    let Some(pack) = packs_for(text, &shifted, likely).into_iter().next() else {
        return;
    };
    let units = pack.units(folded, line, &[]);
    for (from, to) in sentences(folded, &units) {
        let units = units[from..to].to_vec();
        let span = (units[0].start, units[units.len() - 1].end);
        let words = content_words(folded, &units, pack);
        out.push(Sentence {
            pack,
            units,
            span,
            words,
        });
    }
}

impl Sentence {
    fn has(&self, wanted: Tags, within: (usize, usize)) -> bool {
        self.units
            .iter()
            .any(|u| u.tags & wanted != 0 && u.start < within.1 && within.0 < u.end)
    }

    /// Whether some unit has one of the tags.
    pub fn any(&self, wanted: Tags) -> bool {
        self.has(wanted, self.span)
    }

    /// What keeps the words at `span` from being the user's own commitment. `stated` tells that the claim names a condition itself.
    pub fn doubt(&self, span: (usize, usize), stated: bool) -> Option<Doubt> {
        let up_to = (self.span.0, span.1.min(self.span.1));
        if self.is_question(up_to) {
            return Some(Doubt::Question);
        }
        if self.somebody_else(up_to) {
            return Some(Doubt::SomebodyElse);
        }
        if !stated && self.is_conditional() {
            return Some(Doubt::Condition);
        }
        self.any(tag("hedge")).then_some(Doubt::Idea)
    }

    /// Where the clause ends that the byte before `at` belongs to.
    fn clause_end(&self, at: usize) -> usize {
        let stop = self.units.iter().find(|u| u.start >= at && u.tags & tag("stop") != 0);
        stop.map_or(self.span.1, |u| u.start)
    }

    /// Whether a clause begins at unit `i`.
    fn begins(&self, i: usize) -> bool {
        i == 0 || self.units[i - 1].tags & (tag("stop") | tag("conj") | tag("scope-end") | tag("dash")) != 0
    }

    /// Whether a condition is set: `cond` anywhere, or `cond-first` where a clause begins.
    fn is_conditional(&self) -> bool {
        let sets =
            |(i, u): (usize, &Unit)| u.tags & tag("cond") != 0 || (u.tags & tag("cond-first") != 0 && self.begins(i));
        self.units.iter().enumerate().any(sets)
    }

    /// A question about what to do: a question mark or particle at the end, or words of asking before the quoted ones (`ask` where a
    /// clause begins, `ask-any` anywhere). A request in question form addressed to the agent is none.
    fn is_question(&self, up_to: (usize, usize)) -> bool {
        if self.any(tag("polite")) {
            return false;
        }
        let clause = self.clause_end(up_to.1);
        let asks = |(i, u): (usize, &Unit)| {
            (u.start < clause && u.tags & tag("ask-any") != 0)
                || (u.start < up_to.1 && u.tags & tag("ask") != 0 && self.begins(i))
        };
        if self.units.iter().enumerate().any(asks) {
            return true;
        }
        let marks = tag("quest") | tag("excl") | tag("close") | tag("stop");
        let last = self.units.iter().rev().find(|u| u.tags & marks == 0);
        let mark = self.units.last().is_some_and(|u| u.tags & tag("quest") != 0);
        mark || last.is_some_and(|u| u.tags & tag("ask-end") != 0)
    }

    /// Whether somebody else is the one who wants or says it: a verb of wanting or saying with another subject than the speaker, in the
    /// clause of the quoted words or directly before it ("my boss said, use Redis").
    fn somebody_else(&self, up_to: (usize, usize)) -> bool {
        let (first, third, says, says3) = (tag("first"), tag("third"), tag("says"), tag("says3"));
        let mut subject = 0;
        let mut other = false;
        let mut aside = false;
        // Where the verb stands last, it stands behind the quoted words.
        let end = if matches!(self.pack.lang, "ja" | "ko") {
            self.clause_end(up_to.1)
        } else {
            up_to.1
        };
        let before = self.units.iter().take_while(|u| u.start < end);
        for (i, unit) in before.enumerate() {
            let next = self.units.get(i + 1).map_or(0, |n| n.tags);
            // "my boss's", 孩子的: the possessor is not the subject.
            if unit.tags & (third | first) != 0 && next & tag("of") == 0 {
                subject = unit.tags & (third | first);
                other &= subject & first == 0;
            }
            // "I don't care what the brochure says, seal it": what is set aside is not whose word it is.
            aside |= unit.tags & tag("whatever") != 0;
            let ends = unit.tags & (tag("stop") | tag("contrast")) != 0;
            if ends && (aside || i > 0 && self.units[i - 1].tags & (says | says3) == 0) {
                aside = false;
                (subject, other) = (0, false);
            }
            other |= unit.tags & says3 != 0 && subject & first == 0 && i > 0;
            other |= unit.tags & says != 0 && subject & third != 0;
        }
        other
    }

    /// Whether the sentence takes something back, as far as its own words tell: what it names, or whatever was said last.
    pub fn takes_back(&self) -> (bool, bool) {
        (
            self.any(tag("retract") | tag("retract-bare")),
            self.any(tag("retract-bare")),
        )
    }
}

/// Whether the folded words are a bare assent: assents and words that mean nothing by themselves.
pub fn is_assent(folded: &str, likely: &str) -> bool {
    let cut = tokens(folded);
    let assent = tag("assent");
    let filler = tag("func") | tag("polite") | tag("stop") | tag("first") | tag("conj") | tag("excl") | tag("light");
    packs_for(folded, &cut, likely).into_iter().any(|pack| {
        let units = pack.units(folded, &cut, &[]);
        let means = |u: &&Unit| folded[u.start..u.end].chars().any(char::is_alphanumeric);
        let mut yes = false;
        let all = units.iter().filter(means).all(|u| {
            yes |= u.tags & assent != 0;
            u.tags & (assent | filler) != 0 && u.tags & tag("neg") == 0
        });
        all && yes
    })
}
