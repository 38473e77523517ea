"""Search: nodes, values, graphs and groups by what they are called and what they do.

Several words are found in any order: each of them in the element itself or in the groups around
it, and one at least in the element itself. So ``layer.7 query`` finds the query of one layer,
whichever way an exporter writes names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from netloupe.explorer.model import Model

from .findable import Findable, FindTree, list_findable, list_group_texts
from .query import Query


@dataclass(frozen=True, slots=True)
class Hit:
    """Something that matches.

    Parameters
    ----------
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
    for _, entry in list_findable(model, find_tree):
        missing = query.count_missing(entry.own)
        if not missing or _is_found(entry, missing, query):
            yield Hit(entry.path, entry.title, entry.detail, entry.kind)
            continue
        texts = entry.list_further()
        if not texts:
            continue
        missing = query.count_missing([*entry.own, *texts])
        if not missing or _is_found(entry, missing, query, texts):
            matching = (text for text in texts if query.count_missing((text,)) < query.count)
            yield Hit(entry.path, entry.title, next(matching, entry.detail), entry.kind)


def _is_found(entry: Findable, missing: int, query: Query, texts: list[str] | None = None) -> bool:
    """Return whether what is missing in an element's own texts is in those around it.

    Where the element itself has none of the words, that does not count.
    """
    if missing == query.count and (entry.begin < 0 or not query.finds_end(entry.path, entry.begin)):
        return False
    around = entry.list_beside()
    group = entry.find_group()
    while group is not None:
        around += list_group_texts(group)
        group = group.parent
    return not query.count_missing([*entry.own, *(texts or ()), *around])
