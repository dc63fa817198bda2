"""What is to be measured of nodes, as plain values that a user interface can make and compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..settings.settings import Settings
from .protocol.protocol import Protocol


@dataclass(frozen=True)
class Request:
    """What is to be measured, and how.

    Parameters
    ----------
    compared : Sequence[tuple]
        A vtkMRMLSegmentationNode and the ID of a segment, "" for all its segments, of the reference and of the test; or
        of all observers and then all tests.
    settings : Settings, optional
        What to measure and how.
    protocol : Protocol | None, optional
        The protocol to judge by.
    dose : optional
        The dose of a plan, as a vtkMRMLScalarVolumeNode.
    choices, proposed : Mapping, optional
        Pairs of segments, as for pairSegments.
    observers : int, optional
        How many of the compared are observers; 0 for a reference and a test.
    consensus : str, optional
        How the consensus of the observers is made, as for compareObservers.
    """

    compared: Sequence[tuple]
    settings: Settings = field(default_factory=Settings)
    protocol: Protocol | None = None
    dose: Any = None
    choices: Mapping[str, str | None] = field(default_factory=dict)
    proposed: Mapping[str, float] = field(default_factory=dict)
    observers: int = 0
    consensus: str = ""

    @property
    def isOfAll(self) -> bool:
        """Whether all segments of two nodes are compared that match."""
        return not (self.observers or any(segment for _, segment in self.compared))
