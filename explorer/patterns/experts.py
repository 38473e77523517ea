"""Mixtures of experts: a router, and MLPs of which each token takes a few."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from netloupe.explorer.dataflow import is_input_independent
from netloupe.explorer.model import Node, Value
from netloupe.explorer.notation import write_count

from .details import FeatureDetails
from .found_blocks import FoundBlock, FoundBlocks
from .linear import write_widths
from .operations import ARRANGING, Operations, list_data
from .picked_factors import picks_factors
from .sorted_experts import read_sorted_experts
from .transformer_details import ExpertsDetails
from .weight_sizes import read_dims

#: operators that multiply by the weights of a chosen expert
_PRODUCTS = frozenset({"MatMul", "Einsum", "Gemm"})
_MOST_OPERATIONS = 2_000
#: experts, and rows and columns of a matrix for each
_RANK_OF_TABLE = 3
#: one for both halves of what is gated, one behind them
_TABLES_OF_GATED = 2
#: activations by which a router weighs experts
_ROUTING = frozenset({"Sigmoid", "Softmax"})
#: what leaves indices those of experts: that of an expert that does nothing becomes another
_INDEX_TRAITS = ("chooses", "clips", "compares", "compares_order")
#: between a router and the choice: what scores become, a bias for balance, and parts of them
_SCORING = frozenset({*_ROUTING, "Add", "Slice"})
_MOST_SCORING = 4
#: what may stand between a choice outside of experts and the rows that it picks
_MOST_BETWEEN = 12


def find_experts(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find a mixture of experts: all that follows from what its router takes, up to a sum.

    A linear router gives each token a weight for each expert, of which the k largest count
    (N. Shazeer and others, Outrageously Large Neural Networks, 2017, equations 3 to 5; A. Jiang
    and others, Mixtral of Experts, 2024, section 2.1), or the largest alone (W. Fedus and others,
    Switch Transformers, 2022, section 2.1). The experts are MLPs side by side, or
    their weights are picked from a table by what the router chose. Fused: com.microsoft's ``MoE``.
    """
    operations = blocks.operations
    if len(operations) > _MOST_OPERATIONS or not operations.nodes:
        return
    routers = {
        id(router): (router, choice, count) for router, choice, count in _find_routers(blocks)
    }
    for router, choice, count in routers.values():
        found = _find_mixture(blocks, router, choice, count)
        if found is not None:
            yield found
    yield from _find_picked_experts(blocks)


def _find_picked_experts(blocks: FoundBlocks) -> Iterator[FoundBlock]:
    """Find experts whose weights are picked from tables by what a choice outside tells.

    The router may be a network of its own that hands on what it remembers, which is no part of
    what the experts are.
    """
    by_choice: dict[Node, list[int]] = {}
    for number, node in enumerate(blocks.operations.nodes):
        if blocks.owner[number] is None and picks_factors(node):
            choice = _find_choice(node)
            if choice is not None:
                by_choice.setdefault(choice, []).append(number)
    for choice, tables in by_choice.items():
        found = _read_picked_experts(blocks, choice, tables)
        if found is not None:
            yield found


def _read_picked_experts(
    blocks: FoundBlocks, choice: Node, tables: Sequence[int]
) -> FoundBlock | None:
    """Return the experts whose weights are in some tables; None where they are of another form."""
    operations = blocks.operations
    count = _read_table(operations, tables[0])[0]
    inner = _read_inner([operations.nodes[number] for number in tables], count)
    if inner is None:
        return None
    numbers = _follow_tables(blocks, tables)
    end = max(numbers)
    if not operations.is_closed(set(numbers), end):
        return None
    top = _read_count(operations, choice)
    owners = [found for n in numbers if (found := blocks.owner[n]) is not None]
    is_swish = {found.name for found in owners if found.kind == "activation"} == {"SiLU"}
    unit = "SwiGLU" if is_swish else None
    facts = [write_count(count, "expert"), *([f"top {top}"] if top else [])]
    facts += [f"{unit} {write_widths(*inner)}"] if unit else []
    details = ExpertsDetails(experts=count, top=top or None, widths=inner, unit=unit)
    return FoundBlock("experts", "Routed experts", numbers, end, tuple(facts), details)


def _follow_tables(blocks: FoundBlocks, tables: Collection[int]) -> frozenset[int]:
    """Return picking of weights and what follows, up to a sum with something else."""
    operations = blocks.operations
    numbers: set[int] = {*tables}
    for number in range(len(operations)):
        givers = operations.givers(number)
        if number in numbers or not numbers.intersection(givers):
            continue
        if all(operations.kinds[giver] == "ReduceSum" for giver in givers):
            continue  # that of all experts of a token
        owner = blocks.owner[number]
        is_sum = operations.kinds[number] == "Add" and not numbers.issuperset(givers)
        if not is_sum and (owner is None or owner.kind == "activation"):
            numbers |= owner.numbers if owner is not None else {number}
    return frozenset(numbers)


