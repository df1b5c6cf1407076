//! Turns the language packs of `corpus/lexicon` and the shared constructions of `corpus/rules` into static tables, so that the
//! component starts without parsing anything. It only copies and interns; what a pattern means is checked by `rules.rs` and its tests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[derive(serde::Deserialize)]
struct Word {
    tags: String,
    forms: String,
    #[allow(dead_code, reason = "for people")]
    why: String,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Construction {
    id: String,
    pattern: String,
    #[serde(default)]
    claim: String,
    #[serde(default)]
    not: String,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    strong: bool,
    #[serde(default)]
    langs: Vec<String>,
    reason: String,
    hits: Vec<String>,
    misses: Vec<String>,
}

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Constructions {
    /// Parts of patterns by name: `$name` in a pattern, or in another part, stands for the part in parentheses.
    #[serde(default)]
    define: BTreeMap<String, String>,
    #[serde(default)]
    construction: Vec<Construction>,
}

struct Pack {
    lang: String,
    /// Characters that are read as others, sorted.
    shapes: BTreeMap<char, char>,
    words: BTreeMap<String, BTreeSet<String>>,
    /// Forms that stand in `speech.csv` only: notes are cut without them.
    speech_only: BTreeSet<String>,
    /// Every tag that the pack's patterns ask for.
    tags: BTreeSet<String>,
    constructions: String,
}

fn main() {
    let corpus = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../corpus");
    println!("cargo::rerun-if-changed={}", corpus.join("lexicon").display());
    println!("cargo::rerun-if-changed={}", corpus.join("rules").display());
    let shared: Constructions = read_toml(&corpus.join("rules/provenance.toml"));
    let marks = read_words(&corpus.join("lexicon/shared.csv"));
    let mut folders: Vec<PathBuf> = fs::read_dir(corpus.join("lexicon"))
        .expect("corpus/lexicon")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.is_dir())
        .collect();
    folders.sort();
    let packs: Vec<Pack> = folders.iter().map(|f| read_pack(f, &marks, &shared)).collect();
    let source = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("src");
    println!("cargo::rerun-if-changed={}", source.display());
    let mut asked = BTreeSet::new();
    tags_in_code(&source, &mut asked);
    let bits = bits(&packs, &asked);
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it")).join("tables.rs");
    fs::write(out, render(&bits, &asked, &packs)).expect("tables.rs");
}

/// The words in quotation marks in the engine's code: a tag among them may be asked for by name.
fn tags_in_code(folder: &Path, out: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the source") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            tags_in_code(&path, out);
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file");
        let words = text.split('"');
        let like_tags = words.filter(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
        out.extend(like_tags.map(str::to_owned));
    }
}

/// A bit for each tag that somebody asks for. Two tags may share one when no pack's patterns ask for both and code asks for
/// neither: so there may be 127 tags a pack, not in all.
fn bits(packs: &[Pack], asked: &BTreeSet<String>) -> BTreeMap<String, usize> {
    let given: BTreeSet<&String> = packs.iter().flat_map(|p| p.words.values().flatten()).collect();
    let code: Vec<String> = ["quoted", "code"].map(str::to_owned).into();
    let asked: Vec<&String> = asked.iter().filter(|n| given.contains(n)).chain(&code).collect();
    let known: Vec<BTreeSet<&String>> = packs
        .iter()
        .map(|p| p.tags.iter().filter(|n| given.contains(n)).chain(asked.iter().copied()).collect())
        .collect();
    let mut names: Vec<&String> = known.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
    // Those that many packs know come first: the others find room around them.
    names.sort_by_key(|n| (std::cmp::Reverse(known.iter().filter(|k| k.contains(n)).count()), *n));
    let mut taken = vec![0u128; packs.len()];
    let mut out = BTreeMap::new();
    for name in names {
        let here: Vec<usize> = (0..packs.len()).filter(|&i| known[i].contains(name)).collect();
        let all = here.iter().fold(0, |all, &i| all | taken[i]);
        let bit = (!all).trailing_zeros() as usize;
        assert!(bit < 127, "no bit is left for the tag {name:?}: at most 127 tags a pack");
        here.iter().for_each(|&i| taken[i] |= 1 << bit);
        out.insert(name.clone(), bit);
    }
    out
}

/// The names in a pattern: what is neither a quoted word nor a number.
fn names_in(pattern: &str) -> impl Iterator<Item = String> {
    let unquoted = pattern.split('\'').step_by(2);
    unquoted
        .flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric() && c != '-'))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
        .map(str::to_owned)
}

