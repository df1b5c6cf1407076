//! Exact repetition: every run of a text, a part that has a period and at least two copies of it.
//!
//! The longest Lyndon word from each place, in two orders of the bytes that are each other's reverse, holds the root of every
//! run (Bannai et al., "The runs theorem"). A stack from right to left gives these words; how far a root repeats is found by
//! comparing. Long comparisons are cut short by what was compared before and by prefix hashes, so that the work is within a
//! logarithm of linear whatever the text; every run that is reported was also compared byte by byte.

use std::collections::BinaryHeap;
use std::ops::Range;

/// A part of a text that is its own copy, moved by a period. It can't be extended to either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// Bytes of one copy: the smallest number by which it can be moved onto itself.
    pub period: usize,
}

impl Run {
    /// How many bytes it covers.
    pub const fn len(&self) -> usize {
        self.end - self.start
    }

    /// Whether it covers nothing, which none does.
    pub const fn is_empty(&self) -> bool {
        self.end == self.start
    }
}

/// Bytes of the longest period that is looked for. It bounds the memory of the two stacks.
pub const PERIOD_MAX: usize = 1 << 20;

/// Bytes that are compared one by one before hashes are asked.
const NEAR: usize = 256;

/// Every run of at least `least` bytes with a period of at most [`PERIOD_MAX`], by where it begins, then by period.
pub fn runs(text: &[u8], least: usize) -> Vec<Run> {
    let mut found = Vec::new();
    for area in areas(text, least) {
        search(text, least, area.start..area.end, &mut found);
    }
    settled(text, least, found)
}

/// Like [`runs`], but where one run of four copies or more is half of an area that repeats, runs that reach into it may be left out.
/// Of long loops this takes a fraction of the time.
pub fn outer_runs(text: &[u8], least: usize) -> Vec<Run> {
    let mut found = Vec::new();
    for area in areas(text, least) {
        let Some(run) = main_run(text, &area) else {
            search(text, least, area.start..area.end, &mut found);
            continue;
        };
        // What begins or ends in it may go beyond it.
        let border = 2 * run.period + least;
        let (front, back) = (run.start + border, run.end - border.min(run.end));
        found.push(run);
        if front < back {
            search(text, least, area.start..front.min(area.end), &mut found);
            search(text, least, back.max(area.start)..area.end, &mut found);
        } else {
            search(text, least, area.start..area.end, &mut found);
        }
    }
    settled(text, least, found)
}

/// Sorted, each once, and compared byte by byte.
fn settled(text: &[u8], least: usize, found: Vec<Run>) -> Vec<Run> {
    // Sorted by a heap: a tenth of the code that the sort of slices takes.
    let mut found = BinaryHeap::from(found).into_sorted_vec();
    found.dedup();
    found.retain(|r| r.len() >= least && text[r.start..r.end - r.period] == text[r.start + r.period..r.end]);
    found
}

/// Finds the runs of a part of the text; those that reach its ends are followed beyond them.
fn search(text: &[u8], least: usize, part: Range<usize>, found: &mut Vec<Run>) {
    let mut finder = Finder::new(&text[part.clone()], least);
    let mut stacks = [Vec::new(), Vec::new()];
    let (mut key, mut flipped) = (0_u64, 0_u64);
    for (i, &byte) in finder.text.iter().enumerate().rev() {
        key = key >> 8 | u64::from(byte) << 56;
        flipped = flipped >> 8 | u64::from(!byte) << 56;
        finder.root(i, key, &mut stacks[0], false);
        finder.root(i, flipped, &mut stacks[1], true);
    }
    for run in finder.found {
        let mut run = Run {
            start: run.start + part.start,
            end: run.end + part.start,
            ..run
        };
        if run.start == part.start || run.end == part.end {
            run = grown(text, run);
        }
        found.push(run);
    }
}

/// A run, as far as it goes to both sides.
fn grown(text: &[u8], mut run: Run) -> Run {
    let period = run.period;
    run.end += same(&text[run.end - period..text.len() - period], &text[run.end..]);
    let (left, right) = (&text[..run.start], &text[..run.start + period]);
    run.start -= left
        .iter()
        .rev()
        .zip(right.iter().rev())
        .take_while(|(a, b)| a == b)
        .count();
    run
}

