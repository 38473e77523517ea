"""The first view of every model that tests have, measured as a reader of figures would.

Run ``python tests/benchmarks/first_views.py [NAME …]``. Models are those of ``tests/zoo``, those
that the ``onnx`` package ships and, where that folder exists, those of ../shared/corpus; names
are parts of theirs (``gpt2``, ``light/``, ``beside:sklearn``). ``--pictures FOLDER`` writes each
first view as PNG (``--svg`` as SVG), ``--sheet FILE`` all of them on one PNG with the grades of
``grades.toml``, ``--json FILE`` what was measured, ``--against FILE`` tells what changed since such
a file was written. At the end stand the bars of the first view, and below them what offends.

What is measured, of the picture that ``render`` draws without options:

boxes
    All that is drawn as a closed box: nodes, closed groups, inputs and outputs. Frames of open
    groups, stubs and what is smaller than ``LEAST_BOX`` (the circles of sums) or lower than
    ``LEAST_HEIGHT`` (words on the line of a stream) are no boxes.
zoom
    At which the picture fits a window of 1100 × 800, 1 at most.
plumbing
    Boxes that are a single node of :func:`is_plumbing`, outside of opened repetitions and
    of opened blocks that have been recognised, in models where not all is open.
stacks
    The counts of the outermost repeats of the whole model, and whether they are those of
    ``tests/known_architectures.py``; * where nothing is known, ! where they differ.
first
    Where the first stack of the picture begins, as a share of its height.
open
    Whether a stack shows what is in one of its blocks, or an inset what the model is about; of a U
    the levels are what counts. Stacks of blocks whose faces say all that is in them, as layers of
    an LSTM or ``Conv · ReLU``, have nothing to show.
struck
    Boxes and titles that edges of others run through.
cuts
    Edges that lead from one column to another beyond the one of each cut.
offences
    What a figure may not show, by measure; see ``first_view_measures.py`` and
    ``first_view_streams.py``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from netloupe.explorer.errors import NetloupeError  # noqa: E402
from netloupe.explorer.grouping import Group  # noqa: E402
from netloupe.explorer.layout import Composer, LayoutEngine, SceneBox  # noqa: E402
from netloupe.explorer.layout.opening_worth import is_worth_a_frame  # noqa: E402
from netloupe.explorer.readers.load import load  # noqa: E402
from netloupe.explorer.render.picture import Picture, make_picture, render_picture  # noqa: E402
from netloupe.explorer.view import ViewOptions  # noqa: E402
from tests.benchmarks.first_view_boxes import (  # noqa: E402
    count_cuts,
    find_whole_values,
    is_box,
    is_in_block,
    is_plumbing,
)
from tests.benchmarks.first_view_measures import (  # noqa: E402
    find_bare_faces,
    find_extreme_aspect,
    find_idle_frames,
    find_shut_lists,
    find_unknown_numbers,
    find_wordless,
    find_wrong_claims,
)
from tests.benchmarks.first_view_sheet import SheetOfViews, read_grades  # noqa: E402
from tests.benchmarks.first_view_streams import (  # noqa: E402
    find_back_edges,
    find_carrying_stubs,
    find_mixed_folds,
    infer_shapes,
)
from tests.corpus import LIGHT_MODELS, corpus_file, light_file, list_beside  # noqa: E402
from tests.crossings import find_crossings  # noqa: E402
from tests.figure_faults import find_figure_faults  # noqa: E402
from tests.figure_numbers import find_false_numbers  # noqa: E402
from tests.fold_pictures import find_untold  # noqa: E402
from tests.known_architectures import (  # noqa: E402
    BESIDE_ARCHITECTURES,
    LIGHT_ARCHITECTURES,
    MODEST,
    ZOO_ARCHITECTURES,
    Architecture,
)
from tests.known_exports import (  # noqa: E402
    EXPORTED_ARCHITECTURES,
    SKELETON_ARCHITECTURES,
)
from tests.known_numbers import list_numbers  # noqa: E402
from tests.known_stacks import agrees, list_stacks  # noqa: E402
from tests.picture_judges import judge_picture  # noqa: E402
from tests.zoo import ZOO  # noqa: E402

WINDOW = (1100.0, 800.0)


@dataclass
class FirstView:
    """What was measured of a first view; see the top of this file."""

    boxes: int
    frames: int
    width: float
    height: float
    zoom: float
    plumbing: int
    stacks: list[int]
    agrees: bool | None
    first: float | None
    is_open: bool | None
    struck: int
    cuts: int
    seconds: float
    numbers: bool | None = None
    offences: dict[str, list[str]] = field(default_factory=dict)


def list_models(wanted: Sequence[str]) -> Iterator[tuple[str, Path, Architecture]]:
    """Yield names, files and what is known of the models whose names hold one of some texts."""
    known = {f"light/{name}": LIGHT_ARCHITECTURES.get(name, MODEST) for name in LIGHT_MODELS}
    for name in ZOO:
        known[name] = (ZOO_ARCHITECTURES | EXPORTED_ARCHITECTURES).get(name, MODEST)
    for folder in ("exported", "quantized", "sklearn"):
        for name in list_beside(f"{folder}/*.onnx"):
            known[name] = BESIDE_ARCHITECTURES.get(name.removeprefix("beside:"), MODEST)
    for packed in list_beside("architectures/*.onnx.xz"):
        name = packed.removesuffix(".xz")
        known[name] = SKELETON_ARCHITECTURES.get(name.removeprefix("beside:"), MODEST)
    for name, architecture in known.items():
        if not wanted or any(text in name for text in wanted):
            light = name.removeprefix("light/")
            path = light_file(light) if light != name else corpus_file(name)
            yield name, path, architecture


def measure(path: Path, known: Architecture, composer: Composer) -> tuple[FirstView, Picture]:
    """Return what is measured of the first view of a file, and the view."""
    start = time.perf_counter()
    model = load(path)
    picture = make_picture(model, ViewOptions.parse({}), composer=composer, deadline=600)
    scene = picture.scene
    seconds = time.perf_counter() - start
    closed = [box for box in scene.boxes if is_box(box)]
    frames = [box for box in scene.boxes if box.item.is_open]
    whole = find_whole_values(model)
    is_all_open = not any(isinstance(box.item.element, Group) for box in closed)
    stacks = [box for box in scene.boxes if box.item.repeat is not None]
    counts = [len(group.children) for group in list_stacks(model)]
    view = FirstView(
        boxes=len(closed),
        frames=len(frames),
        width=scene.width,
        height=scene.height,
        zoom=min(1.0, WINDOW[0] / scene.width, WINDOW[1] / scene.height),
        plumbing=0
        if is_all_open
        else sum(is_plumbing(box, whole) and not is_in_block(box) for box in closed),
        stacks=counts,
        agrees=None if known.blocks is None else agrees(counts, known),
        first=min(box.y for box in stacks) / scene.height if stacks else None,
        is_open=_shows_block(picture, stacks, composer),
        struck=len(find_crossings(scene, picture.labels)),
        cuts=count_cuts(picture),
        seconds=seconds,
    )
    numbers = list_numbers(known, path.name.partition(".")[0])
    view.numbers = None if numbers is None else bool(numbers)
    view.offences = find_offences(picture, path, known)
    return view, picture


def _shows_block(picture: Picture, stacks: Sequence[SceneBox], composer: Composer) -> bool | None:
    """Return whether a block of a stack is open; None without a stack that has more to show."""
    if not any(box.item.is_open for box in stacks):
        blocks = [
            repeat.children[repeat.exemplar]
            for box in stacks
            if (repeat := box.item.repeat) is not None
        ]
        if not any(isinstance(block, Group) and is_worth_a_frame(block) for block in blocks):
            return None
        composed = composer.recall(picture.view)
        is_u = composed is not None and composed.plan.level.u is not None
        return bool(picture.scene.zooms) or is_u
    return True


def find_offences(picture: Picture, path: Path, known: Architecture) -> dict[str, list[str]]:
    """Return what a figure may not show and this picture does, by measure."""
    numbers = list_numbers(known, path.name.partition(".")[0])
    sentence = picture.model.architecture.sentence
    found = {
        "frame": find_idle_frames(picture),
        "face": find_bare_faces(picture),
        "bags": find_shut_lists(picture),
        "stub": find_carrying_stubs(picture),
        "back": find_back_edges(picture),
        "fold": find_mixed_folds(picture, infer_shapes(path)),
        "unlike": find_untold(picture, path),
        "aspect": find_extreme_aspect(picture),
        "drawing": find_figure_faults(picture),
        "sentence": find_wordless(picture),
        "number": []
        if numbers is None
        else find_unknown_numbers(sentence, numbers, known.words)
        + find_wrong_claims(sentence, known),
        "numbers": find_false_numbers(picture, path),
        **judge_picture(picture, path),
    }
    return {measure: lines for measure, lines in found.items() if lines}


# what is printed


def _write_line(name: str, view: FirstView) -> str:
    sign = {True: "", False: "!", None: "*"}[view.agrees]
    first = "" if view.first is None else f"{view.first:.0%}"
    shown = {True: "open", False: "no", None: ""}[view.is_open]
    return (
        f"{name:46} {view.boxes:4} {view.width:6.0f} ×{view.height:6.0f} {view.zoom:5.2f}"
        f" {view.plumbing:4} {first:>5} {shown:>5} {view.struck:3} {view.cuts:3}"
        f" {view.seconds:6.2f}  {', '.join(map(str, view.stacks))}{sign}"
    )


#: measures of what a figure may not show
OFFENCES = {
    "frame": "frames that say no more than their closed box",
    "face": "closed groups that say nothing but parameters or nodes",
    "bags": "closed boxes that list their parts, and hold much of the model",
    "stub": "stubs on the main stream or a recurrence",
    "back": "edges that lead back and are no loop's",
    "fold": "folds across a change of width or resolution",
    "unlike": "folds whose members differ without a word of it, by the file",
    "aspect": "pictures beyond 3 : 1",
    "drawing": "texts covered or struck, loose ends of lines, zooms over other boxes",
    "sentence": "pictures of five boxes and more without a sentence",
    "number": "numbers of sentences that the configuration lacks",
    "numbers": "numbers in pictures that weights and values of the file have not",
    "edges": "edges without a flow, flows without an edge, circles that are no loops",
    "titles": "boxes named after a module that hold others, and titles that are cut",
    "counts": "closed boxes that count other layers than the file has there",
}

HEADER = (
    f"{'':46} {'boxes':>4} {'size':>13} {'zoom':>5} {'plumb':>4} {'first':>5} {'open':>5} str cut"
    f" {'s':>6}  stacks"
)


@dataclass(frozen=True)
class Bar:
    """A share that all first views together have to reach."""

    text: str
    value: Callable[[list[FirstView]], float]
    holds: Callable[[float], bool]


def _share(views: list[FirstView], holds: Callable[[FirstView], bool]) -> float:
    return sum(map(holds, views)) / len(views) if views else 1.0


def _share_of_open(views: list[FirstView]) -> float:
    stacked = [view for view in views if view.is_open is not None]
    return _share(stacked, lambda view: bool(view.is_open))


def _bar_of(measure: str, text: str) -> Bar:
    """Return the bar that nothing offends in one measure."""
    return Bar(
        f"{measure}: {text} (0)",
        lambda views: sum(len(view.offences.get(measure, ())) for view in views),
        lambda count: count == 0,
    )


BARS = (
    Bar("median zoom (0.85)", lambda v: statistics.median(x.zoom for x in v), lambda z: z >= 0.85),
    Bar(
        "zoom of at least 0.65 (0.9 of all)",
        lambda v: _share(v, lambda x: x.zoom >= 0.65),
        lambda share: share >= 0.9,
    ),
    Bar("least zoom (0.5)", lambda v: min(x.zoom for x in v), lambda z: z >= 0.5),
    Bar(
        "median of boxes (10 to 24)",
        lambda v: statistics.median(x.boxes for x in v),
        lambda count: 10 <= count <= 24,
    ),
    Bar("most boxes (30)", lambda v: max(x.boxes for x in v), lambda count: count <= 30),
    Bar("a stack is open (0.9 of those with one)", _share_of_open, lambda s: s >= 0.9),
    Bar("boxes of plumbing (0)", lambda v: sum(x.plumbing for x in v), lambda n: n == 0),
    Bar("edges beyond one at cuts (0)", lambda v: sum(x.cuts for x in v), lambda n: n == 0),
    Bar("boxes and titles struck (0)", lambda v: sum(x.struck for x in v), lambda n: n == 0),
    Bar(
        "models with the known stacks (100 or more)",
        lambda v: sum(x.agrees is True for x in v),
        lambda count: count >= 100,
    ),
    Bar(
        "models whose numbers are known (100 or more)",
        lambda v: sum(x.numbers is True for x in v),
        lambda count: count >= 100,
    ),
    Bar(
        "models with other stacks (0)",
        lambda v: sum(x.agrees is False for x in v),
        lambda count: count == 0,
    ),
    *(_bar_of(measure, text) for measure, text in OFFENCES.items()),
)


def write_summary(views: list[FirstView]) -> list[str]:
    """Return a line for every bar: what is reached, and whether it is enough."""
    lines = []
    for bar in BARS:
        value = bar.value(views)
        lines.append(f"{'yes' if bar.holds(value) else 'NO ':4} {value:8.2f}  {bar.text}")
    return lines


def write_offences(views: dict[str, FirstView]) -> list[str]:
    """Return a line for everything that offends, by measure and model."""
    return [
        f"{measure:8} {name}: {line}"
        for measure in OFFENCES
        for name, view in views.items()
        for line in view.offences.get(measure, ())
    ]


def write_changes(before: dict[str, dict[str, object]], views: dict[str, FirstView]) -> list[str]:
    """Return a line for each model with what is not as it was, times aside."""
    lines = []
    for name, view in views.items():
        if name not in before:
            lines.append(f"{name}: new")
            continue
        changes = [
            f"{field.name} {_short(before[name].get(field.name))} → {_short(value)}"
            for field in fields(FirstView)
            if field.name != "seconds"
            and (value := getattr(view, field.name)) != before[name].get(field.name)
        ]
        if changes:
            lines.append(f"{name}: {', '.join(changes)}")
    return lines


def _short(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for; return 1 where a model could not be drawn."""
    parser = argparse.ArgumentParser(description="Measure the first views of models.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names; all without")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="write each picture there")
    parser.add_argument("--svg", action="store_true", help="write SVG instead of PNG")
    parser.add_argument("--sheet", type=Path, metavar="FILE", help="write all on one PNG")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    parser.add_argument("--against", type=Path, metavar="FILE", help="tell what changed since")
    options = parser.parse_args(arguments)
    engine = LayoutEngine()
    views: dict[str, FirstView] = {}
    failures: list[str] = []
    sheet = SheetOfViews(read_grades())
    try:
        composer = Composer(engine)
        print(HEADER)
        for name, path, known in list_models(options.names):
            try:
                views[name], picture = measure(path, known, composer)
            except NetloupeError as error:
                failures.append(f"{name}: {error}")
                print(failures[-1], flush=True)
                continue
            print(_write_line(name, views[name]), flush=True)
            if options.sheet:
                sheet.add(name, render_picture(picture, "png"))
            if options.pictures:
                options.pictures.mkdir(parents=True, exist_ok=True)
                ending = "svg" if options.svg else "png"
                file = name.replace("/", "_").replace(":", "_").removesuffix(".onnx")
                data = render_picture(picture, ending)
                (options.pictures / f"{file}.{ending}").write_bytes(data)
    finally:
        engine.stop()
    if views:
        print("\n".join(["", f"{len(views)} models", *write_summary(list(views.values()))]))
        print("\n".join(["", *write_offences(views)]))
    if options.sheet:
        sheet.write(options.sheet)
    if options.against:
        before = json.loads(options.against.read_text(encoding="utf-8"))
        print("\n".join(["", "changed:", *write_changes(before, views)]))
    if options.json:
        found = {name: asdict(view) for name, view in views.items()}
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
