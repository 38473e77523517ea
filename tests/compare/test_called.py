"""Calls of functions of the model: what is called differs, whatever it is called."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import onnx
import pytest
from onnx import TensorProto, helper

from netloupe.explorer.compare import diff

_DOMAIN = "own"
_BODIES = ("Relu", "Sigmoid")


class Program(NamedTuple):
    """What two functions do, and which of them is called first and then."""

    bodies: tuple[str, str]
    calls: tuple[int, int]

    @property
    def operators(self) -> tuple[str, ...]:
        """What is computed, one after the other."""
        return tuple(self.bodies[called] for called in self.calls)


PROGRAMS = [
    Program(bodies, calls)
    for bodies in itertools.product(_BODIES, repeat=2)
    for calls in itertools.product((0, 1), repeat=2)
]


def make_model(program: Program, *, by_overload: bool = False) -> onnx.ModelProto:
    """Make a model that calls two functions, told apart by their names or by their overloads."""
    functions, nodes = [], []
    for number, operator in enumerate(program.bodies):
        name, overload = ("f", f"o{number}") if by_overload else (f"f{number}", "")
        function = helper.make_function(
            _DOMAIN,
            name,
            ["a"],
            ["b"],
            [helper.make_node(operator, ["a"], ["b"])],
            [helper.make_opsetid("", 17)],
        )
        function.overload = overload
        functions.append(function)
    for taken, given, called in zip("xh", "hy", program.calls, strict=True):
        function = functions[called]
        node = helper.make_node(function.name, [taken], [given], domain=_DOMAIN)
        node.overload = function.overload
        nodes.append(node)
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(_DOMAIN, 1)]
    return helper.make_model(graph, functions=functions, opset_imports=imports, ir_version=10)


def list_pairs() -> Iterator[tuple[Program, Program]]:
    yield from itertools.combinations(PROGRAMS, 2)


@pytest.mark.parametrize("by_overload", [False, True])
def test_calls_that_compute_something_else_are_told(by_overload: bool) -> None:
    """All programs of two functions and two calls, each beside each."""
    for left, right in list_pairs():
        if left.operators == right.operators:
            continue
        found = diff(*(make_model(each, by_overload=by_overload) for each in (left, right)))
        assert found.has_other_structure, (left, right)
        assert any(entry.is_real for entry in found.entries), (left, right)


def test_functions_that_are_only_called_otherwise_are_names() -> None:
    for left in PROGRAMS:
        right = Program(left.bodies[::-1], (1 - left.calls[0], 1 - left.calls[1]))
        found = diff(make_model(left), make_model(right))
        if len({*left.bodies}) == len({*left.calls}) == 2:
            assert found.verdict == "cosmetic", left
            assert found.aspects == ["names"], left


def test_one_of_two_equal_functions_may_be_called_for_the_other() -> None:
    left = Program(("Relu", "Relu"), (0, 1))
    right = Program(("Relu", "Relu"), (0, 0))
    found = diff(make_model(left), make_model(right))
    assert found.verdict == "cosmetic"


def test_a_call_of_another_function_is_told_with_both_names() -> None:
    left = Program(("Relu", "Sigmoid"), (0, 1))
    right = Program(("Relu", "Sigmoid"), (0, 0))
    found = diff(make_model(left), make_model(right))
    (entry,) = [each for each in found.entries if each.is_real]
    assert entry.operators == (f"{_DOMAIN}::f1", f"{_DOMAIN}::f0")
    by_overload = diff(*(make_model(each, by_overload=True) for each in (left, right)))
    (entry,) = [each for each in by_overload.entries if each.is_real]
    assert [(each.what, each.left, each.right) for each in entry.changes] == [
        ("overload", "o1", "o0")
    ]