/// Bytes of which [`Sieve`] takes a hash; and every so many bytes it keeps one. A part that stands twice and is as long as both
/// together is seen.
const GRAM: usize = 32;
const KEPT_EVERY: usize = 16;

/// A part of the text that may hold runs.
struct Area {
    start: usize,
    end: usize,
    /// Where a copy of something ends, and how far before it the other one does: the nearest.
    nearest: (usize, usize),
}

/// The parts of a text that may hold runs of `least` bytes: where one gram after the other was seen before, not farther back than
/// such a part is long. All other parts hold none.
fn areas(text: &[u8], least: usize) -> Vec<Area> {
    let whole = Area {
        start: 0,
        end: text.len(),
        nearest: (0, 0),
    };
    if least < 2 * (GRAM + KEPT_EVERY) {
        return vec![whole];
    }
    let mut out: Vec<Area> = Vec::new();
    let bits = (text.len() / KEPT_EVERY * 2).next_power_of_two().ilog2().max(4);
    let mut kept = vec![(0_u32, 0_u32); 1 << bits];
    let mut hash = 0_u32;
    // The chain of grams seen before: the end of the first, of the last, and the nearest.
    let mut chain: Option<(usize, usize, (usize, usize))> = None;
    for (i, &byte) in text.iter().enumerate() {
        hash = (hash << 1).wrapping_add(u32::from(byte).wrapping_add(1).wrapping_mul(0x9E37_79B1));
        let mut slot = (hash.wrapping_mul(0x85EB_CA6B) >> (32 - bits)) as usize;
        while kept[slot].1 != 0 && kept[slot].0 != hash {
            slot = (slot + 1) & ((1 << bits) - 1);
        }
        if kept[slot].1 != 0 && i >= GRAM {
            let distance = i - kept[slot].1 as usize;
            chain = match chain {
                Some((first, last, nearest)) if i - last <= KEPT_EVERY => {
                    Some((first, i, if distance < nearest.1 { (i, distance) } else { nearest }))
                }
                past => {
                    past.iter().for_each(|&c| add(&mut out, c, text.len()));
                    Some((i, i, (i, distance)))
                }
            };
        }
        if i % KEPT_EVERY == 0 && i >= GRAM {
            kept[slot] = (hash, i as u32);
        }
    }
    chain.iter().for_each(|&c| add(&mut out, c, text.len()));
    out
}

/// Adds the area of a chain, joined with those before it that it reaches into.
fn add(areas: &mut Vec<Area>, (first, last, nearest): (usize, usize, (usize, usize)), length: usize) {
    // A run whose second copy begins here is at most so much longer than the chain.
    let period = last - first + 2 * (GRAM + KEPT_EVERY);
    if nearest.1 > period {
        return;
    }
    let mut area = Area {
        start: first.saturating_sub(period + GRAM + KEPT_EVERY),
        end: (last + KEPT_EVERY + 1).min(length),
        nearest,
    };
    while let Some(before) = areas.pop_if(|before| before.end >= area.start) {
        area.start = area.start.min(before.start);
        if before.nearest.1 < area.nearest.1 {
            area.nearest = before.nearest;
        }
    }
    areas.push(area);
}

/// The run around the nearest copy in an area, if it has four copies and is half of the area.
fn main_run(text: &[u8], area: &Area) -> Option<Run> {
    let (at, distance) = area.nearest;
    if distance == 0 || area.end - area.start < 1024 {
        return None;
    }
    let run = grown(
        text,
        Run {
            start: at - distance,
            end: at,
            period: distance,
        },
    );
    if run.len() < 4 * distance || run.len() * 2 < area.end - area.start {
        return None;
    }
    let period = root(&text[run.start..run.start + distance]);
    Some(grown(text, Run { period, ..run }))
}

/// Bytes of the shortest word that a word consists of (Morris and Pratt).
fn root(word: &[u8]) -> usize {
    let mut borders = vec![0_u32; word.len()];
    let mut border = 0;
    for i in 1..word.len() {
        while border > 0 && word[i] != word[border] {
            border = borders[border - 1] as usize;
        }
        border += usize::from(word[i] == word[border]);
        borders[i] = border as u32;
    }
    let period = word.len() - border;
    if word.len().is_multiple_of(period) {
        period
    } else {
        word.len()
    }
}

