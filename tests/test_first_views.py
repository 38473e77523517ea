"""The measures of first views: what counts as plumbing, the bars, two runs beside each other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import onnx.parser
import pytest

from netloupe.explorer.layout import Composer, LayoutEngine
from tests.benchmarks.first_views import (
    FirstView,
    find_whole_values,
    is_plumbing,
    main,
    measure,
    write_summary,
)
from tests.known_architectures import MODEST
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
    held = write_summary([GOOD] * 40)
    assert all(line.startswith("yes") for line in held)
    worse = replace(GOOD, zoom=0.3, boxes=40, plumbing=3, agrees=False, is_open=False, struck=1)
    missed = [line for line in write_summary([GOOD] * 40 + [worse] * 8) if line.startswith("NO")]
    assert [line.split("  ")[-1].split(" (")[0] for line in missed] == [
        "zoom of at least 0.65",
        "least zoom",
        "most boxes",
        "a stack is open",
        "boxes of plumbing",
        "boxes and titles struck",
        "models with other stacks",
    ]


def test_a_single_moving_node_is_plumbing_but_not_where_all_is_open(tmp_path: Path) -> None:
    path = tmp_path / "small.onnx"
    text = """
        <ir_version: 8, opset_import: ["" : 17]>
        main (float[2, 3] x) => (float[3, 2] y) {
            t = Transpose <perm: ints = [1, 0]> (x)
            y = Relu(t)
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
