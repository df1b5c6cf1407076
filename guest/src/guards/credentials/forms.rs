//! Forms that no pattern describes: key blocks, web tokens, URLs, headers, flags of programs, words of wallets.

use super::coded;
use super::pattern::{begins, run, seek};
use super::rules::What;
use super::scan::Scan;
use super::value::{Given, Look, holds, is_common, is_key, is_password, is_placeholder};

/// Bytes of a key block that are read when its end is missing.
const BLOCK_MAX: usize = 16 << 10;
/// Base64 characters that a key block has at least.
const KEY_MIN: usize = 40;
/// Bytes of a URL between `://` and `@`.
const USERINFO_MAX: usize = 320;
/// Bytes of a line of a program before its flag.
const LINE_MAX: usize = 200;

/// Looks at a form whose literal stands at `at..end`.
pub fn read(scan: &mut Scan, at: usize, end: usize, what: What) {
    match what {
        What::Block => block(scan, at, end),
        What::Putty => putty(scan, end),
        What::CodedBlock => coded_block(scan, at),
        What::Jwt => jwt(scan, at),
        What::Url => url(scan, at, end),
        What::Bearer => bearer(scan, at, end),
        What::Cookie => cookie(scan, at, end),
        What::Flag => flag(scan, at, end),
        What::UserFlag => user_flag(scan, at, end),
        What::Pgpass => pgpass(scan, at, end),
        What::Seed => seed(scan, end),
        _ => {}
    }
}

/// Base64.
const fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=')
}

/// Base64 of either alphabet, without padding.
const fn is_url64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')
}

/// A key between its `BEGIN` and `END` lines: what is base64 goes, the lines stay, so that a diff, YAML and JSON stay what they are.
fn block(scan: &mut Scan, at: usize, end: usize) {
    let text = scan.text;
    let head = &text[end..(end + 60).min(text.len())];
    let Some(name) = seek(head, b"--") else {
        return;
    };
    if !holds(&head[..name], b"PRIVATE KEY") {
        return;
    }
    let dashes = run(&head[name..], usize::MAX, |b| b == b'-');
    let start = end + name + dashes;
    let window = &text[start..(start + BLOCK_MAX).min(text.len())];
    // The end, or the head of another.
    let body = seek(window, b"----");
    let closed = body.is_some();
    let body = &window[..body.unwrap_or(window.len())];
    // The sign of a diff before the head stands before each line.
    let sign = text[..at].last().filter(|b| matches!(b, b'+' | b'-')).copied();
    let pieces = key_lines(body, start, sign, closed);
    let long = pieces.iter().map(|p| p.1 - p.0).sum::<usize>();
    let joined: Vec<u8> = pieces.iter().flat_map(|p| &text[p.0..p.1]).copied().take(200).collect();
    if long >= KEY_MIN && !is_placeholder(&joined) {
        scan.pieces(scan.rules.form("private-key"), pieces);
    }
}

/// The pieces of base64 in a key block: whole lines, or what white space, quotes and escapes of line breaks separate.
fn key_lines(body: &[u8], start: usize, sign: Option<u8>, closed: bool) -> Vec<(usize, usize)> {
    let mut out: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while at < body.len() {
        if body[at] == b'\\' {
            // `\n`, `\r`, also behind several backslashes.
            at += run(&body[at..], usize::MAX, |b| b == b'\\');
            at += usize::from(matches!(body.get(at), Some(b'n' | b'r' | b't')));
            continue;
        }
        let is_first = at == 0 || matches!(body[at - 1], b'\n' | b' ');
        if !is_base64(body[at]) || (is_first && Some(body[at]) == sign) {
            at += 1;
            continue;
        }
        let length = run(&body[at..], usize::MAX, is_base64);
        let next = body.get(at + length).copied().unwrap_or(b'\n');
        // Words of header lines (`Proc-Type: 4,ENCRYPTED`) are no key; a short last line is.
        let is_word = matches!(next, b':' | b'-' | b',' | b'.' | b'(' | b')') || (next == b' ' && length < 16);
        let is_line = !is_word && (length >= 16 || !out.is_empty());
        if is_line {
            out.push((start + at, start + at + length));
        } else if !closed && !out.is_empty() {
            break;
        }
        at += length;
    }
    out
}

