//! Repetition that is not exact: copies that differ by a counter, a clock, a word that was said before, case or spacing, lines
//! in any order. What repeats so tells nothing new: its words were all seen, nearly all triples of tokens were seen, and its
//! numbers go on as they went. A new word or a number that could not be foreseen is information, and ends it: a copy that
//! brings something new is no copy.

use super::limits;
use super::tokens::{Gap, Kind, Token, mix};

/// A part of the text without news.
#[derive(Clone, Copy, Debug, Default)]
pub struct Region {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// Tokens in it.
    pub tokens: u32,
    /// Different triples of tokens in it.
    pub distinct: u32,
    /// Tokens whose triple stood as far back as it did the time before.
    pub steady: u32,
    /// Numbers that were others than before.
    pub counted: u32,
    /// Characters of its words.
    pub letters: u32,
    /// Characters of words that stand in sentences.
    pub phrased: u32,
    /// Characters of words, numbers and names.
    pub chars: u32,
    /// Marks, several of one kind in a row counted once.
    pub marks: u32,
    /// Marks that lists and code are made of.
    pub code: u32,
    /// Tokens with white space before them.
    pub gaps: u32,
}

impl Region {
    /// How often its content is said, in hundredths.
    pub const fn copies(&self) -> u32 {
        if self.distinct == 0 {
            0
        } else {
            (self.tokens as u64 * 100 / self.distinct as u64) as u32
        }
    }

    /// Whether it is what a stuck model writes, in a text of `whole` bytes.
    pub const fn is_loop(&self, whole: usize) -> bool {
        let bytes = self.end - self.start;
        let copies = self.copies() / 100;
        let fair = bytes * 100 >= whole * limits::SAID_PERCENT;
        let sure = copies >= limits::WORDS_COPIES && bytes >= limits::SURE_CHARS;
        if self.phrased * 100 >= self.chars * limits::PHRASED_PERCENT
            && self.marks * 100 <= self.chars * limits::MARKS_PERCENT
        {
            return sure || fair && copies >= limits::NEAR_COPIES && bytes >= limits::NEAR_BYTES;
        }
        // One word without end, its copies counted.
        if self.gaps + self.marks == 0 && copies >= limits::WORD_COPIES as u32 && bytes >= limits::SURE_CHARS {
            return fair;
        }
        // Words without sentences: what varies may be the number of letters or marks, nothing that counts.
        self.letters * 100 >= (self.chars + self.marks) * limits::LETTERS_PERCENT
            && self.code * 100 <= self.tokens * limits::CODE_PERCENT
            && self.counted == 0
            && fair
            && copies >= limits::WORDS_COPIES
            && bytes >= limits::WORDS_BYTES
    }

    /// Whether copies follow each other, rather than that parts come in any order.
    pub const fn is_in_turn(&self) -> bool {
        self.counted > 0 || self.steady * 100 >= self.tokens * limits::STEADY_PERCENT
    }
}

/// A triple that was seen.
#[derive(Clone, Copy, Default)]
struct Seen {
    print: u32,
    /// The token at which it was seen last.
    at: u32,
    /// The low bits of the region in which it was seen last.
    region: u16,
    /// How far back it stood then, at most `u16::MAX`.
    gap: u16,
}

/// The numbers seen after three tokens.
#[derive(Clone, Copy, Default)]
struct Series {
    print: u32,
    times: u32,
    value: u32,
    steps: [i32; 2],
}

/// Looks at tokens as they come.
pub struct Watch {
    seen: Vec<Seen>,
    words: Vec<u32>,
    series: Vec<Series>,
    before: [u32; 3],
    number: u16,
    at: u32,
    level: i32,
    highest: i32,
    now: Region,
    /// The region as it was when the level was highest.
    peak: Region,
    phrase: Phrase,
}

/// Consecutive words as in a sentence.
#[derive(Clone, Copy, Default)]
struct Phrase {
    words: u32,
    letters: u32,
    /// Characters of the last word.
    last: u32,
    capitals: bool,
    dense: bool,
    /// Whether a full stop or the like stands behind it.
    stopped: bool,
}

impl Watch {
    /// One that remembers `2^bits` triples. Takes 19 bytes for each.
    pub fn new(bits: u32) -> Self {
        Self {
            seen: vec![Seen::default(); 1 << bits],
            words: vec![0; 1 << bits],
            series: vec![Series::default(); 1 << (bits - 3)],
            before: [0; 3],
            number: 1,
            at: 0,
            level: 0,
            highest: 0,
            now: Region::default(),
            peak: Region::default(),
            phrase: Phrase::default(),
        }
    }

    /// The region that goes on, as far as it was best. It is for streams.
    pub const fn peak(&self) -> &Region {
        &self.peak
    }

    /// Takes a token. Gives the region that it ends, as far as it was best.
    pub fn token(&mut self, token: &Token) -> Option<Region> {
        self.at += 1;
        let news = self.is_news(token);
        let triple = mix(mix(mix(0, self.before[1]), self.before[2]), token.hash) | 1;
        self.before = [self.before[1], self.before[2], token.hash];
        if news {
            // What was said before the news may be said again after it: the triples stay.
            self.note(triple);
            self.phrase = Phrase::default();
            return self.end();
        }
        let (known, first, steady) = self.note(triple);
        self.level += if known { 1 } else { -limits::NEW_TRIPLE };
        if self.level < 0 {
            return self.end();
        }
        let phrased = self.phrase.token(token);
        let now = &mut self.now;
        if now.tokens == 0 {
            now.start = token.start;
        }
        now.tokens += 1;
        now.distinct += u32::from(first);
        now.steady += u32::from(steady);
        now.phrased += phrased;
        now.gaps += u32::from(now.tokens > 1 && token.before != Gap::None);
        match token.kind {
            Kind::Mark => {
                now.marks += 1;
                now.code += u32::from(!is_plain(token.value));
            }
            kind => {
                now.chars += token.chars;
                let filling = token.chars == 1 && token.written > 1;
                now.letters += if kind == Kind::Word && !filling { token.chars } else { 0 };
            }
        }
        now.end = token.end;
        if self.level >= self.highest {
            self.highest = self.level;
            self.peak = *now;
        }
        None
    }

