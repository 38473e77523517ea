"""What stands on which row of a ladder, how it is painted and linked."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper, parser

import netloupe
from netloupe.explorer.grouping.lookup import find_tree
from netloupe.explorer.ladder.cells import Cell, LadderRow
from netloupe.explorer.ladder.content import Ladder, build_ladder
from netloupe.explorer.ladder.folding import fold_rows
from tests.compare.networks import make_nested
from tests.ladder.pictured import list_faults
from tests.ladder.stacks import compare, make_stack

_MOST = 64


def build(left: onnx.ModelProto, right: onnx.ModelProto) -> tuple[netloupe.Diff, Ladder]:
    """Return a difference and its ladder, which is well laid out and tells what the list tells."""
    found = compare(left, right)
    ladder = build_ladder(found, _MOST)
    check(found, ladder)
    return found, ladder


def check(found: netloupe.Diff, ladder: Ladder) -> None:
    """Assert what is so of every ladder."""
    leaves = [leaf for row in ladder.rows for leaf in row.list_leaves()]
    cells = [cell for leaf in leaves for cell in (leaf.left, leaf.right) if cell is not None]
    # every mark is an entry of the list, and every entry that is real has a mark
    marked = {number for cell in cells if cell.tone != "same" for number in cell.entries}
    real = {
        n for n, one in enumerate(found.entries) if one.level not in ("equal", "version", "written")
    }
    assert marked == real == {*ladder.tones}
    states = {*found.states}
    for cell in cells:
        assert (cell.tone == "same") == (not cell.entries)
        if cell.tone == "same":  # nothing inside is without a partner
            alone = {*found.left_alone, *found.right_alone}
            assert alone.isdisjoint(cell.nodes)
            if not any(one.topic == "exchange" for one in found.entries):
                fused = {node for pair in found.fused for node in pair.right}
                assert (states - fused).isdisjoint(cell.nodes)
    for side, model in enumerate((found.left, found.right)):  # each node is in one box
        there = [cell for leaf in leaves if (cell := (leaf.left, leaf.right)[side]) is not None]
        nodes = [node for cell in there for node in cell.nodes]
        assert len(nodes) == len({*nodes})
        assert {*nodes} == {*find_tree(model, model.graph).order}
    both = {(link.left, link.right) for link in ladder.links}
    assert len(both) == len(ladder.links)
    for link in ladder.links:
        if link.tone == "same":
            assert link.left.tone == link.right.tone == "same"
    assert list_faults(found.to_ladder()) == []


def tell(ladder: Ladder) -> list[str]:
    """Return the rows that are closed as text."""
    return [
        " | ".join("" if cell is None else f"{cell.label}: {cell.tone}" for cell in cells)
        for row in ladder.rows
        for leaf in row.list_leaves()
        for cells in [(leaf.left, leaf.right)]
    ]


def tell_links(ladder: Ladder) -> set[str]:
    return {f"{one.left.label} - {one.right.label}: {one.tone}" for one in ladder.links}


def test_equal_models_are_closed_and_grey() -> None:
    model = make_stack(range(6))
    found, ladder = build(model, model)
    assert found.verdict == "identical"
    assert all(row.is_plain for row in ladder.rows)
    assert {link.tone for link in ladder.links} == {"same"}
    assert [row.left.kind for row in ladder.rows if row.left] == ["stack", "box"]
    assert b"The models are identical." in found.to_ladder()


def test_a_stack_is_called_as_in_the_picture_of_its_model() -> None:
    found, ladder = build(make_stack(range(12)), make_stack(range(11)))
    labels = [row.left.label for row in ladder.rows if row.left is not None]
    assert labels == ["layers.0 … 11", "Softmax"]
    assert labels[0] in found.left.to_svg()
    assert labels[0].encode() in found.to_ladder()


@pytest.mark.parametrize("named_by", ["block", "place"])
def test_a_block_that_is_gone_has_a_gap_at_the_other_side(named_by: str) -> None:
    order = [0, 1, 2, 4, 5]
    found, ladder = build(make_stack(range(6)), make_stack(order, named_by=named_by))
    assert "layers.3: removed | removed: removed" in tell(ladder)
    assert sum("same" not in line for line in tell(ladder)) == 1
    assert "layers.3 - removed: removed" in tell_links(ladder)
    back = compare(make_stack(order, named_by=named_by), make_stack(range(6)))
    assert "added: added | layers.3: added" in tell(build_ladder(back, _MOST))
    assert [entry.level for entry in found.entries if entry.is_real] == ["removed"]


def test_a_block_that_stands_twice_is_added_once() -> None:
    _, ladder = build(make_stack(range(5)), make_stack([0, 1, 2, 2, 3, 4]))
    told = [line for line in tell(ladder) if "same" not in line]
    assert len(told) == 1
    assert told[0].startswith("added: added | layers.2")


def test_links_of_exchanged_blocks_cross() -> None:
    found, ladder = build(make_stack(range(6)), make_stack([0, 1, 3, 2, 4, 5]))
    assert [one.topic for one in found.entries if one.is_real] == ["exchange"]
    links = tell_links(ladder)
    assert {"layers.2 - layers.2: exchanged", "layers.3 - layers.3: exchanged"} <= links
    rows = tell(ladder)
    place = rows.index("layers.2: exchanged | layers.3: exchanged")
    assert rows[place + 1] == "layers.3: exchanged | layers.2: exchanged"
    assert sum("same" in line for line in rows) == len(rows) - 2


def test_blocks_that_exchanged_their_weights_stay_on_their_rows() -> None:
    left = make_stack(range(6))
    found, ladder = build(left, make_stack([0, 1, 3, 2, 4, 5], named_by="place"))
    assert [one.topic for one in found.entries if one.is_real] == ["exchange"]
    assert "layers.2: exchanged | layers.2: exchanged" in tell(ladder)
    assert "layers.3 - layers.3: exchanged" in tell_links(ladder)


def test_blocks_in_another_order_are_all_linked() -> None:
    _, ladder = build(make_stack(range(6)), make_stack([0, 2, 3, 4, 1, 5]))
    pairs = {(link.left.label, link.right.label) for link in ladder.links}
    assert {(f"layers.{number}", f"layers.{number}") for number in range(6)} <= pairs


def test_only_the_block_whose_weight_changed_is_marked() -> None:
    right = make_stack(range(6), changed=lambda block, a: a * np.float32(1 + 0.01 * (block == 4)))
    _, ladder = build(make_stack(range(6)), right)
    assert [line for line in tell(ladder) if "same" not in line] == [
        "layers.4: changed | layers.4: changed"
    ]
    assert "layers.4 - layers.4: changed" in tell_links(ladder)


def test_a_stack_of_which_all_blocks_changed_alike_stays_closed() -> None:
    right = make_stack(range(6), changed=lambda block, array: array * np.float32(1.01))
    _, ladder = build(make_stack(range(6)), right)
    (stack,) = [row for row in ladder.rows if row.left and row.left.kind == "stack"]
    assert stack.inner == []
    assert stack.left is not None
    assert stack.left.tone == "changed"
    right = make_stack(range(6), activation=lambda block: "Sigmoid")
    _, ladder = build(make_stack(range(6)), right)
    assert len(tell(ladder)) == len(ladder.rows)


def test_another_operator_in_one_block_opens_the_stack() -> None:
    right = make_stack(range(6), activation=lambda block: "Sigmoid" if block == 2 else "Tanh")
    _, ladder = build(make_stack(range(6)), right)
    changed = [line for line in tell(ladder) if "same" not in line]
    assert changed == ["layers.2: changed | layers.2: changed"]


def test_other_names_alone_are_no_mark() -> None:
    found, ladder = build(make_stack(range(6)), make_stack(range(6), prefix="blocks."))
    assert found.verdict == "cosmetic"
    assert all(row.is_plain for row in ladder.rows)
    assert b"Only written otherwise" in found.to_ladder()


def test_weights_that_nobody_read_have_a_mark_of_their_own() -> None:
    model = make_stack(range(4))
    for tensor in model.graph.initializer:
        if tensor.name == "layers.2.fc.weight":
            tensor.ClearField("raw_data")
            tensor.data_location = onnx.TensorProto.EXTERNAL
            for key, value in (("location", "missing.bin"), ("offset", "0"), ("length", "256")):
                tensor.external_data.add(key=key, value=value)
    found, ladder = build(model, model)
    assert found.verdict == "unread"
    assert [line for line in tell(ladder) if "same" not in line] == [
        "layers.2: unread | layers.2: unread"
    ]
    assert b"Could not be read" in found.to_ladder()


def test_what_is_inside_of_calls_and_branches_is_marked_at_what_holds_it() -> None:
    left = make_nested()
    right = onnx.ModelProto.FromString(left.SerializeToString())
    right.graph.node[2].attribute[0].g.node[1].op_type = "Exp"
    right.functions[0].node[1].op_type = "Tanh"
    _, ladder = build(left, right)
    changed = [line for line in tell(ladder) if "same" not in line]
    assert changed == ["If, Scaled: changed | If, Scaled: changed"]


def test_another_interface_is_marked_at_the_end_where_it_is() -> None:
    left = make_stack(range(3))
    right = onnx.ModelProto.FromString(left.SerializeToString())
    right.graph.output[0].name = "z"
    right.graph.node[-1].output[0] = "z"
    found, ladder = build(left, right)
    assert any(entry.topic == "interface" for entry in found.entries)
    assert "outputs: changed | outputs: changed" in tell(ladder)


def test_what_is_told_of_no_place_is_at_the_whole_model() -> None:
    text = """<ir_version: 9, opset_import: ["" : 18, "local" : 1]>
        g (float[3] x) => (float[3] y) {{ y = local.F (x) }}
        <domain: "local", opset_import: ["" : 18]>
        F <alpha: float = {0}> (a) => (c) {{ c = LeakyRelu <alpha: float = @alpha> (a) }}"""
    found, ladder = build(*(parser.parse_model(text.format(one)) for one in ("0.1", "0.7")))
    assert any(entry.is_real for entry in found.entries)
    told = found.to_ladder()
    is_general = "whole model: changed | whole model: changed" in tell(ladder)
    assert is_general or tell(ladder) == ["F: changed | F: changed"]
    assert (b"may be about any box" in told) == is_general


def test_models_of_nothing_and_of_nothing_in_common() -> None:
    empty = helper.make_model(helper.make_graph([], "empty", [], []), ir_version=10)
    _, ladder = build(empty, empty)
    assert ladder.rows == []
    _, ladder = build(empty, make_stack(range(3)))
    tones = {cell.tone for row in ladder.rows for cell in (row.left, row.right) if cell}
    assert tones <= {"added", "changed"}


def test_a_model_without_groups_is_a_ladder_of_nodes() -> None:
    text = """<ir_version: 8, opset_import: ["" : 18]>
        g (float[2, 3] x) => (float[2, 3] y) {{ a = Abs (x) b = {0} (a) y = Exp (b) }}"""
    models = [parser.parse_model(text.format(name)) for name in ("Relu", "Sigmoid")]
    _, ladder = build(*models)
    assert [line.count("changed") for line in tell(ladder)] == [0, 2, 0]


def test_many_blocks_are_told_in_few_rows() -> None:
    _, ladder = build(make_stack(range(150)), make_stack([0, 149]))
    leaves = [leaf for row in ladder.rows for leaf in row.list_leaves()]
    assert len(leaves) < _MOST + 8
    labels = " ".join(cell.label for leaf in leaves for cell in (leaf.left, leaf.right) if cell)
    assert " more" in labels
    one = make_stack(range(150))
    right = make_stack(range(150), changed=lambda block, a: a * np.float32(1 + (block == 70)))
    _, ladder = build(one, right)
    assert len(tell(ladder)) < 12
    assert "layers.70: changed | layers.70: changed" in tell(ladder)


def test_ten_thousand_rows_become_few_and_none_is_lost() -> None:
    def make_row(number: int) -> LadderRow:
        if number % 3:
            return LadderRow(Cell("box", "a", "same"), Cell("box", "a", "same"), True)
        gone = Cell("box", f"b{number}", "removed", (number,))
        return LadderRow(gone, Cell("missing", "removed", "removed", (number,)))

    rows = fold_rows([*map(make_row, range(10_000))], _MOST)
    assert len(rows) < _MOST + 4
    told = {number for row in rows for number in row.entries}
    assert told == {number for number in range(10_000) if not number % 3}
    labels = [row.left.label for row in rows if row.left]
    assert any(label.startswith("… ") and label.endswith(" more") for label in labels)


def test_the_same_bytes_come_twice() -> None:
    models = make_stack(range(6)), make_stack([0, 1, 3, 2, 5])
    for format in ("svg", "html", "pdf", "png"):
        assert compare(*models).to_ladder(format=format) == compare(*models).to_ladder(
            format=format
        )


def test_hostile_names_are_text() -> None:
    bad = "</text><script>alert(1)</script>&\u202e" + "x" * 300
    left, right = (make_stack(order, prefix=f"{bad}.") for order in ([0, 1, 2, 3], [0, 2, 3]))
    found, _ = build(left, right)
    for theme in ("light", "dark"):
        svg = found.to_ladder(theme=theme)
        assert b"<script" not in svg
        assert "\u202e" not in svg.decode()