/// `Private-Lines: N` and N lines of base64.
fn putty(scan: &mut Scan, end: usize) {
    let text = scan.text;
    let window = &text[end..(end + BLOCK_MAX).min(text.len())];
    let body = seek(window, b"Private-MAC").unwrap_or(window.len());
    let line = window
        .iter()
        .position(|b| matches!(b, b'\n' | b'\\'))
        .unwrap_or(0)
        .min(body);
    let pieces = key_lines(&window[line..body], end + line, None, false);
    if pieces.iter().map(|p| p.1 - p.0).sum::<usize>() >= KEY_MIN {
        scan.pieces(scan.rules.form("private-key"), pieces);
    }
}

/// A key block that is base64 once more, as in the settings of Kubernetes.
fn coded_block(scan: &mut Scan, at: usize) {
    let text = scan.text;
    let length = run(&text[at..], usize::MAX, is_base64);
    let inner = coded::base64(&text[at..at + length.min(96)]);
    if begins(text, at) && holds(&inner, b"PRIVATE KEY") {
        scan.span(scan.rules.form("private-key"), at, at + length);
    }
}

/// Three parts in base64 with points between them, the first of which is a JSON object.
fn jwt(scan: &mut Scan, at: usize) {
    let text = scan.text;
    if at < scan.coded || !begins(text, at) || !text[at..].starts_with(b"eyJ") {
        return;
    }
    let mut end = at;
    let mut parts = Vec::with_capacity(5);
    while parts.len() < 5 {
        let length = run(&text[end..], usize::MAX, |b| is_url64(b) || b == b'=');
        if parts.is_empty() {
            // A later start in this run ends at the same place.
            scan.coded = end + length;
        }
        if length == 0 {
            break;
        }
        end += length;
        parts.push(length);
        if text.get(end) != Some(&b'.') || length < 8 {
            break;
        }
        end += 1;
    }
    while end > at && text[end - 1] == b'.' {
        end -= 1;
    }
    let Some(&last) = parts.last() else { return };
    if parts.len() >= 3 && parts[0] >= 10 && last >= 16 && !is_placeholder(&text[end - last..end]) {
        scan.span(scan.rules.form("jwt"), at, end);
    }
}

/// A password in front of the host, or a token in its place.
fn url(scan: &mut Scan, at: usize, end: usize) {
    let text = scan.text;
    if !text[..at].last().is_some_and(u8::is_ascii_alphanumeric) {
        return;
    }
    let window = &text[end..(end + USERINFO_MAX).min(text.len())];
    let stop = window
        .iter()
        .position(|&b| b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | 128..))
        .unwrap_or(window.len());
    let Some(sign) = window[..stop].iter().rposition(|&b| b == b'@') else {
        return;
    };
    let info = &window[..sign];
    let host = window.get(sign + 1).copied().unwrap_or(b' ');
    if !(is_url64(host) || matches!(host, b'[' | b'.' | b'$' | b'{' | b'%')) {
        return;
    }
    match info.iter().position(|&b| b == b':') {
        Some(colon) => {
            let (user, password) = (&info[..colon], &info[colon + 1..]);
            let from_elsewhere = password.iter().any(|b| matches!(b, b'{' | b'}' | b'(' | b'[' | b'*'))
                || password.starts_with(b"$")
                || password.starts_with(b"%(")
                || password.starts_with(b"%s");
            let is_taken = user == password || is_common(password) || is_placeholder(password) || from_elsewhere;
            let is_port = password.iter().all(u8::is_ascii_digit) && password.len() < 6;
            let is_dull = password.iter().all(u8::is_ascii_lowercase) && password.len() < 8
                || password.iter().all(u8::is_ascii_uppercase);
            if password.len() >= 3 && !is_taken && !is_port && !is_dull {
                scan.span(scan.rules.form("url-password"), end + colon + 1, end + sign);
            }
        }
        None if is_key(info, Given::Bare, false) => scan.span(scan.rules.form("url-password"), end, end + sign),
        None => {}
    }
}

/// How many bytes of a value are the name of a scheme of authorization and the white space behind it.
pub fn scheme(value: &[u8]) -> Option<usize> {
    let name = run(value, usize::MAX, |b| {
        b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')
    });
    let known = [
        "bearer",
        "basic",
        "token",
        "digest",
        "ssws",
        "apikey",
        "bot",
        "oauth",
        "api-key",
        "key",
        "negotiate",
        "pat",
        "x-api-key",
        "splunk",
        "genie",
        "genieKey",
        "klaviyo-api-key",
        "discord-bot",
        "deepl-auth-key",
        "snowflake",
    ];
    let is_known = known.iter().any(|k| value[..name].eq_ignore_ascii_case(k.as_bytes()));
    let gap = run(&value[name..], usize::MAX, |b| b == b' ' || b == b'=');
    (is_known && gap > 0).then_some(name + gap)
}

