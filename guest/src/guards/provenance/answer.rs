//! What is said about a claim: to the agent, short enough to act on at once, and to the person who reads the report.

use super::Checked;
use super::judge::Word;
use crate::event::Write;

/// Characters of a claim or a quote that are repeated in an answer.
const EXCERPT_CHARS_MAX: usize = 160;

/// Refusals told in one message; the rest are counted.
const SENTENCES_MAX: usize = 8;

/// What each verdict means, for `explain` and for the reason of a finding.
pub const fn meaning(word: Word) -> &'static str {
    match word {
        Word::NoQuote => "No quote of the user stands with this claim.",
        Word::NotFound => "Nobody in this session said the quoted words in this form.",
        Word::WrongSpeaker => "The quoted words were said, but not by the user.",
        Word::QuotedMaterial => {
            "The quoted words stand in something the user pasted or quoted, not in their own words."
        }
        Word::Unrelated => "The user said the quoted words, but they share no content word with the claim.",
        Word::NegationDropped => "The user said the opposite: the claim or its quote reverses a negation.",
        Word::NotACommitment => {
            "The user said this as a question, a condition, an idea or somebody else's wish, not as their own word."
        }
        Word::Retracted => "The user said this, and took it back later.",
        Word::Assented => "The user assented to what the agent had just proposed.",
        Word::Supported => "The user said so, in these words.",
    }
}

/// What passes instead, for `explain`.
pub const fn remedy(word: Word) -> &'static str {
    match word {
        Word::NoQuote | Word::NotFound => {
            "Put the user's exact words in quotation marks behind the claim, or write it as not confirmed by the user."
        }
        Word::WrongSpeaker | Word::QuotedMaterial => {
            "Quote what the user typed themselves, or name who really said it."
        }
        Word::Unrelated => "Quote the user's words about this very thing.",
        Word::NegationDropped => "Write what the user said, with its negation.",
        Word::NotACommitment => "Write it as what it was: a question, a condition, an idea, somebody else's wish.",
        Word::Retracted => "Write the user's last word on it.",
        Word::Assented | Word::Supported => "It passes.",
    }
}

/// The finding's reason: what the verdict means, and what the judge saw.
pub fn reason(one: &Checked) -> String {
    let meaning = meaning(one.judged.word);
    if one.judged.note.is_empty() {
        meaning.to_owned()
    } else {
        format!("{meaning} {}", one.judged.note)
    }
}

/// What would pass: the user's own words when there are any, else the remedy.
pub fn suggestion(one: &Checked) -> String {
    if one.judged.would_pass.is_empty() {
        remedy(one.judged.word).to_owned()
    } else {
        format!("Quote the user: \u{201C}{}\u{201D}", excerpt(&one.judged.would_pass))
    }
}

/// One claim in the message to the agent.
pub fn sentence(write: &Write, one: &Checked) -> String {
    let span = one.span();
    format!(
        "\u{201C}{}\u{201D}: {} {}",
        excerpt(&write.after[span.0..span.1]),
        reason(one),
        suggestion(one)
    )
}

/// The message to the agent.
pub fn message(sentences: &[String]) -> String {
    let mut out =
        String::from("sayso: this note says that the user did something, and the session does not show it.\n");
    for sentence in sentences.iter().take(SENTENCES_MAX) {
        out.push_str("- ");
        out.push_str(sentence);
        out.push('\n');
    }
    if sentences.len() > SENTENCES_MAX {
        out.push_str(&format!("- and {} more.\n", sentences.len() - SENTENCES_MAX));
    }
    out.push_str(
        "The note may be stored without the claim; \u{201C}not confirmed by the user: \u{2026}\u{201D} is not a claim.",
    );
    out
}

/// The beginning of a text, on one line.
fn excerpt(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT_CHARS_MAX) {
        Some((cut, _)) => format!("{}\u{2026}", &line[..cut]),
        None => line,
    }
}
