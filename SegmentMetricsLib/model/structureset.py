"""The structures of a file, a folder or a node, with what belongs to all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import NamedTuple, overload

from . import naming
from .structure import Structure


class LeftOut(NamedTuple):
    """A structure that cannot be used, or a file of a folder.

    name: of the structure, or the one that it would have by the name of its file. remark: a sentence that says why.
    isOptional: whether it is a file that need not hold structures: a CT, or a kind that is not read.
    """

    name: str
    remark: str
    isOptional: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class StructureSet(Sequence[Structure]):
    """The structures of a file or folder, in its order, and what of it cannot be used; a sequence of structures.

    Parameters
    ----------
    structures : tuple[Structure, ...], optional
        The structures, in the order of the file.
    path : str, optional
        Path of the file or folder, "" for structures in memory.
    leftOut : tuple[LeftOut, ...], optional
        What cannot be used.
    lost : Mapping[str, str], optional
        Remarks on files of a folder whose structures are not known, by the beginning of the names that these would
        have; "" if they may have any name.
    """

    structures: tuple[Structure, ...] = ()
    _: KW_ONLY
    path: str = ""
    leftOut: tuple[LeftOut, ...] = ()
    lost: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, structures: Iterable[Structure]) -> StructureSet:
        """Return structures as a set: a set unchanged, any others as a set without anything left out."""
        return structures if isinstance(structures, StructureSet) else cls(tuple(structures))

    def having(self, structures: Iterable[Structure]) -> StructureSet:
        """Return the set with other structures, such as some of its own, or its own under other names."""
        return replace(self, structures=tuple(structures))

    def __len__(self) -> int:
        return len(self.structures)

    @overload
    def __getitem__(self, index: int | str) -> Structure: ...

    @overload
    def __getitem__(self, index: slice) -> StructureSet: ...

    def __getitem__(self, index):
        """Return a structure, by its place or its name in any spelling, or for a slice a set of some."""
        if isinstance(index, str):
            index = naming.placeOf(index, [[one.name] for one in self])
        found = self.structures[index]
        return self.having(found) if isinstance(index, slice) else found

    def __iter__(self) -> Iterator[Structure]:
        return iter(self.structures)

    def __add__(self, others: Iterable[Structure]) -> StructureSet:
        more = StructureSet.of(others)
        return StructureSet((*self, *more), leftOut=(*self.leftOut, *more.leftOut), lost={**more.lost, **self.lost})

    def __repr__(self) -> str:
        return f"<StructureSet{f' of {self.path}' if self.path else ''}: {list(self.structures)}>"

    def remarkOn(self, name: str) -> str:
        """Return why the structure of a name cannot be used, "" if it can or is not known."""
        return next((one.remark for one in self.leftOut if one.name == name), "")

    def whyLost(self, name: str) -> str:
        """Return the remark on what may hold a structure that the set lacks, "" if there is none."""
        own = naming.parse(name)
        for one in self.leftOut:
            given = naming.parse(one.name)
            if given.spelled == own.spelled or given.meaning == own.meaning:
                return one.remark
        begin = (b for b in self.lost if b and name.casefold().startswith(f"{b} ".casefold()))
        return self.lost.get(next(begin, ""), "")
