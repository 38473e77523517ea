"""One difference between two models, told once for all alike places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node, Tensor

from .changes import Change

if TYPE_CHECKING:
    from .changed_elements import TensorDifference
    from .pair import Pair
    from .replaced import Replacement

#: what a difference is about
EntryTopic = Literal[
    "block",
    "exchange",
    "interface",
    "operator",
    "fused",
    "joined",
    "replaced",
    "node",
    "type",
    "alone",
    "moved",
    "model",
    "weight",
    "lone weight",
    "unread",
    "version",
    "aspect",
]
#: what became of the elements; or that they are ``equal`` by calculation, could not be read, are
#: of another ``version``, or are only written otherwise. All forms ask this what is which
EntryLevel = Literal[
    "removed", "added", "changed", "moved", "equal", "unread", "version", "written"
]

#: the levels of what a model does or computes otherwise; what has ``moved`` does the same in a
#: module of another name. Another ``version`` makes models differ as well, though nothing computes
#: something else by it
REAL_LEVELS: frozenset[EntryLevel] = frozenset({"removed", "added", "changed"})


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceEntry:
    """One difference, with all the places where it is.

    Parameters
    ----------
    topic
        What it is about: ``block`` is a whole one that is gone, new or rewritten, ``exchange``
        blocks or weights that have changed places, ``operator`` another operator, ``alone`` nodes
        of one model alone, ``type`` nodes that only state another type, ``lone weight`` weights of
        one model alone, ``model`` what neither a node nor a weight states, ``version`` a version of
        the format or of an operator set, and ``aspect`` what can be ignored.
    level
        What became of the elements.
    count
        In how many places: blocks, pairs, nodes, weights or statements.
    groups
        Blocks that it is about.
    pairs, left_nodes, right_nodes
        Nodes: paired ones, and those of the left and of the right model alone.
    replaced
        Chains of nodes that stand in each other's place.
    tensors, left_tensors, right_tensors
        Weights: paired ones, and those of one model alone.
    changes
        What differs, at the first place.
    operators
        What stood there and what stands there, joined by " + " where that are several.
    aspect
        Of an ``aspect`` which one.
    is_whole
        Of an ``exchange`` whether it is the blocks that have changed places, and not only their
        weights.
    """

    topic: EntryTopic
    level: EntryLevel
    count: int
    groups: tuple[Group, ...] = ()
    pairs: tuple[Pair, ...] = ()
    left_nodes: tuple[Node, ...] = ()
    right_nodes: tuple[Node, ...] = ()
    replaced: tuple[Replacement, ...] = ()
    tensors: tuple[TensorDifference, ...] = ()
    left_tensors: tuple[Tensor, ...] = ()
    right_tensors: tuple[Tensor, ...] = ()
    changes: tuple[Change, ...] = ()
    operators: tuple[str, str] = ("", "")
    aspect: str = ""
    is_whole: bool = False

    @property
    def is_real(self) -> bool:
        """Whether the models do or compute something else there, as far as that is known."""
        return self.level in REAL_LEVELS
