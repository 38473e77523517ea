"""Kinds of network that are told by how a whole graph is wired, whatever its blocks are."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, islice, pairwise
from math import prod

from netloupe.explorer.costs.value_facts import find_value_facts
from netloupe.explorer.model import Node, Value
from netloupe.explorer.model.constant import constant_tensor
from netloupe.explorer.patterns import read_convolution, read_dims, read_numbers
from netloupe.explorer.patterns.readings import read_axes, read_ints, read_str
from netloupe.explorer.roles import find_weight

from .outline import Outline
from .resolutions import Resolutions, is_crop
from .sizes import may_enlarge, read_stated_shape

#: so begins what networks are called that mask a convolved wave
MASKING = "Time-domain"
#: a picture has so many channels at most
_MOST_COLOURS = 4
#: pictures and what they become have so many axes of places
_PICTURE = 2
#: a decoder makes so much more of what it takes
_LEAST_GROWTH = Fraction(4)
_LEAST_LAYERS = 2
#: a point has so many numbers at most: coordinates, normals, colours
_MOST_OF_POINT = 16
#: so large a share of what has weights is used on both inputs by siamese networks
_LEAST_SHARED = Fraction(1, 2)
#: of a table of edges so large a share is 0
_LEAST_ABSENT = 0.5
_LEAST_NODES = 5
_MOST_OF_TABLE = 1 << 16
_MOST_STEPS = 8
_MOST_SOURCES = 8
_MOST_NODES = 20_000


def name_by_wiring(outline: Outline, resolutions: Resolutions) -> str:
    """Return what a network is called by how all of it is wired; "" where that tells nothing."""
    for tell in (
        _tell_regions,
        _tell_siamese,
        _tell_growth,
        _tell_masks,
        _tell_points,
        _tell_graph,
    ):
        found = tell(outline, resolutions)
        if found:
            return found
    return ""


def _list_layers(outline: Outline) -> list[int]:
    """Return the operations that multiply by matrices of the file, and those that convolve."""
    operations = outline.operations
    return [
        number
        for number, node in enumerate(operations.nodes)
        if node.operator.has("convolves", "multiplies", "recurrent")
        and (find_weight(node) is not None or node.operator.has("convolves"))
    ]


def _tell_regions(outline: Outline, resolutions: Resolutions) -> str:
    """Tell boxes that are chosen, and regions of maps that are cut out by them.

    S. Ren and others, Faster R-CNN, 2015, figure 2.
    """
    nodes = outline.graph.nodes
    if not any(map(is_crop, nodes)):
        return ""
    every = chain(nodes, (one for node in nodes for inner in node.subgraphs for one in inner.nodes))
    chooses = any(node.operator.has("detects") for node in islice(every, _MOST_NODES))
    return "Two-stage detector" if chooses else ""


def _tell_siamese(outline: Outline, resolutions: Resolutions) -> str:
    """Tell two inputs that pass the same weights, apart from each other.

    J. Bromley and others, Signature Verification Using a Siamese Time Delay Neural Network, 1993,
    section 2; where one of both results is the kernel of a convolution over the other: L.
    Bertinetto and others, Fully-Convolutional Siamese Networks for Object Tracking, 2016, figure 1.
    """
    inputs = [value for value in outline.graph.inputs if value.initializer is None]
    if len(inputs) != 2:
        return ""
    operations = outline.operations
    reached: list[int] = []
    for number in range(len(operations)):
        bits = 0
        for value in operations.operands[number]:
            giver = operations.giver(value)
            bits |= reached[giver] if giver is not None else 1 << _find_place(inputs, value)
        reached.append(bits)
    uses: dict[int, set[int]] = {}
    counts: dict[int, int] = {}
    layers = _list_layers(outline)
    for number in layers:
        weight = find_weight(operations.nodes[number])
        tensor = weight.tensor if weight is not None else None
        if tensor is not None:
            uses.setdefault(id(tensor), set()).add(reached[number])
            counts[id(tensor)] = counts.get(id(tensor), 0) + 1
    shared = sum(counts[key] for key, ways in uses.items() if {1, 2} <= ways)
    if shared < 2 * _LEAST_LAYERS or Fraction(shared, len(layers)) < _LEAST_SHARED:
        return ""
    correlates = any(
        operations.nodes[number].operator.has("convolves")
        and len(operations.operands[number]) > 1
        and {reached[giver] for giver in operations.givers(number)} == {1, 2}
        for number in layers
    )
    return "Siamese network with correlation" if correlates else "Siamese network"


def _find_place(inputs: Sequence[Value], value: Value) -> int:
    """Return which of two inputs a value is; a place of its own for any other."""
    return next((place for place, one in enumerate(inputs) if one is value), len(inputs))


def _tell_growth(outline: Outline, resolutions: Resolutions) -> str:
    """Tell a picture that becomes a larger one, or a vector that becomes a picture.

    * Super-resolution: C. Dong and others, Image Super-Resolution Using Deep Convolutional
      Networks, 2014; W. Shi and others, 2016, figure 1: the picture grows behind the body.
    * A decoder, as the generator of a GAN is: A. Radford and others, Unsupervised Representation
      Learning with Deep Convolutional GANs, 2016, figure 1.
    """
    operations = outline.operations
    given, taken = outline.graph.outputs, outline.graph.inputs
    inputs = [value for value in taken if value.initializer is None]
    convolving = [n for n, one in enumerate(operations.nodes) if one.operator.has("convolves")]
    if len(given) != 1 or len(convolving) < _LEAST_LAYERS:
        return ""
    if not resolutions.is_sure:
        return "Convolutional decoder" if _grows_by_sizes(outline, convolving) else ""
    outer = [number for number in range(len(operations)) if number not in resolutions.inner]
    factors = [resolutions[number].factor for number in outer]  # blocks may go down and up inside
    known = [factor for factor in factors if factor is not None]
    if not known or max(known) > 1 or min(known) >= 1:
        return ""
    last = read_convolution(operations, convolving[-1])
    end = resolutions.of_value(given[0])
    if end.factor != min(known) or len(last.kernel) != _PICTURE or not last.out_features:
        return ""
    if last.out_features > _MOST_COLOURS:
        return ""
    first = read_convolution(operations, convolving[0])
    start = read_stated_shape(inputs[0])
    is_picture = start is None or (len(start) == _PICTURE + 2 and start[2:] != (1, 1))
    if len(inputs) == 1 and is_picture and first.in_features == last.out_features:
        return "Super-resolution network" if may_enlarge(outline) and not end.restarts else ""
    is_vector = start is not None and (len(start) == _PICTURE or start[2:] == (1, 1))
    grows = 1 / end.factor >= _LEAST_GROWTH
    return "Convolutional decoder" if is_vector and grows else ""


def _grows_by_sizes(outline: Outline, convolving: Sequence[int]) -> bool:
    """Return whether vectors become a picture by stated sizes, whatever else joins its maps.

    So it is where attention is between the layers (A. Brock and others, Large Scale GAN Training
    for High Fidelity Natural Image Synthesis, 2019, appendix B).
    """
    inputs = [value for value in outline.graph.inputs if value.initializer is None]
    shapes = [read_stated_shape(value) for value in inputs]
    if any(shape is None or len(shape) > _PICTURE for shape in shapes):
        return False
    facts = find_value_facts(outline.graph.model)
    nodes = outline.operations.nodes
    results = [nodes[number].output(0) for number in convolving]
    sizes = []
    for value in (*results, *outline.graph.outputs):
        dims = facts.find_dims(value) if value is not None else None
        if dims is None or len(dims) != _PICTURE + 2:
            return False
        sizes.append(dims[1:])
    if any(not isinstance(dim, int) for size in sizes for dim in size):
        return False
    areas = [prod(dim for dim in size[1:] if isinstance(dim, int)) for size in sizes]
    is_picture = isinstance(sizes[-1][0], int) and sizes[-1][0] <= _MOST_COLOURS
    is_rising = all(one <= two for one, two in pairwise(areas))
    return is_picture and is_rising and areas[-1] >= _LEAST_GROWTH**_PICTURE * areas[0]


def _tell_masks(outline: Outline, resolutions: Resolutions) -> str:
    """Tell a wave that is convolved, multiplied by masks made of that, and convolved back.

    Y. Luo and N. Mesgarani, Conv-TasNet, 2019, figure 1.
    """
    operations = outline.operations
    outputs = outline.graph.outputs
    output = outputs[0] if len(outputs) == 1 else None
    last = operations.giver(operations.source(output)) if output is not None else None
    decoders = _find_all_back(outline, last, "transposed")  # perhaps one for each source
    products = {
        product
        for decoder in decoders
        for product in _find_all_back(outline, operations.givers(decoder)[0], "multiplies_elements")
    }
    taken = operations.operands[min(products)] if len(products) == 1 else []
    if output is None:
        return ""
    for features, mask in (taken, taken[::-1]) if len(taken) == len("xy") else ():
        encoders = _find_all_back(outline, operations.giver(features), "convolves")
        encoder = min(encoders) if len(encoders) == 1 else None
        if encoder is None or operations.givers(encoder):
            continue
        maker, start = outline.giver(mask), outline.owner(encoder)
        is_wave = len(read_ints(operations.nodes[encoder], "kernel_shape")) == 1
        if is_wave and maker is not None and maker.follows(start):
            shape = read_stated_shape(output) or ()
            count = shape[1] if len(shape) == _PICTURE + 1 else 0
            count = len(decoders) if len(decoders) > 1 else count
            if isinstance(count, int) and 1 < count <= _MOST_SOURCES:
                return f"{MASKING} separation network ({count} sources)"
            return f"{MASKING} mask network"
    return ""


def _find_all_back(outline: Outline, number: int | None, trait: str) -> set[int]:
    """Return the nearest operations with a trait on all ways back; nothing where one has none.

    Ways go through what only activates, joins and takes apart.
    """
    operations = outline.operations
    found: set[int] = set()
    pending, seen = [] if number is None else [number], 0
    while pending and seen < _MOST_STEPS * _MOST_SOURCES:
        current = pending.pop()
        seen += 1
        operator = operations.nodes[current].operator
        if operator.has(trait):
            found.add(current)
            continue
        givers = {*operations.givers(current)}
        is_way = len(givers) == 1 or operator.has("joins")
        if not givers or not is_way or operator.has("convolves", "multiplies", "recurrent"):
            return set()
        pending += givers
    return found if not pending else set()


def _tell_points(outline: Outline, resolutions: Resolutions) -> str:
    """Tell layers that work on each point alone, a maximum over points, and layers behind.

    C. Qi and others, PointNet, 2017, figure 2: convolutions have kernels of size 1.
    """
    operations = outline.operations
    layers = _list_layers(outline)
    if any(operations.nodes[number].operator.has("recurrent") for number in layers):
        return ""
    convolving = [n for n in layers if operations.nodes[n].operator.has("convolves")]
    kernels = [read_ints(operations.nodes[number], "kernel_shape") for number in convolving]
    if len(convolving) < _LEAST_LAYERS or any(max(one, default=0) != 1 for one in kernels):
        return ""
    if outline.of_kind("attention", "embedding") or any(
        part.has("resamples", "distributes") and outline.users(part) for part in outline.parts
    ):
        return ""
    first = read_convolution(operations, convolving[0]).in_features or 0
    largest = [n for n, node in enumerate(operations.nodes) if _takes_largest(node)]
    if not 0 < first <= _MOST_OF_POINT or not largest:
        return ""
    is_before = outline.owner(largest[-1]).follows(outline.owner(convolving[0]))
    behind = [n for n in layers if outline.owner(n).follows(outline.owner(largest[-1]))]
    return "Point network" if is_before and behind else ""


def _takes_largest(node: Node) -> bool:
    """Return whether a node takes the largest of all places along an axis."""
    operator = node.operator
    if "Max" not in operator.form:
        return False
    return operator.has("pools_all") or (operator.has("reduces") and bool(read_axes(node)))


def _tell_graph(outline: Outline, resolutions: Resolutions) -> str:
    """Tell products of features with one stored table of edges, in several layers.

    T. Kipf and M. Welling, Semi-Supervised Classification with Graph Convolutional Networks, 2017,
    equation 2. A table is square along an axis of the input, and most of its numbers are exactly
    0, as no learned ones are, but not all beside its diagonal; or a sum goes over several tables
    beside each other (S. Yan and others, Spatial Temporal Graph Convolutional Networks, 2018,
    equation 9).
    """
    sizes = {
        dim
        for value in outline.graph.inputs
        for dim in read_stated_shape(value) or ()
        if isinstance(dim, int) and dim >= _LEAST_NODES
    }
    counts: dict[int, int] = {}
    for node in outline.operations.nodes:
        if not node.operator.has("multiplies"):
            continue
        for value in node.inputs:
            count = _count_nodes(outline, node, value) if value is not None else 0
            if count in sizes:
                counts[count] = counts.get(count, 0) + 1
                break
    if len(counts) != 1:
        return ""
    nodes, layers = counts.popitem()
    return f"Graph convolutional network ({nodes:,} nodes)" if layers >= _LEAST_LAYERS else ""


def _count_nodes(outline: Outline, product: Node, value: Value) -> int:
    """Return between how many nodes a stored table has edges; 0 where it is none."""
    source = outline.operations.source(value)
    dims = read_dims(source)
    if not outline.operations.is_fixed(value) or len(dims) < _PICTURE:
        return 0
    if dims[-1] != dims[-2] or dims[-1] < _LEAST_NODES:
        return 0
    if len(dims) > _PICTURE and _sums_over_tables(product, product.inputs.index(value)):
        return dims[-1]
    numbers = read_numbers(constant_tensor(source), _MOST_OF_TABLE)
    absent = sum(number == 0 for number in numbers)
    if not any(numbers[n] for n in range(len(numbers)) if n % (dims[-1] + 1)):
        return 0  # it leads from nothing to anything else
    return dims[-1] if numbers and _LEAST_ABSENT * len(numbers) <= absent < len(numbers) else 0


def _sums_over_tables(product: Node, place: int) -> bool:
    """Return whether an Einsum sums over tables and nodes: ``nkctv,kvw->nctw``."""
    terms, arrow, result = read_str(product, "equation").replace(" ", "").partition("->")
    given = terms.split(",")
    if not arrow or len(given) != _PICTURE or place >= len(given):
        return False
    table, other = given[place], given[1 - place]
    if len(table) != len({*table}) or len(table) < _PICTURE + 1:
        return False
    summed, reached = {*table[:-1]}, table[-1]
    is_summed = summed <= {*other} and summed.isdisjoint(result)
    return is_summed and reached in result and reached not in other
