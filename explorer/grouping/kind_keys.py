"""What is equal for nodes that are built alike, however far apart their kernels look.

Blocks of a stack often differ in dilation alone, in cycles or from one to the next (A. van den Oord
and others, WaveNet, 2016, section 2.1; Y. Luo and N. Mesgarani, Conv-TasNet, 2019, section II-C).
"""

from __future__ import annotations

from collections.abc import Sequence

from netloupe.explorer.model import Node
from netloupe.explorer.model.node_keys import key_attributes
from netloupe.explorer.patterns.readings import read_int, read_ints, read_str

#: attributes that tell how far apart a kernel looks, and by how much what it looks at is padded
_REACH = ("dilations", "pads")


class KindKeys:
    """Writes what is equal for nodes of one operator that are built alike."""

    def __init__(self) -> None:
        #: by attributes, of which few nodes have others than all the rest
        self._known: dict[bytes, bytes] = {}

    def write(self, node: Node) -> bytes:
        """Return what is equal for nodes of equal attributes.

        The dilation of a convolution is left out, and its padding but for whether that keeps the
        size of a map.
        """
        key = key_attributes(node)
        if not key or not node.operator.has("convolves"):
            return key
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = _write_without_reach(node) or key
        return known


def _write_without_reach(node: Node) -> bytes:
    """Return what is told of a convolution beside its reach; nothing where that is not known."""
    kernel = read_ints(node, "kernel_shape")
    is_stated = read_str(node, "auto_pad") in ("", "NOTSET")
    if not kernel or not is_stated or "dilations" not in node.attributes:
        return b""
    kept = [
        (name, attribute.value)
        for name, attribute in sorted(node.attributes.items())
        if name not in (*_REACH, "group")
    ]
    is_grouped = (read_int(node, "group") or 1) > 1
    return repr((kept, is_grouped, _tell_padding(node, kernel))).encode()


def _tell_padding(node: Node, kernel: Sequence[int]) -> list[str]:
    """Return whether the map is padded so that it keeps its size, or not at all, on each axis."""
    dilations = read_ints(node, "dilations") or (1,) * len(kernel)
    pads = read_ints(node, "pads") or (0,) * (2 * len(kernel))
    told = []
    for axis, (size, dilation) in enumerate(zip(kernel, dilations, strict=False)):
        total = sum(pads[axis :: len(kernel)])
        told.append("same" if total == dilation * (size - 1) else str(total))
    return told
