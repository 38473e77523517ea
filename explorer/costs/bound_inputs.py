"""Shapes that inputs are given beside those that the file states, and what these replace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from netloupe.explorer.errors import BindingError
from netloupe.explorer.model import Model
from netloupe.explorer.model.types import Shape
from netloupe.explorer.notation import clip_text, write_dims

from .symbols import Symbols

#: by name of an input the shape that the file states, and the one that is taken instead
Replaced: TypeAlias = Mapping[str, tuple[tuple[int | str | None, ...], tuple[int, ...]]]

_LONGEST = 60


def take_shapes(model: Model, symbols: Symbols) -> Replaced:
    """Give symbols the sizes that shapes of inputs give them; return the shapes that are replaced.

    A shape is replaced where it contradicts a size that the file states: runtimes refuse such an
    input, and what it would cost can be asked all the same, as tools that write a model with
    other shapes do (``--overwrite-input-shape`` of onnxsim, ``--override-input-shapes`` of
    Polygraphy).

    Raises
    ------
    BindingError
        For a shape with another number of axes than is stated, and where a symbol would have two
        sizes.
    """
    replaced: dict[str, tuple[tuple[int | str | None, ...], tuple[int, ...]]] = {}
    for value in model.graph.inputs:
        taken = symbols.shapes.get(value.name)
        stated = getattr(value.type, "shape", None)
        if taken is None or stated is None or value.initializer is not None:
            continue
        if not stated and taken:  # many files write no axes where they mean any
            replaced[value.name] = (), taken
            continue
        if len(taken) != len(stated):
            name = clip_text(value.name, _LONGEST)
            raise BindingError(
                f"{name} has {len(stated)} axes, and {write_dims(taken) or 'no axes'} has "
                f"{len(taken)}. Give a size for each."
            )
        is_other = False
        for dim, size in zip(stated, taken, strict=True):
            if isinstance(dim.value, str) and dim.value:
                _give_size(symbols, dim.value, size, value.name)
            elif isinstance(dim.value, int) and dim.value >= 0:
                is_other |= dim.value != size
        if is_other:
            replaced[value.name] = _list_dims(stated), taken
    return replaced


def _give_size(symbols: Symbols, name: str, size: int, origin: str) -> None:
    known = symbols.sizes.setdefault(name, size)
    if known != size:
        shown, where = clip_text(name, _LONGEST), clip_text(origin, _LONGEST)
        raise BindingError(
            f"{shown} cannot be {known:,} and, as the shape of {where} says, {size:,}. "
            "Give one size."
        )


def _list_dims(shape: Shape) -> tuple[int | str | None, ...]:
    return tuple(None if dim.value == "" else dim.value for dim in shape)
