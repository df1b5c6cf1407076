//! Constructions: patterns over the units of a sentence, as data.
//!
//! A pattern is a sequence of items around one head, which is marked `@`:
//!
//! | item | matches |
//! | --- | --- |
//! | `tag`, `a&b`, `a&!b`, `a\|b` | one unit with such tags (`&` binds tighter than `\|`) |
//! | `'word'` | one unit with that folded text |
//! | `.` | any unit |
//! | `..n` | at most n units, none of them tagged `stop` |
//! | `(x y \| z)` | one of several sequences (a `\|` between blanks) |
//! | `item?` `item*` `item+` `item{m,n}` | repeated |
//! | `^` first, `$` last | the sentence begins, ends there; inside parentheses one of several ways to end: `(comma \| $)` |
//!
//! The head is found by its tags; what stands before is matched backwards from it, what stands after forwards, each by a
//! bit-parallel automaton of at most 64 positions. So the work is linear in the text, and every head is judged by itself.

use crate::lexicon::{Tags, Unit};
use crate::work::Work;

/// Positions of one side of a pattern: bits of a machine word.
const POSITIONS_MAX: usize = 64;

/// What trying one side of a pattern costs, and each unit that it reads.
const STEPS_A_RUN: usize = 2;
const STEPS_A_UNIT: usize = 4;

/// A bit that no unit has: the build script hands out fewer tags than this.
const NEVER: Tags = 1 << 127;

/// What one unit must be.
#[derive(Clone, Debug)]
pub struct Test {
    /// Any of these: all tags of the first, none of the second.
    any: Vec<(Tags, Tags)>,
    /// Or this very text.
    word: Option<String>,
    /// Or no unit at all: the sentence ends (before a head: begins) here.
    edge: bool,
}

impl Test {
    fn holds(&self, folded: &str, unit: &Unit) -> bool {
        match &self.word {
            Some(word) => &folded[unit.start..unit.end] == word,
            None => self
                .any
                .iter()
                .any(|&(must, not)| unit.tags & must == must && unit.tags & not == 0),
        }
    }
}

#[derive(Clone, Debug)]
enum Node {
    One(Test),
    Sequence(Vec<Node>),
    Either(Vec<Node>),
    Repeat(Box<Node>, usize, Option<usize>),
}

/// One side of a pattern as an automaton that reads away from the head.
#[derive(Clone, Debug, Default)]
struct Side {
    tests: Vec<Test>,
    first: u64,
    last: u64,
    follow: Vec<u64>,
    /// The positions that stand for the end of the sentence.
    edges: u64,
    empty: bool,
    anchored: bool,
}

/// A parsed pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    head: Test,
    left: Side,
    right: Side,
    /// Of each of these at least one tag must stand in the range.
    needs: Vec<Tags>,
}

impl Pattern {
    /// Parses a pattern, whose tags have the bits that `tags` gives; the error says what is wrong and where.
    pub fn parse(text: &str, tags: &dyn Fn(&str) -> Tags) -> Result<Self, String> {
        let mut parser = Parser {
            rest: text.trim(),
            head: None,
            depth: 0,
            tags,
        };
        let anchored_left = parser.eat("^");
        let left = parser.sequence()?;
        let head = parser.head.take().ok_or_else(|| format!("no @head in {text:?}"))?;
        let right = parser.sequence()?;
        if parser.head.is_some() {
            return Err(format!("two heads in {text:?}"));
        }
        let anchored_right = parser.eat("$");
        if !parser.rest.is_empty() {
            return Err(format!("what is {:?} in {text:?}?", parser.rest));
        }
        let mut needs = left.needs();
        needs.extend(right.needs());
        needs.sort_unstable();
        needs.dedup();
        Ok(Self {
            head,
            needs,
            left: Side::new(&reversed(left), anchored_left)?,
            right: Side::new(&right, anchored_right)?,
        })
    }

    /// The tags that the head must have, for each of the ways to be one; no tags where its text tells it.
    pub fn head_tags(&self) -> impl Iterator<Item = Tags> {
        let word = self.head.word.iter().map(|_| 0);
        word.chain(self.head.any.iter().map(|&(must, _)| must))
    }

    /// Of each of these at least one tag must stand in the range that holds the pattern.
    pub fn needs(&self) -> &[Tags] {
        &self.needs
    }

    /// Whether the unit at `at` is this pattern's head, within `units[range]`; then the units it covers, half open.
    pub fn find(
        &self,
        folded: &str,
        units: &[Unit],
        range: (usize, usize),
        at: usize,
        work: &Work,
    ) -> Option<(usize, usize)> {
        if !self.head.holds(folded, &units[at]) {
            return None;
        }
        let before = self.left.run(folded, units[range.0..at].iter().rev(), work)?;
        let after = self.right.run(folded, units[at + 1..range.1].iter(), work)?;
        Some((at - before, at + 1 + after))
    }
}

