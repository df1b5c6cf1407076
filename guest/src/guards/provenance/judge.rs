//! What a quote proves: one verdict for each claim, the first that applies of `corpus/LABELS.md` section 2.

use super::Checked;
use super::claims::Claim;
use super::history::{History, Place};
use crate::event::named;
use crate::settings::Settings;
use crate::text::fold::fold;
use crate::text::quotes::Quote;

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

/// Judges all claims of a write; the places of all their quotes are looked up in one pass.
pub fn judge_all(_after: &str, checked: &mut [Checked], history: &History, _settings: &Settings) {
    let mut patterns: Vec<String> = checked
        .iter()
        .flat_map(|c| c.quotes.iter().map(|q| fold(&q.words)))
        .collect();
    patterns.sort_unstable();
    patterns.dedup();
    let places = history.places(&patterns);
    for one in checked {
        let mut best = Judged::default();
        for quote in &one.quotes {
            let at = patterns.binary_search(&fold(&quote.words)).unwrap_or(0);
            let judged = judge(&patterns[at], &places[at], history);
            if best.word == Word::NoQuote || judged.word > best.word {
                best = judged;
            }
        }
        one.judged = best;
    }
}

fn judge(pattern: &str, places: &[Place], history: &History) -> Judged {
    let shown = |p: &Place| Shown {
        said: p.said,
        span: (p.at, p.at + pattern.len()),
        note: "the quote stands here".to_owned(),
    };
    match places.iter().find(|p| history.said()[p.said].is_human()) {
        Some(place) => Judged {
            word: Word::Supported,
            shown: vec![shown(place)],
            ..Judged::default()
        },
        None if places.is_empty() => Judged {
            word: Word::NotFound,
            ..Judged::default()
        },
        None => Judged {
            word: Word::WrongSpeaker,
            shown: places.first().map(shown).into_iter().collect(),
            ..Judged::default()
        },
    }
}
