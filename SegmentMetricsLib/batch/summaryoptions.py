"""Options for the summary of a cohort."""

from __future__ import annotations

from dataclasses import dataclass

from ..base.errors import InputError
from ..settings.checks import wholeNumber

# Treatments of infinite values in means and standard deviations. Undefined ones are always left out of these.
LEAVE_OUT, DIAGONAL, MAXIMUM = "leave-out", "image-diagonal", "cohort-maximum"
TREATMENTS = {
    LEAVE_OUT: "infinite values are left out",
    DIAGONAL: "infinite distances are replaced by the diagonal of the case's image; other infinite values are left out",
    MAXIMUM: "infinite values are replaced by the largest finite one of the same measurement in the cohort",
}
ORDER = (
    "an infinite value is worse than all others, and a structure that the test misses or leaves empty has the worst "
    "value that the measurement can have; values without a better direction are left out where they are not finite"
)
# Treatments of structures that one side of a case lacks.
EMPTY = "empty"
MISSING = {
    EMPTY: "a structure that one side of a case lacks counts as empty there: an overlap of 0, infinite distances",
    LEAVE_OUT: "a structure that one side of a case lacks is left out of that case",
}
# Corrections of p for the number of tests, with what they mean; those "for all" go across measurements.
BONFERRONI, BONFERRONI_ALL, HOLM, HOLM_ALL = "bonferroni", "bonferroni-all", "holm", "holm-all"
CORRECTIONS = {
    BONFERRONI: "Bonferroni, for all tests of the same measurement",
    BONFERRONI_ALL: "Bonferroni, for all tests of all measurements",
    HOLM: "Holm, for all tests of the same measurement",
    HOLM_ALL: "Holm, for all tests of all measurements",
}
BY_MEASUREMENT, STEPWISE = (BONFERRONI, HOLM), (HOLM, HOLM_ALL)
CONFIDENCE, RESAMPLES, SEED = 0.95, 2000, 0


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the summary of a cohort.

    treatment: of infinite values in means and standard deviations. resamples: number of bootstrap samples. seed: of the
    random choice of these. missing: treatment of structures that one side of a case lacks, "empty" or "leave-out".
    correction: of p for the number of tests, one of CORRECTIONS.
    """

    treatment: str = LEAVE_OUT
    resamples: int = RESAMPLES
    seed: int = SEED
    missing: str = EMPTY
    correction: str = BONFERRONI

    def __post_init__(self) -> None:
        if self.treatment not in TREATMENTS:
            raise InputError(f"Infinite values can be treated as {', '.join(TREATMENTS)}, not {self.treatment!r}.")
        if self.missing not in MISSING:
            raise InputError(f"Missing structures can be treated as {', '.join(MISSING)}, not {self.missing!r}.")
        if self.correction not in CORRECTIONS:
            raise InputError(f"The correction of p can be {', '.join(CORRECTIONS)}, not {self.correction!r}.")
        wholeNumber("number of bootstrap samples", 1, 1_000_000)(self.resamples)
        wholeNumber("seed", 0, 2**64 - 1)(self.seed)

    def describe(self) -> dict:
        """Return a description of the methods in words, for files."""
        return {
            "missing": MISSING[self.missing],
            "order": ORDER,
            "undefined": "undefined values are left out, except in the order where the test misses the structure",
            "infinite": f"in means, standard deviations and their intervals, {TREATMENTS[self.treatment]}",
            "sd": "sample standard deviation (n - 1)",
            "quartiles": "linear interpolation; infinite between a finite and an infinite value",
            "interval": f"{CONFIDENCE:.0%} percentile bootstrap of the mean",
            "correction": CORRECTIONS[self.correction],
            "resamples": self.resamples,
            "seed": self.seed,
        }
