"""Search: nodes, values, graphs and groups by what they are called and what they do.

Several words are found in any order: each of them in the element itself or in the groups around
it, and one at least in the element itself. So ``layer.7 query`` finds the query of one layer,
whichever way an exporter writes names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from netloupe.explorer.errors import ViewError
from netloupe.explorer.grouping import Group, GroupTree, list_classes
from netloupe.explorer.model import Attribute, Graph, Model, Node, Tensor, Value
from netloupe.explorer.notation import write_count, write_float
from netloupe.explorer.progress import step

#: longer texts are matched by their beginning only, so that no expression runs for ever
_LONGEST = 400
_MOST_ENTRIES = 16
#: so many graphs are grouped at most; the groups of others are not found
_MOST_GROUPED = 1000
#: groups of so many nodes together are recognised for one search, beside those that are already
_MOST_TOLD = 6_000
#: so many elements are looked at in one step
_STEP = 10_000

#: an attribute with its value is one word, blanks and all: ``axes = [1, 2]``
_WORD = re.compile(r"[^\s=]+\s*=\s*(?:\[[^\]]*\]?|\S+)|\S+")

FindTree = Callable[[Graph], GroupTree]


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that matches.

    Parameters
    ----------
    path
        Its path.
    title
        The name; of a node without one the end of its path, of a group its label.
    detail
        What matched where that is not the title, else what it is: ``Conv``,
        ``kernel_shape = [3, 3]``, ``ViTAttention · 12 nodes``.
    kind
        ``group``, ``node``, ``value``, ``initializer`` or ``graph``.
    """

    path: str
    title: str
    detail: str
    kind: str


class Query:
    """What is searched: words all of which are to be found, or one regular expression.

    Parameters
    ----------
    text
        Words with blanks between them, or the expression.
    regex
        Which of both.

    Raises
    ------
    ViewError
        For an invalid regular expression.
    """

    def __init__(self, text: str, regex: bool) -> None:
        self._words = [] if regex else [_clean_word(word) for word in _WORD.findall(text)]
        self._pattern: re.Pattern[str] | None = None
        if regex:
            try:
                self._pattern = re.compile(text, re.IGNORECASE)
            except (re.error, OverflowError, RecursionError) as error:
                raise ViewError(f"the regular expression {text!r} is not valid: {error}.") from None
        #: how many words there are
        self.count = 1 if regex else len(self._words)

    def count_missing(self, texts: Iterable[str]) -> int:
        """Return how many of the words are in none of the texts."""
        if self._pattern is not None:
            search = self._pattern.search
            return int(not any(search(text[:_LONGEST]) for text in texts))
        joined = "\n".join(texts)
        if len(joined) > _LONGEST:
            joined = "\n".join(text[:_LONGEST] for text in joined.split("\n"))
        joined = joined.casefold()
        missing = 0
        for word in self._words:
            if word not in joined:
                missing += 1
        return missing

    def finds_end(self, text: str, start: int) -> bool:
        """Return whether any word is found in a text so that it ends behind a position."""
        if self._pattern is not None:
            begin = max(len(text) - _LONGEST, 0)
            return any(one.end() + begin > start for one in self._pattern.finditer(text[begin:]))
        return any(word in text[max(start - len(word) + 1, 0) :].casefold() for word in self._words)


def _clean_word(word: str) -> str:
    name, is_attribute, value = word.partition("=")
    is_attribute = is_attribute and value
    return (f"{name.strip()} = {value.strip()}" if is_attribute else word).casefold()


def search_model(
    model: Model, text: str, *, regex: bool = False, find_tree: FindTree
) -> Iterator[Hit]:
    """Yield what matches, graph by graph: groups, then nodes in file order, then values.

    Parameters
    ----------
    model
        Where to look.
    text
        What to look for in names, op types, domains, attribute names and values, labels of
        groups, classes of modules and what groups were recognised as: words in any order.
        Nothing is found for an empty text. Of a large model not all groups are recognised.
    regex
        Whether ``text`` is a regular expression (of :mod:`re`, case ignored), blanks and all.
    find_tree
        Gives the groups of a graph.

    Raises
    ------
    ViewError
        For an invalid regular expression.
    """
    if not text.strip():
        return
    query = Query(text, regex)
    for number, graph in enumerate(model.graphs):
        is_grouped = number < _MOST_GROUPED and len(graph.nodes) > 1
        tree = find_tree(graph) if is_grouped else None
        if graph.name and not query.count_missing((graph.name,)):
            yield Hit(graph.path, graph.name, graph.kind, "graph")
        classes = set()
        told = 0
        for group in dict.fromkeys(tree.groups.values()) if tree is not None else ():
            classes.add(group.type_name)
            if group.kind in ("graph", "shape"):
                continue
            if not group.is_recognised_cheaply:
                told += group.node_count
            recognition = group.recognised if told <= _MOST_TOLD else None
            text = recognition.text if recognition is not None else ""
            if _matches_group(group, text, query):
                yield _group_hit(group, text)
        yield from _search_nodes(graph, tree, classes, query)
        yield from _search_values(graph, tree, query)


