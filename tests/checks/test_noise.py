"""What is so on purpose is not told: ends of stacks, newer operators, tables of sines, masks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.audit.networks import make_model, normal
from tests.checks.ruling import Made, build, find

_NODE = helper.make_node
_FLOAT = np.float32
Step = Callable[[int, str], tuple[list[onnx.NodeProto], str]]


# ends of stacks


def stack(end: str, place: int, count: int = 6) -> Made:
    """Blocks of convolution, activation and sum, of which one at an end is unlike the others."""
    nodes, arrays, last = [], {}, "x"
    for number in range(count):
        name, given = f"/blocks.{number}", f"h{number}"
        is_odd = number == place
        width = 4 if is_odd and end == "width" else 8
        arrays[f"w{number}"] = normal(8, width, 1, 1, seed=number)
        strides = [2, 2] if is_odd and end == "stride" else [1, 1]
        taken, residual = last, last
        if is_odd and end == "projection":
            arrays["p"] = normal(8, 8, 1, 1)
            nodes.append(_NODE("Conv", [last, "p"], ["proj"], f"{name}/proj/Conv"))
            residual = "proj"
        if is_odd and end == "traced":
            nodes.append(_NODE("Identity", [last], ["copy"], f"{name}/Identity"))
            taken = "copy"
        if end == "shared" and is_odd:
            nodes.append(_NODE("Sigmoid", ["c"], ["gate"], f"{name}/gate/Sigmoid"))
        nodes.append(
            _NODE("Conv", [taken, f"w{number}"], [f"c{number}"], f"{name}/Conv", strides=strides)
        )
        kind = "Tanh" if is_odd and end == "activation" else "Relu"
        nodes.append(_NODE(kind, [f"c{number}"], [f"a{number}"], f"{name}/act/{kind}"))
        if end == "shared":
            nodes.append(_NODE("Mul", [f"a{number}", "gate"], [f"g{number}"], f"{name}/Mul"))
        rest = f"g{number}" if end == "shared" else f"a{number}"
        if is_odd and end in ("width", "stride"):
            last = rest
            continue
        given = "y" if number == count - 1 else given
        nodes.append(_NODE("Add", [rest, residual], [given], f"{name}/Add"))
        last = given
    if last != "y":
        nodes.append(_NODE("Identity", [last], ["y"], "/last/Identity"))
    inputs = {"x": ("N", 4 if end == "width" else 8, 8, 8), "c": (1,)}
    return build(nodes, arrays, inputs=inputs)


@pytest.mark.parametrize("end", ["width", "stride", "projection", "traced", "shared"])
def test_the_first_block_of_a_stack_may_have_another_border(end: str) -> None:
    assert find(stack(end, 0), "NL-R01") == []


def test_the_last_block_may_project() -> None:
    assert find(stack("projection", 5), "NL-R01") == []


@pytest.mark.parametrize("place", [0, 5])
def test_other_computing_at_an_end_is_a_note(place: int) -> None:
    assert [finding.severity for finding in find(stack("activation", place), "NL-R01")] == ["note"]


@pytest.mark.parametrize("end", ["projection", "traced", "activation"])
def test_inside_a_stack_all_is_told(end: str) -> None:
    assert [finding.severity for finding in find(stack(end, 2), "NL-R01")] == ["warning"]


# operators and operator sets


def mish(opset: int) -> Made:
    nodes = [
        _NODE("Softplus", ["x"], ["a"]),
        _NODE("Tanh", ["a"], ["b"]),
        _NODE("Mul", ["x", "b"], ["y"]),
    ]
    return build(nodes, opset=opset)


@pytest.mark.parametrize(("opset", "count"), [(17, 0), (18, 1), (22, 1)])
def test_an_operator_is_advised_where_its_set_is_imported(opset: int, count: int) -> None:
    assert len(find(mish(opset), "NL-G14")) == count


def test_unused_sets_are_one_finding() -> None:
    proto = make_model([_NODE("Relu", ["x"], ["y"])], {}, ("N", 4))
    for name in "abcdefg":
        proto.opset_import.add(domain=name, version=1)
    (finding,) = find(lambda: proto, "NL-G17")
    assert finding.count == 8
    assert finding.evidence["domains"] == ["com.microsoft", *"abcdefg"]
    del proto.opset_import[2:]
    (finding,) = find(lambda: proto, "NL-G17")
    assert finding.message == "the operator set com.microsoft is imported, but no node is of it"


# numbers


def transform(*, has_window: bool) -> np.ndarray:
    """The sines of a Fourier transform of 64 samples, [33, 1, 64]: frequency 0 is all zero."""
    places = np.arange(64)
    table = np.sin(2 * np.pi * np.outer(np.arange(33), places) / 64)
    table[np.abs(table) < 1e-9] = 0
    window = np.hanning(65)[:64] if has_window else np.ones(64)
    return (table * window)[:, None].astype(_FLOAT)


def filter_with(weight: np.ndarray) -> Made:
    node = _NODE("Conv", ["x", "w"], ["y"])
    return build([node], {"w": weight}, inputs={"x": ("N", 1, 640)})


@pytest.mark.parametrize("has_window", [False, True])
def test_the_sine_of_frequency_zero_is_no_dead_channel(has_window: bool) -> None:
    table = transform(has_window=has_window)
    assert find(filter_with(table), "NL-N05") == []
    trained = normal(33, 1, 64)
    trained[0] = 0
    assert len(find(filter_with(trained), "NL-N05")) == 1
    spoiled = table.copy()
    spoiled[5:8] = 0
    assert len(find(filter_with(spoiled), "NL-N05")) == 1


@pytest.mark.parametrize(
    ("number", "code", "severity"),
    [
        (np.finfo(_FLOAT).min, TensorProto.FLOAT, ""),
        (-1e6, TensorProto.FLOAT, "note"),
        (np.finfo(_FLOAT).min, TensorProto.FLOAT16, "warning"),
    ],
)
def test_the_lowest_float_of_a_mask(number: float, code: int, severity: str) -> None:
    weight = normal(4, 4).astype(np.float16 if code == TensorProto.FLOAT16 else _FLOAT)
    nodes = [
        _NODE("MatMul", ["x", "w"], ["m"]),
        _NODE("Cast", ["m"], ["f"], to=TensorProto.FLOAT),
        _NODE("Max", ["f", "low"], ["y"]),
    ]
    found = find(build(nodes, {"w": weight, "low": np.array(number, _FLOAT)}, code=code), "NL-N03")
    assert [finding.severity for finding in found] == ([severity] if severity else [])
