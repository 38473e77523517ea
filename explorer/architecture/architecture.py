"""The architecture of a model in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from netloupe.explorer.costs import Bindings, Costs, write_amount, write_macs
from netloupe.explorer.costs.wording import explain_macs, name_amount
from netloupe.explorer.grouping import find_tree
from netloupe.explorer.model import Model, Node
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.patterns import Detail

from .factored_kernels import add_factored_kernels
from .families import tell_blocks_alone, tell_family, tell_operators_alone
from .weight_types import add_weight_types

#: an expression of MACs with symbols that is longer is left out
_LONGEST_MACS = 60
#: what is told of a model: where one raises the next, which looks at less
_WAYS = (tell_family, tell_blocks_alone, tell_operators_alone)


@dataclass(frozen=True, slots=True)
class ArchitectureBlock:
    """Alike blocks of a model that follow one another.

    Parameters
    ----------
    name
        What one of them is called: ``transformer block``.
    count
        How many there are.
    path
        Of the innermost group that holds all of them, as ``model.group`` takes it.
    facts
        What is so of every one of them, by name: ``heads``, ``head_width``, ``causal``, ``widths``
        (of an MLP), ``norm`` …
    """

    name: str
    count: int
    path: str
    facts: Mapping[str, Detail] = field(default_factory=dict)

    def __reduce__(self) -> tuple[object, ...]:
        return _restore_block, (self.name, self.count, self.path, dict(self.facts))


@dataclass(frozen=True, slots=True)
class Architecture:
    """What a model is, told from its structure; empty for a few operators without weights.

    Parameters
    ----------
    family
        What the field calls such a network: ``decoder-only transformer``. "" where unsure, even
        where its blocks are known.
    blocks
        Its blocks, in the order of the main stream.
    facts
        Sizes by name: ``vocabulary``, ``positions`` (rows of the table), ``classes`` (where a
        softmax or the like follows), ``outputs`` (else), ``heads``, ``head_width``, ``kv_heads``,
        ``width``, ``inner_width``, ``experts``, ``used_experts``, ``patch``, ``window``,
        ``stage_blocks``, ``stage_widths``, ``stage_heads``, ``parameters``, and where it is a
        number ``macs``, with the ``input_size`` that they are for …
    sentence
        What it is, without what it costs.
    costs_sentence
        Parameters and MACs.
    is_network
        Whether it is a network with weights that multiply; else nothing is said of these.
    """

    family: str = ""
    blocks: tuple[ArchitectureBlock, ...] = ()
    facts: Mapping[str, Detail] = field(default_factory=dict)
    sentence: str = ""
    costs_sentence: str = ""
    is_network: bool = False

    @property
    def summary(self) -> str:
        """What it is and what it costs, in one or two sentences; "" where it is not known."""
        return " ".join(part for part in (self.sentence, self.costs_sentence) if part)

    def __bool__(self) -> bool:
        return bool(self.sentence)

    def __reduce__(self) -> tuple[object, ...]:
        told = (self.sentence, self.costs_sentence, self.is_network)
        return _restore, (self.family, self.blocks, dict(self.facts), *told)


def _restore(
    family: str, blocks: tuple[ArchitectureBlock, ...], facts: dict[str, Detail], *told: Any
) -> Architecture:
    """Return what was pickled: views of dictionaries that nobody can change do not pickle."""
    return Architecture(family, blocks, MappingProxyType(facts), *told)


def _restore_block(name: str, count: int, path: str, facts: dict[str, Detail]) -> ArchitectureBlock:
    return ArchitectureBlock(name, count, path, MappingProxyType(facts))


def describe_architecture(model: Model, bind: Bindings | None = None) -> Architecture:
    """Return what a model is: a family where one is sure, or else of what it is composed.

    Metadata and documentation are not read, nor names but those of the groups that the picture
    shows, and of outputs. A mistake in a rule costs some of the words, and not the model.

    Parameters
    ----------
    model
        The model.
    bind
        Sizes of symbols for MACs, as :meth:`~netloupe.Model.costs` takes them.

    Raises
    ------
    BindingError
        As of :meth:`~netloupe.Model.costs`.
    """
    told = find_kept(model, Architecture, lambda: tell_structure(model, []))
    if not told.is_network:
        return told
    costs = model.costs(bind)
    facts: dict[str, Detail] = {**told.facts, "parameters": costs.parameters}
    size = _find_input_size(model, bind or {})
    if costs.macs is not None and not costs.macs_is_lower_bound:
        facts["macs"] = costs.macs
        if size:
            facts["input_size"] = size
    said = write_costs(costs, size)
    return Architecture(
        told.family, told.blocks, MappingProxyType(facts), told.sentence, said, True
    )


def tell_in_words(model: Model) -> str:
    """Return what a model is, in a sentence that says nothing of costs; "" where unknown.

    Costs of a large model take long, and a picture begins with the sentence alone.
    """
    return find_kept(model, Architecture, lambda: tell_structure(model, [])).sentence


def tell_structure(model: Model, faults: list[Exception]) -> Architecture:
    """Return what a model is, without what it costs; a coarser statement where a rule fails.

    Parameters
    ----------
    model
        The model.
    faults
        Gets what rules raised.
    """
    sketch = None
    for tell in _WAYS:
        try:
            sketch = add_weight_types(model, add_factored_kernels(model, tell(model)))
        except (ArithmeticError, LookupError, TypeError, ValueError) as fault:
            faults.append(fault)
            continue
        break
    if sketch is None:
        return Architecture()
    blocks = tuple(
        ArchitectureBlock(
            block.name,
            block.count,
            _find_path(model, block.nodes),
            MappingProxyType({**block.facts}),
        )
        for block in sketch.blocks
    )
    facts = MappingProxyType({**sketch.facts})
    return Architecture(sketch.family, blocks, facts, sketch.text, is_network=sketch.is_network)


def write_costs(costs: Costs, size: Sequence[int] = ()) -> str:
    """Return ``124 M parameters, 145.8 G MACs at 1 × 1,024.``; no MACs where they are long to say.

    ``size`` is that of all inputs.
    """
    said = []
    if costs.parameters:
        # an exporter wrote them out for all pairs, from how many it learned is not known
        apart = " beside attention biases" if costs.attention_biases else ""
        said.append(name_amount(write_amount(costs.parameters), "parameter") + apart)
    macs = write_macs(costs)
    if macs not in ("0", "≥ 0") and len(macs) <= _LONGEST_MACS and "…" not in macs:
        at = f" at {_write_size(size)}" if size and costs.macs else ""
        if costs.replaced_shapes:
            stated, _ = next(iter(costs.replaced_shapes.values()))
            instead = _write_size(stated) if size else "those that the model states"
            at = (at or " with shapes of inputs") + f" in place of {instead}"
        letters = explain_macs(costs)
        said.append(name_amount(macs, "MAC") + at + (f" ({letters})" if letters else ""))
    return f"{', '.join(said)}." if said else ""


def _write_size(size: Sequence[int | str | None]) -> str:
    return " × ".join(f"{dim:,}" if isinstance(dim, int) else dim or "?" for dim in size)


def _find_input_size(model: Model, bind: Bindings) -> tuple[int, ...]:
    """Return the size of what a model takes; nothing where inputs differ or a size is not known."""
    sizes = set()
    for value in model.graph.inputs:
        shape = getattr(value.type, "shape", None)
        if value.initializer is None and not value.is_parameter:
            dims = None if shape is None else tuple(bind.get(dim.value, dim.value) for dim in shape)
            bound = bind.get(value.name)
            sizes.add(dims if bound is None or isinstance(bound, int) else tuple(bound))
    size = sizes.pop() if len(sizes) == 1 else None
    if not size or not all(isinstance(dim, int) for dim in size):
        return ()
    return tuple(dim for dim in size if isinstance(dim, int))


def _find_path(model: Model, nodes: tuple[Node, ...]) -> str:
    """Return the path of the innermost group that holds some nodes."""
    if not nodes:
        return model.graph.path
    tree = find_tree(model, nodes[0].graph)
    shown = [node for node in nodes if tree.position_of(node) >= 0]
    group = tree.group_of(shown[0]) if shown else None
    while group is not None and group.parent is not None:
        if all(tree.holds(group, node) for node in shown):
            break
        group = group.parent
    return nodes[0].graph.path if group is None else group.path