/// The credential of a header: a coded pair of name and password behind `Basic`, otherwise a key.
pub fn authorization(scan: &mut Scan, scheme: usize, start: usize, end: usize) {
    let text = scan.text;
    let rule = scan.rules.form("authorization");
    let value = &text[start..end];
    let length = run(value, usize::MAX, |b| {
        b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b',' | b'\\' | b'<' | b'`')
    });
    let value = &value[..length];
    let is_basic = text[scheme..start].to_ascii_lowercase().starts_with(b"basic");
    let looks = Look::at(value);
    let is_short = value.len() >= 8 && looks.digit > 0 && looks.lower > 0 && is_password(value, Given::Bare);
    if (is_basic && is_coded_pair(value))
        || (!is_basic && (is_key(value, Given::Bare, true) || super::value::is_uuid(value) || is_short))
    {
        scan.span(rule, start, start + length);
    }
}

/// `Bearer` outside a header whose name says so, and behind the name of one.
fn bearer(scan: &mut Scan, at: usize, end: usize) {
    let text = scan.text;
    let value = &text[end..(end + 2048).min(text.len())];
    let length = run(value, usize::MAX, |b| {
        b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b',' | b'\\' | b'<' | b'`' | b')')
    });
    if begins(text, at) && (is_key(&value[..length], Given::Bare, true) || super::value::is_uuid(&value[..length])) {
        scan.span(scan.rules.form("authorization"), end, end + length);
    }
}

/// Base64 of `name:password`, the password not one that stands for another.
pub fn is_coded_pair(value: &[u8]) -> bool {
    let inner = coded::base64(value);
    let Some(colon) = inner.iter().position(|&b| b == b':') else {
        return false;
    };
    let password = &inner[colon + 1..];
    let coded = value.iter().all(|&b| is_base64(b) || is_url64(b));
    coded
        && colon > 0
        && value.len() >= 8
        && inner.iter().all(|&b| b.is_ascii_graphic() || b == b' ')
        && !password.is_empty()
        && !is_placeholder(password)
        && !is_common(password)
}

/// Values of cookies, where the name or the value says that they open a session.
fn cookie(scan: &mut Scan, at: usize, end: usize) {
    let text = scan.text;
    let line = text[at.saturating_sub(LINE_MAX)..at]
        .rsplit(|&b| b == b'\n')
        .next()
        .unwrap_or_default();
    if at < scan.cookies || (text[at] == b' ' && !holds(line, b"curl")) {
        return;
    }
    let limit = text[end..]
        .iter()
        .take(VALUES_MAX)
        .position(|&b| matches!(b, b'\n' | b'\r'))
        .map_or((end + VALUES_MAX).min(text.len()), |n| end + n);
    scan.cookies = limit;
    let mut from = end;
    let names = scan.rules.words("cookie");
    while from < limit {
        let stop = from
            + run(&text[from..limit], usize::MAX, |b| {
                !matches!(b, b';' | b'"' | b'\\' | b'`')
            });
        let pair = &text[from..stop];
        if let Some(equal) = pair.iter().position(|&b| b == b'=') {
            let name: Vec<u8> = pair[..equal].to_ascii_lowercase();
            let value = &pair[equal + 1..];
            let length = run(value, usize::MAX, |b| b.is_ascii_graphic() && b != b'\'');
            let value = &value[..length];
            let is_session = names.iter().any(|n| holds(&name, n.as_bytes())) && is_key(value, Given::Bare, true);
            if value.len() >= 16 && (is_session || is_key(value, Given::Bare, false)) && from + equal + 1 >= scan.done {
                scan.span(scan.rules.form("cookie"), from + equal + 1, from + equal + 1 + length);
            }
        }
        from = stop + 1;
    }
}

/// Bytes of a header of cookies.
const VALUES_MAX: usize = 4096;

/// The line before a flag.
fn program(text: &[u8], at: usize) -> &[u8] {
    text[at.saturating_sub(LINE_MAX)..at]
        .rsplit(|&b| b == b'\n')
        .next()
        .unwrap_or_default()
}

