"""Models that rules are tried on, and what is found in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.parser
from onnx import TensorProto, helper, numpy_helper

from netloupe.explorer.checks import Finding, check
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load
from tests.onnx_text import load_text

#: a text in the syntax of ONNX, or what makes a model
Made = str | Callable[[], onnx.ModelProto]


def read_made(made: Made) -> Model:
    return load_text(made) if isinstance(made, str) else load(made())


def find(made: Made, rule: str, **options: Any) -> list[Finding]:
    """Return what one rule finds in a model."""
    return list(check(read_made(made), select=[rule], **options))


def parse(text: str, **arrays: np.ndarray[Any, Any]) -> Callable[[], onnx.ModelProto]:
    """Return what makes the model of a text, with arrays as initializers."""

    def make() -> onnx.ModelProto:
        given = text if text.lstrip().startswith("<") else _HEADER + text
        proto = onnx.parser.parse_model(given)
        for name, array in arrays.items():
            proto.graph.initializer.append(numpy_helper.from_array(array, name))
        return proto

    return make


_HEADER = '<ir_version: 10, opset_import: ["": 21]>\n'


def build(
    nodes: Sequence[onnx.NodeProto],
    arrays: Mapping[str, np.ndarray[Any, Any]] | None = None,
    *,
    inputs: Mapping[str, Sequence[int | str]] | None = None,
    opset: int = 21,
    code: int = TensorProto.FLOAT,
) -> Callable[[], onnx.ModelProto]:
    """Return what makes a model of nodes; its output is y."""

    def make() -> onnx.ModelProto:
        given = {"x": ("N", 4)} if inputs is None else inputs
        graph = helper.make_graph(
            list(nodes),
            "g",
            [helper.make_tensor_value_info(n, code, list(d)) for n, d in given.items()],
            [helper.make_tensor_value_info("y", code, None)],
            [numpy_helper.from_array(a, name) for name, a in (arrays or {}).items()],
        )
        opsets = [helper.make_opsetid("", opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10)

    return make
