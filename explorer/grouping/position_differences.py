"""What differs at one place of all blocks of a stack, in words: activations, kernels, pools.

``LeakyReLU, tanh, LeakyReLU``; ``1×2 /2, 1×2 /2, 1×10``; ``pool 32, 16, 8, 4``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from netloupe.explorer.model import Node
from netloupe.explorer.patterns.activations import ACTIVATIONS
from netloupe.explorer.patterns.readings import read_int, read_ints

#: of so few blocks each is told, one after the other
_MOST_TOLD = 4
#: and the kernels of so few, which are short
_MOST_KERNELS = 6
#: what differs in more ways is told to differ and no more
_MOST_KINDS = 3


def tell_activations(blocks: Sequence[Sequence[Node]]) -> str:
    """Return the activations of blocks where these have others at the same place; else ""."""
    found = [
        [
            ACTIVATIONS[node.op_type]
            for node in nodes
            if node.op_type in ACTIVATIONS and not node.operator.has("distributes")
        ]
        for nodes in blocks
    ]
    return _tell(found, "activations")


def tell_kernels(blocks: Sequence[Sequence[Node]]) -> str:
    """Return the kernels of convolutions, with their strides, where blocks have others; else "".

    Where all have the same ones, a branch only stands at another place of the order of nodes.
    """
    convolutions = [[node for node in nodes if node.operator.has("convolves")] for nodes in blocks]
    kernels = [[read_ints(node, "kernel_shape") for node in nodes] for nodes in convolutions]
    if len({*map(len, kernels)}) > 1 or not all(all(own) for own in kernels):
        return ""
    if len({tuple(sorted(own)) for own in kernels}) == 1:
        return ""
    places = [place for place, own in enumerate(zip(*kernels, strict=True)) if len({*own}) > 1]
    found = [[_write_kernel(nodes[place]) for place in places] for nodes in convolutions]
    return _tell(found, "kernels", most=_MOST_KERNELS)


def tell_pools(blocks: Sequence[Sequence[Node]]) -> str:
    """Return the windows of pools where blocks have others at one place: ``pool 32, 16, 8, 4``.

    So the branches of a pyramid are told (H. Zhao and others, Pyramid Scene Parsing Network, 2017,
    figure 3). Of many blocks it is told from which window to which.
    """
    found = [
        [
            read_ints(node, "kernel_shape")
            for node in nodes
            if node.operator.has("pools") and not node.operator.has("pools_all")
        ]
        for nodes in blocks
    ]
    if len({*map(len, found)}) > 1 or not all(all(own) for own in found):
        return ""
    courses = [course for course in zip(*found, strict=True) if len({*course}) > 1]
    if len(courses) != 1:
        return ""
    windows = [*map(_write_window, courses[0])]
    if len(windows) > _MOST_TOLD:
        sizes = sorted({*courses[0]})
        return f"pool {_write_window(sizes[0])} … {_write_window(sizes[-1])}"
    return f"pool {', '.join(windows)}"


def _write_window(window: Sequence[int]) -> str:
    return str(window[0]) if len({*window}) == 1 else "×".join(map(str, window))


def _write_kernel(node: Node) -> str:
    kernel = read_ints(node, "kernel_shape")
    strides = read_ints(node, "strides") or (read_int(node, "stride") or 1,)
    sign = "×" if node.operator.has("transposed") else "/"
    steps = strides[:1] if len({*strides}) == 1 else strides
    step = f" {sign}{'×'.join(map(str, steps))}" if max(strides) > 1 else ""
    return ("×".join(map(str, kernel)) if len(kernel) > 1 else f"kernel {kernel[0]}") + step


def _tell(found: Sequence[Sequence[str]], what: str, *, most: int = _MOST_TOLD) -> str:
    """Return in words what blocks have, of which each has as many."""
    if len({*map(len, found)}) > 1:
        return ""
    courses = {course for course in zip(*found, strict=True) if len({*course}) > 1}
    if not courses:
        return ""
    course = courses.pop()
    kinds = Counter(course)
    if courses or len(kinds) > _MOST_KINDS:
        return f"different {what}"
    if len(course) <= most:
        return ", ".join(course)
    runs = [(kind, len([*run])) for kind, run in groupby(course)]
    if len(runs) == len(kinds):
        return ", then ".join(f"{kind} in {count}" for kind, count in runs)
    return ", ".join(f"{kind} in {count} of {len(course)}" for kind, count in kinds.items())
