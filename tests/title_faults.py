"""Boxes named after a module that hold others, and titles that are cut.

In which module a node with weights is, is read from the file: from the names of what it takes, and
of itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from netloupe.explorer.layout import SceneBox
from netloupe.explorer.render.picture import Picture
from tests.flow_faults import Boxes
from tests.raw_graph import RawGraph, RawNode

CONVOLUTIONS = ("Conv", "ConvTranspose", "QLinearConv", "ConvInteger", "FusedConv", "NhwcConv")
PRODUCTS = ("MatMul", "Gemm", "MatMulInteger", "QLinearMatMul", "MatMulNBits", "QGemm")
PRODUCTS += ("FusedMatMul", "Einsum")
_RANGE = re.compile(r"^(.*?)(\d+)(?:–\d+)? … (?:\d+–)?(\d+)$")
#: what torch's older exporter puts behind the name of a module that is called again
_CALL = re.compile(r"_\d+$")
#: through so many nodes that nothing enters a weight is followed
_MOST_STEPS = 6
#: what has fewer sizes above 1 is no matrix, but a norm, a bias or a step
_LEAST_AXES = 2
#: in a box called after a module such a share of the layers may be of others
_MOST_OF_OTHERS = 0.1

Name = tuple[str, ...]


def split_name(text: str) -> Name:
    """Return the parts of a name of a module or node."""
    parts: list[str] = []
    for part in text.split("/"):
        inner = part.split(".")
        # torch's older exporter writes ``layers/layers.0``
        parts += inner[1:] if parts and len(inner) > 1 and inner[0] == parts[-1] else inner
    return tuple(filter(None, parts))


def read_title(text: str) -> set[Name]:
    """Return the modules that a title names: several where it has a range, or lists them."""
    if ", " in text:
        return set().union(*map(read_title, text.split(", ")))
    text = text.replace(" / ", ".")
    match = _RANGE.match(text)
    if match is None:
        return {split_name(text)} if text else set()
    before, low, high = match.group(1), int(match.group(2)), int(match.group(3))
    return {split_name(f"{before}{number}") for number in range(low, min(high, low + 500) + 1)}


def list_weights(node: RawNode, raw: RawGraph) -> list[str]:
    """Return the names of the stored matrices that a node takes, through what nothing enters."""
    found, pending = [], [(node, 0)]
    while pending:
        one, depth = pending.pop()
        for name in one.taken:
            if sum(dim > 1 for dim in raw.stored.get(name, ())) >= _LEAST_AXES:
                found.append(name)
        if depth < _MOST_STEPS:
            pending += [(other, depth + 1) for other in one.before if other.is_constant]
    return found


class Modules:
    """In which modules the nodes with weights of a file are."""

    def __init__(self, raw: RawGraph) -> None:
        self.names: dict[RawNode, list[Name]] = {}
        #: the weights of each node, which are another call's as well where a module is called again
        self.weights: dict[RawNode, frozenset[str]] = {}
        takers: Counter[str] = Counter()
        for node in raw.nodes.values():
            if node.is_constant or node.proto.op_type not in (*CONVOLUTIONS, *PRODUCTS):
                continue
            if weights := list_weights(node, raw):
                self.weights[node] = frozenset(weights)
                takers.update({*weights})
        for node, all_weights in self.weights.items():
            # an exporter stores equal weights once, under the name of any of them
            weights = [name for name in all_weights if takers[name] == 1] or [*all_weights]
            names = [split_name(name)[:-1] for name in weights if "." in name and "::" not in name]
            if "/" in node.proto.name:
                names.append(split_name(node.proto.name)[:-1])
            for entry in node.proto.metadata_props:
                if entry.key == "pkg.torch.onnx.name_scopes":
                    names += [split_name(each) for each in re.findall(r"'([^']*)'", entry.value)]
            if names := [name for name in names if name]:
                self.names[node] = names

    def find_in(self, node: RawNode, wanted: Iterable[Name]) -> list[Name]:
        """Return the whole names of those of some modules that a node is in."""
        return [
            name[: start + len(one)]
            for known in self.names.get(node, ())
            for name in (known, tuple(_CALL.sub("", part) for part in known))
            for one in wanted
            for start in range(len(name) - len(one) + 1)
            if name[start : start + len(one)] == one
        ]


def find_false_titles(picture: Picture, raw: RawGraph) -> list[str]:
    """Return a line for each box called after a module that holds others.

    One called after several modules in a row of numbers has something of each.
    """
    boxes, modules = Boxes(picture, raw), Modules(raw)
    found: dict[str, None] = {}
    for number, box in enumerate(picture.scene.boxes):
        nodes = boxes.nodes[number]
        if nodes and not box.item.is_terminal and box.item.kind != "stub":
            for line in _judge_title(box, nodes, modules, picture):
                found[f"{box.item.path}: {line}"] = None
    return [*found]


def find_title(box: SceneBox, picture: Picture) -> str:
    """Return what stands in bold on a box, whole where it is cut."""
    face = picture.labels.draw(box.item)
    shown = next((run.text for run in face.texts if run.style == "title"), "")
    return face.title.partition(" · ")[0].partition(" ×")[0] if face.title else shown


def _judge_title(
    box: SceneBox, nodes: set[RawNode], modules: Modules, picture: Picture
) -> Iterator[str]:
    title = find_title(box, picture)
    wanted = read_title(title)
    known = [node for node in nodes if node in modules.names]
    inside = {node: found for node in known if (found := modules.find_in(node, wanted))}
    if not inside:
        return
    others = [node for node in known if node not in inside]
    if len(others) > _MOST_OF_OTHERS * len(known):
        names = sorted({".".join(modules.names[node][0]) for node in others})
        yield f"{title} holds {len(others)} of {len(known)}: {', '.join(names[:3])}"
    whole = {name for found in inside.values() for name in found}
    whole = {name for found in inside.values() for name in found}
    gone = wanted - {one for name in whole for one in wanted if name[len(name) - len(one) :] == one}
    if _RANGE.match(title) and gone:
        yield f"{title} holds nothing of {'.'.join(min(gone))}"


def find_cut_titles(picture: Picture) -> list[str]:
    """Return a line for each title, with what its box is, that is not written out."""
    found = []
    for box in picture.scene.boxes:
        face = picture.labels.draw(box.item)
        for run in face.texts:
            is_cut = "…" in run.text.replace(" … ", "") and not run.text.startswith("… ")
            if run.style in ("title", "title-muted") and is_cut:
                found.append(f"{box.item.path}: {run.text} for {face.title}")
    return found
