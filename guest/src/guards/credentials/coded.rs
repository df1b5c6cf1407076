//! Texts in base64 and hex.

/// Decodes base64 of either alphabet, up to the first character that is none.
pub fn base64(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for &byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

/// The value of a hex digit.
pub const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

/// Decodes pairs of hex digits, up to the first that is none.
pub fn hex(text: &[u8]) -> Vec<u8> {
    let pair = |p: &[u8]| Some(digit(p[0])? << 4 | digit(p[1])?);
    text.chunks_exact(2).map_while(pair).collect()
}

/// Whether bytes are a text that people read.
pub fn is_text(bytes: &[u8]) -> bool {
    let seen = &bytes[..bytes.len().min(64)];
    let plain = seen
        .iter()
        .filter(|b| b.is_ascii_graphic() || b.is_ascii_whitespace() || **b >= 0xC2)
        .count();
    let ascii = seen
        .iter()
        .filter(|b| b.is_ascii_graphic() || b.is_ascii_whitespace())
        .count();
    seen.len() >= 8 && plain == seen.len() && ascii * 10 >= seen.len() * 9
}
