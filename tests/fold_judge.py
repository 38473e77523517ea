"""An independent judge of folds: what is drawn as ×N is N like members, each bordered as written.

It reads the ONNX file itself and takes nothing from the explorer: which nodes are in which
repetition of a stack is given. Compared are

operators
    What computes along the dataflow, without layout, constants and arithmetic on shapes.
wiring
    From which computation of the same repetition each operand comes.
attributes
    Strides, dilations, kernels, groups and axes of what computes.
widths
    The dimensions of stored operands, in order.
streams
    Of how many products both factors depend on no one value from around the repetition, as those
    of attention to another stream do.
extent
    Over how many places the scores of attention reach.
handed
    What a repetition takes from the one before it: from which of its computations, by how many.
scopes
    A numbered module of the author lies in one repetition, or a repetition lies in it.

What the boxes of a picture say of it is judged by :mod:`tests.fold_pictures`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx

from tests.fold_graph import LAYOUT, RawGraph

#: attributes that say what is computed, beside the operator
WEIGHTED = frozenset(("Conv", "ConvTranspose", "Gemm", "MatMul", "LSTM", "GRU", "RNN"))
#: what may multiply two values that are computed
PRODUCTS = frozenset(("MatMul", "Einsum", "Attention", "MultiHeadAttention"))
TELLING = (
    *("strides", "dilations", "kernel_shape", "group", "axis", "axes", "perm", "mode"),
    *("keepdims", "hidden_size", "direction", "num_heads", "blocksize"),
)
#: a call of a module has such a share of the operators that another one has
_LEAST_OF_CALL = 0.8
#: in the colour of a node stand so many of the operands behind one another at most
_ROUNDS = 6

Members = Sequence[frozenset[int]]


@dataclass(slots=True)
class Fault:
    """In what the members of a fold differ.

    Parameters
    ----------
    kind
        What differs, as at the top of this file.
    text
        In which members, and how.
    odd
        The members that differ from the most.
    """

    kind: str
    text: str
    odd: tuple[int, ...] = ()


def judge_fold(raw: RawGraph, members: Members, labels: Sequence[str]) -> list[Fault]:
    """Return in what the members of a fold differ, each kind of difference once."""
    own = [sorted(raw.computing & member) for member in members]
    faults = [_compare("operators", [Counter(raw.nodes[n].op_type for n in each) for each in own])]
    if faults[0] is not None and faults[0].odd == (0,) and _has_all_layers(raw, members):
        # the first works on what is stored, which is no data, with all that others have
        bordered = _judge_scopes(raw, members), _judge_names(raw, own, labels)
        return [fault for fault in bordered if fault is not None]
    for kind, with_attributes, with_widths in (
        ("wiring", False, False),
        ("attributes", True, False),
        ("widths", True, True),
    ):
        if not any(faults):
            colours = [
                _colour(raw, each, with_attributes=with_attributes, with_widths=with_widths)
                for each in own
            ]
            faults.append(_compare(kind, [Counter(each.values()) for each in colours]))
    faults.append(_compare("extent", [Counter(_list_extents(raw, each)) for each in own]))
    if not any(faults):
        faults.append(_compare("streams", [_count_streams(raw, each) for each in own]))
    faults.append(_judge_handing(raw, own))
    faults.append(_judge_scopes(raw, members))
    faults.append(_judge_names(raw, own, labels))
    return [fault for fault in faults if fault is not None]


def _has_all_layers(raw: RawGraph, members: Members) -> bool:
    """Return whether members have as many layers, those that compute no data among them."""
    told = {
        frozenset(Counter(raw.nodes[n].op_type for n in member if _is_layer(raw, n)).items())
        for member in members
    }
    return len(told) == 1 and told != {frozenset()}


def _is_layer(raw: RawGraph, number: int) -> bool:
    return raw.nodes[number].op_type in (*WEIGHTED, "Softmax")


def _compare(kind: str, told: Sequence[Counter[object]]) -> Fault | None:
    keys = [frozenset(one.items()) for one in told]
    common, count = Counter(keys).most_common(1)[0]
    if count == len(keys):
        return None
    odd = tuple(place for place, key in enumerate(keys) if key != common)
    most = told[keys.index(common)]
    more, less = told[odd[0]] - most, most - told[odd[0]]
    texts = [
        f"{sign}{_write(what)}" + (f" ×{count}" if count > 1 else "")
        for sign, counts in (("+", more), ("−", less))
        for what, count in counts.most_common(4)
    ]
    return Fault(kind, f"{[*odd][:8]}: {' '.join(texts)}", odd)


def _write(what: object) -> str:
    if isinstance(what, tuple):
        return "(" + " ".join(_write(one) for one in what[:3]) + ")"
    return str(what)[:60]


def _colour(
    raw: RawGraph, own: Sequence[int], *, with_attributes: bool, with_widths: bool
) -> dict[int, tuple[object, ...]]:
    """Return for each node what is equal for nodes that compute the same of the same."""
    inside = {*own}
    colours: dict[int, tuple[object, ...]] = {}
    short: dict[tuple[object, ...], int] = {}
    for number in own:
        node = raw.nodes[number]
        key: list[object] = [node.op_type]
        if with_attributes:
            key += [_write_attribute(a) for a in node.attribute if a.name in TELLING]
        operands: list[object] = []
        for name in node.input:
            source = _find_source(raw, name)
            if source in inside and source is not None:
                operands.append(("from", hash(colours[source]) if source in colours else 0))
            elif source is None and (dims := _find_stored(raw, name)) is not None:
                operands.append(("stored", dims) if with_widths else "stored")
            else:
                operands.append("outside")
        if node.op_type in ("Add", "Mul", "Concat"):
            operands.sort(key=str)
        colour = (*key, *operands)
        short.setdefault(colour, len(short))
        colours[number] = colour
    return colours


def _count_streams(raw: RawGraph, own: Sequence[int]) -> Counter[object]:
    """Count the products of values whose factors come from different values around a member."""
    inside = {*own}
    origins: dict[int, frozenset[object]] = {}
    counts: Counter[object] = Counter()
    for number in own:
        taken = []
        for name in raw.nodes[number].input:
            source = _find_source(raw, name)
            if source in inside and source is not None:
                taken.append(origins.get(source, frozenset()))
            elif source is None and _find_stored(raw, name) is not None:
                taken.append(frozenset())
            else:
                taken.append(frozenset((name if source is None else source,)))
        origins[number] = frozenset().union(*taken)
        if raw.nodes[number].op_type in PRODUCTS and len(taken) > 1:
            first, second = taken[:2]
            apart = bool(first) and bool(second) and first.isdisjoint(second)
            counts[raw.nodes[number].op_type, "of two streams"] += apart
    return +counts


def _write_attribute(attribute: onnx.AttributeProto) -> tuple[object, ...]:
    return attribute.name, str(onnx.helper.get_attribute_value(attribute))


def _find_source(raw: RawGraph, name: str) -> int | None:
    """Return the computing node that a value comes from, through what only hands it on."""
    for _ in range(1_000):
        number = raw.producers.get(name)
        if number is None or number in raw.computing:
            return number
        node = raw.nodes[number]
        if node.op_type not in LAYOUT or not node.input:
            return None
        name = node.input[0]
    return None


def _find_stored(raw: RawGraph, name: str) -> tuple[int, ...] | None:
    """Return the dimensions of what is stored; of what is made of it without data, none."""
    for _ in range(1_000):
        if name in raw.stored:
            return raw.stored[name]
        number = raw.producers.get(name)
        if number is None:
            return None
        node = raw.nodes[number]
        if node.op_type not in LAYOUT or not node.input:
            return () if number not in raw.computing else None
        name = node.input[0]
    return ()


def _list_extents(raw: RawGraph, own: Sequence[int]) -> Iterator[object]:
    """Yield the last size of what goes into each softmax."""
    for number in own:
        node = raw.nodes[number]
        shape = raw.shapes.get(node.input[0]) if node.op_type == "Softmax" else None
        if shape and isinstance(shape[-1], int) and shape[-1]:
            yield shape[-1]


def _judge_handing(raw: RawGraph, own: Sequence[Sequence[int]]) -> Fault | None:
    """Compare what each member takes from the one before it: which operators give, and take."""
    holders = {number: place for place, each in enumerate(own) for number in each}
    told: list[Counter[object]] = []
    for place, each in enumerate(own[1:], 1):
        taken: Counter[object] = Counter()
        for number in each:
            for name in raw.nodes[number].input:
                source = _find_source(raw, name)
                if source is not None and holders.get(source) == place - 1:
                    taken[raw.nodes[source].op_type, raw.nodes[number].op_type] += 1
        told.append(taken)
    fault = _compare("handed", told) if len(told) > 1 else None
    if fault is not None:
        fault.odd = tuple(place + 1 for place in fault.odd)
    return fault


def _judge_scopes(raw: RawGraph, members: Members) -> Fault | None:
    """Return the numbered modules that a border of a fold cuts.

    What stands in the modules around one may be in a repetition with it, such as a sum.
    """
    own = [member & raw.computing for member in members]
    holders = {number: place for place, each in enumerate(own) for number in each}
    modules: dict[tuple[str, ...], set[int]] = {}
    inside: dict[tuple[str, ...], set[int]] = {}
    for number in raw.computing:
        scopes = raw.scopes[number]
        for end in range(1, len(scopes) + 1):
            if scopes[end - 1].isdecimal() or re.search(r"\.\d+$", scopes[end - 1]):
                modules.setdefault(scopes[:end], set()).add(holders.get(number, -1))
                inside.setdefault(scopes[:end], set()).add(number)
    cut = []
    for module, places in modules.items():
        within = places - {-1}
        if _is_called_again(raw, inside[module], holders):
            continue
        around = {
            n for p in within for n in own[p] if raw.scopes[n] == module[: len(raw.scopes[n])]
        }
        if len(places) > 1 and not all(own[p] <= inside[module] | around for p in within):
            cut.append(".".join(module))
    if not cut:
        return None
    return Fault("scopes", f"cuts {', '.join(cut[:4])}" + (" …" if len(cut) > 4 else ""))


def _is_called_again(raw: RawGraph, module: Iterable[int], holders: Mapping[int, int]) -> bool:
    """Return whether a module is in several members, or in one and elsewhere, each time whole."""
    calls: dict[int, Counter[str]] = {}
    for number in module:
        calls.setdefault(holders.get(number, -1), Counter())[raw.nodes[number].op_type] += 1
    outside = calls.pop(-1, Counter())
    whole = next(iter(calls.values()), Counter[str]())
    times = round(outside.total() / max(whole.total(), 1))
    calls[-1] = Counter({op: count // max(times, 1) for op, count in outside.items()})
    least = _LEAST_OF_CALL * whole.total()
    each = [calls[-1]] * bool(times) + [one for place, one in calls.items() if place >= 0]
    return len(each) > 1 and all((one & whole).total() >= least for one in each)


def _judge_names(
    raw: RawGraph, own: Sequence[Sequence[int]], labels: Sequence[str]
) -> Fault | None:
    """Return the members that are called as one of the modules that they consist of.

    A name may be that of several (``db.2–3``); what stands beside a module and has no weight of
    its own may belong to it.
    """
    for place, (each, label) in enumerate(zip(own, labels, strict=True)):
        name = re.split(r"[\u2013 ]", label)[0]
        if "\u2013" in label or not re.search(r"\d$", name):
            continue
        weighted = [n for n in each if _has_weight(raw, n)]
        named = [n for n in weighted if f".{name}." in f".{'.'.join(raw.scopes[n])}."]
        if named and len(named) < len(weighted):
            others = {".".join(raw.scopes[n]) for n in weighted if n not in named}
            return Fault(
                "name",
                f"{label} has {len(named)} of {len(weighted)} weights of [{place}];"
                f" others are of {', '.join(sorted(others)[:3])}",
            )
    return None


def _has_weight(raw: RawGraph, number: int) -> bool:
    node = raw.nodes[number]
    return node.op_type in WEIGHTED and any(_find_stored(raw, name) for name in node.input)
