"""Groups as Python sees them: what each is, what it holds, and what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.costs import Bindings, Costs, Totals, count_nodes
from netloupe.explorer.costs.costs import analyze, count_nodes_costs
from netloupe.explorer.model import Model, Node
from netloupe.explorer.notation import write_count

from .group import Group, GroupKind
from .lookup import find_group, find_tree

if TYPE_CHECKING:
    from netloupe.explorer.model import Graph


@explain_methods()
class ModelGroup:
    """Nodes of one graph that belong together, and the groups among them.

    ``model.groups`` is the group of the whole main graph, ``model.group(path)`` any other. What
    takes a look at the nodes is done when it is asked for.

    Parameters
    ----------
    group
        The group in its graph's tree.
    """

    __slots__ = ("_group", "_nodes", "_totals")

    def __init__(self, group: Group) -> None:
        self._group = group
        self._nodes: tuple[Node, ...] | None = None
        self._totals: Totals | None = None

    @property
    def path(self) -> str:
        """Where it is: ``main/encoder/layer.0/``; the slash at the end tells groups from nodes."""
        return self._group.path

    @property
    def label(self) -> str:
        """What is shown on it: ``layer.0``."""
        return self._group.label

    @property
    def kind(self) -> GroupKind:
        """Where it comes from.

        ``graph``: all of a graph. ``scope``: a scope or module of the exporter. ``block``: found by
        structure. ``repeat``: a run of like groups, which are its groups. ``shape``: arithmetic on
        shapes. ``part``: a piece of a group that would have too many children.
        """
        return self._group.kind

    @property
    def type_name(self) -> str:
        """The module's class where the exporter gives it, else ""."""
        return self._group.type_name

    @property
    def recognised(self) -> str:
        """What it is, told from structure alone: ``Self-attention, 12 heads × 64, causal``.

        Of a repeat what all of its groups are; "" where that is not known.
        """
        found = self._group.recognised
        return "" if found is None else found.text

    @property
    def graph(self) -> Graph:
        """The graph that it is a part of."""
        return self._group.graph

    @property
    def parent(self) -> ModelGroup | None:
        """The group around it; None for that of a whole graph."""
        return None if self._group.parent is None else ModelGroup(self._group.parent)

    @property
    def groups(self) -> tuple[ModelGroup, ...]:
        """The groups directly inside, in order."""
        return tuple(map(ModelGroup, self._group.inner_groups()))

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes inside at any depth, in order; those that only give a constant are left out."""
        if self._nodes is None:
            found: list[Node] = []
            pending: list[Group | Node] = [self._group]
            while pending:
                child = pending.pop()
                if isinstance(child, Node):
                    found.append(child)
                else:
                    pending.extend(reversed(child.children))
            self._nodes = tuple(found)
        return self._nodes

    @property
    def node_count(self) -> int:
        """How many nodes are inside at any depth."""
        return self._group.node_count

    @property
    def parameters(self) -> int:
        """The weights that the nodes inside use, each once; see :class:`~netloupe.Totals`."""
        return self._count().parameters

    @property
    def bytes(self) -> int:
        """What the file stores for the constants that the nodes inside use."""
        return self._count().bytes

    @property
    def macs(self) -> int | None:
        """MACs of the nodes inside each time the graph runs; None where they depend on symbols.

        ``costs().macs_expression`` has these, ``costs(bind={"batch": 1}).macs`` a number.
        """
        return self.costs().macs

    def costs(self, bind: Bindings | None = None) -> Costs:
        """Return what the nodes inside cost each time the graph runs, all repetitions together.

        Parameters
        ----------
        bind
            As :meth:`netloupe.Model.costs` takes it, with the same errors.
        """
        analysis = analyze(self.graph.model, bind)
        return count_nodes_costs(analysis, self.graph, self.nodes, self._count())

    def _count(self) -> Totals:
        if self._totals is None:
            self._totals = count_nodes(self.graph.model, self.nodes)
        return self._totals

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ModelGroup) and self._group is other._group

    def __hash__(self) -> int:
        return hash(self._group)

    def __repr__(self) -> str:
        what = f", {self.recognised}" if self.recognised else ""
        return f"<ModelGroup {self.path!r}, {write_count(self.node_count, 'node')}{what}>"


def group_model(model: Model, path: str | None = None) -> ModelGroup:
    """Return the group of a model's main graph, or that at a path as :func:`find_group` does."""
    root = find_tree(model, model.graph).root if path is None else find_group(model, path)
    return ModelGroup(root)
