"""The folds of pictures, judged by the files: are members alike, or does their box say how not?

Run ``python tests/fold_pictures.py FILE …``; each fold that has members unlike is a line.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from netloupe.explorer.grouping import Group  # noqa: E402
from netloupe.explorer.layout import Composer, LayoutEngine  # noqa: E402
from netloupe.explorer.readers.load import load  # noqa: E402
from netloupe.explorer.render.picture import Picture, make_picture  # noqa: E402
from netloupe.explorer.view import ViewOptions, nodes_inside  # noqa: E402
from tests.fold_graph import RawGraph, read_raw  # noqa: E402
from tests.fold_judge import Fault, judge_fold  # noqa: E402
from tests.fold_numbers import judge_links, judge_numbers, judge_takes  # noqa: E402

#: what a loop is marked with
_LOOP = "↻"
#: what is written where widths, kernels or sizes change
_TELLING_SIGNS = (
    *("→", "dilation", "kernel", "stride", " … ", "depthwise in", "the first", "the last"),
    *("takes ", "different ", "wired differently", " rows"),
)
#: and where members attend to other streams
_STREAM_SIGNS = ("alternate", "cross-attention in", "different streams")


def list_folds(picture: Picture) -> Iterator[tuple[Group, str]]:
    """Yield the folds of a picture, each once, and what is written on their boxes."""
    texts: dict[Group, list[str]] = {}
    for box in picture.scene.boxes:
        if box.item.repeat is not None:
            said = texts.setdefault(box.item.repeat, [])
            said += [run.text for run in picture.labels.draw(box.item).texts]
    for repeat, said in texts.items():
        yield repeat, " · ".join(said)


def list_members(repeat: Group) -> tuple[list[frozenset[int]], list[str]]:
    """Return the nodes of each member of a fold, and what each is called."""
    members = [
        frozenset(n.index for n in (nodes_inside(child) if isinstance(child, Group) else [child]))
        for child in repeat.children
    ]
    return members, [child.label for child in repeat.children]


def judge_picture(picture: Picture, raw: RawGraph) -> Iterator[tuple[Group, str, list[Fault]]]:
    """Yield the folds of the main graph of a picture, with what is written, and their faults."""
    for repeat, text in list_folds(picture):
        if repeat.graph is picture.model.graph:
            yield repeat, text, judge_fold(raw, *list_members(repeat))


def find_untold(picture: Picture, path: Path) -> list[str]:
    """Return in what members of folds differ without a word of it on their boxes.

    A first or last member may lack something or have more where its box says so, and widths and
    what kernels read may change where it says how. Of branches that are summed the first has no
    sum, and what an exporter computed beforehand in a first step of a loop is not told of. Numbers
    that differ are told with which member has which, and members hang as they are drawn.
    """
    if path.suffix != ".onnx":
        return []
    found = []
    raw = read_raw(path)
    for repeat, text, faults in judge_picture(picture, raw):
        members, _ = list_members(repeat)
        others = [
            *judge_numbers(raw, members, text),
            judge_links(raw, members, text),
            judge_takes(raw, members),
        ]
        found += [
            f"{repeat.label} ×{len(members)}: {one.kind} {one.text[:120]}" for one in others if one
        ]
        last = len(repeat.children) - 1
        kinds = {fault.kind for fault in faults}
        for fault in faults:
            follows = fault.kind == "handed" and "operators" in kinds
            if not follows and not is_told(fault, text, last):
                found.append(f"{repeat.label} ×{last + 1}: {fault.kind} {fault.text[:120]}")
    return found


def is_told(fault: Fault, text: str, last: int) -> bool:
    """Return whether what is written on a fold says that its members differ in that.

    Parameters
    ----------
    last
        The number of the last member.
    """
    if fault.kind in ("widths", "attributes", "wiring", "extent"):
        return any(sign in text for sign in _TELLING_SIGNS)
    if fault.kind == "streams":
        return {*fault.odd} <= {0} or any(sign in text for sign in _STREAM_SIGNS)
    if fault.kind not in ("operators", "handed"):
        return False
    if re.search(r" in \d+\b(?! cycles)", text) or "different parts" in text:
        return True
    if re.search(r"(?:^| · )(?:only|every second|\d+ of \d+) ", text):
        return True
    ends = {0, 1} if "the first" in text or _LOOP in text else set[int]()
    if "the last" in text or _LOOP in text:
        ends |= {last - 1, last}
    if "summed" in text and re.fullmatch(r"[^:]*: [+−]\w*Add", fault.text):
        ends |= {0, last}
    return {*fault.odd} <= ends


def main(paths: Iterable[str]) -> None:
    """Print the faults of the first views of files."""
    engine = LayoutEngine()
    composer = Composer(engine)
    total = 0
    try:
        for path in map(Path, paths):
            picture = make_picture(
                load(path), ViewOptions.parse({}), composer=composer, deadline=600
            )
            for repeat, text, faults in judge_picture(picture, read_raw(path)):
                total += 1
                if faults:
                    print(f"{path.stem}: {repeat.label} ×{len(repeat.children)} [{text}]")
                for fault in faults:
                    print(f"      {fault.kind}: {fault.text}")
        print(f"{total} folds")
    finally:
        engine.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
