"""What is said of several elements that are selected together, of whatever kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Graph, Model, Node, SparseTensor, Tensor, Value
from netloupe.explorer.model.paths import resolve_path
from netloupe.explorer.notation import write_count
from netloupe.explorer.view import View

from .bundles import describe_values
from .description import Description, Element, Row, make_section
from .file_text import (
    name_value,
    write_inferred_type,
    write_line,
    write_tensor_type,
    write_value_type,
)


def describe_several(model: Model, paths: Sequence[str], view: View) -> Description:
    """Return what is known of several elements: values as by :func:`describe_values`.

    Parameters
    ----------
    model
        The model.
    paths
        Those of the elements, one at least.
    view
        Knows groups and which occurrence of a function a path means.

    Raises
    ------
    NotFoundError
        Where nothing is at one of the paths.
    """
    elements = tuple(_find(model, view, path) for path in paths)
    if all(isinstance(element, Value) for element in elements):
        return describe_values(model, paths, view)
    kinds = Counter(_name_kind(element) for element in elements)
    rows = [_list_element(element, path) for element, path in zip(elements, paths, strict=True)]
    first = next(row.name or row.value for row in rows)
    others = f" and {len(rows) - 1:,} more" if len(rows) > 1 else ""
    return Description(
        path=paths[0],
        kind="elements",
        title=f"{first}{others}",
        subtitle=", ".join(write_count(count, kind) for kind, count in kinds.items()),
        element=elements,
        sections=(make_section("Selected", rows, most=len(rows)),),
    )


def _find(model: Model, view: View, path: str) -> Element:
    item = view.items.get(path)
    if item is not None and isinstance(item.element, (Group, Value)):
        return item.element
    return view.group_at(path) or resolve_path(model, path)


def _name_kind(element: Element) -> str:
    for kind, name in ((Node, "node"), (Value, "value"), (Group, "group"), (Graph, "graph")):
        if isinstance(element, kind):
            return name
    return "tensor"


def _list_element(element: Element, path: str) -> Row:
    if isinstance(element, Node):
        return Row(write_line(element.op_type), write_line(path), "", path)
    if isinstance(element, Value):
        described, inferred = write_value_type(element), write_inferred_type(element)
        return Row(name_value(element), described, write_line(path), path, inferred)
    if isinstance(element, Group):
        note = write_count(element.node_count, "node")
        return Row(write_line(element.label), write_line(path), note, path)
    if isinstance(element, (Tensor, SparseTensor)):
        return Row("tensor", write_line(path), write_tensor_type(element), path)
    return Row(_name_kind(element), write_line(path), "", path)
