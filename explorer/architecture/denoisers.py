"""Networks that remove noise: what they give is as what they take, and they are told the step.

J. Ho and others, Denoising Diffusion Probabilistic Models, 2020, section 4 and appendix B: the
network takes what has noise in it and the step, which is embedded as positions are by sines and
cosines, and gives the noise. So do those that give a velocity (Y. Lipman and others, Flow Matching
for Generative Modeling, 2023), and those that give a variance beside (A. Nichol and P. Dhariwal,
Improved Denoising Diffusion Probabilistic Models, 2021, section 3.1).
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Graph, Value

from .layer_words import write_lower
from .sizes import read_stated_shape

#: what begins a title; what has a name of its own in the field keeps it behind that
_DENOISING = "Denoising"
_CAPITALS = 2
#: no trait tells these from other functions of one element
_WAVES = ("Sin", "Cos")
#: so many nodes are between a step and its waves
_MOST_NODES = 32
_LEAST_AXES = 2
#: so many numbers are of a thing at least whose noise is removed
_LEAST_NUMBERS = 4
#: axes on which a variance may stand beside: channels behind the batch, or last
_OF_VARIANCE = (1, -1)

_Shape = tuple[int | str | None, ...]


def write_denoising(graph: Graph, title: str) -> str:
    """Return a title of a network with what it is for, where that is to remove noise.

    Parameters
    ----------
    graph
        The graph.
    title
        What it is by its blocks: ``UNet``.

    Returns
    -------
    str
        ``Denoising UNet``, or the title itself.
    """
    if not removes_noise(graph):
        return title
    first = title.split()[0]
    has_name = sum(letter.isupper() or letter.isdigit() for letter in first) >= _CAPITALS
    return f"{_DENOISING} {title if has_name else write_lower(title)}"


def removes_noise(graph: Graph) -> bool:
    """Return whether a graph gives what is as one of its inputs, and embeds a step by waves.

    Of several outputs one is so.
    """
    inputs = [value for value in graph.inputs if value.initializer is None]
    if len(inputs) < len(("noisy", "step")):
        return False
    shapes = [read_stated_shape(value) for value in inputs]
    results = [read_stated_shape(value) for value in graph.outputs]
    # a code of what has no noise in it may be given beside (K. Preechakul and others, Diffusion
    # Autoencoders, 2022, figure 2)
    noises = [
        given for given in results if given is not None and any(_is_as(s, given) for s in shapes)
    ]
    if len(noises) != 1 or any(given is None for given in results):
        return False
    (given,) = noises
    return any(
        _is_step(shape, given[0]) and _is_embedded(value)
        for value, shape in zip(inputs, shapes, strict=True)
    )


def _is_as(taken: _Shape | None, given: _Shape) -> bool:
    """Return whether what is given is as what is taken, a variance beside it left out."""
    if taken is None or len(taken) != len(given) or len(taken) < _LEAST_AXES:
        return False
    numbers = 1
    for dim in taken[1:]:
        numbers *= dim if isinstance(dim, int) else _LEAST_NUMBERS
    if numbers < _LEAST_NUMBERS or None in taken:
        return False
    return taken == given or any(
        isinstance(width := taken[axis], int) and _put(taken, axis, 2 * width) == given
        for axis in _OF_VARIANCE
    )


def _put(shape: _Shape, axis: int, width: int) -> _Shape:
    dims = [*shape]
    dims[axis] = width
    return (*dims,)


def _is_step(shape: _Shape | None, batch: int | str | None) -> bool:
    """Return whether a value is one number, or one for each of a batch."""
    return shape is not None and {*shape[:1]} <= {1, batch} and {*shape[1:]} <= {1}


def _is_embedded(step: Value) -> bool:
    """Return whether sines and cosines of a value are put beside each other."""
    joined: dict[str, set[object]] = {}
    seen: set[Value] = set()
    pending: list[tuple[Value, str]] = [(step, "")]
    while pending and len(seen) < _MOST_NODES:
        value, wave = pending.pop(0)
        if value in seen:
            continue
        seen.add(value)
        for user in value.users[:_MOST_NODES]:
            form = user.operator.form
            if wave and user.operator.has("joins"):
                joined.setdefault(wave, set()).add(user)
            elif form in _WAVES and not wave:
                pending += ((result, form) for result in _results(user.outputs))
            elif user.operator.has("adds", "multiplies_elements", "divides", "elementwise") or (
                user.operator.family in ("shape", "convert")
            ):
                pending += ((result, wave) for result in _results(user.outputs))
    return bool(set.intersection(*(joined.get(wave, set()) for wave in _WAVES)))


def _results(values: Sequence[Value | None]) -> list[Value]:
    return [value for value in values if value is not None]
