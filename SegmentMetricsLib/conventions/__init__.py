"""What other tools would have reported for the same pair, and why it differs.

::

    from SegmentMetricsLib import compare

    table = compare(reference, test).conventions()
    table["MedPy"]["HD95"].value, table["MedPy"]["HD95"].difference, table["MedPy"]["HD95"].reason

Every tool is a file in `tools`, which describes what the tool does as data; a new tool is a new file there. No tool is
imported. Numbers are those of the named version, on masks with background around both structures.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import lru_cache

from ..base.errors import InputError
from ..base.texts import didYouMean, inAnyCase
from .convention import Convention


@lru_cache(maxsize=1)
def allConventions() -> dict[str, Convention]:
    """Return all conventions by key, in alphabetical order."""
    from . import tools

    modules = [importlib.import_module(f"{tools.__name__}.{m.name}") for m in pkgutil.iter_modules(tools.__path__)]
    found = [one for module in modules for one in vars(module).values() if isinstance(one, Convention)]
    return {convention.key: convention for convention in sorted(found, key=lambda c: c.key.casefold())}


def find(key: str) -> Convention:
    """Return the convention of a key like "MedPy", ignoring case. Raises InputError for an unknown one."""
    conventions = allConventions()
    key = inAnyCase(str(key), conventions)
    if key not in conventions:
        choices = ", ".join(conventions)
        raise InputError(f"There is no convention {key!r}; choose from {choices}.{didYouMean(key, conventions)}")
    return conventions[key]
