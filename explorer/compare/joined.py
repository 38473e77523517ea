"""Projections that one model has as several nodes, and the other as one with a joined weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from netloupe.explorer.model import Node, Tensor, Value


class ProjectionPart(NamedTuple):
    """A projection by itself, and the part of a joined one that does the same.

    Parameters
    ----------
    start, stop
        Which outputs of the joined one they are, from one up to another.
    weight, is_turned
        The weight of the one by itself; turned where outputs are along its first axis.
    bias
        Its bias; None for none.
    result, part
        What both give; None where what the joined one gives is not cut into these parts.
    """

    start: int
    stop: int
    weight: Tensor
    is_turned: bool
    bias: Tensor | None
    result: Value | None
    part: Value | None


@dataclass(frozen=True, slots=True, eq=False)
class JoinedProjection:
    """A projection by a joined weight, and those that the other model has in its place.

    Parameters
    ----------
    is_left
        Whether the left model has the joined one.
    joined, separate
        The nodes of both models.
    weight, is_turned, bias
        Of the joined one, as of a part.
    parts
        The others, in the order of the outputs of the joined one.
    """

    is_left: bool
    joined: tuple[Node, ...]
    separate: tuple[Node, ...]
    weight: Tensor
    is_turned: bool
    bias: Tensor | None
    parts: tuple[ProjectionPart, ...]

    @property
    def left(self) -> tuple[Node, ...]:
        """The nodes of the left model."""
        return self.joined if self.is_left else self.separate

    @property
    def right(self) -> tuple[Node, ...]:
        """The nodes of the right model."""
        return self.separate if self.is_left else self.joined

    def list_tensors(self) -> Iterator[Tensor]:
        """Yield the weights and biases of both models."""
        yield self.weight
        if self.bias is not None:
            yield self.bias
        for one in self.parts:
            yield one.weight
            if one.bias is not None:
                yield one.bias

    def list_pairs(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Yield each weight and bias with the joined one; that of the left model comes first."""
        for one in self.parts:
            for separate, joined in ((one.weight, self.weight), (one.bias, self.bias)):
                if separate is not None and joined is not None:
                    yield (joined, separate) if self.is_left else (separate, joined)

    def list_bounds(self) -> Iterator[Tensor]:
        """Yield the stored integers that say where it is cut, and that nothing else takes."""
        own = {*self.joined}
        for node in self.joined:
            for value in node.inputs:
                if value is None or not own.issuperset(value.users):
                    continue
                if isinstance(value.initializer, Tensor) and value.initializer.dtype.is_integer:
                    yield value.initializer
