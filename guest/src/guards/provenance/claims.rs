//! Claims: where a line says that the user has performed an act of will.
//!
//! A line is folded, cut into units by each language pack that may apply, and into sentences. In each sentence, each unit that can
//! be a head (an act, a wish, a noun of will) is tried against the pack's constructions. A head that some `claim` construction
//! finds and no `not` construction explains away is a claim.
//!
//! Found: active, passive and nominal forms, fragments, `key: value`, headings and table cells, pronouns after the user was named.
//! Quiet: pending, denied, conditional acts, questions, end users, other actors, code, quotations, mentions.
//! Blind: irony; a claim spread over several lines; a user named only by a bare first name that no setting lists.

use crate::event::named;
use crate::lexicon::{self, Pack, RawConstruction, Tags, Unit, tag};
use crate::text::fold::Folded;
use crate::text::quotes::{self, Quote};
use crate::text::segment;
use crate::text::words::{self, Token};
use crate::work::Work;

/// Bytes of one line that are read for claims: what stands beyond is reported as too long, not skipped silently.
pub const LINE_BYTES_MAX: usize = 4 * 1024;

named!(
    /// What kind of act of will.
    Kind {
        Decision = "decision", Approval = "approval", Instruction = "instruction",
        Preference = "preference", Rejection = "rejection", Agreement = "agreement",
    }
);

/// A claim in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Half-open bytes into the line, from the first word of the construction to the end of its clause.
    pub span: (usize, usize),
    /// The head word's bytes.
    pub head: (usize, usize),
    /// The bytes whose words are what the claim is about: its sentence, or its own part of it.
    pub content: (usize, usize),
    /// What kind of act.
    pub kind: Kind,
    /// Whether the user is said to have been against something.
    pub negative: bool,
    /// The construction that found it, as `lang.id`.
    pub construction: (&'static str, &'static str),
}

/// What a reader of lines needs to know from the settings.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// Languages to read; empty for all.
    pub languages: Vec<String>,
    /// Extra names for the user, folded.
    pub names: Vec<String>,
}

/// Names that the line itself gives the user, folded: "Dana (the user)", "Dana, the user,", "Dana is the user", "User: Dana".
fn introduced<'a>(line: &str, folded: &'a Folded, units: &[Unit]) -> Vec<&'a str> {
    let (user, pron, other, copula) = (tag("user"), tag("pron"), tag("other"), tag("copula"));
    let (open, stop, colon) = (tag("open"), tag("stop"), tag("colon"));
    let text = |u: &Unit| &folded.text[u.start..u.end];
    let is_mark = |u: Option<&Unit>| u.is_none_or(|u| !text(u).contains(char::is_alphanumeric));
    let has = |u: Option<&Unit>, tags: Tags| u.is_some_and(|u| u.tags & tags != 0);
    let never = user | tag("act") | tag("quoted") | tag("code");
    let is_name = |u: &Unit| {
        let known = u.tags & (pron | other) != 0;
        u.tags & never == 0 && (known || u.tags & tag("func") == 0) && text(u).contains(char::is_alphabetic)
    };
    let is_capital = |u: &Unit| {
        let start = folded.original(u.start, u.end).0;
        line[start..].starts_with(char::is_uppercase)
    };
    let mut out = Vec::new();
    for (i, unit) in units.iter().enumerate() {
        if unit.tags & user == 0 || unit.tags & pron != 0 {
            continue;
        }
        let before = i.checked_sub(1).map(|b| &units[b]);
        // "Dana (the user) ...", but not "the landlord (the user's brother)".
        // A comma may introduce a name; words that a gap does not cross ("and", "that") don't.
        let introduces = has(before, open | copula) || has(before, stop) && is_mark(before);
        if introduces
            && is_mark(units.get(i + 1))
            && let Some(name) = i.checked_sub(2).map(|b| &units[b]).filter(|u| is_name(u))
        {
            out.push(text(name));
        }
        if has(units.get(i + 1), copula | colon)
            && is_mark(units.get(i + 3))
            && let Some(name) = units.get(i + 2).filter(|u| is_name(u) && is_capital(u))
        {
            out.push(text(name));
        }
    }
    out
}