def _find_choice(node: Node) -> Node | None:
    """Return the choice of the largest scores by which a node picks rows; None where unknown."""
    value = list_data(node)[1] if len(list_data(node)) > 1 else None
    for _ in range(_MOST_BETWEEN):
        producer = value.producer if value is not None else None
        if producer is None:
            return None
        if producer.operator.form in ("ArgMax", "TopK"):
            return producer
        taken = [v for v in producer.inputs if v is not None and not is_input_independent(v)]
        if not producer.operator.has(*_INDEX_TRAITS, *ARRANGING) or not taken:
            return None
        value = taken[-1]
    return None


def _find_mixture(
    blocks: FoundBlocks, router: FoundBlock, choice: int | None, count: int
) -> FoundBlock | None:
    """Return what follows from what a router takes, where this is a mixture of experts."""
    operations = blocks.operations
    numbers = _follow(blocks, router)
    if choice is not None and operations.kinds[choice] == "TopK":
        # of several the last one: groups of experts may be chosen before (DeepSeek-AI, DeepSeek-V3,
        # 2024, section 2.1.2)
        choice = max(
            number
            for number in numbers
            if operations.kinds[number] == "TopK"
            # of all tokens and choices: that sorts
            and (number == choice or _read_count(operations, operations.nodes[number]) <= count)
        )
    kinds = {number: operations.kinds[number] for number in sorted(numbers)}
    owners = [found for n in kinds if (found := blocks.owner[n]) is not None]
    experts = {id(found): found for found in owners if found.kind == "mlp"}
    routed = _list_after(operations, choice, numbers)
    tables = [n for n in kinds if _picks_weights(operations, n, choice, routed, count)]
    if choice is not None and _chooses_of_part(operations, router, choice):
        # of scores besides, for experts that take all tokens, there are no rows in the tables
        rows = (dims[0] for n in tables if len(dims := _read_table(operations, n)) == 3)
        count = next(rows, count)
    fused = [n for n in kinds if operations.nodes[n].operator.has("routes_experts")]
    products = [
        number
        for number, kind in kinds.items()
        if kind in _PRODUCTS and any(giver in tables for giver in operations.givers(number))
    ]
    is_picked = len(tables) > 1 and len(products) > 1
    if is_picked:  # these have picked weights; others are shared by all tokens
        picked = {*tables, *products}
        experts = {key: found for key, found in experts.items() if not picked & found.numbers}
    sorted_experts = read_sorted_experts(blocks, numbers, count)
    is_listed = len(experts) > 1 and len(experts) >= count // 2
    if not (fused or is_picked or is_listed or sorted_experts):
        return None
    facts = [write_count(count, "expert")]
    chosen = _read_count(operations, operations.nodes[choice]) if choice is not None else 0
    if choice is not None and operations.kinds[choice] == "ArgMax":  # one after another
        chosen = sum(kind == "ArgMax" for kind in kinds.values())
    if chosen:
        facts.append(f"top {chosen}")
    details = ExpertsDetails(experts=count, top=chosen or None)
    names = {found.name for found in experts.values()}
    inner = _read_inner([operations.nodes[number] for number in tables], count)
    shared = max(len(experts), _count_stacked(operations, numbers, inner) if inner else 0)
    if shared and (is_picked or fused):  # the experts' own weights are in tables
        facts.append(write_count(shared, "shared expert"))
    elif len(names) == 1:
        first = next(iter(experts.values()))
        facts.append(" ".join((first.name, *first.facts[:1])))
    if tables and len(names) != 1:
        dims = read_dims(list_data(operations.nodes[tables[0]])[0])
        if dims and dims[0] != count:
            return None
    if inner:
        activations = {found.name for found in owners if found.kind == "activation"}
        details = replace(
            details,
            widths=inner,
            # of one half, by which the other is multiplied
            unit="SwiGLU" if activations - _ROUTING == {"SiLU"} else None,
            # that take every token (D. Dai and others, DeepSeekMoE, 2024, 3.2)
            shared_experts=shared or None,
        )
    if sorted_experts is not None:
        widths, is_gated = sorted_experts
        activations = {found.name for found in owners if found.kind == "activation"}
        is_swish = is_gated and activations - _ROUTING == {"SiLU"}
        details = replace(details, widths=widths, unit="SwiGLU" if is_swish else None)
        facts.append(" ".join([*(["SwiGLU"] if is_swish else []), write_widths(*widths)]))
    end = max(numbers)
    if not operations.is_closed(set(numbers), end):
        return None
    parts = (router, *experts.values())
    return FoundBlock("experts", "Mixture of experts", numbers, end, tuple(facts), details, parts)


