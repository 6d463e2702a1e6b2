"""How far a figure may move before it counts as moved.

A deterministic method must give the same figure again. Another BLAS or processor may
still turn one borderline test sample, so one sample of a split may change sides:

* accuracy moves by ``1 / n_test``;
* a recall moves by ``1 / m``, where m is the number of test samples of its class, so
  balanced accuracy (the mean over g classes) moves by at most ``1 / (g·m)`` and the
  product of the recalls by at most ``1 / m``; for the G-mean, its g-th root, the
  allowance is what that makes of the reference figure. m is that of the smallest class,
  which gives the largest allowance: its share of the test samples, rounded down, since
  splits are stratified, and 1 where they are not or the class counts are not known. g
  counts the classes that the test part has; where a rare one may be absent from it, the
  number that allows most is taken;
* F1 moves by at most ``2 / (m + 1)``, and MCC is allowed as much;
* ROC-AUC and average precision, in which a sample may change places with others, are
  allowed ``1 / m``;
* log-loss and Brier score are smooth in the probabilities: a millionth of the figure.

The figures built on recalls cannot move at all while accuracy stays the same: one
sample cannot change sides without changing it. So if accuracy is in the rows and did
not move, they are compared exactly.

Methods that draw random numbers are compared by their mean over splits. It may move by
two standard deviations of a difference of two such means, ``2·√2·s / √splits`` with
the reference's standard deviation s over splits, and by one sample in every split in
any case. Of a single split, s is the binomial ``√(p(1 − p) / n)`` of the figure, with
n = ``n_test`` for accuracy and m for the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: Room for the rounding of decimal figures, never for a change of a sample.
ROUNDING = 1e-9

#: Metrics that are functions of the recalls alone.
RECALL_METRICS = frozenset({"gmean", "balanced_accuracy"})

#: Metrics of probabilities, which move with them and do not jump.
SMOOTH_METRICS = frozenset({"log_loss", "brier"})

_DEVIATIONS = 2.0


@dataclass(frozen=True)
class HeldOut:
    """What is known of the test part of a split."""

    samples: int  #: Test samples
    classes: range  #: How many classes it may have
    smallest: int  #: At least so many of the samples are of the smallest class it has

    @classmethod
    def of(
        cls, dataset: Mapping[str, Any], samples: int, *, stratified: bool
    ) -> HeldOut:
        """Describe a test part from the manifest's entry of its data set."""
        counts = list((dataset.get("class_counts") or {}).values())
        most = max(2, int(dataset["classes"]))
        if not counts or not stratified:
            return cls(samples, range(2, most + 1), 1)
        tested = [math.floor(count * samples / sum(counts)) for count in counts]
        fewest = max(1, sum(count > 0 for count in tested))
        return cls(samples, range(fewest, most + 1), max(1, min(tested)))

    def one_sample(self, metric: str, was: float, now: float) -> float:
        """Return how far one test sample can move a figure towards the new one."""
        if metric == "accuracy":
            return 1 / self.samples
        if metric == "balanced_accuracy":
            return 1 / (self.classes[0] * self.smallest)
        if metric == "gmean":
            return self._one_sample_gmean(was, up=now > was)
        if metric in ("roc_auc", "average_precision"):
            return 1 / self.smallest
        if metric in SMOOTH_METRICS:
            return 1e-6 * abs(was)
        return 2 / (self.smallest + 1)

    def _one_sample_gmean(self, was: float, *, up: bool) -> float:
        # A product of recalls that is zero but for rounding has a root far from zero.
        step = (1 / self.smallest + ROUNDING) * (1 if up else -1)
        moved = (
            min(1.0, max(0.0, was**number + step)) ** (1 / number)
            for number in self.classes
        )
        return max(abs(float(gmean) - was) for gmean in moved)

    def binomial(self, metric: str, figure: float) -> float:
        """Return the standard deviation of a figure of a single split."""
        if metric in SMOOTH_METRICS:
            return figure / math.sqrt(self.samples)
        samples = self.samples if metric == "accuracy" else self.smallest
        share = min(1.0, max(0.0, figure))
        return math.sqrt(share * (1 - share) / samples)


def mean_allowance(spread: float, splits: int) -> float:
    """Return how far the mean over splits of a stochastic method may move.

    Examples
    --------
    >>> round(mean_allowance(0.05, 5), 4)
    0.0632
    """
    return _DEVIATIONS * math.sqrt(2 / splits) * spread
