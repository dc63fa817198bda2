"""Options for the summary of a cohort."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import InputError
from ..settingchecks import wholeNumber

# Treatments of infinite values. Undefined ones are always left out.
LEAVE_OUT, DIAGONAL, MAXIMUM = "leave-out", "image-diagonal", "cohort-maximum"
TREATMENTS = {
    LEAVE_OUT: "infinite values are left out",
    DIAGONAL: "infinite distances are replaced by the diagonal of the case's image; other infinite values are left out",
    MAXIMUM: "infinite values are replaced by the largest finite one of the same measurement in the cohort",
}
# Treatments of structures that one side of a case lacks.
EMPTY = "empty"
MISSING = {
    EMPTY: "a structure that one side of a case lacks counts as empty there: an overlap of 0, infinite distances",
    LEAVE_OUT: "a structure that one side of a case lacks is left out of that case",
}
CONFIDENCE, RESAMPLES, SEED = 0.95, 2000, 0


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the summary of a cohort.

    treatment: of infinite values. resamples: number of bootstrap samples. seed: of the random choice of these. missing:
    treatment of structures that one side of a case lacks, "empty" or "leave-out".
    """

    treatment: str = LEAVE_OUT
    resamples: int = RESAMPLES
    seed: int = SEED
    missing: str = EMPTY

    def __post_init__(self) -> None:
        if self.treatment not in TREATMENTS:
            raise InputError(f"Infinite values can be treated as {', '.join(TREATMENTS)}, not {self.treatment!r}.")
        if self.missing not in MISSING:
            raise InputError(f"Missing structures can be treated as {', '.join(MISSING)}, not {self.missing!r}.")
        wholeNumber("number of bootstrap samples", 1, 1_000_000)(self.resamples)
        wholeNumber("seed", 0, 2**64 - 1)(self.seed)

    def describe(self) -> dict:
        """Return a description of the methods in words, for files."""
        return {
            "missing": MISSING[self.missing],
            "undefined": "undefined values are left out",
            "infinite": TREATMENTS[self.treatment],
            "sd": "sample standard deviation (n - 1)",
            "quartiles": "linear interpolation",
            "interval": f"{CONFIDENCE:.0%} percentile bootstrap of the mean",
            "resamples": self.resamples,
            "seed": self.seed,
        }
