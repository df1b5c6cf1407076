//! Search: many patterns in one pass over a text (Aho and Corasick, 1975), in little code and memory.

/// A node with more children than this finds them by a table.
const CHILDREN_MAX: usize = 8;

/// The root; no child is the root, so that it also says "none".
const ROOT: u32 = 0;

#[derive(Clone, Copy, Default)]
struct Node {
    byte: u8,
    /// The last of its children that was added, and the one that was added before it.
    child: u32,
    sibling: u32,
    /// Where a search goes on when no child fits.
    fail: u32,
    /// The index of the pattern that ends here, and one.
    ends: u32,
    /// The next node on the way of `fail` where a pattern ends.
    shorter: u32,
    /// The index of its table, and one.
    table: u32,
}

/// Patterns, ready to be looked for.
pub struct Patterns {
    nodes: Vec<Node>,
    tables: Vec<[u32; 256]>,
}

impl Patterns {
    /// Prepares patterns; of equal ones one is found, and an empty one never is.
    pub fn new(patterns: &[String]) -> Self {
        let mut order: Vec<usize> = (0..patterns.len()).collect();
        order.sort_unstable_by_key(|&i| &patterns[i]);
        let mut out = Self {
            nodes: vec![Node::default()],
            tables: Vec::new(),
        };
        for i in order {
            out.add(patterns[i].as_bytes(), i);
        }
        out.tabulate();
        out.link();
        out
    }

    /// Adds a pattern; patterns come in order, so that only a node's last child can be on its way.
    fn add(&mut self, pattern: &[u8], index: usize) {
        let mut at = ROOT;
        for &byte in pattern {
            let last = self.nodes[at as usize].child;
            at = if last != ROOT && self.nodes[last as usize].byte == byte {
                last
            } else {
                let new = self.nodes.len() as u32;
                self.nodes.push(Node {
                    byte,
                    sibling: last,
                    ..Node::default()
                });
                self.nodes[at as usize].child = new;
                new
            };
        }
        if at != ROOT {
            self.nodes[at as usize].ends = index as u32 + 1;
        }
    }

    /// Gives a table to the root and to each node with many children.
    fn tabulate(&mut self) {
        for at in 0..self.nodes.len() {
            let children: Vec<u32> = self.children(at as u32).collect();
            if at == ROOT as usize || children.len() > CHILDREN_MAX {
                let mut table = [ROOT; 256];
                for child in children {
                    table[usize::from(self.nodes[child as usize].byte)] = child;
                }
                self.tables.push(table);
                self.nodes[at].table = self.tables.len() as u32;
            }
        }
    }

    fn children(&self, at: u32) -> impl Iterator<Item = u32> {
        let some = |at: u32| (at != ROOT).then_some(at);
        std::iter::successors(some(self.nodes[at as usize].child), move |&c| {
            some(self.nodes[c as usize].sibling)
        })
    }

    /// Sets `fail` and `shorter`, level by level.
    fn link(&mut self) {
        let mut level: Vec<u32> = self.children(ROOT).collect();
        while !level.is_empty() {
            let mut next = Vec::new();
            for at in level {
                for child in self.children(at).collect::<Vec<u32>>() {
                    let byte = self.nodes[child as usize].byte;
                    let fail = self.step(self.nodes[at as usize].fail, byte);
                    let behind = self.nodes[fail as usize];
                    let node = &mut self.nodes[child as usize];
                    node.fail = fail;
                    node.shorter = if behind.ends == 0 { behind.shorter } else { fail };
                    next.push(child);
                }
            }
            level = next;
        }
    }

    fn step(&self, from: u32, byte: u8) -> u32 {
        let mut at = from;
        loop {
            let node = &self.nodes[at as usize];
            let child = match node.table {
                0 => self.children(at).find(|&c| self.nodes[c as usize].byte == byte),
                table => Some(self.tables[table as usize - 1][usize::from(byte)]).filter(|&c| c != ROOT),
            };
            match child {
                Some(child) => return child,
                None if at == ROOT => return ROOT,
                None => at = node.fail,
            }
        }
    }

    /// Tells each pattern that occurs, overlapping ones too, by its index, and where it ends. Goes on while it is told to.
    pub fn each(&self, text: &[u8], mut tell: impl FnMut(usize, usize) -> bool) {
        let mut at = ROOT;
        for (i, &byte) in text.iter().enumerate() {
            at = self.step(at, byte);
            let node = &self.nodes[at as usize];
            let mut found = if node.ends == 0 { node.shorter } else { at };
            while found != ROOT {
                let node = &self.nodes[found as usize];
                if !tell(node.ends as usize - 1, i + 1) {
                    return;
                }
                found = node.shorter;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_search_for_each_finds() {
        let alphabet = ['a', 'b', 'é', '用'];
        let mut seed = 7_u32;
        let mut text = |length: usize| -> String {
            let mut next = || {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                alphabet[(seed >> 24) as usize % alphabet.len()]
            };
            (0..length).map(|_| next()).collect()
        };
        let mut patterns: Vec<String> = (0..300).map(|i| text(1 + i % 7)).collect();
        patterns.extend((0..26).map(|i| format!("a{}", char::from(b'a' + i))));
        patterns.push(String::new());
        patterns.sort_unstable();
        patterns.dedup();
        let text = text(2_000);
        let mut found: Vec<(usize, usize)> = Vec::new();
        Patterns::new(&patterns).each(text.as_bytes(), |pattern, end| {
            found.push((pattern, end));
            true
        });
        found.sort_unstable();
        let one_by_one = |(i, p): (usize, &String)| -> Vec<(usize, usize)> {
            let starts = (0..text.len()).filter(|&at| !p.is_empty() && text.as_bytes()[at..].starts_with(p.as_bytes()));
            starts.map(|at| (i, at + p.len())).collect()
        };
        let expected: Vec<(usize, usize)> = patterns.iter().enumerate().flat_map(one_by_one).collect();
        assert!(expected.len() > 1_000);
        assert_eq!(found, expected);
    }
}
