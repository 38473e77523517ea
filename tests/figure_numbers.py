"""Whether the numbers in a picture are those of the file, read in another way than by netloupe.

Each width, kernel, ratio and head that is written on a box, beside an edge or in the margin is
compared with the shapes of weights inside of the box, as the file stores them, and of values at its
border, as ``onnx`` infers them once its reference implementation has computed what follows from
small constants alone, such as by how much an exporter pads. What is not known there is not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import prod
from pathlib import Path

import numpy as np
import onnx
import onnx.reference
import onnx.shape_inference

from netloupe.explorer.grouping import Group
from netloupe.explorer.grouping.member_nodes import list_member_nodes
from netloupe.explorer.layout import SceneBox
from netloupe.explorer.model import Node
from netloupe.explorer.render.picture import Picture
from netloupe.explorer.render.ratios import find_ratios
from tests.figure_counts import join_rows, judge_counts, judge_first_width, judge_member_numbers
from tests.figure_sizes import KERNELED, judge_parts, judge_sizes, tells_parts

Dims = tuple[int | str | None, ...]

#: of more nodes no box is judged
_MOST_NODES = 4_000
#: what each of several adds
_GROWTH = re.compile(r"([\d,]+) → ([\d,]+) · \+([\d,]+) each")
_COURSE = re.compile(
    r"(?<![\w/×.,])(\d[\d,]*)((?: ×\d+)?(?: → (?:…|\d[\d,]*)(?: ×\d+)?)+)(?![\w×])"
)
_KERNEL = re.compile(r"(?<![\w×./ ])(\d+(?:×\d+)+)(?![\w×])")
#: between others; alone it is how often something is there
_SCALE = re.compile(r"(?:(?<= · )|^(?=/))([/×])(\d+(?:×\d+)*)(?=$| ·)")
_HEADS = re.compile(r"\b(\d+) heads? × (\d+)(?: over (\d+))?")
_RATIO = re.compile(r"1/(\d+)")
#: what makes a map smaller by strides alone, or not at all
_STEPPING = ("Conv", "MaxPool", "AveragePool", "Relu", "LeakyRelu", "PRelu", "Sigmoid", "Tanh")
_STEPPING += ("BatchNormalization", "InstanceNormalization", "Add", "Constant", "Clip")
#: what joins values, so that what leaves is a sum of widths
_MOST_SUMMED = 6
#: what is computed of constants with so many numbers each
_MOST_COMPUTED = 64


class File:
    """What a file says of shapes.

    Parameters
    ----------
    path
        The file.
    """

    def __init__(self, path: Path) -> None:
        model = onnx.load(path)
        _store_computed(model)
        try:
            graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
        except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):
            graph = model.graph
        self.inputs = [value.name for value in graph.input]
        self.shapes: dict[str, Dims] = {}
        for value in (*graph.input, *graph.value_info, *graph.output):
            if value.type.tensor_type.HasField("shape"):
                dims = value.type.tensor_type.shape.dim
                self.shapes[value.name] = tuple(d.dim_value or d.dim_param or None for d in dims)
        #: of values that are not stored
        self.streams = {**self.shapes}
        self.stored = {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
        self.shapes.update(self.stored)
        self.kernels: dict[str, tuple[int, ...]] = {}
        self.strides: dict[str, tuple[int, ...]] = {}
        self.groups: dict[str, int] = {}
        for node in graph.node:
            if node.op_type == "Constant":
                tensor = next((a.t for a in node.attribute if a.name == "value"), None)
                self.stored[node.output[0]] = tuple(tensor.dims) if tensor is not None else ()
            elif node.input and all(name in self.stored or not name for name in node.input):
                for name in node.output:
                    shape = self.shapes.get(name, ())
                    self.stored[name] = tuple(dim for dim in shape if isinstance(dim, int))
            kernel = next((a.ints for a in node.attribute if a.name == "kernel_shape"), ())
            if kernel and node.output:
                self.kernels[node.output[0]] = tuple(kernel)
            strides = next((a.ints for a in node.attribute if a.name == "strides"), ())
            if node.output and any(stride > 1 for stride in strides):
                self.strides[node.output[0]] = tuple(strides)
            group = next((a.i for a in node.attribute if a.name == "group"), 1)
            if node.output and group > 1:
                self.groups[node.output[0]] = group

    def find_batch(self) -> int:
        """Return the first size of all inputs of data, where they have one; else 0."""
        given = [self.shapes[name] for name in self.inputs if name not in self.stored]
        found = {dims[0] for dims in given if len(dims) > 1}
        batch = found.pop() if len(found) == 1 else 0
        return batch if isinstance(batch, int) else 0


def _store_computed(model: onnx.ModelProto) -> None:
    """Store what a model computes of small constants alone, beside the nodes that do."""
    graph = model.graph
    small = {tensor.name for tensor in graph.initializer if prod(tensor.dims) <= _MOST_COMPUTED}
    small -= {value.name for value in graph.input}
    nodes = []
    for node in graph.node:
        is_plain = not node.domain and not any(a.HasField("g") for a in node.attribute)
        if is_plain and "Random" not in node.op_type and all(n in small for n in node.input if n):
            nodes.append(node)
            small.update(node.output)
    made = [name for node in nodes if node.op_type != "Constant" for name in node.output if name]
    if not made:
        return
    given = [tensor for tensor in graph.initializer if tensor.name in small]
    outputs = [onnx.ValueInfoProto(name=name) for name in made]
    part = onnx.helper.make_model(
        onnx.helper.make_graph(nodes, "constants", [], outputs, given),
        opset_imports=model.opset_import,
        ir_version=model.ir_version,
    )
    try:
        values = onnx.reference.ReferenceEvaluator(part).run(None, {})
    except (NotImplementedError, RuntimeError, TypeError, ValueError):
        return  # an operator without a reference implementation
    computed = dict(zip(made, values, strict=True))
    kept = [node for node in graph.node if not {*node.output} & computed.keys()]
    del graph.node[:]
    graph.node.extend(kept)
    for name, value in computed.items():
        graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(value), name))


class Border:
    """What is inside of a box and at its border, by the names in the file.

    Parameters
    ----------
    nodes
        Those of the box, all of the main graph.
    file
        What the file says of shapes.
    """

    def __init__(self, nodes: Iterable[Node], file: File) -> None:
        self.nodes = [*nodes]
        self.file = file
        inside = {*self.nodes}
        self.taken: dict[str, None] = {}
        self.given: dict[str, None] = {}
        self.inner: dict[str, None] = {}
        #: what each stored operand of these has as sizes
        self.widths: set[int] = set()
        #: what layers take and give
        self.layers: set[tuple[int, int]] = set()
        self.kernels: set[tuple[int, ...]] = set()
        self.strides: list[tuple[int, ...]] = []
        for node in self.nodes:
            first = node.outputs[0].name if node.outputs and node.outputs[0] is not None else ""
            for value in node.inputs:
                if value is None:
                    continue
                if value.name in file.stored:
                    dims = file.stored[value.name]
                    is_kernel = node.op_type in KERNELED and len(dims) > 2
                    self.widths.update(dims[:2] if is_kernel else dims)
                    if len(dims) == 2:
                        self.layers |= {(dims[0], dims[1]), (dims[1], dims[0])}
                    self.widths.update(dim * file.groups.get(first, 1) for dim in dims[1:2])
                    if node.op_type in KERNELED and len(dims) > 2:
                        self.kernels.add(dims[2:])
                elif value.producer not in inside:
                    self.taken[value.name] = None
            if first in file.kernels:
                self.kernels.add(file.kernels[first])
            if first in file.strides:
                self.strides.append(file.strides[first])
            for value in filter(None, node.outputs):
                self.inner[value.name] = None
                if value.is_output or any(user not in inside for user in value.users):
                    self.given[value.name] = None

    def list_dims(self, names: Iterable[str]) -> list[Dims]:
        """Return the shapes of some values that are known and have an axis besides the batch."""
        return [dims for name in names if len(dims := self.file.shapes.get(name, ())) > 1]


def find_false_numbers(picture: Picture, path: Path) -> list[str]:
    """Return a line for each number in a picture that the file does not have there."""
    file = File(path)
    found: list[str] = []
    for box in picture.scene.boxes:
        if box.item.is_terminal or box.item.kind == "stub":
            continue
        nodes = _list_nodes(box)
        if not nodes or len(nodes) > _MOST_NODES:
            continue
        if any(node.graph is not picture.model.graph for node in nodes):
            continue
        border = Border(nodes, file)
        found += _judge_members(picture, box, file)
        texts = [run.text for run in picture.labels.draw(box.item).texts]
        found += [f"{box.item.path}: {what}" for what in _judge_counts(box, texts, nodes, file)]
        for run in picture.labels.draw(box.item).texts:
            found += [
                f"{box.item.path}: {what} in {run.text!r}" for what in judge_text(run.text, border)
            ]
    found += _judge_ratios(picture, file)
    found += judge_sizes(picture, file)
    return [*dict.fromkeys(found)]


def _judge_counts(
    box: SceneBox, texts: Sequence[str], nodes: Sequence[Node], file: File
) -> Iterator[str]:
    repeat = box.item.repeat
    if repeat is not None:
        yield from judge_member_numbers(texts, repeat)
        yield from judge_first_width(texts, repeat, file.stored, file.streams)
    elif not box.item.is_open:
        yield from judge_counts(join_rows(texts), nodes, file.stored)


def _judge_members(picture: Picture, box: SceneBox, file: File) -> Iterator[str]:
    """Judge the header of a stack: every member gives a width that is told, where widths are.

    Of members that each add so many features the sum is what is told last.
    """
    repeat = box.item.repeat
    told: set[int] = set()
    for run in picture.labels.draw(box.item).texts:
        if _GROWTH.search(run.text) and repeat is not None:
            members = [Border(_list_nodes_of(child), file) for child in repeat.children]
            yield from (f"{box.item.path}: {what}" for what in judge_growth(run.text, members))
            continue
        for match in _COURSE.finditer(run.text):
            told |= {*_read_widths(match.group())}
    if repeat is None or not told:
        return
    for child in repeat.children:
        if not isinstance(child, Group):
            continue
        border = Border(list_member_nodes(child, _MOST_NODES), file)
        leaving = _list_ends(border, border.given)
        if leaving and not any(size and size % one == 0 for size in leaving for one in told):
            yield f"{box.item.path}: {child.label} gives none of the widths {sorted(told)}"
        if border.widths and not told & border.widths:
            yield f"{box.item.path}: {child.label} has no weights of {sorted(told)}"


def judge_growth(text: str, members: Sequence[Border]) -> Iterator[str]:
    """Judge ``64 → 256 · +32 each``: so much of every member makes the one of the other."""
    growth = _GROWTH.search(text)
    if growth is None:
        return
    first, last, each = (int(number.replace(",", "")) for number in growth.groups())
    if first + each * len(members) != last:
        yield f"{len(members)} members in {text!r}"
    for number, member in enumerate(members):
        if each not in member.widths:
            yield f"member {number} has no weights of {each} in {text!r}"


def _read_widths(course: str) -> list[int]:
    parts = [part.split(" ×")[0].replace(",", "") for part in course.split(" → ")]
    return [int(part) for part in parts if part.isdigit()]


def _list_nodes(box: SceneBox) -> list[Node]:
    return _list_nodes_of(box.item.element)


def _list_nodes_of(element: object) -> list[Node]:
    if isinstance(element, Group):
        return [*list_member_nodes(element, _MOST_NODES + 1)]
    return [element] if isinstance(element, Node) else []


def judge_text(text: str, border: Border) -> Iterator[str]:
    """Yield what a text on a box says that is not so."""
    multiplies = any(node.op_type in ("Einsum", "Gemm", "MatMul") for node in border.nodes)
    if tells_parts(text) and not multiplies:  # of a product both sides are sizes
        through = border.list_dims({**border.taken, **border.inner})
        yield from judge_parts(
            text, {dim for dims in through for dim in dims if isinstance(dim, int)}
        )
        return
    for match in _COURSE.finditer(text):
        yield from _judge_course(match.group(), border)
    for match in _KERNEL.finditer(text):
        sizes = tuple(map(int, match.group(1).split("×")))
        known = border.kernels | {(*reversed(kernel),) for kernel in border.kernels}
        known |= {kernel for kernel in border.kernels for kernel in (kernel[-1:] * 2,)}
        is_known = _is_place(sizes, border) or _unpools(sizes, border)
        if border.kernels and sizes not in known and not is_known:
            yield f"the kernel {match.group(1)}"
    for match in _SCALE.finditer(text):
        factors = tuple(map(int, match.group(2).split("×")))
        if not _scales(match.group(1), factors, border):
            yield f"the scale {match.group().strip()}"
    for match in _HEADS.finditer(text):
        heads, width, shared = (int(each or 0) for each in match.groups())
        widths = _list_widths(border)
        if (
            widths
            and not {heads * width, 3 * heads * width, heads * width + 2 * shared * width} & widths
        ):
            yield f"{match.group()}, which is no width,"


def _list_widths(border: Border) -> set[int]:
    """Return all sizes of weights, and of what goes through a box where channels may be."""
    found = {*border.widths}
    for dims in border.list_dims({**border.taken, **border.inner}):
        found.update(dim for dim in (dims[1], dims[-1]) if isinstance(dim, int))
    return found


def _unpools(sizes: tuple[int, ...], border: Border) -> bool:
    """Return whether what scatters makes maps larger by some windows."""
    scatters = any(node.op_type.startswith("Scatter") for node in border.nodes)
    return scatters and all(_scales("×", (size,), border) for size in sizes)


def _is_place(sizes: tuple[int, ...], border: Border) -> bool:
    """Return whether sizes are of what goes through a box: windows, patches, maps."""
    dims = border.list_dims({**border.taken, **border.inner})
    return any({*sizes} <= {*each} for each in dims)


def _judge_course(text: str, border: Border) -> Iterator[str]:
    """Judge widths: weights have them, and the last one leaves."""
    widths = _read_widths(text)
    known = border.widths | _list_channels(border, {**border.taken, **border.inner})
    if not border.widths and not known:
        return
    for width in widths:
        if width not in known and not _is_sum(width, border.widths):
            yield f"the width {width:,} of no weight"
    first, last = widths[0], widths[-1]
    entering = _list_ends(border, border.taken)
    if entering and not ({first} & (entering | border.widths) or _is_sum(first, entering)):
        yield f"the width {first:,} that nothing has which enters"
    leaving = _list_ends(border, border.given)
    if len(widths) > 3 and all(pair in border.layers for pair in pairwise(widths)):
        return  # of layers one behind the other, whatever takes the last one apart
    parts = {dims[axis] for dims in border.list_dims(border.given) for axis in (1, -1)}
    joined = sum(dims[-1] for dims in border.list_dims(border.given) if isinstance(dims[-1], int))
    if _is_sum(last, [one for one in parts if isinstance(one, int)]):
        return  # of several that leave the last layer gives all
    if len(border.given) > 1 and last in border.widths:
        return  # what it gives is put apart inside
    if leaving and not any(size and size % last == 0 for size in (*leaving, joined)):
        yield f"the width {last:,} that nothing has which leaves"


def _list_channels(border: Border, names: Iterable[str]) -> set[int]:
    """Return the sizes of axes that have channels: the second of maps, the last of the others."""
    found: set[int] = set()
    for dims in border.list_dims(names):
        places = (1,) if len(dims) > 3 and border.kernels else (1, -1)
        found.update(dim for place in places if isinstance(dim := dims[place], int))
    return found


def _list_ends(border: Border, names: Iterable[str]) -> set[int]:
    """Return all sizes but of the batch; nothing where any is not known."""
    found: set[int] = set()
    for name in names:
        dims = border.file.shapes.get(name)
        if dims is None or any(not isinstance(dim, int) for dim in dims[1:]):
            return set()
        sizes = [dim for dim in dims if isinstance(dim, int)]
        # what is put into heads, or a map that is made of one vector
        found.update(
            prod(part) for n in range(len(sizes)) for part in (sizes[n:], sizes[n : n + 1])
        )
    return found


def _is_sum(width: int, widths: Iterable[int]) -> bool:
    """Return whether a width is one of two or three joined, or a part of one."""
    few = sorted(widths)[-40:]
    return (
        any(one + other == width for one in few for other in few)
        or any(width * times in few for times in (2, 3, 4))
        or any(width == times * one for times in range(2, _MOST_SUMMED) for one in few)
    )


def _scales(sign: str, factors: tuple[int, ...], border: Border) -> bool:
    """Return whether some map that leaves is so much smaller or larger than one that enters."""
    steps = {*border.strides, *((step[0],) for step in border.strides if len({*step}) == 1)}
    if factors in steps or (len(factors) == 1 and factors[0] in _multiply(border.strides)):
        return True
    if border.strides and all(node.op_type in _STEPPING for node in border.nodes):
        return False
    before = [dims for dims in border.list_dims(border.taken) if len(dims) > 2]
    after = [dims for dims in border.list_dims(border.given) if len(dims) > 2]
    if not before or not after:
        return True
    for taken in before:
        for given in after:
            known = [dim for dim in (*taken[1:], *given[1:]) if not isinstance(dim, int)]
            if known:
                return True
            large, small = (taken, given) if sign == "/" else (given, taken)
            ratios = _list_ratios(large, small)
            if len(factors) == 1 and any({*each} == {factors[0]} for each in ratios):
                return True
            if any(each == factors or (*each, *each) == factors for each in ratios):
                return True
    return False


def _list_ratios(large: Dims, small: Dims) -> Iterator[tuple[int, ...]]:
    """Yield by how much the places of one map are more, if channels stand first or last."""
    for places in (slice(2, None), slice(1, -1)):
        a, b = large[places], small[places]
        if len(a) == len(b) and a:
            yield tuple(
                -(-one // other) if -(-one // other) * other - one < other else 0
                for one, other in zip(a, b, strict=True)
                if isinstance(one, int) and isinstance(other, int) and other
            )
    # places in one axis: of a square each side counts
    if len(large) != len(small):
        for one in _count_places(large):
            for other in _count_places(small):
                side = round((one / other) ** 0.5)
                if side * side * other == one:
                    yield (side,)


def _multiply(strides: Iterable[tuple[int, ...]]) -> set[int]:
    """Return by what strides in a row divide, where all axes have the same."""
    found = {1}
    for step in strides:
        if len({*step} - {1}) == 1:
            found |= {one * max(step) for one in found}
    return found - {1}


def _count_places(dims: Dims) -> set[int]:
    """Return how many places a map or a sequence has, channels last or first; 0 for unknown."""
    known = [dim for dim in dims[1:] if isinstance(dim, int) and dim]
    if len(known) < 2 or len(known) < len(dims) - 1:
        return set()
    return {prod(known[1:]), prod(known[:-1])}


def _judge_ratios(picture: Picture, file: File) -> Iterator[str]:
    """Judge the margin: a box at the height of a ratio works at it."""
    images = [file.shapes[name] for name in file.inputs if len(file.shapes.get(name, ())) == 4]
    sides = {
        side
        for dims in images
        for side in (dims[1:3], dims[2:4])
        if all(isinstance(one, int) and one > 4 for one in side)
    }
    if not sides:
        return
    scene = picture.scene
    for ratio in find_ratios(scene, picture.model):
        match = _RATIO.fullmatch(ratio.text)
        assert match is not None
        factor = int(match.group(1))
        # strides of two round up
        right = {tuple(-(-int(one) // factor) for one in side) for side in sides}
        boxes = [
            box
            for box in scene.boxes
            if box.y - 1 <= ratio.y <= box.y + box.height + 1 and not box.item.is_terminal
        ]
        given = [
            dims
            for box in boxes
            for dims in Border(_list_nodes(box), file).list_dims(
                Border(_list_nodes(box), file).given
            )
        ]
        places = [{dims[i : i + 2] for i in range(1, len(dims) - 1)} for dims in given]
        places += [{_unfold(dims)} for dims in given if len(dims) == 3]
        if places and not any(right & each for each in places):
            yield f"margin: {ratio.text} beside maps of {given[0]}"


def _unfold(dims: Dims) -> tuple[int, int]:
    side = round(dims[1] ** 0.5) if isinstance(dims[1], int) else 0
    return side, side
