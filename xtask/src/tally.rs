//! Counting tests from what cargo and pytest print.

use std::fmt;

/// Tests that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Passed, expected failures included.
    pub passed: u64,
    /// Failed, errors of fixtures included.
    pub failed: u64,
    /// Skipped or ignored.
    pub skipped: u64,
}

impl Tally {
    /// Adds what one line of output says, if it is a closing line of cargo's or pytest's.
    pub fn read(&mut self, line: &str) {
        if let Some(counts) = line.strip_prefix("test result: ") {
            let counts = counts.split_once(". ").map_or("", |(_, counts)| counts);
            counts.split("; ").for_each(|count| self.add(count));
        } else {
            let line = line.trim_matches(['=', ' ']);
            if let Some((counts, time)) = line.rsplit_once(" in ")
                && time.starts_with(|c: char| c.is_ascii_digit())
            {
                counts.split(", ").for_each(|count| self.add(count));
            }
        }
    }

    /// Tests that were run to their end.
    pub fn ran(&self) -> u64 {
        self.passed + self.failed
    }

    fn add(&mut self, count: &str) {
        let mut words = count.split(' ');
        let (Some(Ok(number)), Some(what)) = (words.next().map(str::parse::<u64>), words.next()) else {
            return;
        };
        match what {
            "passed" | "xfailed" => self.passed += number,
            "failed" | "error" | "errors" | "xpassed" => self.failed += number,
            "skipped" | "ignored" => self.skipped += number,
            _ => {}
        }
    }
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    fn tally(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        lines.iter().for_each(|line| tally.read(line));
        tally
    }

    #[test]
    fn cargo_lines_are_added_up() {
        let got = tally(&[
            "running 3 tests",
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s",
            "test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 9 filtered out; finished in 1.00s",
        ]);
        assert_eq!(
            got,
            Tally {
                passed: 4,
                failed: 2,
                skipped: 1
            }
        );
        assert_eq!(got.to_string(), "4 passed, 2 failed, 1 skipped");
    }

    #[test]
    fn pytest_lines_are_added_up() {
        let got = tally(&[
            "===== 1 failed, 12 passed, 3 deselected, 2 warnings, 1 error in 61.20s (0:01:01) =====",
            "5 passed in 0.03s",
        ]);
        assert_eq!(
            got,
            Tally {
                passed: 17,
                failed: 2,
                skipped: 0
            }
        );
    }

    #[test]
    fn other_lines_count_nothing() {
        let got = tally(&[
            "3 passed",
            "12 files in 4 folders",
            "tests/python/test_x.py ..... [100%]",
            "Built in 3s",
        ]);
        assert_eq!(got, Tally::default());
    }
}