def _search_nodes(
    graph: Graph, tree: GroupTree | None, classes: set[str], query: Query
) -> Iterator[Hit]:
    labels = tree.node_labels if tree is not None else {}
    sample = graph.nodes[:: max(1, len(graph.nodes) // 64)]
    has_classes = any(map(list_classes, sample))
    for number, node in enumerate(graph.nodes):
        if not number % _STEP:
            step()
        own = [node.op_type, node.name, labels.get(node.index, "")]
        around = partial(_where_node, node, tree)
        missing = query.count_missing(own)
        if _holds(own, missing, around, query):
            detail = node.op_type
        else:
            texts = _list_texts(node, classes if has_classes else None)
            own += texts
            if not texts or not _holds(own, query.count_missing(own), around, query):
                continue
            matching = (text for text in texts if query.count_missing((text,)) < query.count)
            detail = next(matching, node.op_type)
        yield Hit(node.path, node.name or node.path[len(graph.path) + 1 :], detail, "node")


def _search_values(graph: Graph, tree: GroupTree | None, query: Query) -> Iterator[Hit]:
    for number, value in enumerate(graph.values.values()):
        if not number % _STEP:
            step()
        own = [value.name]
        # only what stands at the border shows its denotation; types of others need not be read
        if (value.is_input or value.is_output) and value.type is not None:
            own.append(value.type.denotation)
        missing = query.count_missing(own)
        if missing < query.count and _holds(
            own, missing, partial(_where_value, value, tree), query
        ):
            yield _value_hit(value)


def _holds(
    own: Sequence[str], missing: int, around: Callable[[], Sequence[str]], query: Query
) -> bool:
    """Return whether what is missing in an element's own texts is in those around it.

    Where the element itself has none of the words, that does not count.
    """
    if not missing or missing == query.count:
        return not missing
    return not query.count_missing([*own, *around()])


def _matches_group(group: Group, told: str, query: Query) -> bool:
    """Return whether all words are in label, class, path or what the group was told to be.

    And one of them in what is the group's own.

    The beginning of the path is that of the groups around, all of which it would find too.
    """
    begin = group.path.rstrip("/").rfind("/") + 1
    own = [group.label, told, *group.facts]
    if group.kind != "operation":  # whose type is that of its main node, which is found itself
        own.append(group.type_name)
    is_own = query.finds_end(group.path, begin) or query.count_missing(own) < query.count
    return is_own and not query.count_missing([*_where(group), told])


def _where(group: Group | None) -> list[str]:
    """Return the paths, labels and classes of a group and of those around it."""
    texts = []
    while group is not None:
        texts += [group.path, group.label, group.type_name, *group.facts]
        group = group.parent
    return texts


def _where_node(node: Node | None, tree: GroupTree | None) -> list[str]:
    if node is None or tree is None or node.graph is not tree.graph:
        return []
    return [node.op_type, *_where(tree.group_of(node))]


def _where_value(value: Value, tree: GroupTree | None) -> list[str]:
    """Return its type, and where it is produced, or where a constant is used first."""
    node = value.producer or (value.users[0] if value.users else None)
    return [str(value.type or ""), *_where_node(node, tree)]


def _list_texts(node: Node, classes: set[str] | None) -> list[str]:
    """Return domain and attributes of a node, and its modules that are no groups themselves."""
    texts = [
        f"{attribute.name} = {_describe_value(attribute)}" for attribute in node.attributes.values()
    ]
    if node.domain != node.graph.dialect.domain:
        texts.insert(0, f"{node.domain}::{node.op_type}")
    if classes is not None:
        texts += [name for name in list_classes(node) if name not in classes]
    return texts


def _describe_value(attribute: Attribute) -> str:
    value = attribute.value
    if attribute.reference:
        return f"@{attribute.reference}"
    if isinstance(value, tuple):
        shown = ", ".join(_write_entry(entry) for entry in value[:_MOST_ENTRIES])
        return f"[{shown}{', …' if len(value) > _MOST_ENTRIES else ''}]"
    return _write_entry(value) if isinstance(value, (str, bytes, int, float)) else attribute.kind


def _write_entry(entry: object) -> str:
    return write_float(entry) if isinstance(entry, float) else str(entry)[:_LONGEST]


def _group_hit(group: Group, told: str) -> Hit:
    what = told or group.type_name or ", ".join(group.facts)
    detail = " · ".join(filter(None, (what, write_count(group.node_count, "node"))))
    if group.kind == "repeat":
        detail = f"×{len(group.children):,} · {detail}"
    title = group.path[len(group.graph.path) + 1 :].rstrip("/") or group.label
    return Hit(group.path, title, detail, "group")


def _value_hit(value: Value) -> Hit:
    if value.initializer is not None:
        tensor = value.initializer
        kind = "" if isinstance(tensor, Tensor) else "sparse "
        return Hit(value.path, value.name, f"{kind}{value.type or ''}".strip(), "initializer")
    return Hit(value.path, value.name, str(value.type or "value"), "value")