fn read_pack(folder: &Path, marks: &BTreeMap<String, BTreeSet<String>>, shared: &Constructions) -> Pack {
    let lang = folder.file_name().expect("a name").to_string_lossy().into_owned();
    let mut words = marks.clone();
    let shapes = read_shapes(&folder.join("shapes.txt"));
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a pack")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|x| x == "csv"))
        .collect();
    // Last, so that what it alone has is known.
    files.sort_by_key(|f| (f.ends_with("speech.csv"), f.clone()));
    let mut speech_only = BTreeSet::new();
    for file in files {
        for (form, tags) in read_words(&file) {
            let form: String = form.chars().map(|c| *shapes.get(&c).unwrap_or(&c)).collect();
            if file.ends_with("speech.csv") && !words.contains_key(&form) {
                speech_only.insert(form.clone());
            }
            words.entry(form).or_default().extend(tags);
        }
    }
    let own: Constructions = read_toml(&folder.join("constructions.toml"));
    let mut text = String::new();
    let mut tags = BTreeSet::new();
    for c in own.construction.iter().chain(&shared.construction) {
        if c.langs.is_empty() || c.langs.contains(&lang) {
            let pattern = expanded(&c.pattern, &own.define);
            tags.extend(names_in(&pattern));
            render_construction(c, &pattern, &mut text);
        }
    }
    Pack {
        lang,
        shapes,
        words,
        speech_only,
        tags,
        constructions: text,
    }
}

fn read_words(file: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .from_path(file)
        .unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut out: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in reader.deserialize::<Word>() {
        let row = row.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for form in row.forms.split('|') {
            assert!(!form.is_empty(), "{}: an empty form in {:?}", file.display(), row.forms);
            let form = form.replace("\\p", "|");
            out.entry(form)
                .or_default()
                .extend(row.tags.split_whitespace().map(str::to_owned));
        }
    }
    out
}

/// Pairs of characters, white space between them; `#` begins a line for people. Both need as many bytes, so that offsets hold.
fn read_shapes(file: &Path) -> BTreeMap<char, char> {
    let Ok(text) = fs::read_to_string(file) else {
        return BTreeMap::new();
    };
    let lines = text.lines().filter(|l| !l.starts_with('#'));
    let pairs = lines.flat_map(str::split_whitespace).map(|pair| {
        let [from, to] = pair.chars().collect::<Vec<char>>()[..] else {
            panic!("{}: {pair:?} is no pair", file.display());
        };
        assert_eq!(from.len_utf8(), to.len_utf8(), "{}: {pair:?}", file.display());
        (from, to)
    });
    pairs.collect()
}

fn read_toml(file: &Path) -> Constructions {
    match fs::read_to_string(file) {
        Ok(text) => toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display())),
        Err(_) => Constructions::default(),
    }
}

/// The pattern with its `$name`s replaced. Parts may use parts; one that uses itself is told by how long that takes.
fn expanded(pattern: &str, parts: &BTreeMap<String, String>) -> String {
    let mut text = pattern.to_owned();
    for _ in 0..256 {
        let Some(at) = text
            .match_indices('$')
            .map(|m| m.0)
            .find(|&i| names_part(&text[i + 1..]))
        else {
            return text;
        };
        let name: String = text[at + 1..]
            .chars()
            .take_while(|c| c.is_ascii_alphanumeric() || *c == '-')
            .collect();
        let part = parts
            .get(&name)
            .unwrap_or_else(|| panic!("no part ${name} for {pattern:?}"));
        text.replace_range(at..=at + name.len(), &format!("({part})"));
    }
    panic!("{pattern:?} uses a part inside itself")
}

/// Whether a `$` before this opens a part's name; otherwise it is the end of a sentence.
fn names_part(rest: &str) -> bool {
    rest.starts_with(|c: char| c.is_ascii_alphabetic())
}

fn render_construction(c: &Construction, pattern: &str, out: &mut String) {
    let Construction {
        id,
        claim,
        not,
        scope,
        strong,
        reason,
        hits,
        misses,
        ..
    } = c;
    assert!(claim.is_empty() != not.is_empty(), "{id}: exactly one of claim and not");
    writeln!(
        out,
        "RawConstruction {{ id: {id:?}, pattern: {pattern:?}, claim: {claim:?}, not: {not:?}, scope: {scope:?}, \
         strong: {strong}, reason: {reason:?}, hits: &{hits:?}, misses: &{misses:?} }},"
    )
    .expect("a string");
}

fn render(bits: &BTreeMap<String, usize>, asked: &BTreeSet<String>, packs: &[Pack]) -> String {
    let mut out = String::new();
    let tags: Vec<(&String, &usize)> = bits.iter().collect();
    writeln!(out, "static TAGS: &[(&str, u32)] = &{tags:?};").expect("a string");
    out.push_str("static PACKS: &[RawPack] = &[\n");
    for pack in packs {
        let shapes: Vec<(char, char)> = pack.shapes.iter().map(|(&a, &b)| (a, b)).collect();
        writeln!(out, "RawPack {{ lang: {:?}, shapes: &{shapes:?}, words: &[", pack.lang).expect("a string");
        for (form, own) in &pack.words {
            // What neither this pack's patterns nor code ask for has no bit here: its bit may mean another tag in this pack.
            let known = own.iter().filter(|t| pack.tags.contains(*t) || asked.contains(*t));
            let mask = known.filter_map(|t| bits.get(t)).fold(0u128, |mask, bit| mask | 1 << bit);
            let mask = mask | u128::from(pack.speech_only.contains(form)) << 127;
            writeln!(out, "({form:?}, {mask:#x}),").expect("a string");
        }
        writeln!(out, "], constructions: &[{}] }},", pack.constructions).expect("a string");
    }
    out.push_str("];\n");
    out
}
