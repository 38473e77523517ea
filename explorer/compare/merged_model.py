"""A model of two, and what of it comes from which."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from netloupe.explorer.model import Model, Node, Value


@dataclass
class MergedModel:
    """A model of two, and what of it comes from which.

    Parameters
    ----------
    older, newer
        By node or value of the older and of the newer model what stands for it. Paired ones have
        the same.
    former
        By node of ``model`` the values that it took in the older model and takes no more; of nodes
        that both models have.
    latter
        By node of ``model`` the values that it takes in the newer model and did not take before,
        although the older model has them; of nodes that both models have.
    kept
        Nodes of ``model`` that both models have.
    """

    model: Model
    older: dict[Node | Value, Node | Value] = field(default_factory=dict)
    newer: dict[Node | Value, Node | Value] = field(default_factory=dict)
    former: dict[Node, tuple[Value, ...]] = field(default_factory=dict)
    latter: dict[Node, tuple[Value, ...]] = field(default_factory=dict)
    kept: set[Node] = field(default_factory=set)

    @cached_property
    def origins(self) -> dict[Node | Value, Node | Value]:
        """By node or value of ``model`` what it was made of: of the newer model where it has it."""
        older = {made: one for one, made in self.older.items()}
        return older | {made: one for one, made in self.newer.items()}

    def find_shown(self, path: str, is_older: bool) -> str:
        """Return where ``model`` has what is at a path of one of both models; "" for nowhere.

        Parameters
        ----------
        path
            Of a node, a value, a weight or a graph.
        is_older
            Whether that is of the older model.
        """
        made = self._shown[is_older].get(path)
        if made is not None:
            return made.path
        return path if not is_older and path in self.model.graphs_by_path else ""

    def list_taken_before(self, node: Node) -> tuple[Value | None, ...]:
        """Return what a node of ``model`` takes in the older model alone."""
        return node.inputs if node in self._alone[0] else self.former.get(node, ())

    def list_taken_now(self, node: Node) -> tuple[Value | None, ...]:
        """Return what a node of ``model`` takes in the newer model alone."""
        return node.inputs if node in self._alone[1] else self.latter.get(node, ())

    @cached_property
    def _alone(self) -> tuple[set[Node], set[Node]]:
        """Nodes of ``model`` that the older, and that the newer model alone has."""
        older, newer = (
            {made for made in known.values() if isinstance(made, Node)}
            for known in (self.older, self.newer)
        )
        return older - newer, newer - self.kept

    @cached_property
    def _shown(self) -> tuple[dict[str, Node | Value], dict[str, Node | Value]]:
        newer, older = (
            {one.path: made for one, made in known.items()} for known in (self.newer, self.older)
        )
        return newer, older
