"""From a path or an element to its description."""

from __future__ import annotations

import dataclasses

from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.grouping import Group, find_group
from netloupe.explorer.model import Graph, Model, Node, Value
from netloupe.explorer.model.paths import CALL, MODEL, find_element, resolve_path
from netloupe.explorer.view import View

from .bundles import describe_box
from .description import Description, Element
from .file_text import write_line
from .graphs import describe_graph, describe_group
from .models import describe_model
from .nodes import describe_node
from .place import find_place
from .tensors import describe_tensor
from .values import describe_value


def describe_path(model: Model, path: str, view: View | None = None) -> Description:
    """Return the description of what is at a path.

    Parameters
    ----------
    model
        Where to look.
    path
        As :meth:`Model.__getitem__` takes them; "" for the model, or the path of a group as
        :meth:`Model.group` takes it.
    view
        Knows groups and which occurrence of a function a path means.

    Raises
    ------
    NotFoundError
        Where nothing is there.
    """
    if path in ("", MODEL):
        return describe_model(model)
    if view is not None:
        item = view.items.get(path)
        if item is not None and isinstance(item.element, Group):
            return describe_group(item.element, view, item.path)
        if item is not None and item.is_terminal and item.merged:
            return describe_box(model, item, view)
        if item is not None:
            return _say_label(describe_element(model, item.element, item.path), view)
        group = view.group_at(path)
        if group is not None:
            return describe_group(group, view, path)
    if path.endswith("/"):
        return describe_group(find_group(model, path), path=path if CALL in path else "")
    try:
        element = resolve_path(model, path)
    except NotFoundError as missing:
        try:
            group = find_group(model, path)
        except NotFoundError:
            raise missing from None
        return describe_group(group)
    exact = path if find_element(model, path) is element else ""
    return _say_label(describe_element(model, element, exact), view)


def _say_label(description: Description, view: View | None) -> Description:
    """Return the description of a node with what its box is called in a view."""
    node = description.element
    if view is None or not isinstance(node, Node):
        return description
    label = view.borders(node.graph).tree.node_labels.get(node.index, "")
    if not label or label in (node.op_type, node.name):
        return description
    subtitle = " · ".join(filter(None, (write_line(label), description.subtitle)))
    return dataclasses.replace(description, subtitle=subtitle)


def describe_element(
    model: Model, element: Element, path: str = "", view: View | None = None
) -> Description:
    """Return the description of any element of a model.

    Parameters
    ----------
    model
        The model that holds it.
    element
        The model itself, a graph, function, node, value, tensor or group.
    path
        The path by which it was reached, where that is inside a call.
    view
        For a group: knows the values that cross its border.
    """
    if isinstance(element, Model):
        return describe_model(element)
    if isinstance(element, Group):
        return describe_group(element, view, path)
    place = find_place(model, element, path or element.path)
    if isinstance(element, Node):
        return describe_node(element, place)
    if isinstance(element, Value):
        return describe_value(element, place)
    if isinstance(element, Graph):
        return describe_graph(element, place)
    value = find_element(model, element.path)
    if isinstance(value, Value) and value.initializer is element:
        return dataclasses.replace(describe_value(value, place), kind="tensor", element=element)
    return describe_tensor(element, place)
