//! Reads the rows of `corpus/cases`.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// One row and where it stands.
pub struct Case {
    /// The file's name.
    pub file: String,
    /// What the row says.
    pub row: Value,
}

impl Case {
    /// The row's id, unique in its file.
    pub fn id(&self) -> &str {
        self.row["id"].as_str().expect("an id")
    }
}

/// The rows of all files whose names begin so, by name of file and in the order of the file.
pub fn read(beginnings: &[&str]) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/cases");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("corpus/cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|x| x == "jsonl"))
        .collect();
    files.sort();
    let mut out = Vec::new();
    for path in files {
        let file = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !beginnings.iter().any(|b| file.starts_with(b)) {
            continue;
        }
        let text = fs::read_to_string(&path).expect("UTF-8");
        for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
            let row = serde_json::from_str(line).unwrap_or_else(|why| panic!("{file}:{}: {why}", i + 1));
            out.push(Case {
                file: file.clone(),
                row,
            });
        }
    }
    out
}
