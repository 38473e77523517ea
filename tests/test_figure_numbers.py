"""The judge of numbers in pictures finds those that a file has not."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest

from netloupe.explorer.readers.load import load
from tests.figure_numbers import Border, File, judge_growth, judge_text
from tests.figure_sizes import holds_batch, judge_order, judge_parts

TEXT = """<ir_version: 8, opset_import: ["": 17]>
g (float[1, 3, 32, 48] x) => (float[1, 16, 12] y) {
 a = Conv <kernel_shape = [3, 5], pads = [1, 2, 1, 2], strides = [2, 2]> (x, w)
 r = Relu (a)
 t = Transpose <perm = [0, 2, 3, 1]> (r)
 m = MatMul (t, v)
 y = ReduceMean <axes = [2], keepdims = 0> (m)
}"""


@pytest.fixture(scope="module")
def border(tmp_path_factory: pytest.TempPathFactory) -> Border:
    """Return the border of a convolution and a linear layer behind it."""
    model = onnx.parser.parse_model(TEXT)
    for name, dims in (("w", (8, 3, 3, 5)), ("v", (8, 12))):
        size = 4
        for dim in dims:
            size *= dim
        tensor = onnx.helper.make_tensor(name, 1, dims, b"\0" * size, raw=True)
        model.graph.initializer.append(tensor)
    path: Path = tmp_path_factory.mktemp("numbers") / "model.onnx"
    onnx.save(model, path)
    return Border(load(path).graph.nodes, File(path))


@pytest.mark.parametrize(
    "text",
    ["3 → 8 → 12", "3×5 · 3 → 12 · /2", "(Conv · ReLU) ×2 · Linear", "3 heads × 4", "8 → 12"],
)
def test_numbers_of_weights_and_of_what_goes_through_are_so(text: str, border: Border) -> None:
    assert [*judge_text(text, border)] == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("3 → 8 → 10", "10"),  # no weight has it, and nothing of it leaves
        ("7 → 12", "7"),
        ("7×7 · 3 → 12", "7×7"),
        ("3 → 12 · /4", "/4"),
        ("5 heads × 7", "5 heads"),
    ],
)
def test_numbers_that_nothing_has_are_found(text: str, what: str, border: Border) -> None:
    assert any(what in line for line in judge_text(text, border))


@pytest.mark.parametrize(
    ("shape", "label", "is_so"),
    [
        ((2, 6, 12), "12 × 48", False),  # six of each of two
        ((1, 6, 12), "12 × 48", True),
        ((5, 6, 12), "12 × 48", True),
    ],
)
def test_a_size_that_holds_the_batch_is_found(
    tmp_path: Path, shape: tuple[int, ...], label: str, is_so: bool
) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(
        onnx.parser.parse_model(f"""<ir_version: 8, opset_import: ["": 17]>
g (float[{", ".join(map(str, shape))}] x) => (float y) {{ y = Relu (x) }}"""),
        path,
    )
    assert is_so == (not holds_batch([12, 48], [12, 48], File(path)))


@pytest.mark.parametrize(
    ("told", "dims", "is_so"),
    [
        ([33, 12, 42], [33, 12, 42], True),
        ([12, 42], [1, 12, 42], True),
        ([33, 42], [33, 1, 42], True),  # a batch behind the steps
        ([33, 42, 12], [33, 12, 42], False),
        ([33, 42, 2], [1, 2, 33, 42], False),
    ],
)
def test_a_size_beside_a_box_that_tells_axes_has_their_order(
    told: list[int], dims: list[int], is_so: bool
) -> None:
    assert judge_order(told, dims) == is_so


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("16 + 8 → 24", True),
        ("24 → 3 × 8", True),
        ("1,000 × 2 → 2 × 1,000", True),
        ("16 + 9 → 24", False),
        ("24 → 4 × 8", False),
        ("7 + 8 → 15", False),  # sizes of something else
    ],
)
def test_parts_amount_to_the_whole(text: str, is_so: bool) -> None:
    sizes = {3, 16, 24, 1000}
    assert (not [*judge_parts(text, sizes)]) == is_so


@pytest.mark.parametrize(
    ("text", "count", "what"),
    [
        ("3 → 27 · +8 each", 3, ""),
        ("3 → 24 · +8 each", 3, "3 members"),
        ("3 → 27 · +8 each", 2, "2 members"),
        ("3 → 24 · +7 each", 3, "no weights of 7"),
        ("3 → 27", 3, ""),
    ],
)
def test_what_members_add_makes_the_whole(text: str, count: int, what: str, border: Border) -> None:
    found = [*judge_growth(text, [border] * count)]
    assert found == [] if not what else any(what in line for line in found)
