"""Docstrings of the public API: what a function takes is documented, by the names it has."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import netloupe

_ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "tools" / "site"))

from class_pages import find_end, find_section, split_entries  # noqa: E402 - after the path is set
from public_types import list_classes, list_members  # noqa: E402

from tests.site.reference import list_documented_classes  # noqa: E402


def list_functions() -> Iterator[tuple[str, Any]]:
    """Give every public function and method with its name."""
    for name in netloupe.__all__:
        thing = getattr(netloupe, name)
        if inspect.isfunction(thing):
            yield name, thing
    classes = list_classes()
    for name in list_documented_classes():
        for member, value in list_members(classes[name]):
            if inspect.isfunction(value):
                yield f"{name}.{member}", value


FUNCTIONS = dict(list_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_its_parameters_are_documented(name: str) -> None:
    function = FUNCTIONS[name]
    lines = (inspect.getdoc(function) or "").splitlines()
    assert lines, f"{name} has no docstring"
    taken = [each for each in inspect.signature(function).parameters if each not in ("self", "cls")]
    begin = find_section(lines, "Parameters")
    entries = [] if begin is None else split_entries(lines[begin + 2 : find_end(lines, begin)])
    told = [each for names, _ in entries for each in names]
    assert sorted(told) == sorted(taken)


def test_there_are_functions() -> None:
    assert len(FUNCTIONS) > 100
    assert {"load", "Model.to_svg", "Tensor.plot", "Explorer.select"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", list_documented_classes())
def test_its_members_are_documented(name: str) -> None:
    kind = list_classes()[name]
    assert kind.__doc__
    for member, value in list_members(kind):
        if inspect.isfunction(value):
            text = inspect.getdoc(value) or ""
            assert re.match(r"\S.*[.:]", text, re.DOTALL), f"{name}.{member}"
