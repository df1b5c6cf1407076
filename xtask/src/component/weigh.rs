//! Where the bytes of the component go.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, Result};
use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};
use wasmparser::{Encoding, KnownCustom, Name, Parser, Payload};

use super::seal::Sealed;

/// How many of the largest crates and functions are printed.
const SHOWN: usize = 12;

/// A file's digest in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// The bodies of a core module's functions, in order.
pub fn code(core: &[u8]) -> Result<Vec<&[u8]>> {
    let mut bodies = Vec::new();
    for payload in Parser::new(0).parse_all(core) {
        if let Payload::CodeSectionEntry(body) = payload? {
            bodies.push(body.as_bytes());
        }
    }
    Ok(bodies)
}

/// Prints sizes of the shipped file, and with the twin's names what they are made of.
pub fn print(shipped: &Sealed, twin: &Sealed) -> Result<()> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&shipped.component)?;
    let weights = Weights::of(&twin.core)?;
    println!(
        "size    {:>9} bytes, {} with gzip",
        shipped.component.len(),
        gzip.finish()?.len()
    );
    println!("sha256  {}", sha256(&shipped.component));
    table("section", sections(&shipped.component)?);
    table("crate (code)", weights.by_crate());
    table(
        "function",
        weights
            .functions
            .iter()
            .map(|(name, size)| (shorten(name), *size))
            .collect(),
    );
    Ok(())
}

fn table(what: &str, mut rows: Vec<(String, usize)>) {
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    println!("\n{what:<100} bytes");
    for (name, size) in rows.iter().take(SHOWN) {
        println!("  {name:<94} {size:>9}");
    }
    if let Some(rest @ [_, ..]) = rows.get(SHOWN..) {
        let size: usize = rest.iter().map(|(_, size)| size).sum();
        println!("  {:<94} {size:>9}", format!("{} more", rest.len()));
    }
}

/// The sections of the modules in the component, each data segment by itself, and what the component adds.
fn sections(component: &[u8]) -> Result<Vec<(String, usize)>> {
    let mut rows = BTreeMap::<String, usize>::new();
    let mut in_module = false;
    for payload in Parser::new(0).parse_all(component) {
        let payload = payload?;
        match &payload {
            Payload::Version { encoding, .. } => in_module = *encoding == Encoding::Module,
            Payload::End(_) => in_module = false,
            _ if !in_module => {}
            Payload::DataSection(segments) => {
                for (number, segment) in segments.clone().into_iter().enumerate() {
                    *rows.entry(format!("data, segment {number}")).or_default() += segment?.data.len();
                }
            }
            Payload::CustomSection(section) => {
                *rows.entry(format!("custom, {}", section.name())).or_default() += section.data().len();
            }
            _ => {
                if let Some((id, range)) = payload.as_section() {
                    *rows.entry(section_name(id).to_owned()).or_default() += range.len();
                }
            }
        }
    }
    let inside: usize = rows.values().sum();
    rows.insert("the component around them".to_owned(), component.len() - inside);
    Ok(rows.into_iter().collect())
}

fn section_name(id: u8) -> &'static str {
    [
        "custom",
        "types",
        "imports",
        "functions",
        "tables",
        "memories",
        "globals",
        "exports",
        "start",
        "elements",
        "code",
    ]
    .get(usize::from(id))
    .unwrap_or(&"other")
}

struct Weights {
    /// Each function's demangled name and the size of its body.
    functions: Vec<(String, usize)>,
}

impl Weights {
    fn of(core: &[u8]) -> Result<Self> {
        let names = function_names(core)?;
        let functions = code(core)?
            .iter()
            .enumerate()
            .map(|(number, body)| {
                // Imports count first, and the intrinsics of exported resources are still imported here.
                let name = names
                    .get(&number)
                    .cloned()
                    .unwrap_or_else(|| format!("function {number}"));
                (name, body.len())
            })
            .collect();
        Ok(Self { functions })
    }

    fn by_crate(&self) -> Vec<(String, usize)> {
        let mut crates = BTreeMap::<String, usize>::new();
        for (name, size) in &self.functions {
            *crates.entry(crate_of(name).to_owned()).or_default() += size;
        }
        crates.into_iter().collect()
    }
}

/// Names by position in the code section.
fn function_names(core: &[u8]) -> Result<BTreeMap<usize, String>> {
    let mut imported = 0;
    let mut names = BTreeMap::new();
    for payload in Parser::new(0).parse_all(core) {
        match payload? {
            Payload::ImportSection(imports) => {
                for import in imports.into_imports() {
                    imported += usize::from(matches!(import?.ty, wasmparser::TypeRef::Func(_)));
                }
            }
            Payload::CustomSection(section) => {
                let KnownCustom::Name(subsections) = section.as_known() else {
                    continue;
                };
                for subsection in subsections {
                    let Name::Function(map) = subsection? else {
                        continue;
                    };
                    for naming in map {
                        let naming = naming?;
                        let index = usize::try_from(naming.index)?;
                        let Some(position) = index.checked_sub(imported) else {
                            continue;
                        };
                        names.insert(position, format!("{:#}", rustc_demangle::demangle(naming.name)));
                    }
                }
            }
            _ => {}
        }
    }
    names.first_key_value().context("the twin has no names")?;
    Ok(names)
}

/// The crate that a demangled function is from: the first path in it, so an implementation counts for its type's crate.
fn crate_of(name: &str) -> &str {
    if name.starts_with("sealed ") {
        return "(sealed imports)";
    }
    let Some((path, _)) = name.split_once("::") else {
        return "(libc and exports)";
    };
    let start = path
        .rfind(|c: char| !c.is_alphanumeric() && c != '_')
        .map_or(0, |at| at + 1);
    if path.contains(':') || path[start..].is_empty() {
        "(libc and exports)"
    } else {
        &path[start..]
    }
}

fn shorten(name: &str) -> String {
    match name.char_indices().nth(91) {
        Some((end, _)) => format!("{}...", &name[..end]),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{crate_of, shorten};

    #[test]
    fn a_function_counts_for_the_crate_of_its_type() {
        for (name, crate_name) in [
            ("sayso_engine::check::check", "sayso_engine"),
            (
                "<aho_corasick::packed::Searcher as core::fmt::Debug>::fmt",
                "aho_corasick",
            ),
            (
                "<&mut serde_json::de::Deserializer<R> as serde::Deserializer>::deserialize_str",
                "serde_json",
            ),
            ("core::ptr::drop_in_place::<alloc::string::String>", "core"),
            ("dlmalloc", "(libc and exports)"),
            ("sayso:engine/guard@0.1.0#[method]session.check", "(libc and exports)"),
            ("sealed wasi:cli/stderr@0.2.0#get-stderr", "(sealed imports)"),
        ] {
            assert_eq!(crate_of(name), crate_name, "{name}");
        }
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(shorten("short"), "short");
        assert_eq!(shorten(&"é".repeat(200)), format!("{}...", "é".repeat(91)));
    }
}