/// A line, cut up for one pack.
struct Cut<'a> {
    pack: &'static Pack,
    folded: &'a Folded,
    units: Vec<Unit>,
    /// Half-open ranges of units.
    sentences: Vec<(usize, usize)>,
    /// The constructions that may stand in each sentence.
    may: Vec<lexicon::Set>,
    work: &'a Work,
}

/// A head that constructions found, before spans are settled.
struct Hit {
    sentence: usize,
    /// Units covered.
    range: (usize, usize),
    head: usize,
    kind: Kind,
    negative: bool,
    construction: &'static str,
}

impl Reader {
    /// The claims of one line, in order, and never two for one head. `quotes` are the line's quotations.
    pub fn claims(&self, line: &str, quotes: &[Quote], work: &Work) -> Vec<Claim> {
        let line = clipped(line);
        let folded = Folded::new(line);
        let tokens = words::tokens(&folded.text);
        let mut claims: Vec<Claim> = Vec::new();
        for pack in self.packs_for(&folded, &tokens, quotes) {
            let cut = self.cut(pack, line, &folded, &tokens, quotes, work);
            let hits = cut.hits();
            for claim in cut.settle(&hits, quotes) {
                let clash = claims
                    .iter()
                    .any(|c| c.span.0 < claim.span.1 && claim.span.0 < c.span.1);
                if !clash {
                    claims.push(claim);
                }
            }
        }
        claims.sort_by_key(|c| c.span);
        claims
    }

    /// The packs of the line that the settings allow. What it quotes may be in another language.
    fn packs_for(&self, folded: &Folded, tokens: &[Token], quotes: &[Quote]) -> Vec<&'static Pack> {
        let quoted = |t: &Token| {
            let start = folded.original(t.start, t.end).0;
            let behind = quotes.partition_point(|q| q.outer.1 <= start);
            quotes.get(behind).is_some_and(|q| q.outer.0 <= start)
        };
        let mut own: Vec<Token> = tokens.iter().copied().filter(|t| !quoted(t)).collect();
        if own.is_empty() {
            own = tokens.to_vec();
        }
        let allowed = |pack: &&Pack| self.languages.is_empty() || self.languages.iter().any(|l| l == pack.lang);
        lexicon::packs_for(&folded.text, &own, "")
            .into_iter()
            .filter(allowed)
            .collect()
    }

    /// The `not` constructions that explain away what a `claim` construction finds in the line, as (language, name); for tests.
    pub fn refusals(&self, line: &str, quotes: &[Quote]) -> Vec<(&'static str, &'static str)> {
        let line = clipped(line);
        let folded = Folded::new(line);
        let tokens = words::tokens(&folded.text);
        let work = Work::default();
        let mut out = Vec::new();
        for pack in self.packs_for(&folded, &tokens, quotes) {
            let cut = self.cut(pack, line, &folded, &tokens, quotes, &work);
            for &range in &cut.sentences {
                let found = (range.0..range.1).filter(|&head| cut.finder(range, head).is_some());
                out.extend(
                    found
                        .flat_map(|head| cut.refusers(range, head))
                        .map(|id| (pack.lang, id)),
                );
            }
        }
        out
    }

    fn cut<'a>(
        &self,
        pack: &'static Pack,
        line: &str,
        folded: &'a Folded,
        tokens: &[Token],
        quotes: &[Quote],
        work: &'a Work,
    ) -> Cut<'a> {
        let mut masked: Vec<(usize, usize, Tags)> = Vec::new();
        let folded_range = |(s, e): (usize, usize)| (folded.folded_at(s), folded.folded_at(e));
        for quote in quotes {
            let (s, e) = folded_range(quote.outer);
            let order = if reads_as_order(&folded.text[s..e.max(s)], pack) {
                tag("quoted-order")
            } else {
                0
            };
            masked.push((s, e, tag("quoted") | order));
        }
        let mut code: Vec<(usize, usize, Tags)> = Vec::new();
        for span in segment::code(line) {
            let (s, e) = folded_range(span);
            // Neither in a quotation nor in code: both stand in order.
            let over = |masks: &[(usize, usize, Tags)]| {
                let behind = masks.partition_point(|m| m.1 <= s);
                masks.get(behind).is_some_and(|m| m.0 < e)
            };
            if !over(&masked) && !over(&code) {
                code.push((s, e, tag("code")));
            }
        }
        masked.append(&mut code);
        masked.retain(|m| m.0 < m.1);
        masked.sort_unstable();
        let mut units = pack.note_units(&folded.text, tokens, &masked);
        self.name_the_user(line, folded, &mut units);
        let sentences = lexicon::sentences(&folded.text, &units);
        let present = |units: &[Unit]| units.iter().fold(0, |all, u| all | u.tags);
        let line = present(&units);
        let may = sentences
            .iter()
            .map(|&(from, to)| pack.constructions().for_sentence(present(&units[from..to]), line));
        Cut {
            pack,
            folded,
            may: may.collect(),
            units,
            sentences,
            work,
        }
    }

    /// Extra names and names that the line introduces are the user; a pronoun is, when the user was named before it in the line and
    /// nobody else since.
    fn name_the_user(&self, line: &str, folded: &Folded, units: &mut [Unit]) {
        let (user, pron, other) = (tag("user"), tag("pron"), tag("other"));
        let text = |u: &Unit| &folded.text[u.start..u.end];
        let mut introduced = introduced(line, folded, units);
        introduced.sort_unstable();
        let mut named = false;
        for unit in units.iter_mut() {
            let name = text(unit);
            if self.names.iter().any(|n| n == name) || introduced.binary_search(&name).is_ok() {
                unit.tags |= user;
            }
            if unit.tags & user != 0 {
                named = true;
            } else if unit.tags & other != 0 {
                named = false;
            } else if unit.tags & pron != 0 && named {
                unit.tags |= user;
            }
        }
    }
}

