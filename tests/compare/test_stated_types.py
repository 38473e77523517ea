"""What two types say that are stated of one value."""

from __future__ import annotations

import pytest
from onnx import TensorProto, TypeProto, helper

import netloupe
from netloupe.explorer.compare.stated_types import find_type_aspects
from netloupe.explorer.model import ValueType


def make_tensor(shape: list[int | str | None] | None, kind: int = TensorProto.FLOAT) -> TypeProto:
    return helper.make_tensor_type_proto(kind, shape)


def read_type(proto: TypeProto) -> ValueType | None:
    """Return a type as it is read from a file."""
    graph = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["y"])],
        "graph",
        [helper.make_value_info("x", proto)],
        [helper.make_value_info("y", make_tensor([1]))],
    )
    return netloupe.load(helper.make_model(graph)).graph.inputs[0].type


PLAIN = [
    ([2, 3], [2, 3], set()),
    (None, [2, 3], {"defaults"}),
    ([None, 3], [2, 3], {"defaults"}),
    ([None, 3], ["n", 3], {"defaults"}),
    (["m", 3], ["n", 3], {"names"}),
    (["m", None], ["n", 3], {"names", "defaults"}),
    (["n", 3], [2, 3], {""}),
    ([2, 3], [2, 4], {""}),
    ([2, 3], [2], {""}),
    ([None, 3], [2, 4], {""}),
]


@pytest.mark.parametrize(("one", "other", "wanted"), PLAIN)
@pytest.mark.parametrize("around", ["", "sequence", "optional", "map"])
def test_what_differs_in_types(
    one: list[int | str | None] | None,
    other: list[int | str | None] | None,
    wanted: set[str],
    around: str,
) -> None:
    wrap = {
        "": lambda kind: kind,
        "sequence": helper.make_sequence_type_proto,
        "optional": helper.make_optional_type_proto,
        "map": lambda kind: helper.make_map_type_proto(TensorProto.INT64, kind),
    }[around]
    left, right = (read_type(wrap(make_tensor(shape))) for shape in (one, other))
    assert find_type_aspects(left, right) == wanted
    assert find_type_aspects(right, left) == wanted


def test_other_elements_keys_and_kinds_are_other_types() -> None:
    plain = make_tensor([1])
    number = make_tensor([1], TensorProto.INT64)
    mapped = [
        helper.make_map_type_proto(key, plain) for key in (TensorProto.INT64, TensorProto.STRING)
    ]
    sequence = helper.make_sequence_type_proto(plain)
    for one, other in ((plain, number), mapped, (plain, sequence)):
        assert find_type_aspects(read_type(one), read_type(other)) == {""}
    assert find_type_aspects(read_type(plain), None) == {"defaults"}
    assert find_type_aspects(None, None) == set()


@pytest.mark.parametrize(
    ("value", "other", "told"),
    [
        (1, 1.0, ("int", "float")),
        (1, "1", ("int", "string")),
        ([1], [1.0], ("ints", "floats")),
    ],
)
def test_types_of_attributes_are_told_by_their_names(
    value: object, other: object, told: tuple[str, str]
) -> None:
    def make_model(value: object) -> netloupe.Model:
        node = helper.make_node("Own", ["x"], ["y"], "node", domain="own", of=value)
        ends = [helper.make_value_info(name, make_tensor([1])) for name in ("x", "y")]
        return netloupe.load(helper.make_model(helper.make_graph([node], "g", ends[:1], ends[1:])))

    (found,) = netloupe.diff(make_model(value), make_model(other)).nodes
    (change,) = (change for change in found.changes if change.what == "type of attribute of")
    assert (change.left, change.right) == told
