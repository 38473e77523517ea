"""The measures of first views: what counts as plumbing, the bars, two runs beside each other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import onnx.parser
import pytest

from netloupe.explorer.grouping import Group
from netloupe.explorer.layout import Composer, LayoutEngine
from netloupe.explorer.layout.scene import Flat
from netloupe.explorer.render.picture import Picture, render_picture
from tests.benchmarks.first_view_boxes import find_whole_values, is_plumbing
from tests.benchmarks.first_view_measures import (
    find_extreme_aspect,
    find_unknown_numbers,
    find_wrong_claims,
    is_amount,
)
from tests.benchmarks.first_view_sheet import SheetOfViews, read_grades
from tests.benchmarks.first_view_streams import (
    find_back_edges,
    find_mixed_folds,
    infer_shapes,
    is_one_stream,
    list_streams,
    says_change,
)
from tests.benchmarks.first_views import (
    FirstView,
    list_models,
    main,
    measure,
    write_summary,
)
from tests.known_architectures import MODEST, Architecture, Blocks
from tests.known_numbers import list_numbers
from tests.onnx_text import load_text

GOOD = FirstView(
    boxes=14,
    frames=1,
    width=900,
    height=800,
    zoom=1.0,
    plumbing=0,
    stacks=[12],
    agrees=True,
    first=0.2,
    is_open=True,
    struck=0,
    cuts=0,
    seconds=0.1,
    numbers=True,
)


def test_numbers_and_truth_are_told_from_what_flows() -> None:
    model = load_text("""
        <ir_version: 8, opset_import: ["" : 17]>
        main (int64[b, s] ids, float[9, 4] table, int64 last) => (float[b, s, 4] y) {
            length = Shape(ids)
            size = Gather(length, last)
            more = Add(size, last)
            early = Less(more, size)
            mask = Cast <to: int = 1> (early)
            embedded = Gather(table, ids)
            y = Mul(embedded, mask)
        }
        """)
    names = {value.name for value in find_whole_values(model)}
    assert names == {"ids", "last", "length", "size", "more", "early"}


def test_bars_tell_which_of_them_hold() -> None:
    held = write_summary([GOOD] * 100)
    assert all(line.startswith("yes") for line in held)
    worse = replace(GOOD, zoom=0.3, boxes=40, plumbing=3, agrees=False, is_open=False, struck=1)
    worse.offences = {"face": ["main/a/: 4 nodes"], "fold": ["main/b/: 4 → 8"]}
    missed = [line for line in write_summary([GOOD] * 100 + [worse] * 20) if line.startswith("NO")]
    assert [line.split("  ")[-1].split(" (")[0] for line in missed] == [
        "zoom of at least 0.65",
        "least zoom",
        "most boxes",
        "a stack is open",
        "boxes of plumbing",
        "boxes and titles struck",
        "models with other stacks",
        "face: closed groups that say nothing but parameters or nodes",
        "fold: folds across a change of width or resolution",
    ]


def test_a_single_moving_node_is_plumbing_but_not_where_all_is_open(tmp_path: Path) -> None:
    path = tmp_path / "small.onnx"
    text = """
        <ir_version: 8, opset_import: ["" : 17]>
        main (float[2, 3] x) => (float[3, 2] y) {
            t = Transpose <perm: ints = [1, 0]> (x)
            y = Neg(t)
        }
        """
    path.write_bytes(onnx.parser.parse_model(text).SerializeToString())
    engine = LayoutEngine()
    try:
        view, picture = measure(path, MODEST, Composer(engine))
    finally:
        engine.stop()
    moving = [box.item.element.op_type for box in picture.scene.boxes if is_plumbing(box, set())]
    assert moving == ["Transpose"]
    assert (view.boxes, view.plumbing, view.stacks, view.agrees) == (4, 0, [], None)


def test_two_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, pictures = tmp_path / "run.json", tmp_path / "pictures"
    arguments = ["zfnet512", "--json", str(file), "--pictures", str(pictures), "--svg"]
    assert main(arguments) == 0
    name = "light/light_zfnet512.onnx"
    found = json.loads(file.read_text())
    assert list(found) == [name]
    assert [path.name for path in pictures.iterdir()] == ["light_light_zfnet512.svg"]
    found[name]["boxes"] += 1
    file.write_text(json.dumps(found))
    capsys.readouterr()
    assert main(["zfnet512", "--against", str(file)]) == 0
    changes = capsys.readouterr().out.split("changed:\n")[1].split("\n")
    boxes = found[name]["boxes"]
    assert changes == [f"{name}: boxes {boxes} → {boxes - 1}", ""]


_HEAD = '<ir_version: 8, opset_import: ["" : 17]>\n'


def _draw(tmp_path: Path, text: str) -> Picture:
    path = tmp_path / "model.onnx"
    path.write_bytes(onnx.parser.parse_model(_HEAD + text).SerializeToString())
    engine = LayoutEngine()
    try:
        return measure(path, MODEST, Composer(engine))[1]
    finally:
        engine.stop()


def test_numbers_of_a_sentence_are_those_of_the_configuration() -> None:
    sentence = "Mamba-2 network: 12 blocks, 4 heads × 12, 1,000 tokens, window 512 in 5 of 6, ×9."
    known = {12.0, 4.0, 1000.0}
    assert find_unknown_numbers(sentence, known, ("window 512 in 5 of 6",)) == ["9"]
    assert find_unknown_numbers(sentence, known, ()) == ["512", "5", "6", "9"]


def test_numbers_are_listed_from_what_is_known() -> None:
    known = Architecture(
        family="CNN", blocks=(Blocks("b", (3, 4)),), width=48, words=("2 of 5",), numbers=(0.5,)
    )
    assert list_numbers(known) == {3, 4, 7, 2, 48, 5, 0.5}
    assert list_numbers(MODEST) is None


def test_a_stack_is_of_one_stream_or_grows_by_steps(tmp_path: Path) -> None:
    layers = "".join(
        f"""
            c{n} = Conv <kernel_shape: ints = [3, 3], pads: ints = [1, 1, 1, 1]> (r{n}, w{n})
            r{n + 1} = Relu(c{n})
        """
        for n in range(4)
    )
    weights = ", ".join(f"float[4, 4, 3, 3] w{n}" for n in range(4))
    text = f"main (float[1, 4, 8, 8] r0, {weights}) => (float[1, 4, 8, 8] r4) {{{layers}}}"
    picture = _draw(tmp_path, text)
    shapes = infer_shapes(tmp_path / "model.onnx")
    graph = picture.model.graph
    stack = Group("repeat", graph, "main/stack/", "stack")
    stack.children = [node for node in graph.nodes if node.op_type == "Conv"]
    # what the last one gives is taken by an activation behind the stack
    assert list_streams(stack, shapes) == [(1, 4, 8, 8)] * 4
    assert find_mixed_folds(picture, shapes) == []
    assert is_one_stream([(1, 4, 8), (1, 8, 8), (1, 12, 8)])
    assert is_one_stream([(1, 4, 8), (1, 4, None)])
    assert not is_one_stream([(1, 4, 8), (1, 8, 8), (1, 16, 8)])
    assert not is_one_stream([(1, 4, 8), (1, 8, 4), (1, 12, 2)])


def test_a_stack_may_change_sizes_where_it_says_so() -> None:
    assert says_change("4 → 8 → 16 · /2", [(1, 4, 64), (1, 8, 32), (1, 16, 16)])
    assert not says_change("4 → 8 · /2", [(1, 4, 64), (1, 8, 32), (1, 16, 16)])
    assert says_change("4 → 4 · /2", [(1, 4, 64), (1, 4, 32)])
    assert not says_change("4 → 4", [(1, 4, 64), (1, 4, 32)])
    assert not says_change("4 → 64", [(1, 4, 64), (4, 64)])


def test_a_closed_group_has_to_say_more_than_amounts(tmp_path: Path) -> None:
    assert is_amount("5.63 k parameters · 5 %")
    assert is_amount("35 nodes")
    assert is_amount("the first has 35 nodes")
    assert not is_amount("35 nodes · Conv, Relu")
    assert not is_amount("24 → 56 → 152")


def test_a_long_strip_offends(tmp_path: Path) -> None:
    picture = _draw(tmp_path, "main (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }")
    picture.scene = replace(picture.scene, width=100.0, height=301.0)
    assert find_extreme_aspect(picture) == ["100 × 301"]
    picture.scene = replace(picture.scene, height=300.0)
    assert find_extreme_aspect(picture) == []


def test_an_edge_that_leads_up_or_round_offends_unless_it_is_a_loop(tmp_path: Path) -> None:
    text = "main (float[2, 3] x) => (float[2, 3] y) { t = Relu(x)\n y = Softmax(t) }"
    picture = _draw(tmp_path, text)
    assert find_back_edges(picture) == []
    scene = picture.scene
    (edge,) = [edge for edge in scene.edges if edge.path == "main/%t"]
    for kind, count in (("data", 2), ("loop", 0)):
        back = edge._replace(source=edge.target, target=edge.source, kind=kind)
        flat = Flat(scene.boxes, (*scene.edges, back), scene.ports)
        picture.scene = replace(scene, root=None, by_hand=flat)
        assert len(find_back_edges(picture)) == count


def test_grades_and_pictures_are_on_a_sheet(tmp_path: Path) -> None:
    grades = tmp_path / "grades.toml"
    assert read_grades(grades) == {}
    grades.write_text('"a.onnx" = "B one change"\n')
    sheet = SheetOfViews(read_grades(grades))
    picture = _draw(tmp_path, "main (float[2, 3] x) => (float[2, 3] y) { y = Relu(x) }")
    sheet.add("a.onnx", render_picture(picture, "png"))
    sheet.write(tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")


def test_what_a_sentence_says_of_named_sizes_is_held_against_them() -> None:
    known = Architecture(
        family="transformer", blocks=(Blocks("block", (6,)),), heads=4, vocabulary=1000, patch=16
    )
    right = "6 transformer blocks of 4 heads × 8, vocabulary 1,000, patches of 16 × 16."
    assert find_wrong_claims(right, known) == []
    wrong = "5 transformer blocks of 16 heads × 8, vocabulary 64, positions 6."
    assert find_wrong_claims(wrong, known) == [
        *("vocabulary 64", "positions 6", "16 heads", "5 transformer blocks"),
    ]


def test_every_first_view_has_been_judged() -> None:
    grades = read_grades()
    assert {said[0] for said in grades.values()} <= set("ABCW")
    assert {name for name, _, _ in list_models([])} <= set(grades)
    assert all(said == "A" or len(said) > 3 for said in grades.values())
