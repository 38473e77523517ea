"""What is open and selected: kept, carried over, taken back and done again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from onnx import helper

import netloupe
from netloupe.explorer.progress import Cancelled
from netloupe.explorer.session import history as history_module
from netloupe.explorer.session.history import History, Moment
from netloupe.widgets import Explorer
from tests.corpus import corpus_file
from tests.layered import make_layers
from tests.recorder import Recorder

REFINE = Path(__file__).parents[2] / "demo_notebooks" / "models" / "digits_refine.onnx"
STACK = "main/layers.0-3/"


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    explorer = netloupe.explore(make_layers(), expand="none")
    recorder = Recorder(explorer)
    recorder.ask(type="scene")
    yield recorder
    explorer.close()


@pytest.fixture
def refined() -> Iterator[Recorder]:
    explorer = netloupe.explore(REFINE)
    recorder = Recorder(explorer)
    recorder.ask(type="scene")
    yield recorder
    explorer.close()


def opened(explorer: Explorer) -> list[str]:
    """Return what is open, without the root."""
    with explorer._requests.lock:  # what is prepared in the background opens groups for a moment
        return [item.key for item in explorer._views.current.open_items()][1:]


# ------------------------------------------------------------------ in repetitions


def test_stepping_keeps_open_what_is_open(recorder: Recorder) -> None:
    recorder.ask(type="open", path="main/layers.0/attn/")
    recorder.ask(type="shown", path=STACK, index=1)
    assert "main/layers.1/attn/Tanh" in recorder.paths
    recorder.ask(type="close", path="main/layers.1/attn/")
    recorder.ask(type="shown", path=STACK, index=0)
    assert "main/layers.0/attn/Tanh" in recorder.paths


def test_searching_in_another_repetition_keeps_open_what_is_open(recorder: Recorder) -> None:
    recorder.ask(type="open", path="main/layers.0/attn/")
    recorder.ask(type="reveal", path="main/layers.2/mlp/Abs")
    assert {"main/layers.2/mlp/Abs", "main/layers.2/attn/Tanh"} <= recorder.paths
    recorder.ask(type="reveal", path="main/layers.0/attn/")
    assert "main/layers.0/attn/Tanh" in recorder.paths


def test_unrolling_stays_at_the_repetition_that_was_shown(recorder: Recorder) -> None:
    recorder.ask(type="shown", path=STACK, index=2)
    answer = recorder.ask(type="unroll", path=STACK)
    assert answer["anchor"] == "main/layers.2/"
    recorder.explorer.fold(STACK)
    recorder.explorer.unroll("layers.1")
    assert recorder.scene["center"] == "main/layers.1/"
    # closed, none of them is the one
    recorder.explorer.close(STACK)
    assert recorder.ask(type="unroll", path=STACK)["anchor"] == STACK


# ------------------------------------------------------------------ undo and redo


CHANGES: dict[str, dict[str, Any]] = {
    "opening": {"type": "open", "path": "main/layers.0/mlp/"},
    "closing": {"type": "close", "path": STACK},
    "toggling": {"type": "toggle", "path": "main/layers.0/attn/"},
    "stepping": {"type": "shown", "path": STACK, "index": 3},
    "unrolling": {"type": "unroll", "path": STACK},
    "regrouping": {"type": "group", "grouping": "none"},
    "focusing": {"type": "focus", "path": "main/layers.0/attn/Tanh", "hops": 1},
    "opening all": {"type": "expand", "mode": "all"},
    "closing all": {"type": "expand", "mode": "none"},
    "revealing": {"type": "reveal", "path": "main/layers.3/mlp/Abs"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_taken_back_and_done_again(recorder: Recorder, change: dict[str, Any]) -> None:
    explorer = recorder.explorer
    recorder.ask(type="open", path="main/layers.0/attn/")
    before, boxes = recorder.scene["history"], recorder.paths
    after = recorder.ask(**change)["history"]
    changed = recorder.paths
    assert changed != boxes
    assert after["moment"] != before["moment"]
    answer = recorder.ask(type="undo")
    assert recorder.paths == boxes
    assert answer["restore"] is True
    assert answer["history"] == before | {"redo": True}
    assert explorer.canvas.grouping == "auto"
    assert explorer.canvas.focus == ""
    assert recorder.ask(type="redo")["history"] == after
    assert recorder.paths == changed
    # the same from Python
    assert explorer.undo() is True
    assert recorder.scene["restore"] is True
    assert recorder.paths == boxes
    assert explorer.redo() is True
    assert recorder.paths == changed


def test_entering_is_taken_back(refined: Recorder) -> None:
    explorer = refined.explorer
    body = explorer.model.find("Loop")[0].subgraphs[0]
    before = refined.paths
    refined.ask(type="enter", path=body.path)
    inside = refined.paths
    refined.ask(type="undo")
    assert refined.paths == before
    assert [path for path, _ in explorer.canvas.breadcrumb] == ["main"]
    refined.ask(type="redo")
    assert refined.paths == inside
    assert [path for path, _ in explorer.canvas.breadcrumb] == ["main", body.path]


def test_a_neighbourhood_is_shown_again_after_it_was_left(recorder: Recorder) -> None:
    recorder.ask(type="focus", path="main/layers.0/attn/Tanh", hops=1)
    recorder.ask(type="focus", path="main/layers.0/attn/Tanh", hops=2)
    wide = recorder.paths
    recorder.ask(type="unfocus")
    recorder.ask(type="undo")
    assert recorder.paths == wide
    assert (recorder.explorer.canvas.focus, recorder.explorer.canvas.hops) == (
        "main/layers.0/attn/Tanh",
        2,
    )


def test_all_is_taken_back_step_by_step_and_done_again(recorder: Recorder) -> None:
    scenes = [recorder.paths]
    for change in CHANGES.values():
        recorder.ask(**change)
        scenes.append(recorder.paths)
    seen = [scenes[0]]
    moments = {recorder.scene["history"]["moment"]}
    for wanted in reversed(scenes[:-1]):
        recorder.ask(type="undo")
        moments.add(recorder.scene["history"]["moment"])
        assert recorder.paths == wanted
    for wanted in scenes[1:]:
        recorder.ask(type="redo")
        seen.append(recorder.paths)
        assert recorder.paths == wanted
    assert len(moments) == len(scenes)


def test_at_the_ends_nothing_happens(recorder: Recorder) -> None:
    explorer = recorder.explorer
    before = recorder.paths
    assert recorder.scene["history"] == {"moment": 1, "undo": False, "redo": False}
    assert recorder.ask(type="undo")["history"]["moment"] == 1
    assert explorer.undo() is False
    assert explorer.redo() is False
    assert recorder.paths == before


def test_what_shows_the_same_is_no_step(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.open(STACK)
    explorer.select("main/layers.0/attn/")
    recorder.ask(type="search", text="Tanh")
    recorder.ask(type="scene")
    explorer.to_svg()
    assert explorer.undo() is True
    assert opened(explorer) == []
    assert explorer.undo() is False


def test_a_new_change_forgets_what_was_taken_back(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.open("main/layers.0/attn/")
    explorer.undo()
    explorer.open("main/layers.0/mlp/")
    assert explorer.redo() is False
    assert explorer.undo() is True
    assert opened(explorer) == []


def test_a_cancelled_undo_changes_nothing(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = recorder.explorer
    explorer.open("main/layers.0/attn/")
    before = opened(explorer)

    def compose(*_: Any, **__: Any) -> None:
        raise Cancelled("the layout was cancelled")

    monkeypatch.setattr(explorer._session, "compose", compose)
    assert recorder.ask(type="undo")["cancelled"] is True
    assert opened(explorer) == before
    monkeypatch.undo()
    assert explorer.undo() is True
    assert opened(explorer) == []


def test_the_history_is_bounded(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_module, "MOST_MOMENTS", 4)
    explorer = recorder.explorer
    for _ in range(6):
        explorer.open(STACK)
        explorer.close(STACK)
    count = 0
    while explorer.undo():
        count += 1
    assert count == 3


def test_numbers_of_moments_are_never_given_twice(recorder: Recorder) -> None:
    history = History()
    opened = recorder.explorer._views.current.open_state()

    def note(graph: str) -> int:
        history.note(Moment(graph, "auto", None, opened))
        return history.number

    numbers = [note("a"), note("b")]
    history.go(-1)
    numbers.append(note("c"))
    assert len(set(numbers)) == 3
    assert history.can_redo is False


# ------------------------------------------------------------------ the selection


def test_regrouping_deselects_groups_that_are_gone(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.select("main/layers.0/attn/")
    assert explorer.inspector.description is not None
    recorder.ask(type="group", grouping="none")
    assert explorer.selection is None
    assert explorer.selected is None
    assert explorer.selected_elements == ()
    assert (explorer.canvas.selection, explorer.canvas.selected_paths) == ("", [])
    description = explorer.inspector.description
    assert description is None or description.path != "main/layers.0/attn/"


@pytest.mark.parametrize("path", ["main/layers.1/attn/Tanh", "main/%x", "main/%/out"])
def test_regrouping_keeps_what_exists_selected(recorder: Recorder, path: str) -> None:
    explorer = recorder.explorer
    if path == "main/%/out":
        path = explorer.model.graph.nodes[-1].outputs[0].path
    explorer.select(path)
    element = explorer.selected
    answer = recorder.ask(type="group", grouping="none")
    assert explorer.selection == explorer.canvas.selection == path
    assert explorer.selected is element
    assert answer["center"]  # and it is gone to in the new picture
    assert explorer.inspector.description is not None
    assert explorer.inspector.description.path == path


def test_a_group_that_exists_in_both_groupings_is_described_anew(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.select("main/layers.0/attn/")
    before = explorer.selected
    recorder.ask(type="group", grouping="names")
    assert explorer.selection == "main/layers.0/attn/"
    assert explorer.selected is not before
    assert explorer.inspector.description is not None
    assert explorer.inspector.description.element is explorer.selected


def test_entering_another_graph_keeps_what_can_be_found(refined: Recorder) -> None:
    explorer = refined.explorer
    loop = explorer.model.find("Loop")[0]
    explorer.select(loop.path)
    refined.ask(type="enter", path=loop.subgraphs[0].path)
    assert explorer.selected is loop
    # who comes out again sees where the graph hangs
    assert refined.ask(type="enter", path="main")["center"] == loop.path


@pytest.fixture
def calling() -> Iterator[Recorder]:
    """A call of a function with a group in it."""
    names = ["/attn/Relu", "/attn/Neg", "/attn/Abs", "/out/Exp", "/out/Log"]
    body = [
        helper.make_node(name.rsplit("/", 1)[1], [taken], [given], name=name)
        for name, taken, given in zip(names, "abcde", "bcdef", strict=True)
    ]
    opsets = [helper.make_opsetid("", 18)]
    function = helper.make_function("local", "Layer", ["a"], ["f"], body, opsets)
    call = helper.make_node("Layer", ["x"], ["y"], name="call", domain="local")
    x, y = (helper.make_tensor_value_info(name, 1, [4]) for name in "xy")
    proto = helper.make_model(
        helper.make_graph([call], "g", [x], [y]),
        functions=[function],
        opset_imports=[*opsets, helper.make_opsetid("local", 1)],
    )
    explorer = netloupe.explore(proto.SerializeToString(), expand="none")
    recorder = Recorder(explorer)
    recorder.ask(type="scene")
    yield recorder
    explorer.close()


def test_what_is_selected_inside_a_call_that_is_closed_is_still_known(calling: Recorder) -> None:
    explorer = calling.explorer
    call = explorer.model.graph.nodes[0]
    explorer.open(call)
    for path in ("main/call()/attn/", "main/call()/attn/Neg"):
        explorer.select(path)
        known = explorer.selected
        assert known is not None
        explorer.close(call)
        assert path not in calling.paths
        assert explorer.selection == path
        assert explorer.selected is known


# ------------------------------------------------------------------ several at once


def test_several_nodes_are_selected_together(recorder: Recorder) -> None:
    explorer = recorder.explorer
    nodes = [explorer.model["main/layers.1/attn/Tanh"], explorer.model["main/layers.1/mlp/Abs"]]
    explorer.select(nodes)
    paths = [node.path for node in nodes]
    assert explorer.selected_paths == tuple(paths)
    assert list(explorer.selected_elements) == nodes
    assert explorer.selected is nodes[0]
    assert recorder.scene["select"] == recorder.scene["center"] == paths
    assert set(paths) <= recorder.paths
    assert explorer.canvas.selected_paths == paths
    description = explorer.inspector.description
    assert description is not None
    assert (description.kind, description.subtitle) == ("elements", "2 nodes")
    assert [row.path for row in description.sections[0].rows] == paths


def test_groups_values_and_names_are_selected_together(recorder: Recorder) -> None:
    explorer = recorder.explorer
    explorer.select("main/layers.0/attn/")
    group = explorer.selected
    value = explorer.model["main/%x"]
    explorer.select((group, value, "main/out"))
    assert explorer.selected_paths == ("main/layers.0/attn/", "main/%x", "main/out")
    assert explorer.selected_elements == (group, value, explorer.model["main/out"])
    assert explorer.inspector.description is not None
    assert explorer.inspector.description.subtitle == "1 group, 1 value, 1 node"
    # an element alone, and what was selected before
    before = explorer.selected_elements
    explorer.select(value)
    assert explorer.selected_paths == ("main/%x",)
    explorer.select(before)
    assert explorer.selected_elements == before
    explorer.select(iter(()))
    assert explorer.selected_paths == ()


def test_elements_of_different_repetitions_are_all_drawn(recorder: Recorder) -> None:
    explorer = recorder.explorer
    paths = ["main/layers.3/attn/Tanh", "main/layers.1/mlp/Abs", "main/layers.1/mlp/Exp"]
    explorer.select(paths)
    assert set(paths) <= recorder.paths
    explorer.fold(STACK)
    explorer.select(["main/layers.3/", "main/layers.1/"])
    assert {"main/layers.3/", "main/layers.1/"} <= recorder.paths
    assert explorer.selected_paths == ("main/layers.3/", "main/layers.1/")


def broken(explorer: Explorer) -> dict[str, Callable[[], None]]:
    nodes = explorer.model.graph.nodes
    return {
        "unknown name": lambda: explorer.select([nodes[-2], "nothing_like_it"]),
        "number": lambda: explorer.select([nodes[-2], 3]),
        "no path": lambda: explorer.select(3.5),  # type: ignore[arg-type]
        "trait": lambda: setattr(explorer, "selection", "nothing_like_it"),
        "none among them": lambda: explorer.select([nodes[-2], None]),
    }


@pytest.mark.parametrize(
    "name", ["unknown name", "number", "no path", "trait", "none among them", "cancelled"]
)
def test_what_cannot_be_selected_changes_nothing(
    recorder: Recorder, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = recorder.explorer
    explorer.open("main/layers.0/mlp/")
    explorer.select("main/layers.0/mlp/Neg")
    before, scenes = opened(explorer), len(recorder.sent)
    seen: list[Any] = []
    explorer.observe(seen.append, "selected_paths")
    if name == "cancelled":

        def compose(*_: Any, **__: Any) -> None:
            raise Cancelled("the layout was cancelled")

        monkeypatch.setattr(explorer._session, "compose", compose)
        with pytest.raises(Cancelled):
            explorer.select(["main/layers.2/attn/Tanh", "main/layers.3/attn/Tanh"])
    else:
        with pytest.raises(netloupe.NetloupeError):
            broken(explorer)[name]()
    assert opened(explorer) == before
    assert explorer.selection == explorer.canvas.selection == "main/layers.0/mlp/Neg"
    assert explorer.selected_paths == ("main/layers.0/mlp/Neg",)
    assert seen == []
    assert not any(sent["type"] == "scene" for sent in recorder.sent[scenes:])


# ------------------------------------------------------------------ names that are wrong


@pytest.fixture
def convolved() -> Iterator[Recorder]:
    explorer = netloupe.explore(corpus_file("exported/resnet50.legacy.onnx"))
    recorder = Recorder(explorer)
    recorder.ask(type="scene")
    yield recorder
    explorer.close()


STEM = "main/conv1-relu/"


def said(explorer: Explorer) -> str | None:
    """Return what is said of the first block of a network."""
    with explorer._requests.lock:
        group = explorer._views.current.group_at(STEM)
    assert group is not None
    return group.recognised.name if group.recognised is not None else None


def test_a_wrong_name_is_switched_off_and_the_group_opened(convolved: Recorder) -> None:
    explorer = convolved.explorer
    convolved.ask(type="expand", mode="none")
    assert said(explorer) == "Conv · BN · ReLU"
    assert STEM not in opened(explorer)
    convolved.ask(type="unname", path=STEM)
    assert said(explorer) is None
    assert STEM in opened(explorer)
    assert {"main/conv1/Conv", "main/bn1/BatchNormalization"} & {*convolved.paths}
    assert explorer.undo()
    assert said(explorer) == "Conv · BN · ReLU"
    assert STEM not in opened(explorer)
    assert explorer.redo()
    assert said(explorer) is None
    assert STEM in opened(explorer)


def test_a_name_stays_off_in_other_views_of_the_model(convolved: Recorder) -> None:
    explorer = convolved.explorer
    explorer.unname(STEM)
    for mode in ("all", "none"):
        convolved.ask(type="expand", mode=mode)
        assert said(explorer) is None
    convolved.ask(type="group", grouping="none")
    convolved.ask(type="group", grouping="auto")
    assert said(explorer) is None
    explorer.reload()
    assert said(explorer) is None


def test_a_kind_of_block_is_switched_off(convolved: Recorder) -> None:
    explorer = convolved.explorer
    explorer.unname("Conv · BN · ReLU")
    assert said(explorer) is None
    assert "Conv · BN · ReLU" not in explorer.to_svg()
    assert "Conv · BN" in explorer.to_svg()  # another kind
    assert explorer.undo()
    assert "Conv · BN · ReLU" in explorer.to_svg()


def test_what_has_no_name_cannot_lose_it(convolved: Recorder) -> None:
    explorer = convolved.explorer
    explorer.unname(STEM)
    before = explorer._views.options.unnamed
    with pytest.raises(netloupe.ViewError, match="no name to switch off"):
        explorer.unname(STEM)
    with pytest.raises(netloupe.NotFoundError):
        explorer.unname("Selfattention")
    assert explorer._views.options.unnamed == before


def test_names_are_back_where_switching_them_off_was_cancelled(
    convolved: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = convolved.explorer

    def cancel(*_: object, **__: object) -> None:
        raise Cancelled("the layout was cancelled")

    monkeypatch.setattr(explorer._session._composer.__class__, "compose", cancel)
    with pytest.raises(Cancelled):
        explorer.unname(STEM)
    assert said(explorer) == "Conv · BN · ReLU"
    assert STEM not in opened(explorer)
