"""Measures: counts of right and wrong answers, and what can be said from them. Pure arithmetic on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from .labels import PASSING

DIGITS = 6
"""Decimal digits of a ratio in JSON. The counts stand beside it, so nothing is lost."""

Z_95 = 1.959963984540054
"""The 97.5 % point of the standard normal distribution: two-sided 95 % intervals."""


def wilson(right: int, of: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a proportion. Without any observation it could be anything: 0 to 1."""
    if of == 0:
        return 0.0, 1.0
    share = right / of
    spread = Z_95 * sqrt(share * (1 - share) / of + Z_95 * Z_95 / (4 * of * of))
    centre = share + Z_95 * Z_95 / (2 * of)
    scale = 1 + Z_95 * Z_95 / of
    low, high = (centre - spread) / scale, (centre + spread) / scale
    # The formula gives 0 and 1 exactly at the ends; floating point misses them by a rounding.
    return (0.0 if right == 0 else max(low, 0.0)), (1.0 if right == of else min(high, 1.0))


def ratio(part: int, of: int) -> float | None:
    """`part / of`, or `None` where there is nothing to divide by."""
    return round(part / of, DIGITS) if of else None


def rounded(interval: tuple[float, float]) -> list[float]:
    """An interval as it stands in JSON."""
    return [round(end, DIGITS) for end in interval]


@dataclass(slots=True)
class Detection:
    """Found or not, against claim or not."""

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0

    def add(self, positive: bool, found: bool) -> None:
        """Counts one row."""
        if positive:
            self.tp, self.fn = self.tp + found, self.fn + (not found)
        else:
            self.fp, self.tn = self.fp + found, self.tn + (not found)

    @property
    def rows(self) -> int:
        return self.tp + self.fp + self.fn + self.tn

    @property
    def precision(self) -> float | None:
        """Of what was found, the share that is right."""
        return ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> float | None:
        """Of what is there, the share that was found."""
        return ratio(self.tp, self.tp + self.fn)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two."""
        return ratio(2 * self.tp, 2 * self.tp + self.fp + self.fn)

    def intervals(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The 95 % intervals of precision and recall."""
        return wilson(self.tp, self.tp + self.fp), wilson(self.tp, self.tp + self.fn)

    def document(self) -> dict[str, object]:
        """The counts and what follows from them, as JSON values."""
        precision, recall = self.intervals()
        return {
            "rows": self.rows,
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
            "tn": self.tn,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "wilson": {"precision": rounded(precision), "recall": rounded(recall)},
        }


@dataclass(slots=True)
class Judgement:
    """Right and wrong verdicts. `claims` were expected, `missed` not found, `invented` found where none was expected.

    `false_pass` and `false_fail` count claims that were found and judged the wrong way round. A missed claim is wrong,
    and is in neither of them.
    """

    claims: int = 0
    right: int = 0
    missed: int = 0
    invented: int = 0
    false_pass: int = 0
    false_fail: int = 0

    def add(self, expected: str | None, found: str | None) -> bool:
        """Counts one claim; `None` stands for a claim that was not expected, or not found. Whether it is right."""
        if expected is None:
            self.invented += 1
            return False
        self.claims += 1
        if found is None:
            self.missed += 1
        elif found == expected:
            self.right += 1
            return True
        elif found in PASSING and expected not in PASSING:
            self.false_pass += 1
        elif found not in PASSING and expected in PASSING:
            self.false_fail += 1
        return False

    @property
    def accuracy(self) -> float | None:
        """Right over expected and invented."""
        return ratio(self.right, self.claims + self.invented)

    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the accuracy."""
        return wilson(self.right, self.claims + self.invented)

    def document(self) -> dict[str, object]:
        """The counts and what follows from them, as JSON values."""
        return {
            "claims": self.claims,
            "right": self.right,
            "accuracy": self.accuracy,
            "false_pass": self.false_pass,
            "false_fail": self.false_fail,
            "missed": self.missed,
            "invented": self.invented,
            "wilson": {"accuracy": rounded(self.interval())},
        }


Span = tuple[int, int]


def matched(expected: Sequence[Span], found: Sequence[Span]) -> list[tuple[int | None, int | None]]:
    """Pairs expected with found spans one to one, the largest overlap first; then what is left on either side.

    Pairs are indexes, in the order of the expected spans; a span without a partner stands beside `None`.
    """
    overlaps = [
        (min(one[1], other[1]) - max(one[0], other[0]), left, right)
        for left, one in enumerate(expected)
        for right, other in enumerate(found)
    ]
    partner: dict[int, int] = {}
    for size, left, right in sorted(overlaps, key=lambda pair: (-pair[0], pair[1], pair[2])):
        if size > 0 and left not in partner and right not in partner.values():
            partner[left] = right
    taken = set(partner.values())
    pairs: list[tuple[int | None, int | None]] = [(left, partner.get(left)) for left in range(len(expected))]
    pairs.extend((None, right) for right in range(len(found)) if right not in taken)
    return pairs