    /// Ends the region and begins another.
    pub fn end(&mut self) -> Option<Region> {
        let peak = std::mem::take(&mut self.peak);
        self.now = Region::default();
        self.number = self.number.wrapping_add(1);
        self.level = 0;
        self.highest = 0;
        (peak.tokens > 0).then_some(peak)
    }

    /// Remembers a triple: whether it was known, whether it is new in this region, whether it comes in turn.
    fn note(&mut self, triple: u32) -> (bool, bool, bool) {
        // Two triples share a place; the older one makes room.
        let places = self.seen.len() / 2;
        let place = triple as usize / 2 % places * 2;
        let two = &mut self.seen[place..place + 2];
        let slot = match two.iter().position(|s| s.print == triple) {
            Some(slot) => slot,
            None => usize::from(two[0].at > two[1].at),
        };
        let seen = &mut two[slot];
        if seen.print != triple {
            *seen = Seen {
                print: triple,
                region: self.number,
                at: self.at,
                gap: 0,
            };
            return (false, true, false);
        }
        let first = seen.region != self.number;
        let gap = (self.at - seen.at).min(u16::MAX.into()) as u16;
        let steady = gap == seen.gap;
        *seen = Seen {
            region: self.number,
            at: self.at,
            gap,
            ..*seen
        };
        (true, first, steady)
    }

    /// Whether a token says something that was not said and could not be foreseen.
    fn is_news(&mut self, token: &Token) -> bool {
        match token.kind {
            Kind::Word | Kind::Name => {
                // Four words share a place; the one that came first makes room.
                let places = self.words.len() / 4;
                let place = token.hash as usize % places * 4;
                let four = &mut self.words[place..place + 4];
                if four.contains(&token.hash) {
                    return false;
                }
                four.rotate_right(1);
                four[0] = token.hash;
                true
            }
            Kind::Number => self.is_unforeseen(token.value),
            Kind::Mark => false,
        }
    }

    fn is_unforeseen(&mut self, value: u32) -> bool {
        // Three tokens, so that minutes and seconds are told apart.
        let print = self.before.iter().fold(1, |hash, &token| mix(hash, token)) | 1;
        let size = self.series.len();
        let series = &mut self.series[print as usize / 2 % size];
        if series.print != print {
            *series = Series {
                print,
                times: 1,
                value,
                steps: [0; 2],
            };
            return false;
        }
        let step = i64::from(value) - i64::from(series.value);
        let step = step.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        let clock = |step: i32| (0..=60).contains(&step);
        let foreseen = series.times == 1
            || series.steps.contains(&step)
            || step.unsigned_abs() <= 1
            || value <= 1
            || clock(step) && clock(series.steps[0]);
        self.now.counted += u32::from(step != 0);
        series.times += 1;
        series.value = value;
        series.steps = [step, series.steps[0]];
        !foreseen
    }
}

/// Marks that stand in sentences, bullets and headings.
const fn is_plain(mark: u32) -> bool {
    match char::from_u32(mark) {
        Some(c) => {
            matches!(
                c,
                '.' | '!' | '?' | '#' | '-' | '*' | '~' | '…' | '。' | '！' | '？' | '，' | '、'
            ) || c as u32 >= 0x2000
        }
        None => false,
    }
}

impl Phrase {
    /// Takes a token; how many characters it adds to sentences. A word counts when it is known what stands behind it: a key or
    /// a call ends in a mark of code.
    fn token(&mut self, token: &Token) -> u32 {
        match token.kind {
            // One letter several times is filling.
            Kind::Word if token.chars == 1 && token.written > 1 && !token.dense => {
                let whole = self.whole();
                *self = Self::default();
                whole
            }
            Kind::Word => {
                let fits = match token.before {
                    Gap::None => token.dense && self.dense,
                    Gap::Space => true,
                    Gap::Line => self.stopped || token.dense,
                };
                let whole = self.whole();
                if self.words == 0 || !fits || self.capitals != token.capitals || self.dense != token.dense {
                    *self = Self::default();
                    self.capitals = token.capitals;
                    self.dense = token.dense;
                }
                self.stopped = false;
                self.words += 1;
                self.letters += token.chars;
                self.last = token.chars;
                whole
            }
            Kind::Mark if self.dense && token.value > 0x2000 => 0,
            Kind::Mark if matches!(char::from_u32(token.value), Some('.' | '!' | '?' | '…')) => {
                self.stopped = true;
                self.whole()
            }
            _ => {
                let keyed = token.kind == Kind::Mark && token.before == Gap::None && !is_plain(token.value);
                if keyed && !matches!(char::from_u32(token.value), Some(',' | ':' | ';')) {
                    self.letters = self.letters.saturating_sub(self.last);
                    self.words = self.words.saturating_sub(1);
                }
                let whole = self.whole();
                *self = Self::default();
                whole
            }
        }
    }

    /// The characters that are not counted yet, if the words are enough for a sentence.
    fn whole(&mut self) -> u32 {
        let enough = if self.dense {
            limits::PHRASE_DENSE
        } else {
            limits::PHRASE_WORDS
        };
        if self.words >= enough {
            std::mem::take(&mut self.letters)
        } else {
            0
        }
    }
}
