"""Well-known groups of nodes, found by how they are wired.

Each is looked for from its most telling node: the root of a norm, the Erf or Tanh of a GELU,
the Softmax of an attention, the activation of an MLP, a Conv. Steps from there are bounded, so
that all of it is linear in the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from netloupe.explorer.model import Node
from netloupe.explorer.progress import step

from .attention_places import find_attention_places
from .readings import read_scalar
from .residuals import find_residual_blocks
from .wires import Wires

#: activations as the field writes them, where that differs from the operator's name
_WRITTEN = {
    "Gelu": "GELU",
    "LeakyRelu": "LeakyReLU",
    "PRelu": "PReLU",
    "Relu": "ReLU",
}
_NORMALIZATIONS = {"BatchNormalization": "BN", "InstanceNormalization": "IN"}
_MOST_LAYERS = 32
#: activations that exporters write out
_WRITTEN_OUT = frozenset({"GELU", "HardSwish", "QuickGELU", "SiLU"})
#: a group takes in at most so many nodes that stand between its own
_MOST_BETWEEN = 8
#: whose places are at most so far apart
_MOST_APART = 1_000


@dataclass(frozen=True, slots=True)
class Motif:
    """A well-known group among some nodes, by their places."""

    name: str
    places: frozenset[int]


def find_motifs(nodes: Sequence[Node]) -> list[Motif]:
    """Return the well-known groups among some nodes.

    Two of them are either disjoint or one inside the other; none is all of the nodes.
    """
    wires = Wires(nodes)
    found: list[Motif] = []
    owner: dict[int, Motif] = {}
    for search in (
        _find_norms,
        _find_activations,
        _find_attentions,
        _find_mlps,
        _find_convolutions,
        _find_residuals,
    ):
        step()
        for motif in search(wires, owner):
            places = motif.places | _list_between(wires, motif.places)
            if len(places) > len(motif.places) + _MOST_BETWEEN:
                continue
            places |= _fixed_givers(wires, places)
            motif = Motif(motif.name, places)
            inner = {id(owner[place]): owner[place] for place in places if place in owner}
            if 1 < len(places) < len(nodes) and all(
                other.places < places for other in inner.values()
            ):
                found.append(motif)
                owner.update(dict.fromkeys(places, motif))
    return found


def _list_between(wires: Wires, places: frozenset[int]) -> set[int]:
    """Return what takes from some nodes and gives to others of them: a box would be in a circle.

    Not looked for where the nodes are far apart in the file.
    """
    low, high = min(places), max(places)
    behind: set[int] = set()
    for place in range(low + 1, high) if high - low <= _MOST_APART else ():
        if place not in places and any(
            producer in places or producer in behind for producer in wires.producers(place)
        ):
            behind.add(place)
    between: set[int] = set()
    for place in sorted(behind, reverse=True):
        if any(user in places or user in between for user in wires.users(place)):
            between.add(place)
    return between


def _fixed_givers(wires: Wires, places: frozenset[int]) -> set[int]:
    """Return the nodes that only bring constants into the layout in which some nodes use them."""
    return {
        producer
        for place in places
        for producer in wires.producers(place)
        if producer not in places
        and not wires.computed(producer)
        and places.issuperset(wires.users(producer))
    }


def _is_activation(wires: Wires, place: int) -> bool:
    """Return whether a node is an activation of each element; Softmax is not."""
    return wires.has(place, "activates") and wires.has(place, "elementwise")


Search = Callable[[Wires, dict[int, Motif]], Iterator[Motif]]


def _find_norms(wires: Wires, owner: dict[int, Motif]) -> Iterator[Motif]:
    """Find x / sqrt(mean(x²) + ε), over x or x - mean(x), with scale and shift."""
    for root in range(len(wires.nodes)):
        if wires.op(root) != "Sqrt" and not _is_root(wires, root):
            continue
        places = {root}
        variance = _walk_back(wires, root, places, ("Add",), ("ReduceMean",), ("Pow", "Mul"))
        if variance is None:
            continue
        name = "RMSNorm"
        centred = next(iter(wires.producers(variance)), None)
        if centred is not None and wires.op(centred) == "Cast":
            if set(wires.users(centred)) <= places | {variance}:
                places.add(centred)
            centred = next(iter(wires.producers(centred)), None)
        if centred is not None and wires.op(centred) == "Sub":
            mean = [
                producer
                for producer in wires.producers(centred)
                if wires.op(producer) == "ReduceMean"
            ]
            if mean:
                name = "LayerNorm"
                places |= {centred, mean[-1]}
        end = _walk_tail(wires, root, places, name)
        for place in sorted(places)[:4]:
            for producer in wires.producers(place):
                if wires.op(producer) == "Cast" and places.issuperset(wires.users(producer)):
                    places.add(producer)
        if end is not None and wires.is_closed(places, (end,)):
            yield Motif(name, frozenset(places))


def _is_root(wires: Wires, place: int) -> bool:
    """Return whether a node is x to the power of one half."""
    node = wires.nodes[place]
    exponent = node.input(1) if wires.op(place) == "Pow" and len(node.inputs) > 1 else None
    return exponent is not None and read_scalar(exponent) == 0.5


def _walk_back(wires: Wires, place: int, places: set[int], *steps: tuple[str, ...]) -> int | None:
    """Go back by one node for each step, Cast aside; add them. Return the last."""
    for ops in steps:
        producer = next(iter(wires.producers(place)), None)
        if producer is not None and wires.op(producer) == "Cast":
            places.add(producer)
            producer = next(iter(wires.producers(producer)), None)
        if producer is None or wires.op(producer) not in ops:
            return None
        places.add(producer)
        place = producer
    return place


def _walk_tail(wires: Wires, root: int, places: set[int], name: str) -> int | None:
    """Add the division, and the scale and shift behind it; return the last node."""
    end = wires.only_user(root)
    if end is None or wires.op(end) not in ("Div", "Reciprocal"):
        return None
    places.add(end)
    if (
        wires.op(end) == "Reciprocal"
        or wires.nodes[end].inputs[1:2] != wires.nodes[root].outputs[:1]
        or wires.is_scaling(end, "Div")
    ):
        product = wires.only_user(end)
        if product is None or wires.op(product) != "Mul":
            return None
        places.add(product)
        end = product
    wanted = ["Mul", "Add"] if name == "LayerNorm" else ["Mul"]
    while wanted:
        following = wires.only_user(end)
        passed = end
        if following is not None and wires.op(following) == "Cast":
            passed, following = following, wires.only_user(following)
        if following is None or not wires.is_scaling(following, *wanted):
            break
        del wanted[: wanted.index(wires.op(following)) + 1]
        places |= {passed, following}
        end = following
    return end


def _find_activations(wires: Wires, owner: dict[int, Motif]) -> Iterator[Motif]:
    """Find GELU by its Erf or Tanh, and x times a squashed x (SiLU and the like)."""
    for place in range(len(wires.nodes)):
        op = wires.op(place)
        if op in ("Erf", "Tanh"):
            motif = _find_gelu(wires, place)
            if motif is not None:
                yield motif
        elif op in ("Sigmoid", "HardSigmoid"):
            product = wires.only_user(place)
            if product is None or wires.op(product) != "Mul":
                continue
            inner = next(iter(wires.producers(place)), None)
            operand = wires.nodes[place].input(0)
            if operand is not None and operand in wires.nodes[product].inputs:
                name = "SiLU" if op == "Sigmoid" else "HardSwish"
                yield Motif(name, frozenset((place, product)))
            elif (
                inner is not None
                and wires.is_scaling(inner, "Mul")
                and wires.only_user(inner) == place
                and set(wires.computed(inner)) & set(wires.nodes[product].inputs)
            ):
                yield Motif("QuickGELU", frozenset((inner, place, product)))


def _find_gelu(wires: Wires, anchor: int) -> Motif | None:
    plus = wires.only_user(anchor)
    if plus is None or not wires.is_scaling(plus, "Add"):
        return None
    places = {anchor, plus}
    end = plus
    has_product = False  # with what the function is of, before or behind the half
    product = wires.only_user(plus)
    while product is not None and wires.op(product) == "Mul" and len(places) < 4:
        if not wires.is_scaling(product, "Mul"):
            if has_product:
                break
            has_product = True
        places.add(product)
        end = product
        product = wires.only_user(product)
    if not has_product:
        return None
    pending = [*places]
    while pending and len(places) < 12:
        for producer in wires.producers(pending.pop()):
            if (
                producer not in places
                and wires.op(producer) in ("Add", "Div", "Mul", "Pow")
                and wires.only_user(producer) is not None
            ):
                places.add(producer)
                pending.append(producer)
    return Motif("GELU", frozenset(places)) if wires.is_closed(places, (end,)) else None


def _find_attentions(wires: Wires, owner: dict[int, Motif]) -> Iterator[Motif]:
    """Find products around a Softmax, with the projections before and behind them."""
    for places in find_attention_places(wires):
        yield Motif("Attention", places)


def _find_mlps(wires: Wires, owner: dict[int, Motif]) -> Iterator[Motif]:
    """Find two linear nodes with an activation between, and perhaps a gate."""
    done: set[int] = set()
    for place in range(len(wires.nodes)):
        motif = owner.get(place)
        if motif is None and wires.op(place) == "SwiGLU":
            halves = [wires.linear_before(value, (place,)) for value in wires.computed(place)]
            last = wires.linear_behind(place)
            if last and halves and all(halves):
                yield Motif("Gated MLP", frozenset({place, *last}.union(*halves)))
            continue
        if motif is not None and motif.name in _WRITTEN_OUT:
            inner = set(motif.places)
        elif motif is None and _is_activation(wires, place):
            inner = {place}
        else:
            continue
        end = max(inner)
        if end in done:
            continue
        done.add(end)
        outer = [
            value
            for part in sorted(inner)
            for value in wires.computed(part)
            if wires.producer(value) not in inner
        ]
        if not outer or any(value is not outer[0] for value in outer):
            continue
        first = wires.linear_before(outer[0], inner)
        name = "MLP"
        gate = wires.only_user(end)
        gated: list[int] = []
        if gate is not None and wires.op(gate) == "Mul" and len(wires.computed(gate)) > 1:
            other = [value for value in wires.computed(gate) if wires.producer(value) != end]
            gated = wires.linear_before(other[0], (gate,)) if other else []
            inner.add(gate)
            end, name = gate, "Gated MLP"
        second = wires.linear_behind(end)
        if first and second and (gated or name == "MLP"):
            further = _follow_layers(wires, owner, second[-1], done) if name == "MLP" else []
            yield Motif(name, frozenset({*first, *inner, *gated, *second, *further}))


def _follow_layers(wires: Wires, owner: dict[int, Motif], end: int, done: set[int]) -> list[int]:
    """Return further activations and linear nodes that each alone take what is before them."""
    places: list[int] = []
    for _ in range(_MOST_LAYERS):
        passed = wires.follow(end)
        place = wires.only_user(passed[-1] if passed else end)
        if place is None:
            break
        motif = owner.get(place)
        is_known = motif is not None and motif.name in _WRITTEN_OUT
        if not is_known and (motif is not None or not _is_activation(wires, place)):
            break
        inner = set(motif.places) if motif is not None else {place}
        following = wires.linear_behind(max(inner))
        if not following or not inner.issuperset(
            user for part in inner for user in wires.users(part) if user not in following
        ):
            break
        done.add(max(inner))
        places += [*passed, *sorted(inner), *following]
        end = following[-1]
    return places


def _find_convolutions(wires: Wires, owner: dict[int, Motif]) -> Iterator[Motif]:
    """Find a convolution with the normalization and the activation behind it."""
    for place in range(len(wires.nodes)):
        if not wires.has(place, "convolves"):
            continue
        places, parts = [place], ["Conv"]
        following = wires.only_user(place)
        if following is not None and wires.op(following) in _NORMALIZATIONS:
            places.append(following)
            parts.append(_NORMALIZATIONS[wires.op(following)])
            following = wires.only_user(following)
            while following is not None and wires.is_scaling(following, "Mul", "Add"):
                places.append(following)
                following = wires.only_user(following)
        users = wires.users(places[-1])
        motif = owner.get(users[0]) if users and users[0] >= 0 else None
        if motif is not None and motif.places.issuperset(users):
            places.extend(motif.places)
            parts.append(motif.name)
        elif following is not None and _is_activation(wires, following):
            places.append(following)
            parts.append(_WRITTEN.get(wires.op(following), wires.op(following)))
        yield Motif(" · ".join(parts), frozenset(places))


def _find_residuals(wires: Wires, owner: dict[int, Motif]) -> Iterator[Motif]:
    """Find residual blocks of convolutions; an attention is more than they are."""
    for name, places in find_residual_blocks(wires):
        if not any(place in owner and owner[place].name == "Attention" for place in places):
            yield Motif(name, places)
