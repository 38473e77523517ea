"""Shares of boxes: which part of a model's parameters, multiplications or bytes they hold.

They stand on faces as thin bars, and in words beside them. No box is larger for them, so that
layouts need not wait for what is counted here, and only what is drawn is counted.
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.costs import count_nodes, write_amount, write_share
from netloupe.explorer.costs.polynomial import Amount
from netloupe.explorer.costs.wording import divide_terms, name_amount
from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Model, Node
from netloupe.explorer.notation import write_bytes
from netloupe.explorer.options import Share
from netloupe.explorer.roles import find_weight
from netloupe.explorer.view import Item, nodes_inside

from .box import MARGIN, round_size
from .face import Bar, Face
from .sizes import BAR_RISE, SHEET_OFFSET

#: larger models have no bars: to count would take a good part of the time of a first view
MOST_NODES = 50_000
#: a bar that would be shorter, in pixels, is not drawn
_LEAST = 1.0


class Shares:
    """Draws bars on faces: for each box the part of its model that it holds.

    Closed groups have one, nodes with a weight and calls of functions. There is none where
    something is not known, where it depends on symbols, and where there is nothing.

    Parameters
    ----------
    model
        The model that the boxes are parts of.
    share
        What is counted, as the option says.
    """

    def __init__(self, model: Model, share: Share) -> None:
        self.model = model
        self._share = share
        self._is_wanted = share != "none" and (
            sum(len(graph.nodes) for graph in model.graphs) <= MOST_NODES
        )
        #: by element and face without a bar, which its book keeps
        self._faces: dict[tuple[int, int], Face] = {}
        #: equal faces are one object
        self._distinct: dict[Face, Face] = {}

    def draw(self, item: Item, face: Face) -> Face:
        """Return an item's face with its bar, if it has one."""
        if not self._is_wanted or face.outline not in ("group", "node"):
            return face
        key = id(item.element), id(face)
        drawn = self._faces.get(key)
        if drawn is None:
            drawn = self._add_bar(item, face)
            drawn = self._faces[key] = self._distinct.setdefault(drawn, drawn)
        return drawn

    def _add_bar(self, item: Item, face: Face) -> Face:
        nodes = _list_counted(item)
        part, whole = self._count(nodes) if nodes else (0, 0)
        ratio = (part, whole) if isinstance(part, int) and isinstance(whole, int) else None
        ratio = ratio or divide_terms(part, whole)
        if ratio is None or min(ratio) <= 0:
            return face
        sheets = face.stack * SHEET_OFFSET
        most = face.width - sheets - 2 * MARGIN
        width = round_size(most * min(ratio[0] / ratio[1], 1.0))
        width = width if width >= _LEAST else 0.0
        words = f"{self._write(part)} · {write_share(part, whole)}"
        text = f"{words} of the model"
        y = round_size(face.height - BAR_RISE)
        return face._replace(bar=Bar(self._share, MARGIN, y, width, text))

    def _count(self, nodes: Sequence[Node]) -> tuple[Amount, Amount]:
        """Return how much some nodes hold, and the model; 0 where it is not known."""
        if self._share == "macs":
            return self._count_macs(nodes)
        part, whole = count_nodes(self.model, nodes), self.model.totals
        if self._share == "bytes":
            return part.bytes, whole.bytes
        return part.parameters, whole.parameters

    def _count_macs(self, nodes: Sequence[Node]) -> tuple[Amount, Amount]:
        graph = nodes[0].graph
        if graph is not self.model.graph:  # may run any number of times
            return 0, 0
        from netloupe.explorer.costs.costs import analyze, find_work

        analysis = analyze(self.model)
        whole = analysis.main.total
        part = find_work(analysis, graph, nodes)
        # of an If it depends on the branch
        is_known = not any(gap.affects == "macs" for gap in whole.gaps)
        is_fixed = part.least == part.macs and whole.least == whole.macs
        return (part.macs, whole.macs) if is_known and is_fixed else (0, 0)

    def _write(self, part: Amount) -> str:
        if self._share == "bytes" and isinstance(part, int):
            return write_bytes(part)
        amount = write_amount(part, has_letters=False)  # a picture has no room to explain them
        return name_amount(amount, "MAC" if self._share == "macs" else "parameter")


def _list_counted(item: Item) -> Sequence[Node]:
    """Return the nodes that a closed box stands for, where it has a bar."""
    element = item.element
    if isinstance(element, Group):
        return nodes_inside(element)
    if isinstance(element, Node):
        has_weight = element.function is not None or find_weight(element) is not None
        return [element] if has_weight or element.subgraphs else []
    return []
