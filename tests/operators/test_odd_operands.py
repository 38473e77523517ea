"""Operators whose wiring contradicts the catalogue: with none, too few and too many operands."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.audit import audit
from netloupe.explorer.checks import check
from netloupe.explorer.compare import diff
from netloupe.explorer.describe.nodes import describe_node
from netloupe.explorer.describe.text import format_text
from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Model
from netloupe.explorer.operators import find_operator, list_known_domains, list_known_operators
from netloupe.explorer.readers.load import load
from netloupe.explorer.roles import find_weight

_OPERANDS = ("x", "w", "i", "s", "")
_SHAPES = ([2, 3, 4, 4], ["b", 4], [], None)
_OPSETS = (7, 10, 13, 18, 23)
#: Caffe2's are not written in ONNX files
_DOMAINS = sorted(list_known_domains() - {"caffe2"})


def write_odd(chance: random.Random, domain: str, op_type: str, count: int) -> bytes:
    """Return a model in which an operator has so many operands, of any type and rank."""
    operands = [chance.choice(_OPERANDS) for _ in range(count)]
    results = ["y", "z"][: chance.choice((1, 1, 2))]
    stored = {
        "w": np.ones((4, 4), np.float32),
        "i": np.array([1, 2], np.int64),
        "s": np.array(3, np.uint8),
    }
    graph = helper.make_graph(
        [
            helper.make_node(op_type, operands, results, domain=domain),
            helper.make_node("Softmax", ["y"], ["end"]),
        ],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, chance.choice(_SHAPES))],
        [helper.make_tensor_value_info("end", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(array, name) for name, array in stored.items()],
    )
    imports = [helper.make_opsetid("", chance.choice(_OPSETS))]
    if domain:
        imports.append(helper.make_opsetid(domain, 1))
    return helper.make_model(graph, opset_imports=imports).SerializeToString()


def describe_all(model: Model) -> list[str]:
    return [format_text(describe_node(node)) for node in model.graph.nodes]


QUESTIONS: dict[str, Callable[[Model], object]] = {
    "costs": lambda model: model.costs().macs,
    "totals": lambda model: model.totals,
    "weights": lambda model: [find_weight(node) for node in model.graph.nodes],
    "groups": lambda model: model.groups,
    "description": describe_all,
    "check": lambda model: check(model, with_notes=False),
    "audit": audit,
    "diff": lambda model: diff(model, model),
}


@pytest.mark.parametrize("domain", _DOMAINS)
@pytest.mark.parametrize("missing", [-3, 0, 1, 100])
def test_no_number_of_operands_fails(domain: str, missing: int) -> None:
    chance = random.Random(missing)
    for op_type in list_known_operators(domain):
        listed = len(find_operator(domain, op_type).operands.names)
        data = write_odd(chance, domain, op_type, max(0, listed - missing))
        for what, ask in QUESTIONS.items():
            try:
                ask(load(data))
            except NetloupeError:  # it says what is wrong
                continue
            except Exception as error:
                raise AssertionError(f"{what} of {domain}::{op_type}") from error