/// The line, at most [`LINE_BYTES_MAX`] of it, cut at a character.
fn clipped(line: &str) -> &str {
    if line.len() <= LINE_BYTES_MAX {
        return line;
    }
    let end = (0..=LINE_BYTES_MAX)
        .rev()
        .find(|&i| line.is_char_boundary(i))
        .unwrap_or(0);
    &line[..end]
}

impl Cut<'_> {
    fn hits(&self) -> Vec<Hit> {
        let mut out = Vec::new();
        for (sentence, &range) in self.sentences.iter().enumerate() {
            for head in range.0..range.1 {
                if self.work.is_spent() {
                    return out;
                }
                if self.units[head].tags != 0
                    && let Some(hit) = self.hit(sentence, range, head)
                {
                    out.push(hit);
                }
            }
        }
        out
    }

    /// The constructions that find a head, with the units that they cover: those that find claims, or those that explain them away.
    fn matching(
        &self,
        range: (usize, usize),
        head: usize,
        claims: bool,
    ) -> impl Iterator<Item = (&'static RawConstruction, (usize, usize))> {
        let line = (0, self.units.len());
        let tags = self.units[head].tags;
        let sentence = self.sentences.partition_point(|s| s.1 <= range.0);
        let candidates = self.pack.constructions().for_head(tags, claims, &self.may[sentence]);
        candidates.filter_map(move |c| {
            let scope = if c.raw.scope == "line" { line } else { range };
            let units = c.pattern.find(&self.folded.text, &self.units, scope, head, self.work)?;
            Some((&c.raw, units))
        })
    }

    /// The first `claim` construction that finds the head.
    fn finder(&self, range: (usize, usize), head: usize) -> Option<(&'static RawConstruction, (usize, usize))> {
        self.matching(range, head, true).next()
    }

    /// The `not` constructions that explain the head away.
    fn refusers(&self, range: (usize, usize), head: usize) -> impl Iterator<Item = &'static str> {
        self.matching(range, head, false).map(|(raw, _)| raw.id)
    }

    /// What the constructions say of one head: the first `claim` that finds it, unless a `not` does too.
    fn hit(&self, sentence: usize, range: (usize, usize), head: usize) -> Option<Hit> {
        let found = self.finder(range, head)?;
        if !found.0.strong && self.refusers(range, head).next().is_some() {
            return None;
        }
        let tags = self.units[head].tags;
        let kind = match Kind::parse(found.0.claim) {
            Some(kind) => kind,
            None => *Kind::ALL.iter().find(|k| tags & tag(k.name()) != 0)?,
        };
        let negative = kind == Kind::Rejection;
        Some(Hit {
            sentence,
            range: found.1,
            head,
            kind,
            negative,
            construction: found.0.id,
        })
    }

    /// Gives each hit its span: from its first unit to the end of its clause, before a quotation and before the next claim.
    fn settle(&self, hits: &[Hit], quotes: &[Quote]) -> Vec<Claim> {
        let mut out: Vec<Claim> = Vec::new();
        for (i, hit) in hits.iter().enumerate() {
            let sentence = self.sentences[hit.sentence];
            let same = |h: &&Hit| h.sentence == hit.sentence;
            let before = i.checked_sub(1).map(|b| &hits[b]).filter(same);
            let after = hits.get(i + 1).filter(same);
            let first = match before {
                Some(before) if hit.range.0 <= before.head => self.parting(before, hit),
                _ => hit.range.0,
            };
            // A mark that only showed where the clause begins is no part of it.
            let first = (first..hit.head).find(|&i| self.is_word(i)).unwrap_or(hit.head);
            let stop = match after {
                Some(next) if next.range.0 > hit.head => self.clause_behind(hit, next).min(next.range.0),
                Some(next) => self.parting(hit, next),
                None => sentence.1,
            };
            let mut last = hit.range.1.min(stop);
            while last < stop && self.units[last].tags & tag("quoted") == 0 {
                last += 1;
            }
            last = self.trimmed(hit.range.1.min(last).max(hit.head + 1), last);
            let span = self.bytes(first, last);
            let content = match before {
                None if after.is_none() => self.bytes(sentence.0, sentence.1),
                // What the act is about may stand before its subject.
                _ if self.pack.verb_last() => {
                    let from = before.map_or(sentence.0, |b| self.clause_behind(b, hit));
                    self.bytes(from.min(first), last)
                }
                _ => span,
            };
            // A hit inside a quotation mark pair is not possible; one that runs into a quotation is cut before it.
            let next = quotes.get(quotes.partition_point(|q| q.outer.0 <= span.0));
            let end = next.map_or(span.1, |q| q.outer.0.min(span.1));
            out.push(Claim {
                span: (span.0, end.max(self.bytes(hit.head, hit.head + 1).1)),
                head: self.bytes(hit.head, hit.head + 1),
                content,
                kind: hit.kind,
                negative: hit.negative,
                construction: (self.pack.lang, hit.construction),
            });
        }
        out
    }

    /// Where the second of two acts of one subject begins: at its verb, or right behind the first verb where verbs stand last.
    fn parting(&self, one: &Hit, other: &Hit) -> usize {
        if !self.pack.verb_last() {
            return other.head;
        }
        let skipped = tag("stop") | tag("conj");
        (one.head + 1..other.head)
            .find(|&i| self.units[i].tags & skipped == 0)
            .unwrap_or(other.head)
    }

    /// Where the clause of the second of two acts begins: behind the first comma after the first verb, where verbs stand last.
    fn clause_behind(&self, one: &Hit, other: &Hit) -> usize {
        let range = one.head + 1..other.head;
        let comma = self.units[range].iter().position(|u| u.tags & tag("stop") != 0);
        match comma {
            Some(at) if self.pack.verb_last() => one.head + 2 + at,
            _ if self.pack.verb_last() => self.parting(one, other),
            _ => other.range.0,
        }
    }

    /// Drops marks and joining words from the end of a span of units.
    fn trimmed(&self, least: usize, mut end: usize) -> usize {
        let joining = tag("conj");
        while end > least {
            if self.is_word(end - 1) && self.units[end - 1].tags & joining == 0 {
                break;
            }
            end -= 1;
        }
        end
    }

    /// Whether a unit has letters or digits.
    fn is_word(&self, at: usize) -> bool {
        let unit = self.units[at];
        self.folded.text[unit.start..unit.end].contains(char::is_alphanumeric)
    }

    /// The line's bytes behind units.
    fn bytes(&self, start: usize, end: usize) -> (usize, usize) {
        self.folded.original(self.units[start].start, self.units[end - 1].end)
    }
}

/// Whether a quotation reads as an order or a wish: "said “never on Fridays”" tells what the user wants, "said “it rains”" does not.
fn reads_as_order(quotation: &str, pack: &Pack) -> bool {
    let cut = words::tokens(quotation);
    pack.units(quotation, &cut, &[])
        .iter()
        .any(|u| u.tags & tag("orders") != 0)
}

/// The quotations of a line; here so that callers fold and cut in one order.
pub fn quotes_of(line: &str) -> Vec<Quote> {
    quotes::quotes(clipped(line))
}