/// A place on a stack, and the eight bytes that follow it.
type Place = (u32, u64);

/// Two suffixes that were compared: their distance, the first one's place, how many bytes are equal.
#[derive(Clone, Copy, Default)]
struct Compared {
    distance: usize,
    at: usize,
    equal: usize,
}

struct Finder<'a> {
    text: &'a [u8],
    least: usize,
    /// The last long comparison of each distance, by its low bits.
    compared: [Compared; 64],
    /// The last run of each period, by its low bits.
    known: [Run; 256],
    hashes: Option<Hashes>,
    found: Vec<Run>,
}

impl<'a> Finder<'a> {
    fn new(text: &'a [u8], least: usize) -> Self {
        let none = Run {
            start: 0,
            end: 0,
            period: 0,
        };
        Self {
            text,
            least,
            compared: [Compared::default(); 64],
            known: [none; 256],
            hashes: None,
            found: Vec::new(),
        }
    }

    /// Finds the longest Lyndon word from `i` in one order, and the run that it is the root of.
    #[inline]
    fn root(&mut self, i: usize, key: u64, stack: &mut Vec<Place>, reversed: bool) {
        let n = self.text.len();
        let (mut next, mut equal) = (n, 0);
        while let Some(&(at, other)) = stack.last() {
            let at = at as usize;
            let smaller = if key == other {
                equal = self.equal_after(i, at);
                let end = at + equal;
                end < n && ((self.text[i + equal] < self.text[end]) != reversed)
            } else {
                equal = ((key ^ other).leading_zeros() / 8) as usize;
                equal = equal.min(n - at);
                key < other
            };
            if !smaller {
                next = at;
                break;
            }
            stack.pop();
            equal = 0;
        }
        if next - i <= PERIOD_MAX {
            self.run(i, next, equal);
        }
        stack.push((i as u32, key));
        if stack.len() > 2 * PERIOD_MAX {
            let far = stack.partition_point(|&(at, _)| at as usize > i + PERIOD_MAX);
            stack.drain(..far);
        }
    }

    /// Keeps the run around a root `i..next`, if there is one; `equal` bytes after both ends of the root are the same.
    #[inline]
    fn run(&mut self, i: usize, next: usize, equal: usize) {
        let period = next - i;
        let needed = period.max(self.least.saturating_sub(period)).saturating_sub(equal);
        if needed > i || (needed > 0 && self.text[i - 1] != self.text[next - 1]) {
            return;
        }
        let known = self.known[period % 256];
        if known.period == period && known.start <= i && next <= known.end {
            return;
        }
        let before = self.equal_before(i, next);
        if before < needed {
            return;
        }
        let run = Run {
            start: i - before,
            end: next + equal,
            period,
        };
        self.known[period % 256] = run;
        self.found.push(run);
    }

    /// How many bytes from `i` and from `j` on are equal, `i` before `j`.
    #[inline(never)]
    fn equal_after(&mut self, i: usize, j: usize) -> usize {
        let distance = j - i;
        let past = self.compared[distance % 64];
        let known = if past.distance == distance && past.at >= i {
            past.at - i
        } else {
            usize::MAX
        };
        let most = self.text.len() - j;
        let near = most.min(known).min(NEAR);
        let mut equal = same(&self.text[i..i + near], &self.text[j..j + near]);
        if equal == near && equal < most {
            equal = if near == known {
                known + past.equal
            } else {
                let hashes = self.hashes.get_or_insert_with(|| Hashes::of(self.text));
                hashes.after(self.text, i, j, near)
            };
        }
        if equal >= 16 {
            self.compared[distance % 64] = Compared { distance, at: i, equal };
        }
        equal
    }

    /// How many bytes before `i` and before `j` are equal.
    fn equal_before(&mut self, i: usize, j: usize) -> usize {
        let near = i.min(NEAR);
        let (left, right) = (&self.text[i - near..i], &self.text[j - near..j]);
        let equal = left
            .iter()
            .rev()
            .zip(right.iter().rev())
            .take_while(|(a, b)| a == b)
            .count();
        if equal < NEAR {
            return equal;
        }
        let hashes = self.hashes.get_or_insert_with(|| Hashes::of(self.text));
        hashes.before(self.text, i, j, equal)
    }
}

