"""Weights that a file stores twice: the same numbers under two names, perhaps transposed.

So exporters write what is one parameter in the program, as the embedding of a language model that
is its head, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from netloupe.explorer.errors import NetloupeError
from netloupe.explorer.model import Model, Node, Tensor
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.progress import step
from netloupe.explorer.tensors import open_elements

from .constants import is_module_name
from .initializer_kinds import find_initializer_kinds
from .totals import locate_elements

#: smaller tensors, and vectors, are equal by chance: biases that are all zero and the like
_LEAST_SIZE = 1_000
#: so many tensors are looked at, and so many bytes are read to compare those that look alike
_MOST_TENSORS = 4_000
_MOST_BYTES = 2**30
#: so many tensors that begin and end alike are compared with one another
_MOST_ALIKE = 16
#: elements that are compared at once
_PIECE = 2**20
#: what names of modules are joined with
_JOINTS = re.compile(r"[./]")
_QUOTED = r"'([^']*)'"


class Ties(NamedTuple):
    """What is stored twice.

    Parameters
    ----------
    copies
        Pairs of a tensor and an earlier one that holds the same.
    parameters
        How many numbers the copies hold.
    is_checked
        Whether all weights that could be equal were compared. Not so where elements are in a file
        that is not there, and where there would be too much to read.
    """

    copies: tuple[tuple[Tensor, Tensor], ...] = ()
    parameters: int = 0
    is_checked: bool = True


def find_ties(model: Model) -> Ties:
    """Return which weights are stored twice; looked for once.

    Of weights of equal size the first and the last number is read, and all of them where these are
    equal in two.
    """
    return find_kept(model, Ties, lambda: _find(model))


def _find(model: Model) -> Ties:
    if not _may_be_stored_twice(model):
        return Ties()
    alike: dict[tuple[str, int], list[Tensor]] = {}
    places: set[object] = set()
    for tensor in _list_weights(model):
        place = locate_elements(tensor)
        if place is None or place not in places:
            alike.setdefault((tensor.dtype.name, tensor.size), []).append(tensor)
        places.add(place)
    groups = sorted((group for group in alike.values() if len(group) > 1), key=_order, reverse=True)
    search = _Search(partial(_find_places, model, groups))
    for group in groups:
        search.compare(group)
    copies = tuple(search.copies)
    return Ties(copies, sum(copy.size for copy, _ in copies), search.is_whole)


def _may_be_stored_twice(model: Model) -> bool:
    """Return whether two of few tensors begin and end alike, be they weights or not.

    What all initializers are for need not be known where none do, as in most models.
    """
    seen: set[object] = set()
    for count, tensor in enumerate(_list_large(model), 1):
        step("comparing weights")
        try:
            ends = tensor.dtype.name, tensor.size, _read_ends(tensor)
        except NetloupeError:
            return True
        if ends in seen or count > _MOST_TENSORS:
            return True
        seen.add(ends)
    return False


def _list_large(model: Model) -> Iterator[Tensor]:
    for graph in model.graphs:
        for tensor in graph.initializers:
            if len(tensor.dims) > 1 and tensor.size >= _LEAST_SIZE:
                yield tensor


def _list_weights(model: Model) -> Iterator[Tensor]:
    kinds = find_initializer_kinds(model)
    for tensor in _list_large(model):
        if kinds.kind_of(tensor) == "parameter" and tensor not in kinds.packed:
            yield tensor


def _read_ends(tensor: Tensor) -> bytes:
    """Return the first and the last number: the same in a matrix and its transpose."""
    elements = open_elements(tensor)
    ends = elements.take(0, 1), elements.take(tensor.size - 1, tensor.size)
    return np.concatenate(ends).tobytes()


def _find_places(model: Model, groups: list[list[Tensor]]) -> dict[Tensor, list[str]]:
    """Return for tensors of equal size the parts of the name of a module, in which they stand.

    That of a tensor where an exporter kept it, else that of the node which takes it.
    """
    wanted = {tensor for group in groups for tensor in group}
    found: dict[Tensor, list[str]] = {}
    for graph in model.graphs if wanted else ():
        for value in graph.values.values():
            tensor = value.initializer
            if not isinstance(tensor, Tensor) or tensor not in wanted:
                continue
            name = value.name
            if not is_module_name(name) and len(value.users) == 1:
                name = _name_module(value.users[0])
            found[tensor] = _JOINTS.split(name)
    return found


def _name_module(node: Node) -> str:
    """Return the name of the module that a node is of, or its own."""
    scopes = re.findall(_QUOTED, node.metadata.get("pkg.torch.onnx.name_scopes", ""))
    return scopes[-2] if len(scopes) > 1 else node.name


def _is_numbered_alike(one: list[str], two: list[str]) -> bool:
    """Return whether names differ, and only in parts that are numbers."""
    if len(one) != len(two):
        return False
    differing = [pair for pair in zip(one, two, strict=True) if pair[0] != pair[1]]
    return bool(differing) and all(part.isdigit() for pair in differing for part in pair)


def _order(group: list[Tensor]) -> int:
    return group[0].size


class _Search:
    """Compares tensors of equal type and size, within bounds."""

    def __init__(self, find_places: Callable[[], dict[Tensor, list[str]]]) -> None:
        self._find_places = find_places
        self._places: dict[Tensor, list[str]] | None = None
        self.copies: list[tuple[Tensor, Tensor]] = []
        self.is_whole = True
        self._tensors = _MOST_TENSORS
        self._bytes = _MOST_BYTES

    def compare(self, group: list[Tensor]) -> None:
        """Find the copies in a group."""
        ends: dict[bytes, list[Tensor]] = {}
        for tensor in group:
            step("comparing weights")
            self._tensors -= 1
            if self._tensors < 0:
                self.is_whole = False
                return
            try:
                sample = _read_ends(tensor)
            except NetloupeError:
                self.is_whole = False
                continue
            known = ends.setdefault(sample, [])
            first = next((one for one in known if self._is_copy(tensor, one)), None)
            if first is not None:
                self.copies.append((tensor, first))
            elif len(known) < _MOST_ALIKE:
                known.append(tensor)

    def _is_copy(self, tensor: Tensor, other: Tensor) -> bool:
        if tensor.dims == other.dims:
            is_equal = self._is_equal(tensor, other)
        else:
            is_turned = len(tensor.dims) == 2 and tensor.dims == other.dims[::-1]
            is_equal = is_turned and self._is_equal(tensor, other, is_turned=True)
        return is_equal and not self._are_layers(tensor, other)

    def _are_layers(self, tensor: Tensor, other: Tensor) -> bool:
        """Return whether equal tensors are of numbered layers that were made alike."""
        if self._places is None:
            self._places = self._find_places()
        return _is_numbered_alike(self._places.get(tensor, []), self._places.get(other, []))

    def _is_equal(self, tensor: Tensor, other: Tensor, *, is_turned: bool = False) -> bool:
        """Return whether two tensors hold the same numbers, which are not all the same one."""
        try:
            one, two = open_elements(tensor), open_elements(other)
            first = one.take(0, 1)
            self._bytes -= 2 * tensor.size * first.itemsize
            if self._bytes < 0:
                self.is_whole = False
                return False
            rows, columns = tensor.dims[0], tensor.size // tensor.dims[0]
            turned = two.take(0, two.size).reshape(columns, rows) if is_turned else None
            varies = False
            for row in range(0, rows, step_rows := max(1, _PIECE // columns)):
                step()
                end = min(row + step_rows, rows)
                piece = one.take(row * columns, end * columns)
                if turned is None:
                    same = two.take(row * columns, end * columns)
                else:
                    same = turned[:, row:end].T.reshape(-1)
                if piece.tobytes() != same.tobytes():
                    return False
                varies = varies or bool(np.any(piece != first))
        except NetloupeError:
            self.is_whole = False
            return False
        return varies
