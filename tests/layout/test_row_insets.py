"""Which block is drawn open where no stack is, and what an inset shows that is about one block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import numpy_helper

from netloupe.explorer.layout import LayoutEngine
from netloupe.explorer.layout.hidden_blocks import list_stacks, list_stacks_and_ideas
from netloupe.explorer.layout.opening_worth import is_told_by_face
from netloupe.explorer.model import Model
from netloupe.explorer.view import View
from tests.layout.test_shut_ideas import draw, find_group, list_open
from tests.unrolled import Writer


@pytest.fixture(scope="module")
def engine() -> Iterator[LayoutEngine]:
    engine = LayoutEngine()
    yield engine
    engine.stop()


class Blocks(Writer):
    """Writes blocks of convolutional networks, each in a module."""

    def convolve(self, scope: str, x: str, widths: tuple[int, int], **options: int) -> str:
        """Write a convolution in a module of its own."""
        taken, given = widths
        kernel, group = options.get("kernel", 1), options.get("group", 1)
        weight = self.weight(f"{scope}.weight", given, taken // group, kernel, kernel)
        size = [kernel // 2] * 4
        return self.add(scope, "Conv", x, weight, pads=size, group=group)

    def invert(self, scope: str, x: str, widths: tuple[int, int], *, is_excited: bool) -> str:
        """Write an inverted residual (M. Sandler and others, 2018), perhaps with excitation."""
        taken, given = widths
        wide = 4 * taken
        h = self.add(f"{scope}/a", "Relu", self.convolve(f"{scope}/expand", x, (taken, wide)))
        h = self.convolve(f"{scope}/deep", h, (wide, wide), kernel=3, group=wide)
        h = self.add(f"{scope}/b", "Relu", h)
        if is_excited:
            mean = self.add(f"{scope}/se", "GlobalAveragePool", h)
            mean = self.convolve(f"{scope}/se/down", mean, (wide, 4))
            mean = self.add(f"{scope}/se", "Relu", mean)
            share = self.convolve(f"{scope}/se/up", mean, (4, wide))
            h = self.add(f"{scope}/se", "Mul", h, self.add(f"{scope}/se", "Sigmoid", share))
        return self.convolve(f"{scope}/project", h, (wide, given))

    def reveal(self, scope: str, x: str, widths: tuple[int, int]) -> str:
        """Write a ghost module (K. Han and others, GhostNet, 2020, figure 2)."""
        half = widths[1] // 2
        h = self.convolve(f"{scope}/primary", x, (widths[0], half))
        h = self.add(f"{scope}/primary", "Relu", h)
        cheap = self.convolve(f"{scope}/cheap", h, (half, half), kernel=3, group=half)
        cheap = self.add(f"{scope}/cheap", "Relu", cheap)
        return self.add(scope, "Concat", h, cheap, axis=1)

    def classify(self, x: str, width: int, *, wider: int = 1) -> Model:
        """Write a head of one or of two layers; return the model."""
        x = self.add("pool", "GlobalAveragePool", x)
        x = self.add("pool", "Flatten", x)
        if wider > 1:
            x = self.add("hidden", "MatMul", x, self.weight("hidden.weight", width, wider))
            x = self.add("hidden", "Tanh", x)
        weight = self.weight("head.weight", max(width, wider) if wider > 1 else width, 10)
        self.outputs = [self.add("head", "MatMul", x, weight)]
        return self.load()


def make_row(count: int, *, excited: int = 2, wider: int = 1) -> Model:
    """Return a row of inverted residuals of which each gives four channels more."""
    writer = Blocks()
    writer.inputs = {"x": [1, 3, 32, 32]}
    x = writer.add("stem", "Relu", writer.convolve("stem", "x", (3, 8), kernel=3))
    for number in range(count):
        widths = 8 + 4 * number, 12 + 4 * number
        is_excited = number == excited
        x = writer.invert(f"blocks.{number}", x, widths, is_excited=is_excited)
    return writer.classify(x, 8 + 4 * count, wider=wider)


def _list_open_blocks(model: Model, engine: LayoutEngine) -> list[str]:
    return [name for name in list_open(draw(model, engine)) if name.startswith("blocks.")]


@pytest.mark.parametrize("excited", [1, 3])
def test_of_a_row_the_block_is_open_that_has_all(engine: LayoutEngine, excited: int) -> None:
    assert _list_open_blocks(make_row(6, excited=excited), engine) == [f"blocks.{excited}"]


def make_growing(stages: int, naming: str = "legacy") -> Model:
    """Return stages of residual blocks of which each gives two channels more, without projection.

    So they are in D. Han and others, Deep Pyramidal Residual Networks, 2017, section 2.3.
    """
    writer = Blocks(naming)
    writer.inputs = {"x": [1, 3, 32, 32]}
    x = writer.add("stem", "Relu", writer.convolve("stem", "x", (3, 8), kernel=3))
    width = 8
    writer.tensors.append(numpy_helper.from_array(np.int64([0, 0, 0, 0, 0, 2, 0, 0]), "more"))
    for stage in range(stages):
        for number in range(5):
            scope = f"stage{stage}/unit{number}"
            h = writer.convolve(f"{scope}/body/conv1", x, (width, width + 2), kernel=3)
            h = writer.add(f"{scope}/body/conv1", "Relu", h)
            h = writer.convolve(f"{scope}/body/conv2", h, (width + 2, width + 2), kernel=3)
            x = writer.add(scope, "Add", h, writer.add(scope, "Pad", x, "more"))
            width += 2
    x = writer.add("neck", "Tanh", writer.convolve("neck", x, (width, width)))
    return writer.classify(x, width)


def test_of_stages_that_hold_only_like_blocks_one_block_is_open(engine: LayoutEngine) -> None:
    picture = draw(make_growing(3), engine)
    assert [inset.item.label for inset in picture.insets] == ["unit1"]
    assert list_open(picture) == ["unit1", "body"]


def test_one_box_of_many_like_blocks_is_a_row(engine: LayoutEngine) -> None:
    picture = draw(make_growing(12, "plain"), engine)
    (box,) = (item for item in picture.view.root.children if "residual blocks" in item.label)
    (inset,) = picture.insets
    assert inset.item.element in box.element.inner_groups()


def test_fewer_blocks_are_no_row(engine: LayoutEngine) -> None:
    assert not _list_open_blocks(make_row(2, excited=1), engine)


def test_what_is_little_of_a_model_stays_closed(engine: LayoutEngine) -> None:
    writer = Blocks()
    writer.inputs = {"x": [1, 3, 32, 32]}
    x = writer.convolve("stem", "x", (3, 8), kernel=3)
    for number in range(3):
        widths = 8 + 4 * number, 12 + 4 * number
        x = writer.invert(f"blocks.{number}", x, widths, is_excited=number == 1)
    for number in range(40):  # what others are made of
        x = writer.add(f"after.{number}", ("Sin", "Cos", "Exp")[number % 3], x)
    assert not _list_open_blocks(writer.classify(x, 20, wider=4000), engine)


def make_ghosts(parts: int) -> Model:
    """Return a stack of residual blocks of ghost modules, and of convolutions besides."""
    writer = Blocks()
    writer.inputs = {"x": [1, 3, 32, 32]}
    x = writer.add("stem", "Relu", writer.convolve("stem", "x", (3, 16), kernel=3))
    for number in range(4):
        scope = f"blocks.{number}"
        h = writer.reveal(f"{scope}/ghost1", x, (16, 32))
        for part in range(parts):
            h = writer.convolve(f"{scope}/other{part}", h, (32, 32), kernel=3)
            h = writer.add(f"{scope}/other{part}", "Relu", h)
        h = writer.reveal(f"{scope}/ghost2", h, (32, 16))
        x = writer.add(scope, "Add", x, h)
    return writer.classify(x, 16)


def test_one_of_the_blocks_that_an_inset_is_of_is_open_in_it(engine: LayoutEngine) -> None:
    opened = list_open(draw(make_ghosts(0), engine))
    assert "ghost1" in opened
    assert "ghost2" not in opened


def test_blocks_among_many_others_stay_closed(engine: LayoutEngine) -> None:
    opened = list_open(draw(make_ghosts(7), engine))
    assert not {"ghost1", "ghost2"} & {*opened}


def make_encoder(tables: int, *, tokens: int = 16) -> Model:
    """Return rows of tables that are summed, and layers of attention behind them."""
    writer = Writer()
    writer.inputs = {f"i{number}": [1, tokens] for number in range(tables)}
    size = 32
    rows = []
    for number in range(tables):
        ids = writer.add("embeddings", "Cast", f"i{number}", to=7)
        table = writer.weight(f"table{number}", 64, size)
        rows.append(writer.add(f"embeddings/table{number}", "Gather", table, ids))
    x = rows[0]
    for row in rows[1:]:
        x = writer.add("embeddings", "Add", x, row)
    x = writer.add("embeddings/norm", "LayerNormalization", x, writer.weight("norm", size))
    for number in range(3):
        scope = f"layers.{number}"
        q, k, v, o, up, down = (
            writer.weight(f"{scope}.{name}", *dims)
            for name, dims in (
                *((name, (size, size)) for name in "qkvo"),
                *(("up", (size, 64)), ("down", (64, size))),
            )
        )
        queries = writer.add(f"{scope}/attention/q", "MatMul", x, q)
        keys = writer.add(f"{scope}/attention/k", "MatMul", x, k)
        values = writer.add(f"{scope}/attention/v", "MatMul", x, v)
        turned = writer.add(f"{scope}/attention", "Transpose", keys, perm=[0, 2, 1])
        scores = writer.add(f"{scope}/attention", "MatMul", queries, turned)
        shares = writer.add(f"{scope}/attention", "Softmax", scores)
        mixed = writer.add(f"{scope}/attention", "MatMul", shares, values)
        x = writer.add(scope, "Add", x, writer.add(f"{scope}/attention/o", "MatMul", mixed, o))
        wide = writer.add(f"{scope}/mlp", "Relu", writer.add(f"{scope}/mlp", "MatMul", x, up))
        x = writer.add(scope, "Add", x, writer.add(f"{scope}/mlp", "MatMul", wide, down))
    writer.outputs = [writer.add("head", "MatMul", x, writer.weight("head", size, 10))]
    return writer.load()


@pytest.mark.parametrize("tables", [5, 9])
def test_a_network_is_shown_before_tables_whose_rows_are_summed(tables: int) -> None:
    view = View(make_encoder(tables))
    first, last = list_stacks_and_ideas(view, list_stacks(view))
    assert first.group.kind == "repeat"
    assert last.group.label == "embeddings"


@pytest.mark.parametrize(("kind", "gates"), [("LSTM", 4), ("GRU", 3)])
def test_rows_of_recurrent_layers_are_told_by_their_box(kind: str, gates: int) -> None:
    writer = Writer()
    writer.inputs = {"x": [5, 1, 8]}
    for name, number in (("directions", 1), ("begin", 0), ("end", 4)):
        writer.tensors.append(numpy_helper.from_array(np.int64([number]), name))
    x = writer.add("stem", "MatMul", "x", writer.weight("stem.weight", 8, 8))
    x = writer.add("stem", "Tanh", x)
    for number in range(3):
        taken = writer.weight(f"w{number}", 1, gates * 8, 8)
        kept = writer.weight(f"r{number}", 1, gates * 8, 8)
        x = writer.add("layers", kind, x, taken, kept, hidden_size=8)
        x = writer.add("layers", "Squeeze", x, "directions")
        x = writer.add("layers", "Slice", x, "begin", "end", "begin") if number == 1 else x
    x = writer.add("head", "MatMul", x, writer.weight("head.weight", 8, 8))
    writer.outputs = [writer.add("head", "Tanh", x)]
    model = writer.load()
    group = find_group(model, "layers/")
    assert group.recognised is not None
    assert group.recognised.text == f"{kind} 8 → 8, 3 layers"
    assert is_told_by_face(group)
