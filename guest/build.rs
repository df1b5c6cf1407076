//! Turns the language packs of `corpus/lexicon` and the shared constructions of `corpus/rules` into static tables and compressed
//! blobs, so that the component starts without parsing anything and reads of a pack only what a line needs. It only copies and
//! interns; what a pattern means is checked by `rules.rs` and its tests. `src/lexicon/data.rs` reads what is written here.

#[path = "build/calls.rs"]
mod calls;
#[path = "build/credentials.rs"]
mod credentials;
#[path = "build/repetition.rs"]
mod repetition;
#[path = "build/unicode.rs"]
mod unicode;

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
    /// Whether what an act is about stands before its verb.
    #[serde(default)]
    verb_last: bool,
    #[serde(default)]
    construction: Vec<Construction>,
}

/// Forms with their tags.
type Forms = BTreeMap<String, BTreeSet<String>>;

struct Pack {
    lang: String,
    /// Characters that are read as others, sorted.
    shapes: BTreeMap<char, char>,
    /// Forms by which notes are read.
    words: Forms,
    /// Forms by which messages are read besides.
    speech: Forms,
    /// Every tag that the pack's patterns ask for.
    tags: BTreeSet<String>,
    verb_last: bool,
    constructions: Records,
}

/// Records of text fields, as `src/lexicon/data.rs` reads them.
#[derive(Default)]
struct Records(String);

/// Stands behind each field, each record, and each line of a field that has several.
const FIELD_END: char = '\u{1F}';
const RECORD_END: char = '\u{1E}';
const LINE_END: char = '\u{1D}';

impl Records {
    fn push(&mut self, fields: &[&str]) {
        for field in fields {
            assert!(
                !field.contains([FIELD_END, RECORD_END]),
                "a control character in {field:?}"
            );
            self.0.push_str(field);
            self.0.push(FIELD_END);
        }
        self.0.push(RECORD_END);
    }
}

/// The tags by which code reads notes (`corpus/README.md`). These, and those of marks, have one bit in every pack, in notes and
/// in messages; the others are a pack's own in notes, and all packs' together in messages.
const SHARED: &[&str] = &[
    "act",
    "agreement",
    "approval",
    "code",
    "conj",
    "copula",
    "decision",
    "func",
    "instruction",
    "light",
    "num",
    "quoted-order",
    "other",
    "preference",
    "pron",
    "quoted",
    "rejection",
    "stop",
    "user",
];

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
    let mut examples = Records::default();
    let packs: Vec<Pack> = folders
        .iter()
        .map(|f| read_pack(f, &marks, &shared, &mut examples))
        .collect();
    for c in &shared.construction {
        explain(c, &c.langs.join(" "), &mut examples);
    }
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("tables.rs"), render(&marks, &packs, &out)).expect("tables.rs");
    store(&out.join("examples.z"), examples.0.as_bytes());
    store(&out.join("unicode.z"), &unicode::pack());
    repetition::render(&corpus.join("rules"), &out);
    calls::write(&corpus.join("rules"), &out, store);
    let packed = credentials::pack(&corpus.join("rules"));
    store(&out.join("credentials.text.z"), packed.text.as_bytes());
    store(&out.join("credentials.patterns.z"), &packed.patterns);
}

/// The names in a pattern: what is neither a quoted word nor a number.
fn names_in(pattern: &str) -> impl Iterator<Item = String> {
    let unquoted = pattern.split('\'').step_by(2);
    unquoted
        .flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric() && c != '-'))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()))
        .map(str::to_owned)
}

/// Writes a blob.
fn store(file: &Path, content: &[u8]) {
    fs::write(file, miniz_oxide::deflate::compress_to_vec(content, 10)).expect("a blob");
}

fn read_pack(folder: &Path, marks: &Forms, shared: &Constructions, examples: &mut Records) -> Pack {
    let lang = folder.file_name().expect("a name").to_string_lossy().into_owned();
    let mut words = marks.clone();
    let shapes = read_shapes(&folder.join("shapes.txt"));
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a pack")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|x| x == "csv"))
        .collect();
    files.sort();
    let mut speech = Forms::new();
    for file in files {
        let into = if file.ends_with("speech.csv") {
            &mut speech
        } else {
            &mut words
        };
        for (form, tags) in read_words(&file) {
            let form: String = form.chars().map(|c| *shapes.get(&c).unwrap_or(&c)).collect();
            into.entry(form).or_default().extend(tags);
        }
    }
    let own: Constructions = read_toml(&folder.join("constructions.toml"));
    let mut constructions = Records::default();
    let mut tags = BTreeSet::new();
    for c in own.construction.iter().chain(&shared.construction) {
        if c.langs.is_empty() || c.langs.contains(&lang) {
            let pattern = expanded(&c.pattern, &own.define);
            tags.extend(names_in(&pattern));
            assert!(
                c.claim.is_empty() != c.not.is_empty(),
                "{}: exactly one of claim and not",
                c.id
            );
            let strong = if c.strong { "strong" } else { "" };
            constructions.push(&[&c.id, &pattern, &c.claim, &c.not, &c.scope, strong]);
        }
    }
    for c in &own.construction {
        explain(c, &lang, examples);
    }
    Pack {
        lang,
        shapes,
        words,
        speech,
        tags,
        verb_last: own.verb_last,
        constructions,
    }
}

/// Examples of each kind that people are told of a construction: one in the component, which has no room for more; all where the
/// tests hold them to the rules.
fn examples_told() -> usize {
    let component = env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32");
    if component { 1 } else { usize::MAX }
}

