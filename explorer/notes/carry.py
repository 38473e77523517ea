"""Notes taken over to another version of a model: where the partners of their elements are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from netloupe.explorer.compare import match_models
from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.grouping import group_model
from netloupe.explorer.model import Model, Node, Value
from netloupe.explorer.model.paths import MODEL, find_element

from .locate import Locator
from .note import Anchored

#: below it a pair is but a guess (see Pair.confidence)
_SURE = 0.5
_ENOUGH = 0.5


def carry_anchors(
    older: Model, newer: Model, located: Sequence[Sequence[Anchored]], locator: Locator
) -> list[list[str]]:
    """Return where elements of an older version are in a newer one.

    Parameters
    ----------
    older, newer
        The versions.
    located
        Of each note its elements in the older one.
    locator
        Of the newer one.

    Returns
    -------
    list of list of str
        Paths in the newer one; "" where the pairs do not tell for certain.
    """
    if not any(located):
        return [[] for _ in located]
    partners: dict[Node, Node] = {}
    for pair in match_models(older, newer).pairs:
        if pair.confidence >= _SURE and len(pair.left) == len(pair.right) == 1:
            partners[pair.left[0]] = pair.right[0]
    carrier = _Carrier(older, newer, partners.get, locator)
    return [[carrier.find(each.path) for each in elements] for elements in located]


class _Carrier:
    def __init__(
        self,
        older: Model,
        newer: Model,
        partner: Callable[[Node], Node | None],
        locator: Locator,
    ) -> None:
        self._older = older
        self._newer = newer
        self._partner = partner
        self._locator = locator

    def find(self, path: str) -> str:
        if not path or path == MODEL:
            return path
        if path.endswith("/"):
            return self._find_group(path)
        element = find_element(self._older, path)
        if isinstance(element, Node):
            partner = self._partner(element)
            return "" if partner is None or element.path != path else partner.path
        if isinstance(element, Value):
            return self._find_value(element)
        return ""

    def _find_value(self, value: Value) -> str:
        producer = value.producer
        if producer is not None:
            return self._pick(self._partner(producer), producer.outputs.index(value), is_given=True)
        for user in value.users[:1]:
            if value in user.inputs:
                return self._pick(self._partner(user), user.inputs.index(value), is_given=False)
        return ""

    def _pick(self, node: Node | None, place: int, *, is_given: bool) -> str:
        values: Iterable[Value | None] = ()
        if node is not None:
            values = node.outputs if is_given else node.inputs
        found = [*values][place : place + 1]
        return found[0].path if found and found[0] is not None else ""

    def _find_group(self, path: str) -> str:
        try:
            group = group_model(self._older, path)
        except NotFoundError:
            return ""
        nodes = group.nodes
        partners = [other for other in map(self._partner, nodes) if other is not None]
        if len(partners) < _ENOUGH * len(nodes):
            return ""
        try:
            there = group_model(self._newer, path)
        except NotFoundError:
            there = None
        found = self._locator.find_common(partners, there, len(nodes))
        is_alike = found is not None and len(found.nodes) <= 2 * len(nodes)
        return found.path if found is not None and is_alike else ""
