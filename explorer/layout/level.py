"""A level: everything that the layout of one open item, or of a part of it, depends on."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloupe.explorer.options import Direction

from .placement import Floats, Integers

if TYPE_CHECKING:
    from .lane_shape import LaneShape
    from .u_shape import UShape


class Child(NamedTuple):
    """A box to place: its size and, for an open child, where its ports are along the border.

    ``inputs`` and ``outputs`` hold offsets from the left (or the top, for LR), in the order of
    the child's ports; they are empty for a closed child. The size holds what is kept free beside
    the box and above it.
    """

    width: float
    height: float
    inputs: tuple[float, ...] = ()
    outputs: tuple[float, ...] = ()
    #: whether it is a circle, which edges reach from wherever they come
    is_round: bool = False
    #: kept free beside the box and above it
    left: float = 0.0
    top: float = 0.0

    def mirrored(self) -> Child:
        """Return it with left and right exchanged."""
        if not self.inputs and not self.outputs:
            return self
        return self._replace(
            inputs=tuple(self.width - offset for offset in self.inputs),
            outputs=tuple(self.width - offset for offset in self.outputs),
        )


class Wire(NamedTuple):
    """An edge between children (0 and up) or border ports (-1 - n), and ports of open children."""

    source: int
    target: int
    source_port: int | None = None
    target_port: int | None = None
    #: whether the edge belongs to the flow that should run straight; stubs stand aside
    is_main: bool = True
    #: how many values are written to flow along it; none where they do along another wire
    values: int = 1
    #: how wide the text is that stands beside it; 0 for none
    text_width: float = 0.0


@dataclass(slots=True, eq=False)
class LevelArrays:
    """A level's sizes and wires as arrays.

    Parameters
    ----------
    sizes
        Shape (children, 2): width and height.
    rounds
        Which children are circles.
    sources, targets
        The wires' ends.
    leaving, entering
        Where along its source's and its target's side each wire ends, from the left (the top,
        for LR); NaN for the middle.
    """

    sizes: Floats
    rounds: NDArray[np.bool_]
    sources: Integers
    targets: Integers
    leaving: Floats
    entering: Floats

    def wires_at(self, children: list[int]) -> list[int]:
        """Return the wires that end at some children."""
        found = np.isin(self.sources, children) | np.isin(self.targets, children)
        wires: list[int] = np.flatnonzero(found).tolist()
        return wires


@dataclass(slots=True)
class Level:
    """Boxes of known size and the wires between them.

    Parameters
    ----------
    input_count, output_count
        Number of ports on the border where values come in, and where they leave.
    first
        The child that stands at the very beginning because another part ends with it; -1 for
        none. Others may stand beside it where they are no higher than it is.
    last
        The child that stands at the very end, alone, because another part begins with it.
    is_list
        Whether the boxes, which no edges join, are a list to be read in columns.
    u
        How the boxes make a U; None where they make none.
    lanes
        How they make lanes; None where they make none.
    """

    direction: Direction
    children: list[Child] = field(default_factory=list)
    input_count: int = 0
    output_count: int = 0
    wires: list[Wire] = field(default_factory=list)
    first: int = -1
    last: int = -1
    is_list: bool = False
    u: UShape | None = None
    lanes: LaneShape | None = None
    _arrays: LevelArrays | None = field(default=None, repr=False, compare=False)

    def key(self) -> Hashable:
        """Return what is equal for levels that are laid out alike."""
        return (
            self.direction,
            tuple(self.children),
            self.input_count,
            self.output_count,
            tuple(self.wires),
            self.first,
            self.last,
            self.is_list,
            self.u,
            self.lanes,
        )

    @property
    def has_shape(self) -> bool:
        """Whether its boxes make a U or lanes, and are placed as a whole."""
        return self.u is not None or self.lanes is not None

    def connections(self) -> Hashable:
        """Return what is equal for levels that differ only in sizes and places of ports."""
        arrays = self.arrays()
        return (
            self.direction,
            len(self.children),
            self.input_count,
            self.output_count,
            arrays.sources.tobytes(),
            arrays.targets.tobytes(),
        )

    def mirrored(self) -> Level:
        """Return it with left and right exchanged."""
        children = [child.mirrored() for child in self.children]
        return replace(self, children=children, u=None, lanes=None, _arrays=None)

    def without_shape(self) -> Level:
        """Return it as if its boxes made no U and no lanes."""
        return replace(self, u=None, lanes=None, _arrays=None)

    def arrays(self) -> LevelArrays:
        """Return sizes and wires as arrays; a level must not be changed after it."""
        if self._arrays is None:
            children, wires = self.children, self.wires
            self._arrays = LevelArrays(
                np.array([child[:2] for child in children], np.float64).reshape(-1, 2),
                np.array([child.is_round for child in children], np.bool_),
                np.array([wire.source for wire in wires], np.int64),
                np.array([wire.target for wire in wires], np.int64),
                np.array([self._leaving(wire) for wire in wires], np.float64),
                np.array([self._entering(wire) for wire in wires], np.float64),
            )
        return self._arrays

    def changed(self, children: Mapping[int, Child], wires: Mapping[int, Wire]) -> Level:
        """Return the level with some children and wires in place of others.

        Parameters
        ----------
        children
            The new children by their numbers.
        wires
            The new wires by their numbers, with ends as before: all that have an end at one of
            these children, and perhaps others.
        """
        old = self.arrays()
        new = Level(
            self.direction,
            self.children.copy(),
            self.input_count,
            self.output_count,
            self.wires.copy(),
            self.first,
            self.last,
            self.is_list,
            self.u,
            self.lanes,
        )
        arrays = replace(
            old,
            sizes=old.sizes.copy(),
            rounds=old.rounds.copy(),
            leaving=old.leaving.copy(),
            entering=old.entering.copy(),
        )
        for number, child in children.items():
            new.children[number] = child
            arrays.sizes[number] = child[:2]
            arrays.rounds[number] = child.is_round
        for number, wire in wires.items():
            new.wires[number] = wire
            arrays.leaving[number] = new._leaving(wire)
            arrays.entering[number] = new._entering(wire)
        new._arrays = arrays
        return new

    def _leaving(self, wire: Wire) -> float:
        if wire.source < 0 or wire.source_port is None:
            return np.nan
        return self.children[wire.source].outputs[wire.source_port]

    def _entering(self, wire: Wire) -> float:
        if wire.target < 0 or wire.target_port is None:
            return np.nan
        return self.children[wire.target].inputs[wire.target_port]
