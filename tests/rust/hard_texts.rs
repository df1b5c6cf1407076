//! Makes texts that are hard to read, for the tests of properties.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use sayso_engine::event::Role;

/// What was said, oldest first.
pub type Talk = Vec<(Role, String)>;

/// Pieces of prose that make and support claims, in every language that is read.
const PROSE: &[&str] = &[
    "User decided to drop the database",
    "The user approved the deploy",
    "Per the user's request, use tabs",
    "User does not want Docker",
    "As agreed with the user, no weekend deploys",
    "not confirmed by the user: ",
    "use Redis for the queue",
    "don't use Redis",
    "should we use Redis?",
    "yes",
    "go ahead",
    "never mind, forget Redis",
    "用户决定用 Redis 做队列",
    "用户不想要 Docker",
    "用 Redis 做队列",
    "好的",
    "ユーザーは毎週の報告を承認した",
    "사용자가 배포를 승인했다",
    "Пользователь решил удалить базу",
    "Der Nutzer hat die Löschung genehmigt",
    "L'utilisateur a décidé d'utiliser Redis",
    "El usuario aprobó el borrado",
    "O usuário decidiu usar Redis",
    "die Résumés-Ordner nicht umbenennen",
];

/// Marks and breaks between them.
const MARKS: &[&str] = &[
    " ",
    " ",
    " ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "\u{2028}",
    "\u{85}",
    ". ",
    "。",
    "; ",
    ": ",
    ", ",
    " - ",
    " — ",
    "...",
    "…",
    "?",
    "!",
    "\"",
    "'",
    "“",
    "”",
    "‘",
    "’",
    "„",
    "«",
    "»",
    "「",
    "」",
    "『",
    "』",
    "《",
    "》",
    "\n> ",
    "\n>> ",
    " > ",
    "\n- ",
    "\n* ",
    "\n1. ",
    "\n# ",
    "| ",
    " |\n|---|\n| ",
    "\n```\n",
    "\n~~~\n",
    "```",
    "`",
    "**",
    "_",
    "*",
    "~~",
    "(",
    ")",
    "[",
    "](",
    "<!-- ",
    "\n\u{2014} user: ",
    "\nQuote: ",
];

/// Characters that upset counting: lone marks, joined emoji, letters that grow when folded, directions, NUL.
const ODD: &[&str] = &[
    "\0",
    "\u{1}",
    "\u{301}",
    "a\u{301}\u{327}",
    "\u{309A}",
    "か\u{3099}",
    "ｶﾞ",
    "ﬃ",
    "İ",
    "ß",
    "ẞ",
    "Σ",
    "ΑΣ",
    "\u{1E9B}\u{323}",
    "\u{FDFA}",
    "㌔",
    "½",
    "①",
    "Ａ",
    "　",
    "\u{200B}",
    "\u{200D}",
    "\u{FEFF}",
    "\u{AD}",
    "\u{202E}",
    "\u{2066}",
    "שלום",
    "مرحبا",
    "ไทย",
    "हिन्दी",
    "\u{1100}\u{1161}\u{11A8}",
    "\u{1160}",
    "👨\u{200D}👩\u{200D}👧",
    "🇩🇪",
    "👍🏽",
    "☺\u{FE0F}",
    "𝔘𝔰𝔢𝔯",
    "𠀋",
    "\u{10FFFF}",
    "\u{E0061}",
    "\u{FFFD}",
    "\u{A0}",
    "\u{344}",
    "K",
    "ŉ",
    "ǰ",
];

/// Something that looks like code or data.
const CODE: &[&str] = &[
    "user.approved",
    "--dry-run",
    "a::b()",
    "~/notes/a.md",
    "https://example.org/?q=1&user=decided",
    "x_y = 'user decided'",
    "3.14",
    "1,000",
    "$HOME",
    "{\"user\":\"decided\"}",
];

fn piece() -> impl Strategy<Value = String> {
    let from = |list: &'static [&'static str]| select(list).prop_map(str::to_owned);
    prop_oneof![
        5 => from(PROSE),
        7 => from(MARKS),
        3 => from(ODD),
        1 => from(CODE),
        1 => any::<char>().prop_map(String::from),
        1 => vec(any::<char>(), 0..6).prop_map(String::from_iter),
        // A word that is far too long, and a pile of marks on one letter.
        1 => (select(ODD), 1_usize..200).prop_map(|(one, n)| one.repeat(n)),
        1 => (select(MARKS), 1_usize..40).prop_map(|(one, n)| one.repeat(n)),
    ]
}

/// Any text.
pub fn text() -> impl Strategy<Value = String> {
    vec(piece(), 0..24).prop_map(|pieces| pieces.concat())
}

/// A note: any text, sometimes with lines longer than are read at once.
pub fn note() -> impl Strategy<Value = String> {
    let long = (text(), 1_usize..120).prop_map(|(one, n)| one.repeat(n));
    prop_oneof![12 => text(), 1 => long]
}

/// What was said by anybody.
pub fn talk() -> impl Strategy<Value = Talk> {
    let role =
        prop_oneof![4 => Just(Role::User), 2 => Just(Role::Assistant), 1 => Just(Role::Tool), 1 => Just(Role::System)];
    vec((role, text()), 0..7)
}

/// What was said, and a note in which some of it is quoted, mostly word for word.
pub fn excerpted() -> impl Strategy<Value = (Talk, String)> {
    let excerpt = (
        any::<Index>(),
        any::<Index>(),
        any::<Index>(),
        select(QUOTING),
        select(LEADS),
    );
    (talk(), vec((note(), excerpt), 1..4)).prop_map(|(talk, parts)| {
        let mut after = String::new();
        for (note, (which, from, to, (open, close), lead)) in parts {
            after += if lead.is_empty() { &note } else { lead };
            if let Some((_, text)) = (!talk.is_empty()).then(|| which.get(&talk)) {
                after += open;
                after += if lead.is_empty() {
                    cut(text, from, to)
                } else {
                    sentence(text, from)
                };
                after += close;
            }
        }
        (talk, after)
    })
}

/// What may stand before a quotation; "" for any note.
const LEADS: &[&str] = &[
    "",
    "",
    "\n- User decided to use Redis ",
    "\n用户决定用 Redis 做队列",
    "\nUser does not want Redis",
];

const QUOTING: &[(&str, &str)] = &[
    (" (\"", "\")"),
    (": “", "”"),
    ("「", "」"),
    ("\n> ", "\n"),
    ("\n\n> ", "\n\n"),
    (" > ", "\n"),
    ("\nQuote: \"", "\""),
];

/// A line of a text, or a sentence.
fn sentence(text: &str, which: Index) -> &str {
    let all: Vec<&str> = text.split(['\n', '.', ';', ',', '。']).collect();
    all[which.index(all.len())]
}

/// A part of a text, cut at characters.
fn cut(text: &str, from: Index, to: Index) -> &str {
    let mut ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    ends.push(text.len());
    let (a, b) = (ends[from.index(ends.len())], ends[to.index(ends.len())]);
    &text[a.min(b)..a.max(b)]
}
