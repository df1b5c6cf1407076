//! What a claim is about, and whether a quote says the same of it or the opposite.

use super::Checked;
use super::claims::{Claim, Kind};
use super::content::{ContentWord, content_words, same};
use super::places::Span;
use crate::lexicon::{Pack, packs_for, tag};
use crate::text::fold::{fold, is_cjk};
use crate::text::quotes::Quote;
use crate::text::words::tokens;

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
    said: Said,
}

/// A claim's own text, folded, before its words are read.
#[derive(Clone)]
struct Said {
    text: String,
    head: String,
    negative: bool,
}

/// What the claim is about: the words of its sentence, without its quotations and without the user and the act.
pub fn topic(after: &str, one: &Checked) -> Topic {
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
    let lang = one.claim.construction.0;
    let said = Said {
        text: fold(&text),
        head: fold(&line[one.claim.head.0..one.claim.head.1]),
        negative: one.claim.negative || one.claim.kind == Kind::Rejection,
    };
    // What the user is said to want may be told in another language than that they want it.
    let pack = packs_for(&said.text, &tokens(&said.text), lang).into_iter().next();
    match pack {
        Some(pack) => said.read_by(pack, lang),
        None => Topic {
            words: Vec::new(),
            conditional: false,
            negative: said.negative,
            lang,
            said,
        },
    }
}

impl Topic {
    /// The same claim, its words read in another language.
    pub fn read_by(&self, pack: &Pack) -> Self {
        self.said.clone().read_by(pack, self.lang)
    }
}

impl Said {
    fn read_by(self, pack: &Pack, lang: &'static str) -> Topic {
        let Self {
            text: folded,
            head,
            negative,
        } = &self;
        let mut units = pack.units(folded, &tokens(folded), &[]);
        // The first place of the head's words stands for the head: a quotation before it is gone from the text.
        let head_start = folded.find(head.as_str()).unwrap_or(0);
        let head_end = head_start + head.len();
        // Negations up to the head made a rejection what it is: they don't count a second time.
        let signs = tag("neg") | tag("neg-both") | tag("neg-after") | tag("anti") | tag("rejection");
        let verb_last = matches!(pack.lang, "ja" | "ko");
        for unit in &mut units {
            let put_out = if verb_last {
                unit.end > head_start
            } else {
                unit.start < head_end
            };
            if *negative && put_out && unit.tags & signs != 0 {
                unit.tags = tag("func");
            }
        }
        let mut words = content_words(folded, &units, pack);
        if *negative {
            words.iter_mut().for_each(|w| w.negated = !w.negated);
        }
        let conditions = tag("cond") | tag("cond-first") | tag("cond-claim");
        let conditional = units.iter().any(|u| u.tags & conditions != 0);
        Topic {
            words,
            conditional,
            negative: *negative,
            lang,
            said: self,
        }
    }
}

/// The content words that a topic and a stretch share, as pairs (of the topic, of the stretch).
pub fn shared<'a>(topic: &'a [ContentWord], words: &[&'a ContentWord]) -> Vec<(&'a ContentWord, &'a ContentWord)> {
    words
        .iter()
        .filter_map(|w| topic.iter().find(|t| same(&t.stem, &w.stem)).map(|t| (t, *w)))
        .collect()
}

/// Whether the shared words stand on opposite sides: more of them negated on one side only than on both or none. For a claim that the
/// user was against something one word on the same side is enough: where and when it holds is not negated. An undoing verb on one side
/// ("cancel X", "X was rejected") may be what makes up for a negation on the other.
pub fn reversed(topic: &Topic, pairs: &[(&ContentWord, &ContentWord)], quote: Span) -> bool {
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
    if folded.chars().any(is_cjk) { 3 } else { 1 }
}
