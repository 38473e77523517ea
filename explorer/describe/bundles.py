"""What is said of several values at once: those that one edge, stub or box stands for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.model import Model, Node, Value
from netloupe.explorer.model.paths import resolve_path
from netloupe.explorer.notation import write_count
from netloupe.explorer.view import Item, View
from netloupe.explorer.view.families import name_family

from .description import MOST_ROWS, Description, Row, keep_sections, make_section
from .file_text import name_value, write_inferred_type, write_line, write_value_type
from .place import Place, find_place

#: so many consumers of one value are named beside it
MOST_NAMED = 2
#: of more values than this in one box the first are described
MOST_VALUES = 2_000


def describe_values(
    model: Model, paths: Sequence[str], view: View | None = None, *, total: int | None = None
) -> Description:
    """Return what is known of several values: each with its type, producer and consumers.

    Parameters
    ----------
    model
        The model.
    paths
        Those of the values, one at least.
    view
        Knows which occurrence of a function a path means.
    total
        How many values there are, where these are only the first.

    Raises
    ------
    NotFoundError
        Where no value is at one of the paths.
    """
    values, rows = [], []
    producers: dict[str, Node] = {}
    #: by occurrence: of a million nodes no path is written that is not shown
    takers: dict[Place, dict[Node, None]] = {}
    for path in paths:
        value = _find_value(model, path, view)
        place = find_place(model, value, path)
        values.append(value)
        rows.append(_list_value(value, place, path))
        if value.producer is not None:
            producers[place.path_of(value.producer.path)] = value.producer
        takers.setdefault(place, {}).update(dict.fromkeys(value.users))
    consumers = sum(map(len, takers.values()))
    total = max(total or 0, len(values))
    some = f" of the first {len(values):,}" if total > len(values) else ""
    counts = [write_count(len(producers), "producer") + some] if producers else []
    counts.append(write_count(consumers, "consumer") + some)
    return Description(
        path=paths[0],
        kind="values",
        title=write_line(name_family([name_value(value) for value in values])),
        subtitle=f"{write_count(total, 'value')}, {', '.join(counts)}",
        element=tuple(values),
        sections=keep_sections(
            (
                # all of them: this is the only place that tells what a bundle holds
                make_section("Values", rows, most=len(rows), total=total),
                make_section(
                    "Producers" + some, _list_nodes(producers.items()), total=len(producers)
                ),
                make_section(
                    "Consumers" + some,
                    _list_nodes(
                        (place.path_of(node.path), node)
                        for place, nodes in takers.items()
                        for node in nodes
                    ),
                    total=consumers,
                ),
            )
        ),
    )


def describe_box(model: Model, item: Item, view: View) -> Description:
    """Return what is known of the values that one box for inputs or outputs stands for."""
    (values,) = item.merged.values()
    found = describe_values(model, item.value_paths(MOST_VALUES), view, total=len(values))
    return replace(found, path=item.path, title=write_line(item.label))


def _list_nodes(nodes: Iterable[tuple[str, Node]]) -> list[Row]:
    return [
        Row("", write_line(path), write_line(node.op_type), path)
        for path, node in islice(nodes, MOST_ROWS)
    ]


def _find_value(model: Model, path: str, view: View | None) -> Value:
    item = view.items.get(path) if view is not None else None
    found = item.element if item is not None else resolve_path(model, path)
    if not isinstance(found, Value):
        raise NotFoundError(f"{model.source}: there is no value at {path!r}.")
    return found


def _list_value(value: Value, place: Place, path: str) -> Row:
    if value.producer is not None:
        source = write_line(place.path_of(value.producer.path))
    else:
        source = "input of the graph" if value.is_input else "nothing"
    takers = _name_some(value.users, place)
    if value.is_output:
        takers = ", ".join(filter(None, (takers, "output of the graph")))
    note = f"{source} → {takers or 'nothing'}"
    return Row(name_value(value), write_value_type(value), note, path, write_inferred_type(value))


def _name_some(nodes: Iterable[Node], place: Place) -> str:
    found = list(dict.fromkeys(nodes))
    named = ", ".join(write_line(place.path_of(node.path)) for node in found[:MOST_NAMED])
    hidden = len(found) - MOST_NAMED
    return f"{named}, … {hidden:,} more" if hidden > 0 else named