impl Node {
    /// Tags without which the node can't match: of each set at least one.
    fn needs(&self) -> Vec<Tags> {
        match self {
            Self::One(test) => {
                let any = test.any.iter().fold(0, |all, (must, _)| all | must);
                let told = test.word.is_none() && !test.edge && test.any.iter().all(|(must, _)| *must != 0);
                if told { vec![any] } else { Vec::new() }
            }
            Self::Sequence(items) => items.iter().flat_map(Self::needs).collect(),
            Self::Either(ways) => {
                let each: Vec<Vec<Tags>> = ways.iter().map(Self::needs).collect();
                let told = each.iter().all(|needs| !needs.is_empty());
                let any = each
                    .iter()
                    .filter_map(|needs| needs.first())
                    .fold(0, |all, need| all | need);
                if told { vec![any] } else { Vec::new() }
            }
            Self::Repeat(_, 0, _) => Vec::new(),
            Self::Repeat(item, ..) => item.needs(),
        }
    }
}

/// The same node, read backwards.
fn reversed(node: Node) -> Node {
    match node {
        Node::One(test) => Node::One(test),
        Node::Sequence(items) => Node::Sequence(items.into_iter().rev().map(reversed).collect()),
        Node::Either(items) => Node::Either(items.into_iter().map(reversed).collect()),
        Node::Repeat(item, min, max) => Node::Repeat(Box::new(reversed(*item)), min, max),
    }
}

/// What Glushkov's construction needs to know of a part.
struct Part {
    first: u64,
    last: u64,
    empty: bool,
}

impl Side {
    fn new(node: &Node, anchored: bool) -> Result<Self, String> {
        let mut side = Self {
            anchored,
            ..Self::default()
        };
        let part = side.add(node)?;
        side.first = part.first;
        side.last = part.last;
        side.empty = part.empty;
        Ok(side)
    }

    fn add(&mut self, node: &Node) -> Result<Part, String> {
        match node {
            Node::One(test) => {
                if self.tests.len() == POSITIONS_MAX {
                    return Err(format!("more than {POSITIONS_MAX} positions on one side"));
                }
                let bit = 1 << self.tests.len();
                self.edges |= if test.edge { bit } else { 0 };
                self.tests.push(test.clone());
                self.follow.push(0);
                Ok(Part {
                    first: bit,
                    last: bit,
                    empty: false,
                })
            }
            Node::Sequence(items) => {
                let mut all = Part {
                    first: 0,
                    last: 0,
                    empty: true,
                };
                for item in items {
                    let part = self.add(item)?;
                    all = self.join(all, &part);
                }
                Ok(all)
            }
            Node::Either(items) => {
                let mut all = Part {
                    first: 0,
                    last: 0,
                    empty: false,
                };
                for item in items {
                    let part = self.add(item)?;
                    all = Part {
                        first: all.first | part.first,
                        last: all.last | part.last,
                        empty: all.empty || part.empty,
                    };
                }
                Ok(all)
            }
            Node::Repeat(item, min, max) => self.repeat(item, *min, *max),
        }
    }

    fn repeat(&mut self, item: &Node, min: usize, max: Option<usize>) -> Result<Part, String> {
        let mut all = Part {
            first: 0,
            last: 0,
            empty: true,
        };
        for _ in 0..min {
            let part = self.add(item)?;
            all = self.join(all, &part);
        }
        match max {
            Some(max) => {
                for _ in min..max {
                    let part = self.add(item)?;
                    all = self.join(all, &Part { empty: true, ..part });
                }
            }
            None => {
                let part = self.add(item)?;
                self.link(part.last, part.first);
                all = self.join(all, &Part { empty: true, ..part });
            }
        }
        Ok(all)
    }

    fn link(&mut self, from: u64, to: u64) {
        for (i, follow) in self.follow.iter_mut().enumerate() {
            if from & (1 << i) != 0 {
                *follow |= to;
            }
        }
    }

    fn join(&mut self, a: Part, b: &Part) -> Part {
        self.link(a.last, b.first);
        Part {
            first: if a.empty { a.first | b.first } else { a.first },
            last: if b.empty { a.last | b.last } else { b.last },
            empty: a.empty && b.empty,
        }
    }

    /// The most units that match, reading from the head; none if not even nothing does.
    fn run<'a>(&self, folded: &str, units: impl ExactSizeIterator<Item = &'a Unit>, work: &Work) -> Option<usize> {
        let all = units.len();
        let mut best = (self.empty && (!self.anchored || all == 0)).then_some(0);
        let mut active = self.first;
        let mut read = 0;
        for (i, unit) in units.enumerate() {
            let mut reached = 0;
            let mut bits = active;
            while bits != 0 {
                let p = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.tests[p].holds(folded, unit) {
                    reached |= 1 << p;
                }
            }
            if reached == 0 {
                break;
            }
            if reached & self.last != 0 && (!self.anchored || i + 1 == all) {
                best = Some(i + 1);
            }
            active = 0;
            let mut bits = reached;
            while bits != 0 {
                active |= self.follow[bits.trailing_zeros() as usize];
                bits &= bits - 1;
            }
            read = i + 1;
        }
        work.take(STEPS_A_RUN + read * STEPS_A_UNIT);
        if read == all && active & self.edges & self.last != 0 {
            best = Some(all);
        }
        best
    }
}

