//! Quotations: what stands between quotation marks of any language, and lines that are a quotation by their form.
//!
//! A pair opens and closes in one line. `'` and `’` are also apostrophes: they open only after a non-letter and close only before
//! one. 《》 are titles, not quotes. Marks inside a quotation belong to it.

/// A quotation: half-open bytes into the text it was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quote {
    /// With its marks.
    pub outer: (usize, usize),
    /// Without them.
    pub inner: (usize, usize),
}

/// Which characters close a quotation that this one opens.
fn closers(open: char) -> &'static [char] {
    match open {
        '"' => &['"', '\u{201D}'],
        '\u{201C}' => &['\u{201D}', '"', '\u{201C}'],
        '\u{201D}' => &['\u{201D}'],
        '\u{201E}' => &['\u{201C}', '\u{201D}', '"'],
        '\u{2018}' => &['\u{2019}', '\''],
        '\u{201A}' => &['\u{2018}', '\u{2019}'],
        '\'' => &['\'', '\u{2019}'],
        '\u{AB}' => &['\u{BB}'],
        '\u{BB}' => &['\u{AB}'],
        '\u{2039}' => &['\u{203A}'],
        '\u{203A}' => &['\u{2039}'],
        '\u{300C}' | '\u{FF62}' => &['\u{300D}', '\u{FF63}'],
        '\u{300E}' => &['\u{300F}'],
        '\u{301D}' => &['\u{301E}', '\u{301F}'],
        '\u{FF02}' => &['\u{FF02}'],
        _ => &[],
    }
}

/// Whether a closing mark of this kind is also an apostrophe.
fn is_apostrophe(c: char) -> bool {
    matches!(c, '\'' | '\u{2019}' | '\u{2018}')
}

/// Finds the quotations of one line, in order; never overlapping. Linear: a mark that never closes is looked for once.
pub fn quotes(line: &str) -> Vec<Quote> {
    let chars: Vec<(usize, char)> = line.char_indices().collect();
    let mut out = Vec::new();
    // Closing marks that don't occur any more after some point need not be searched again.
    let mut hopeless: Vec<char> = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let (at, open) = chars[i];
        let ends = closers(open);
        let opens = !ends.is_empty() && !hopeless.contains(&open) && may_open(&chars, i);
        if !opens {
            i += 1;
            continue;
        }
        match close(&chars, i, ends) {
            Some(j) => {
                let (end, mark) = chars[j];
                out.push(Quote {
                    outer: (at, end + mark.len_utf8()),
                    inner: (at + open.len_utf8(), end),
                });
                i = j + 1;
            }
            None => {
                hopeless.push(open);
                i += 1;
            }
        }
    }
    out
}

fn may_open(chars: &[(usize, char)], i: usize) -> bool {
    let before = i.checked_sub(1).map(|b| chars[b].1);
    let after = chars.get(i + 1).map(|&(_, c)| c);
    match chars[i].1 {
        '\'' => before.is_none_or(|c| !c.is_alphanumeric()) && after.is_some_and(|c| !c.is_whitespace()),
        // Inches and feet: 24" is not an opening mark.
        '"' => !before.is_some_and(|c| c.is_ascii_digit()) || after.is_some_and(char::is_alphanumeric),
        '\u{BB}' | '\u{203A}' => {
            after.is_some_and(char::is_alphanumeric) && before.is_none_or(|c| !c.is_alphanumeric())
        }
        _ => after.is_some(),
    }
}

fn close(chars: &[(usize, char)], open: usize, ends: &[char]) -> Option<usize> {
    let mut nested = 0usize;
    for j in open + 1..chars.len() {
        let c = chars[j].1;
        if c == '\n' {
            return None;
        }
        if c == chars[open].1 && !ends.contains(&c) {
            nested += 1;
            continue;
        }
        if !ends.contains(&c) {
            continue;
        }
        if is_apostrophe(c) && inside_word(chars, j) {
            continue;
        }
        if nested > 0 {
            nested -= 1;
            continue;
        }
        if j > open + 1 {
            return Some(j);
        }
    }
    None
}

/// Whether the mark stands between two letters, as an apostrophe does.
fn inside_word(chars: &[(usize, char)], j: usize) -> bool {
    let letter = |k: Option<usize>| k.and_then(|k| chars.get(k)).is_some_and(|&(_, c)| c.is_alphanumeric());
    letter(j.checked_sub(1)) && letter(Some(j + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inner(line: &str) -> Vec<&str> {
        quotes(line).iter().map(|q| &line[q.inner.0..q.inner.1]).collect()
    }

    #[test]
    fn finds_quotations_of_many_languages() {
        assert_eq!(inner("he said \"use it\" and 'don't' stop"), ["use it", "don't"]);
        assert_eq!(
            inner("„Nimm das“ und «prends ça» 「これ」『それ』“好”"),
            ["Nimm das", "prends ça", "これ", "それ", "好"]
        );
        assert_eq!(inner("the user's and users' wishes"), Vec::<&str>::new());
        assert_eq!(inner("a 24\" screen and a 27\" one"), Vec::<&str>::new());
        assert_eq!(inner("‘glaze the mugs’, 《书名》"), ["glaze the mugs"]);
        assert_eq!(inner("open \" never closes"), Vec::<&str>::new());
    }
}
