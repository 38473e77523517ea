"""A first view of more boxes than a figure has closes what says least."""

from __future__ import annotations

import time
from random import Random

from netloupe.explorer.layout import WINDOW, Composer
from netloupe.explorer.layout.first_view_search import MOST_WITH_INSETS, Search
from netloupe.explorer.layout.inset_scene import open_inset
from netloupe.explorer.layout.most_boxes import close_to_most
from netloupe.explorer.render.labels import Labels
from netloupe.explorer.view import View
from tests.grouping.test_spilled_ideas import read

_BENDS = ("Tanh", "Elu", "Selu", "Softplus", "Softsign", "Erf", "Sigmoid", "Abs")


def _write_nodes(name: str, taken: str, count: int) -> tuple[str, str]:
    """Return so many operations behind a value, which are no chain of the same, and what they give.

    Products of results in between are no row that a closed box could tell.
    """
    draw = Random(len(name))
    text, given = "", taken
    for n in range(count):
        before, given = given, f"{name}{n}"
        if n % 4 == 3:
            text += f"[{name}__MatMul_{n}] p{given} = MatMul ({before}, w_{name})"
            text += f"[{name}__Mul_{n}] {given} = Mul (p{given}, {before})"
        else:
            operator = draw.choice(_BENDS)
            text += f"[{name}__{operator}_{n}] {given} = {operator} ({before})"
    return text, given


def _make_search(parts: dict[str, int], *, are_spilled: bool = False) -> Search:
    taken, text = "h", ""
    for name, count in parts.items():
        nodes, taken = _write_nodes(name, taken, count)
        text += nodes.replace(f"{name}__", f"{name}_") if are_spilled else nodes
    numbers = ", ".join(map(str, range(16)))
    names = ("w", *(f"w_{name}" for name in parts))
    weights = ", ".join(f"float[4, 4] {name} = {{{numbers}}}" for name in names)
    model = read(f"""
        parts (float[4, 4] x) => (float y)
        <{weights}>
        {{
          [begin__MatMul] h = MatMul (x, w)
          {text} [end__MatMul] y = MatMul ({taken}, w)
        }}
    """)
    return Search(
        Composer(),
        Labels(),
        lambda scene, _: WINDOW.zoom(scene.width, scene.height),
        View(model),
        "TB",
        time.monotonic() + 60,
    )


def _open_all(search: Search) -> None:
    for item in [item for item in search.view.root.children if item.openable]:
        search.view.open_item(item)


def _list_open(search: Search) -> list[str]:
    return [item.label for item in search.list_open() if item.parent is not None]


def test_the_part_that_says_least_is_closed() -> None:
    search = _make_search({"first": 24, "second": 24, "third": 16, "tiny": 6})
    _open_all(search)
    assert search.count_boxes() > MOST_WITH_INSETS
    assert {"first", "second", "third", "tiny"} <= {*_list_open(search)}
    close_to_most(search)
    assert search.count_boxes() <= MOST_WITH_INSETS
    assert "tiny" not in _list_open(search)
    assert _list_open(search)


def test_a_picture_of_few_boxes_stays_as_it_is() -> None:
    search = _make_search({"large": 12, "small": 8})
    _open_all(search)
    close_to_most(search)
    assert _list_open(search) == ["large", "small"]


def test_where_no_closing_is_enough_the_idea_remains() -> None:
    wide = _make_search({"wide": 60}, are_spilled=True)
    assert wide.count_boxes() > MOST_WITH_INSETS
    item = next(item for item in wide.view.root.children if item.openable)
    wide.insets.append(open_inset(wide.view, item))
    close_to_most(wide)
    assert len(wide.insets) == 1
