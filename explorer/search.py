"""Search: nodes, values and groups by name, op type or attribute."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from netloupe.explorer.errors import ViewError
from netloupe.explorer.model import Attribute, Graph, Model, Node, Tensor, Value

#: longer texts are matched by their beginning only, so that no expression runs for ever
_LONGEST = 400
_MOST_ENTRIES = 16

Matcher = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that matches.

    Parameters
    ----------
    path
        Its path.
    title
        The name, or the op type of a node without a name.
    detail
        What matched where that is not the title: ``Conv``, ``kernel_shape = [3, 3]``.
    kind
        ``node``, ``value``, ``initializer`` or ``graph``.
    """

    path: str
    title: str
    detail: str
    kind: str


def make_matcher(text: str, regex: bool) -> Matcher:
    """Return a predicate on names: contains the text in any case, or matches the expression.

    Raises
    ------
    ViewError
        For an invalid regular expression.
    """
    if not regex:
        wanted = text.casefold()
        return lambda candidate: wanted in candidate[:_LONGEST].casefold()
    try:
        pattern = re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise ViewError(f"the regular expression {text!r} is not valid: {error}.") from None
    return lambda candidate: pattern.search(candidate[:_LONGEST]) is not None


def search_model(model: Model, text: str, *, regex: bool = False) -> Iterator[Hit]:
    """Yield what matches, graph by graph, nodes in file order before values.

    Parameters
    ----------
    model
        Where to look.
    text
        What to look for in names, op types, domains, attribute names and values; nothing is
        found for an empty text.
    regex
        Whether ``text`` is a regular expression (of :mod:`re`, case ignored).

    Raises
    ------
    ViewError
        For an invalid regular expression.
    """
    if not text:
        return
    matches = make_matcher(text, regex)
    for graph in model.graphs:
        yield from _search_graph(graph, matches)


def _search_graph(graph: Graph, matches: Matcher) -> Iterator[Hit]:
    if graph.name and matches(graph.name):
        yield Hit(graph.path, graph.name, graph.kind, "graph")
    for node in graph.nodes:
        detail = _match_node(node, matches)
        if detail is not None:
            yield Hit(node.path, node.name or node.op_type, detail, "node")
    for value in graph.values.values():
        if matches(value.name):
            yield _value_hit(value)


def _match_node(node: Node, matches: Matcher) -> str | None:
    if matches(node.op_type) or (node.name and matches(node.name)):
        return node.op_type
    if node.domain not in ("", "caffe2") and matches(node.domain):
        return f"{node.domain}::{node.op_type}"
    for attribute in node.attributes.values():
        text = f"{attribute.name} = {_describe_value(attribute)}"
        if matches(text):
            return text
    return None


def _describe_value(attribute: Attribute) -> str:
    value = attribute.value
    if attribute.reference:
        return f"@{attribute.reference}"
    if isinstance(value, tuple):
        shown = ", ".join(str(entry) for entry in value[:_MOST_ENTRIES])
        return f"[{shown}{', …' if len(value) > _MOST_ENTRIES else ''}]"
    return str(value)[:_LONGEST] if isinstance(value, (str, bytes, int, float)) else attribute.kind


def _value_hit(value: Value) -> Hit:
    if value.initializer is not None:
        tensor = value.initializer
        kind = "initializer" if isinstance(tensor, Tensor) else "sparse initializer"
        return Hit(value.path, value.name, f"{kind} {value.type or ''}".strip(), "initializer")
    return Hit(value.path, value.name, str(value.type or "value"), "value")
