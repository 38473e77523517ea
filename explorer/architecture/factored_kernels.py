"""Convolutions in pairs of which each kernel is long where the other is 1: one kernel, factored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from netloupe.explorer.model import Graph, Model, Node
from netloupe.explorer.notation import write_count
from netloupe.explorer.operators import HANDING_TRAITS
from netloupe.explorer.patterns.weight_sizes import read_kernel

from .sketch import Sketch

#: what may stand between both
_BETWEEN = (*HANDING_TRAITS, "activates", "clips", "normalizes")
_MOST_BETWEEN = 8
#: of fewer pairs, and of a smaller share of the kernels that are larger than 1, nothing is said
_LEAST_PAIRS = 2
_LEAST_SHARE = 0.5
_MOST_NODES = 20_000

Kernel = tuple[int, ...]


def add_factored_kernels(model: Model, sketch: Sketch | None) -> Sketch | None:
    """Return a sketch with ``8 factored convolutions (1×3×3, then 3×1×1)``, where that is so.

    A kernel in space and one in time follow each other (D. Tran and others, A Closer Look at
    Spatiotemporal Convolutions, 2018, section 3.5; S. Xie and others, Rethinking Spatiotemporal
    Feature Learning, 2018, figure 2), or one along the height and one along the width (C. Szegedy
    and others, Rethinking the Inception Architecture for Computer Vision, 2016, section 3.2).
    """
    if sketch is None or not sketch.is_network:
        return sketch
    said = _tell_pairs(model.graph)
    return replace(sketch, clauses=(*sketch.clauses, said)) if said else sketch


def _tell_pairs(graph: Graph) -> str:
    """Return how many pairs of the kernels that most of them have there are; "" for too few."""
    if len(graph.nodes) > _MOST_NODES:
        return ""
    large = [node for node in graph.nodes if max(_read_kernel(node), default=1) > 1]
    pairs = Counter(_list_pairs(large))
    ((kernels, count),) = pairs.most_common(1) or [(((), ()), 0)]
    if count < _LEAST_PAIRS or 2 * pairs.total() < _LEAST_SHARE * len(large):
        return ""
    first, second = ("×".join(map(str, kernel)) for kernel in kernels)
    return f"{write_count(count, 'factored convolution')} ({first}, then {second})"


def _list_pairs(large: list[Node]) -> Iterator[tuple[Kernel, Kernel]]:
    """Yield the kernels of pairs; each convolution is in one pair at most."""
    places, taken = {*large}, set[Node]()
    for node in large:
        after = _find_next(node)
        if node in taken or after is None or after in taken or after not in places:
            continue
        kernels = _read_kernel(node), _read_kernel(after)
        if len(kernels[0]) == len(kernels[1]) and all(
            min(sizes) == 1 < max(sizes) for sizes in zip(*kernels, strict=True)
        ):
            taken |= {node, after}
            yield kernels


def _read_kernel(node: Node) -> Kernel:
    """Return the kernel of a convolution along several axes; nothing for other nodes."""
    kernel = read_kernel(node) if node.operator.has("convolves") else ()
    return kernel if len(kernel) > 1 else ()


def _find_next(node: Node) -> Node | None:
    """Return the convolution that alone takes what one gives, behind its norm and activation."""
    for _ in range(_MOST_BETWEEN):
        result = node.output(0) if node.outputs else None
        users = result.users if result is not None and not result.is_output else ()
        following = users[0] if len(users) == 1 else None
        if following is None or following.input(0) is not result:
            return None
        if following.operator.has("convolves"):
            return following
        if not following.operator.has(*_BETWEEN):
            return None
        node = following
    return None
