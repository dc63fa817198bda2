"""The registry: every measurement that exists, what it is called, and the function that computes it.

Tables, tooltips, CSV headers, the README's table of metrics and the documentation are made from it. A new metric is a
function in its family's file and one entry in the file of the same name here.
"""

from __future__ import annotations

import re

from ..definitions import Definition
from .agreement import AGREEMENT
from .boundary import BOUNDARY
from .effort import EFFORT
from .hazard import HAZARD
from .multilabel import MULTI_LABEL
from .overlap import OVERLAP
from .signed import SIGNED
from .similarity import SIMILARITY
from .voxels import VOXEL

REGISTRY = (*BOUNDARY, *SIGNED, *OVERLAP, *AGREEMENT, *VOXEL, *HAZARD, *SIMILARITY, *EFFORT)


def findDefinition(key: str) -> tuple[Definition, dict[str, str]] | None:
    """Return the definition to which a key like "NSD_2mm" belongs and its parameter as text, None if there is none."""
    for definition in (*REGISTRY, *MULTI_LABEL):
        for template in dict.fromkeys(
            (definition.key, definition.keyFor({}) if definition.unmentioned else definition.key)
        ):
            pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>\\d[\\d.e+-]*)", re.escape(template))
            if found := re.fullmatch(pattern, key):
                return definition, {**dict.fromkeys(definition.unmentioned, "1"), **found.groupdict()}
    return None
