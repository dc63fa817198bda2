"""Results as data frames of pandas, which nothing else of the library needs."""

from __future__ import annotations

from collections.abc import Mapping

from ..base.errors import InputError
from ..metrics.measurement import Measurement

# The columns of a frame of measurements.
TOLD = ("title", "value", "unit", "status", "reason", "referenceToTest", "testToReference", "lower", "upper")


def pandasOrError():
    """Return the module pandas. Raises InputError if it is not installed."""
    try:
        import pandas
    except ImportError as error:
        raise InputError("A frame needs pandas, which is not installed.") from error
    return pandas


def frameOf(measurements: Mapping[str, Measurement]):
    """Return measurements as a data frame, one row per key."""
    rows = {key: {name: getattr(measurement, name) for name in TOLD} for key, measurement in measurements.items()}
    return pandasOrError().DataFrame.from_dict(rows, orient="index", columns=TOLD).rename_axis("key")