/// Keeps what people are told of a construction; `langs` names the languages that have it, all when there are none.
fn explain(c: &Construction, langs: &str, examples: &mut Records) {
    let lines = |lines: &[String]| lines[..lines.len().min(examples_told())].join(&LINE_END.to_string());
    examples.push(&[langs, &c.id, &c.reason, &lines(&c.hits), &lines(&c.misses)]);
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
            assert!(
                !form.starts_with(['*', '+']) || form.len() <= 48,
                "{}: {form:?} is too long for an ending",
                file.display()
            );
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

/// The bits of tags in one kind of text.
struct Bits {
    shared: Vec<String>,
    own: Vec<String>,
}

impl Bits {
    fn new(lang: &str, shared: &BTreeSet<String>, own: BTreeSet<&String>) -> Self {
        let own: Vec<String> = own.into_iter().filter(|t| !shared.contains(*t)).cloned().collect();
        let count = shared.len() + own.len();
        assert!(count < 127, "{lang}: {count} tags, 126 at most: {own:?}");
        Self {
            shared: shared.iter().cloned().collect(),
            own,
        }
    }

    /// The mask of some tags; tags without a bit here are left out: nobody asks for them.
    fn mask(&self, tags: Option<&BTreeSet<String>>) -> u128 {
        let bit = |t: &String| match self.shared.binary_search(t) {
            Ok(at) => 1 << at,
            Err(_) => self.own.binary_search(t).map_or(0, |at| 1 << (self.shared.len() + at)),
        };
        tags.into_iter().flatten().map(bit).fold(0, |mask, bit| mask | bit)
    }
}

fn render(marks: &Forms, packs: &[Pack], folder: &Path) -> String {
    let mut shared: BTreeSet<String> = SHARED.iter().map(|&t| t.to_owned()).collect();
    shared.extend(marks.values().flatten().cloned());
    let messages = Bits::new(
        "messages",
        &shared,
        packs.iter().flat_map(|p| p.speech.values().flatten()).collect(),
    );
    let mut out = String::new();
    writeln!(out, "static SHARED_TAGS: &[&str] = &{:?};", messages.shared).expect("a string");
    writeln!(out, "static MESSAGE_TAGS: &[&str] = &{:?};", messages.own).expect("a string");
    render_tags(&messages, &mut out);
    writeln!(
        out,
        "pub const PACKS_MAX: usize = {};\nstatic PACKS: [RawPack; PACKS_MAX] = [",
        packs.len()
    )
    .expect("a string");
    for pack in packs {
        render_pack(pack, &shared, &messages, folder, &mut out);
    }
    out.push_str("];\n");
    out
}

/// A function from names to bits that costs nothing where the name is a literal.
fn render_tags(messages: &Bits, out: &mut String) {
    out.push_str(
        "/// The bit of a tag that code asks for: in messages every tag, in notes those that `build.rs` lists.\n",
    );
    out.push_str("#[inline(always)]\npub fn tag(name: &str) -> Tags {\nmatch name {\n");
    for (bit, name) in messages.shared.iter().chain(&messages.own).enumerate() {
        writeln!(out, "{name:?} => 1 << {bit},").expect("a string");
    }
    out.push_str("_ => 0,\n}\n}\n");
}

/// A pack: its forms as masks and a transducer from form to the index of a pair of masks, and its constructions, in blobs.
fn render_pack(pack: &Pack, shared: &BTreeSet<String>, messages: &Bits, folder: &Path, out: &mut String) {
    let notes = Bits::new(&pack.lang, shared, pack.tags.iter().collect());
    let forms: BTreeSet<&String> = pack.words.keys().chain(pack.speech.keys()).collect();
    let mut masks: Vec<(u128, u128)> = Vec::new();
    let mut map = fst::MapBuilder::memory();
    for form in forms {
        let (word, said) = (pack.words.get(form), pack.speech.get(form));
        let note = notes.mask(word) | u128::from(word.is_none()) << 127;
        // What a pack calls its words in notes says nothing of messages, but for the tags that both share.
        let pair = (
            note,
            messages.mask(word) & ((1 << messages.shared.len()) - 1)
                | messages.mask(said)
                | u128::from(said.is_some()) << 127,
        );
        let at = masks.iter().position(|m| *m == pair).unwrap_or_else(|| {
            masks.push(pair);
            masks.len() - 1
        });
        map.insert(form, at as u64).expect("sorted");
    }
    let mut blob = u16::try_from(masks.len()).expect("few masks").to_le_bytes().to_vec();
    masks
        .iter()
        .flat_map(|m| [m.0, m.1])
        .for_each(|m| write_mask(m, &mut blob));
    blob.extend(map.into_inner().expect("in memory"));
    store(&folder.join(format!("{}.forms.z", pack.lang)), &blob);
    store(
        &folder.join(format!("{}.constructions.z", pack.lang)),
        pack.constructions.0.as_bytes(),
    );
    let shapes: Vec<(char, char)> = pack.shapes.iter().map(|(&a, &b)| (a, b)).collect();
    let file = |kind: &str| {
        format!(
            "include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{}.{kind}.z\"))",
            pack.lang
        )
    };
    writeln!(
        out,
        "RawPack {{ lang: {:?}, shapes: &{shapes:?}, tags: &{:?}, verb_last: {}, forms: {}, constructions: {} }},",
        pack.lang,
        notes.own,
        pack.verb_last,
        file("forms"),
        file("constructions")
    )
    .expect("a string");
}

/// The number of a mask's bits, and which they are.
fn write_mask(mask: u128, out: &mut Vec<u8>) {
    out.push(mask.count_ones() as u8);
    out.extend((0..128_u8).filter(|bit| mask >> bit & 1 == 1));
}