struct Parser<'a> {
    rest: &'a str,
    tags: &'a dyn Fn(&str) -> Tags,
    head: Option<Test>,
    /// How many parentheses are open: in them `^` and `$` are items.
    depth: usize,
}

impl Parser<'_> {
    fn eat(&mut self, mark: &str) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(mark);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    /// Items up to a head, a closing parenthesis, a `|` between blanks, `$` or the end.
    fn sequence(&mut self) -> Result<Node, String> {
        let mut items = Vec::new();
        loop {
            self.rest = self.rest.trim_start();
            if self.rest.is_empty()
                || self.rest.starts_with([')', '|'])
                || self.depth == 0 && self.rest.starts_with('$')
            {
                return Ok(Node::Sequence(items));
            }
            if self.eat("@") {
                if self.head.is_some() {
                    return Err("two heads".to_owned());
                }
                self.head = Some(self.test()?);
                return Ok(Node::Sequence(items));
            }
            let item = self.item()?;
            items.push(self.quantified(item)?);
        }
    }

    fn item(&mut self) -> Result<Node, String> {
        if self.depth > 0 && (self.eat("$") || self.eat("^")) {
            return Ok(Node::One(Test {
                any: Vec::new(),
                word: None,
                edge: true,
            }));
        }
        if self.eat("(") {
            self.depth += 1;
            let mut either = vec![self.sequence()?];
            while self.eat("|") {
                either.push(self.sequence()?);
            }
            if !self.eat(")") {
                return Err(format!("no ')' before {:?}", self.rest));
            }
            self.depth -= 1;
            return Ok(Node::Either(either));
        }
        if self.rest.starts_with("..") {
            self.rest = &self.rest[2..];
            let n = self.number()?;
            let gap = Test {
                any: vec![(0, (self.tags)("stop"))],
                word: None,
                edge: false,
            };
            return Ok(Node::Repeat(Box::new(Node::One(gap)), 0, Some(n)));
        }
        Ok(Node::One(self.test()?))
    }

    fn quantified(&mut self, item: Node) -> Result<Node, String> {
        let item = Box::new(item);
        let mut chars = self.rest.chars();
        let (min, max) = match chars.next() {
            Some('?') => (0, Some(1)),
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('{') => {
                self.rest = &self.rest[1..];
                let min = self.number()?;
                if !self.eat(",") {
                    return Err(format!("no ',' in {{m,n}} before {:?}", self.rest));
                }
                let max = self.number()?;
                if !self.rest.starts_with('}') {
                    return Err(format!("no '}}' before {:?}", self.rest));
                }
                (min, Some(max))
            }
            _ => return Ok(*item),
        };
        self.rest = &self.rest[1..];
        Ok(Node::Repeat(item, min, max))
    }

    fn number(&mut self) -> Result<usize, String> {
        let digits = self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number
            .parse()
            .map_err(|_| format!("a number is missing before {rest:?}"))
    }

    fn test(&mut self) -> Result<Test, String> {
        if let Some(rest) = self.rest.strip_prefix('\'') {
            let end = rest.find('\'').ok_or("an unclosed '")?;
            self.rest = &rest[end + 1..];
            return Ok(Test {
                any: Vec::new(),
                word: Some(rest[..end].to_owned()),
                edge: false,
            });
        }
        if self.rest.starts_with('.') {
            self.rest = &self.rest[1..];
            return Ok(Test {
                any: vec![(0, 0)],
                word: None,
                edge: false,
            });
        }
        let end = self
            .rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '&' | '|' | '!')))
            .unwrap_or(self.rest.len());
        let (expression, rest) = self.rest.split_at(end);
        if expression.is_empty() {
            return Err(format!("no item before {rest:?}"));
        }
        self.rest = rest;
        let mut any = Vec::new();
        for side in expression.split('|') {
            let (mut must, mut not) = (0, 0);
            for name in side.split('&') {
                if name.is_empty() || name == "!" {
                    return Err(format!("a tag is missing in {expression:?} before {:?}", self.rest));
                }
                if name.trim_start_matches('!').is_empty() {
                    return Err(format!(
                        "an empty tag in {expression:?}: blanks belong around a '|' beside a word"
                    ));
                }
                match name.strip_prefix('!') {
                    Some(name) => not |= (self.tags)(name),
                    // A tag that no pack uses is never there.
                    None => {
                        must |= if (self.tags)(name) == 0 {
                            NEVER
                        } else {
                            (self.tags)(name)
                        }
                    }
                }
            }
            any.push((must, not));
        }
        Ok(Test {
            any,
            word: None,
            edge: false,
        })
    }
}
