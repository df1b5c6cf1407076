//! Questions about the engine and the loaded rows.

use super::Session;
use crate::explain::{explain, rules};
use crate::lexicon;
use crate::rows::Row;
use crate::verdict::GuardName;
use serde_json::{Value, json};

impl Session {
    /// Answers a question about the engine and the loaded rows.
    pub fn report(&self, query: &str) -> String {
        let query: Value = match serde_json::from_str(query) {
            Ok(query) => query,
            Err(why) => return json!({"error": format!("the query is not JSON: {why}")}).to_string(),
        };
        let answer = match query["ask"].as_str() {
            Some("status") => self.status(),
            Some("rules") => json!({"rules": rules()}),
            Some("explain") => explain(query["rule"].as_str().unwrap_or_default()),
            Some("findings") => self.findings(&query),
            _ => json!({"error": "ask must be status, rules, explain or findings"}),
        };
        answer.to_string()
    }

    fn status(&self) -> Value {
        let languages: Vec<&str> = lexicon::languages().collect();
        let modes: serde_json::Map<String, Value> = GuardName::ALL
            .iter()
            .skip(1)
            .map(|&g| (g.name().to_owned(), self.settings.mode(g).name().into()))
            .collect();
        json!({
            "engine": env!("CARGO_PKG_VERSION"),
            "guards": ["provenance", "repetition", "loops", "credentials", "tamper", "bounds"],
            "languages": languages,
            "rules": rules().len(),
            "messages": self.history.said().len(),
            "calls": self.loops.len(),
            "passed": self.passed.len(),
            "profile": self.settings.profile.name(),
            "modes": modes,
            "problems": self.settings.problems,
        })
    }

    fn findings(&self, query: &Value) -> Value {
        let wanted = |row: &Row| {
            query["session"].as_str().is_none_or(|s| s == row.session)
                && query["since"].as_u64().is_none_or(|t| row.at >= t)
                && query["until"].as_u64().is_none_or(|t| row.at < t)
        };
        let mut out = Vec::new();
        for (row, body) in self.found.iter().filter(|(row, _)| wanted(row)) {
            for finding in row
                .findings
                .iter()
                .filter(|f| query["guard"].as_str().is_none_or(|g| g == f.guard))
            {
                let words = body.get(finding.body.0..finding.body.1).unwrap_or_default();
                out.push(
                    json!({"id": row.id, "session": row.session, "at": row.at, "surface": row.surface,
                    "reference": row.reference, "action": row.action, "text": words, "finding": finding}),
                );
            }
        }
        let limit = query["limit"].as_u64().map_or(out.len(), |n| n as usize);
        let skipped = out.len().saturating_sub(limit);
        json!({"findings": out.split_off(skipped)})
    }
}