/// `mysql -pSECRET`, `sshpass -p SECRET`, `docker login -p SECRET`, `redis-cli -a SECRET`.
fn flag(scan: &mut Scan, at: usize, end: usize) {
    let text = scan.text;
    let line = program(text, at);
    let glued = ["mysql", "mariadb", "sshpass", "7z "]
        .iter()
        .any(|p| holds(line, p.as_bytes()));
    let apart = ["sshpass", "login", "redis-cli", "mongo", "ldap"]
        .iter()
        .any(|p| holds(line, p.as_bytes()));
    let gap = run(&text[end..], 4, |b| b == b' ');
    let is_apart = gap > 0 || text[at..end].ends_with(b" ");
    if !(is_apart && apart || !is_apart && glued) {
        return;
    }
    argument(scan, end + gap, "password");
}

/// A value of a command line that is a password.
fn argument(scan: &mut Scan, from: usize, rule: &str) {
    let text = scan.text;
    let quote = text.get(from).copied().filter(|b| matches!(b, b'\'' | b'"'));
    let start = from + usize::from(quote.is_some());
    let length = text[start..].iter().take(200).take_while(|&&b| match quote {
        Some(q) => b != q && b != b'\n',
        None => !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`'),
    });
    let end = start + length.count();
    let given = if quote.is_some() { Given::Quoted } else { Given::Bare };
    if is_password(&text[start..end], given) {
        scan.span(scan.rules.form(rule), start, end);
    }
}

/// `curl -u name:SECRET`.
fn user_flag(scan: &mut Scan, at: usize, end: usize) {
    let text = scan.text;
    let line = program(text, at);
    if !["curl", "wget", "http", "xh "]
        .iter()
        .any(|p| holds(line, p.as_bytes()))
    {
        return;
    }
    let rest = &text[end..(end + 200).min(text.len())];
    let gap = run(rest, usize::MAX, |b| matches!(b, b' ' | b'=' | b'"' | b'\''));
    let pair = &rest[gap..];
    let length = run(pair, usize::MAX, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'')
    });
    let Some(colon) = pair[..length].iter().position(|&b| b == b':') else {
        return;
    };
    let password = &pair[colon + 1..length];
    let (start, end) = (end + gap + colon + 1, end + gap + length);
    let is_plain = password.len() >= 8 && Look::at(password).is_random();
    if is_password(password, Given::Bare) || (is_plain && !is_placeholder(password)) {
        scan.span(scan.rules.form("password"), start, end);
    }
}

/// `host:5432:database:name:SECRET`.
fn pgpass(scan: &mut Scan, at: usize, end: usize) {
    let text = scan.text;
    let line = program(text, at);
    let rest = &text[end..(end + 300).min(text.len())];
    let rest = &rest[..rest
        .iter()
        .position(|b| b.is_ascii_whitespace() || matches!(b, b'"' | b'\''))
        .unwrap_or(rest.len())];
    let mut parts = rest.splitn(3, |&b| b == b':');
    if line.iter().any(|b| b.is_ascii_whitespace() || *b == b'/') {
        return;
    }
    let (Some(_), Some(_), Some(password)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    if is_password(password, Given::Bare) {
        let stop = end + rest.len();
        scan.span(scan.rules.form("password"), stop - password.len(), stop);
    }
}

/// Twelve to twenty-four words of a wallet.
fn seed(scan: &mut Scan, end: usize) {
    let text = scan.text;
    let window = &text[end..(end + 600).min(text.len())];
    let lead = window
        .iter()
        .take(40)
        .position(|&b| matches!(b, b':' | b'=' | b'"' | b'`') || b >= 128);
    let prose = scan.rules.words("prose");
    let mut at = lead.unwrap_or(0);
    while at < window.len() && !window[at].is_ascii_lowercase() {
        at += 1;
    }
    let start = at;
    let mut words = 0;
    let mut stop = at;
    while words < 24 {
        let length = run(&window[at..], usize::MAX, |b| b.is_ascii_lowercase());
        let word = &window[at..at + length];
        if !(3..=8).contains(&length) || prose.iter().any(|p| p.as_bytes() == word) {
            break;
        }
        words += 1;
        at += length;
        stop = at;
        at += run(&window[at..], 6, |b| {
            matches!(b, b' ' | b',' | b'\n' | b'.') || b.is_ascii_digit()
        });
        if at == stop {
            break;
        }
    }
    if words >= 12 {
        scan.span(scan.rules.form("seed-phrase"), end + start, end + stop);
    }
}
