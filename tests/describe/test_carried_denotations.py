"""Denotations of axes that follow from the operands are told where a value is described."""

from __future__ import annotations

import gc
from weakref import ref

import onnx.parser

from netloupe.explorer.checks import check
from netloupe.explorer.describe import describe_element
from netloupe.explorer.model import Model
from netloupe.explorer.readers.load import load

_TEXT = """<ir_version: 10, opset_import: ["": 21]>
g (float[2, 3, 4, 5] x) => (float[2, 4, 5, 3] y) {
    a = Relu(x) b = Transpose <perm = [0, 2, 3, 1]> (a) s = Shape(b) y = Neg(b) }"""
_NAMES = ("DATA_BATCH", "DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE")


def make_model(names: tuple[str, ...] = _NAMES) -> Model:
    proto = onnx.parser.parse_model(_TEXT)
    dims = proto.graph.input[0].type.tensor_type.shape.dim
    for dim, name in zip(dims, names, strict=False):
        dim.denotation = name
    return load(proto)


def tell(model: Model, path: str) -> list[tuple[str, str, str, str]]:
    sections = describe_element(model, model[path]).sections
    return [
        (row.name, row.value, row.note, row.inferred)
        for section in sections
        if section.title == "Denotations"
        for row in section.rows
    ]


def test_axes_are_told_as_they_follow() -> None:
    model = make_model()
    note = "follows from operands"
    assert [row[2] for row in tell(model, "main/%x")] == [*_NAMES]  # stated beside the size
    assert [row[3] for row in tell(model, "main/%x")] == [""] * 4
    order = [_NAMES[axis] for axis in (0, 2, 3, 1)]
    assert tell(model, "main/%a") == [
        (f"axis {axis}", name, note, name) for axis, name in enumerate(_NAMES)
    ]
    for value in ("main/%b", "main/%y"):
        assert [row[1] for row in tell(model, value)] == order
    assert tell(model, "main/%s") == []  # a shape has no axes of what it is of


def test_where_nothing_is_denoted_nothing_is_told() -> None:
    model = make_model(())
    assert all(tell(model, f"main/%{name}") == [] for name in "xabsy")


def test_what_is_found_is_what_the_rule_goes_by() -> None:
    model = make_model(("DATA_CHANNEL", "DATA_BATCH", "DATA_FEATURE", "DATA_FEATURE"))
    assert [row[1] for row in tell(model, "main/%b")] == [
        *("DATA_CHANNEL", "DATA_FEATURE", "DATA_FEATURE", "DATA_BATCH")
    ]
    assert not [finding for finding in check(model) if finding.id == "NL-D02"]


def test_what_was_found_keeps_no_model() -> None:
    model = make_model()
    tell(model, "main/%a")
    kept = ref(model)
    del model
    gc.collect()
    assert kept() is None
