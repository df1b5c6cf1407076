//! The language packs: every pattern parses, every construction finds what its hits say and leaves what its misses say.

use sayso_engine::guards::provenance::claims::{Claim, Reader, quotes_of};
use sayso_engine::lexicon::{Explained, Pack, RawConstruction, packs};
use sayso_engine::rules::Pattern;
use sayso_engine::text::fold::fold;
use sayso_engine::work::Work;
use std::collections::BTreeSet;
use std::path::Path;

/// Fails with all complaints at once, so that a pack can be mended in one go.
fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

/// A reader of the packs that have the construction only: an example is an example of one of them.
fn reader(why: &Explained) -> Reader {
    Reader {
        languages: why.languages.clone(),
        ..Reader::default()
    }
}

fn claims(why: &Explained, line: &str) -> Vec<Claim> {
    reader(why).claims(line, &quotes_of(line), &Work::default())
}

/// Whether a construction is `raw`, in one of the packs that have it.
fn is_own((lang, id): (&str, &str), raw: &RawConstruction, why: &Explained) -> bool {
    id == raw.id && why.languages.iter().any(|l| l == lang)
}

fn every(mut complain: impl FnMut(&'static Pack, RawConstruction, &Explained) -> Vec<String>) -> Vec<String> {
    let mut out = Vec::new();
    for pack in packs() {
        for raw in pack.raw() {
            let explained = pack.explained(raw.id).expect("every construction is explained");
            let own = complain(pack, raw, &explained);
            out.extend(own.into_iter().map(|c| format!("{}.{}: {c}", pack.lang, raw.id)));
        }
    }
    out
}

#[test]
fn every_construction_parses() {
    none(&every(|pack, raw, _| {
        Pattern::parse(raw.pattern, &|name| pack.tag(name))
            .err()
            .into_iter()
            .collect()
    }));
}

#[test]
fn every_construction_is_explained() {
    none(&every(|_, _, why| {
        let mut out = Vec::new();
        if why.reason.split_whitespace().count() == 0 || !why.reason.ends_with(['.', '。']) {
            out.push(format!("{:?} is no reason", why.reason));
        }
        for (what, lines) in [("hits", &why.hits), ("misses", &why.misses)] {
            let distinct: BTreeSet<&String> = lines.iter().collect();
            if distinct.len() < 2 {
                out.push(format!("{} distinct {what}, at least 2", distinct.len()));
            }
        }
        out
    }));
}

#[test]
fn identifiers_are_used_once() {
    let mut seen = BTreeSet::new();
    none(&every(|pack, raw, _| {
        let again = !seen.insert((pack.lang, raw.id));
        again
            .then(|| "the identifier is used twice".to_owned())
            .into_iter()
            .collect()
    }));
}

#[test]
fn every_claim_construction_finds_its_hits() {
    none(&every(|_, raw, why| {
        let find = |line: &String| {
            let found = claims(why, line);
            let own = found.iter().any(|c| is_own(c.construction, &raw, why));
            (!own).then(|| format!("hit not found: {line:?}, only {:?}", names(&found)))
        };
        let hits: &[String] = if raw.claim.is_empty() { &[] } else { &why.hits };
        hits.iter().filter_map(find).collect()
    }));
}

#[test]
fn every_claim_construction_leaves_its_misses() {
    none(&every(|_, raw, why| {
        let leave = |line: &String| {
            let found = claims(why, line);
            (!found.is_empty()).then(|| format!("claim in a miss: {line:?}, by {:?}", names(&found)))
        };
        let misses: &[String] = if raw.claim.is_empty() { &[] } else { &why.misses };
        misses.iter().filter_map(leave).collect()
    }));
}

#[test]
fn every_not_construction_explains_its_hits_away() {
    none(&every(|_, raw, why| {
        let explain = |line: &String| {
            let found = claims(why, line);
            if !found.is_empty() {
                return Some(format!("claim in a hit: {line:?}, by {:?}", names(&found)));
            }
            let refused = reader(why).refusals(line, &quotes_of(line));
            (!refused.iter().any(|&r| is_own(r, &raw, why)))
                .then(|| format!("explains nothing away: {line:?}, only {refused:?}"))
        };
        let hits: &[String] = if raw.not.is_empty() { &[] } else { &why.hits };
        hits.iter().filter_map(explain).collect()
    }));
}

#[test]
fn every_not_construction_leaves_its_misses() {
    none(&every(|_, raw, why| {
        let leave = |line: &String| {
            claims(why, line)
                .is_empty()
                .then(|| format!("no claim in a miss: {line:?}"))
        };
        let misses: &[String] = if raw.not.is_empty() { &[] } else { &why.misses };
        misses.iter().filter_map(leave).collect()
    }));
}

/// The rows of a pack's word files: (file, tags, form).
fn rows() -> Vec<(String, String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/lexicon");
    let mut out = Vec::new();
    for folder in std::fs::read_dir(root)
        .expect("corpus/lexicon")
        .map(|e| e.expect("an entry").path())
    {
        let files = std::fs::read_dir(&folder).into_iter().flatten();
        for file in files.map(|e| e.expect("an entry").path()) {
            if file.extension().is_none_or(|x| x != "csv") {
                continue;
            }
            let name = file.to_string_lossy().into_owned();
            let mut reader = csv::ReaderBuilder::new()
                .comment(Some(b'#'))
                .from_path(&file)
                .expect("a file of words");
            for row in reader.records() {
                let row = row.expect("three columns");
                let forms = row[1].split('|').map(|form| form.replace("\\p", "|"));
                out.extend(forms.map(|form| (name.clone(), row[0].to_owned(), form)));
            }
        }
    }
    out
}

#[test]
fn forms_are_folded_and_never_empty() {
    let wrong = |(file, tags, form): &(String, String, String)| {
        let plain = form.trim_matches('*');
        let folded = fold(plain) == plain && plain.trim() == plain && !plain.is_empty();
        (!folded && form != "*").then(|| format!("{file}: {form:?} of {tags:?} is not as lines are folded"))
    };
    none(&rows().iter().filter_map(wrong).collect::<Vec<_>>());
}

#[test]
fn no_row_says_what_another_says() {
    let mut seen = BTreeSet::new();
    let again = |(file, tags, form): &(String, String, String)| {
        let new = seen.insert((file.clone(), tags.clone(), form.clone()));
        (!new).then(|| format!("{file}: {form:?} stands twice as {tags:?}"))
    };
    none(&rows().iter().filter_map(again).collect::<Vec<_>>());
}

fn names(found: &[Claim]) -> Vec<&'static str> {
    found.iter().map(|c| c.construction.1).collect()
}