/// How many bytes at the beginning of both are equal.
fn same(a: &[u8], b: &[u8]) -> usize {
    let word = |c: &[u8]| c.first_chunk::<8>().map_or(0, |c| u64::from_le_bytes(*c));
    let mut equal = 0;
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        let differing = word(x) ^ word(y);
        if differing != 0 {
            return equal + (differing.trailing_zeros() / 8) as usize;
        }
        equal += 8;
    }
    equal + a[equal..].iter().zip(&b[equal..]).take_while(|(x, y)| x == y).count()
}

/// 2^61 - 1, a prime. A modulus of 2^64 would take Thue and Morse's words for repetitions.
const PRIME: u64 = (1 << 61) - 1;
/// Any number between 2^60 and the prime.
const BASE: u64 = 1_494_205_187_395_420_031;
/// Bytes between two hashes that are kept.
const STRIDE: usize = 8;

/// Hashes of the beginnings of a text.
struct Hashes {
    /// Of the first `STRIDE * k` bytes.
    kept: Vec<u64>,
    /// `BASE` to the power of `2^k`.
    powers: Vec<u64>,
}

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let sum = (product as u64 & PRIME) + (product >> 61) as u64;
    if sum >= PRIME { sum - PRIME } else { sum }
}

impl Hashes {
    fn of(text: &[u8]) -> Self {
        let mut kept = Vec::with_capacity(text.len() / STRIDE + 1);
        let mut hash = 0;
        for piece in text.chunks(STRIDE) {
            kept.push(hash);
            hash = piece.iter().fold(hash, Self::add);
        }
        kept.push(hash);
        let powers = std::iter::successors(Some(BASE), |&p| Some(times(p, p)))
            .take(32)
            .collect();
        Self { kept, powers }
    }

    fn add(hash: u64, byte: &u8) -> u64 {
        let sum = times(hash, BASE) + u64::from(*byte) + 1;
        if sum >= PRIME { sum - PRIME } else { sum }
    }

    fn beginning(&self, text: &[u8], end: usize) -> u64 {
        let kept = end / STRIDE;
        text[kept * STRIDE..end].iter().fold(self.kept[kept], Self::add)
    }

    /// The hash of the `2^power` bytes from `start` on.
    fn part(&self, text: &[u8], start: usize, power: usize) -> u64 {
        let whole = self.beginning(text, start + (1 << power));
        let front = times(self.beginning(text, start), self.powers[power]);
        if whole >= front {
            whole - front
        } else {
            whole + PRIME - front
        }
    }

    /// Like `equal_after`, knowing that the first `equal` bytes are.
    fn after(&self, text: &[u8], i: usize, j: usize, mut equal: usize) -> usize {
        let most = text.len() - j;
        self.search(most, &mut equal, |equal, power| {
            self.part(text, i + equal, power) == self.part(text, j + equal, power)
        });
        let end = most.min(equal + NEAR);
        equal + same(&text[i + equal..i + end], &text[j + equal..j + end])
    }

    /// Like `equal_before`, knowing that the last `equal` bytes are.
    fn before(&self, text: &[u8], i: usize, j: usize, mut equal: usize) -> usize {
        self.search(i, &mut equal, |equal, power| {
            let length = 1 << power;
            self.part(text, i - equal - length, power) == self.part(text, j - equal - length, power)
        });
        let rest = (i - equal).min(NEAR);
        let (left, right) = (&text[..i - equal], &text[..j - equal]);
        equal
            + left
                .iter()
                .rev()
                .zip(right.iter().rev())
                .take(rest)
                .take_while(|(a, b)| a == b)
                .count()
    }

    /// Grows `equal` by ever longer parts while they are equal, then by ever shorter ones, down to parts of [`NEAR`] bytes.
    fn search(&self, most: usize, equal: &mut usize, same: impl Fn(usize, usize) -> bool) {
        let smallest = NEAR.trailing_zeros() as usize;
        let mut power = smallest;
        let mut growing = true;
        loop {
            if *equal + (1 << power) <= most && same(*equal, power) {
                *equal += 1 << power;
                power += usize::from(growing);
                continue;
            }
            growing = false;
            if power == smallest {
                return;
            }
            power -= 1;
        }
    }
}
