"""How often a test runs: some parameters nightly only, and many of them in one item, where each takes no time."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable

import pytest


def rarely(values: Iterable) -> list:
    """Return values of one parameter, marked as nightly: what they show is much as it is for the others."""
    return [pytest.param(value, marks=pytest.mark.nightly) for value in values]


def throughout(argument: str, values: Iterable, name: Callable = str) -> Callable:
    """Return a decorator for a test, or for all tests of a class, that then runs for all values in one item.

    Thousands of items cost more than what they test. A failure tells the value by its name.
    """
    values = list(values)

    def decorate(test):
        if isinstance(test, type):
            for key, one in list(vars(test).items()):
                if key.startswith("test"):
                    setattr(test, key, decorate(one))
            return test

        @functools.wraps(test)
        def run(*given, **options):
            for value in values:
                try:
                    test(*given, **options, **{argument: value})
                except BaseException as error:
                    error.add_note(f"{argument}: {name(value)}")
                    raise

        signature = inspect.signature(test)
        others = [one for key, one in signature.parameters.items() if key != argument]
        run.__signature__ = signature.replace(parameters=others)
        return run

    return decorate