def _read_inner(nodes: Sequence[Node], count: int) -> tuple[int, int, int] | None:
    """Return the widths of experts whose weights are picked from two tables.

    The first table is for both halves of gated units.
    """
    found: dict[Value, tuple[int, ...]] = {}
    for node in nodes:
        table = list_data(node)[0]
        dims = read_dims(table)
        if table is not None and len(dims) == _RANK_OF_TABLE and dims[0] == count:
            found[table] = dims
    tables = [*found.values()]
    if len(tables) != _TABLES_OF_GATED:
        return None
    for width, inner in (tables[1][1:], tables[1][:0:-1]):
        if sorted(tables[0][1:]) == sorted((width, 2 * inner)):
            return width, inner, width
    return None


def _count_stacked(
    operations: Operations, numbers: Collection[int], inner: tuple[int, int, int]
) -> int:
    """Return how many experts of some widths take every token, their weights stacked in one."""
    width, hidden, _ = inner
    for number in sorted(numbers):
        if operations.kinds[number] != "Gemm":
            continue
        dims = next(map(read_dims, operations.fixed(number)), ())
        if len(dims) == _RANK_OF_TABLE and sorted(dims[1:]) == sorted((width, hidden)):
            return dims[0]
    return 0


def _chooses_of_part(operations: Operations, router: FoundBlock, choice: int) -> bool:
    """Return whether only a part of the scores that a router gives may be chosen."""
    number: int | None = choice
    for _ in range(_MOST_SCORING + 1):
        number = next(iter(operations.givers(number)), None) if number is not None else None
        if number is None or number in router.numbers:
            return False
        if operations.kinds[number] == "Slice":
            return True
    return False


def _list_after(
    operations: Operations, choice: int | None, numbers: Collection[int]
) -> frozenset[int]:
    """Return what follows from a choice alone: the indices, however they are arranged."""
    found = set() if choice is None else {choice}
    for number in sorted(numbers):
        givers = operations.givers(number)
        is_plain = operations.nodes[number].operator.has(*_INDEX_TRAITS)
        if is_plain and givers and found.issuperset(givers):
            found.add(number)
    return frozenset(found)


def _read_table(operations: Operations, number: int) -> tuple[int, ...]:
    return read_dims(list_data(operations.nodes[number])[0])


def _picks_weights(
    operations: Operations, number: int, choice: int | None, routed: Collection[int], count: int
) -> bool:
    """Return whether a node picks weights of some experts: by the choice, or one expert each.

    In the second form, in which an exporter followed one example, an expert that was chosen there
    has a piece of the graph; its matrices are a slice of a table for all experts.
    """
    node = operations.nodes[number]
    if not node.operator.has("gathers"):
        return False
    if choice in operations.givers(number):
        return True
    dims = _read_table(operations, number)
    if len(dims) != _RANK_OF_TABLE:
        return False
    return dims[0] == count or any(giver in routed for giver in operations.givers(number))


def _follow(blocks: FoundBlocks, router: FoundBlock) -> frozenset[int]:
    """Return what follows from what a router takes, up to a sum with something else."""
    operations = blocks.operations
    start = operations.operands[min(router.numbers)][0]
    barrier = operations.giver(start)
    numbers: set[int] = set()
    for number in range(len(operations)):
        taken = operations.operands[number]
        if not any(v is start or operations.giver(v) in numbers for v in taken):
            continue
        owner = blocks.owner[number]
        if owner is not None and owner.kind in ("attention", "norm"):
            continue
        if operations.nodes[number].operator.has("convolves"):
            continue
        others = [v for v in taken if v is not start and operations.giver(v) not in numbers]
        if operations.kinds[number] == "Add" and others:
            continue
        if number != barrier:
            numbers |= owner.numbers if owner is not None else {number}
    return frozenset(numbers)


def _find_routers(blocks: FoundBlocks) -> list[tuple[FoundBlock, int | None, int]]:
    """Return routers, the choices of the largest weights, and the numbers of experts."""
    operations = blocks.operations
    found: list[tuple[FoundBlock, int | None, int]] = []
    for number, kind in enumerate(operations.kinds):
        if operations.nodes[number].operator.has("routes_experts"):
            operands = operations.operands[number]
            giver = operations.giver(operands[1]) if len(operands) > 1 else None
        elif kind in ("ArgMax", "TopK") and operations.operands[number]:
            giver = operations.giver(operations.operands[number][0])
        else:
            continue
        for _ in range(_MOST_SCORING):
            if giver is None or operations.kinds[giver] not in _SCORING:
                break
            if blocks.ending(giver, "linear") is not None:
                break
            taken = operations.givers(giver)
            giver = taken[0] if taken else None
        router = blocks.ending(giver, "linear")
        count = router.details.read_as(FeatureDetails).out_features if router is not None else None
        if router is not None and count is not None and count > 1:
            found.append((router, number, count))
    return found


def _read_count(operations: Operations, node: Node) -> int:
    """Return how many experts each token takes; 0 where that is not stated."""
    if node.op_type == "TopK" and len(node.inputs) > 1:
        listed = operations.context.read_list(node.input(1))
        return listed[0] if len(listed) == 1 and isinstance(listed[0], int) else 0
    attribute = node.attributes.get("k")
    return attribute.value if attribute is not None and isinstance(attribute.value, int) else 0
