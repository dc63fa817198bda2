"""What slicer.parameterNodeWrapper lets annotations say about a parameter."""

from __future__ import annotations

import typing


class Validator:
    def validate(self, value) -> None:
        raise NotImplementedError


class NotNone(Validator):
    def validate(self, value):
        if value is None:
            raise ValueError("Value must not be None")


class OfType(Validator):
    def __init__(self, kinds):
        self.kinds = kinds

    def validate(self, value):
        if value is not None and not isinstance(value, self.kinds):
            raise TypeError(f"Value must be of type '{self.kinds}', is type '{type(value)}' value '{value}'")


class WithinRange(Validator):
    def __init__(self, minimum, maximum):
        self.minimum, self.maximum = minimum, maximum

    def validate(self, value):
        if not self.minimum <= value <= self.maximum:
            raise ValueError(f"Value must be within range [{self.minimum}, {self.maximum}], is {value}")


class Default:
    def __init__(self, value=None, *, generator=None):
        self._value, self._generator = value, generator

    @property
    def value(self):
        return self._generator() if self._generator is not None else self._value


def splitAnnotated(annotated) -> tuple[object, list]:
    """Return the type and what Annotated says beside it; validators given as classes are instantiated nowhere."""
    if typing.get_origin(annotated) is typing.Annotated:
        kind, *annotations = typing.get_args(annotated)
        return kind, annotations
    return annotated, []
