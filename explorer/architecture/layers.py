"""Layers of transformers: attention and what is fed by it, one behind another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from netloupe.explorer.operators import ARRANGING_TRAITS

from .outline import Outline, OutlinePart

_FEEDING = frozenset({"experts", "mlp"})
#: of what may stand between a block's result and the sum with the stream, besides norms
_BETWEEN = (*ARRANGING_TRAITS, "multiplies_elements")
_MOST_BETWEEN = 8
#: kinds that mix places in attention's place
_MIXING = frozenset({"graph convolution", "graph network", "message passing", "mixer", "recurrent"})
#: a graph with more streams is none that a family has
_MOST_CHAINS = 16


@dataclass(eq=False)
class Layer:
    """One block: attention, perhaps another one, and an MLP or experts.

    Parameters
    ----------
    parts
        In order.
    """

    parts: list[OutlinePart] = field(default_factory=list)

    @property
    def attentions(self) -> list[OutlinePart]:
        """Self-attention first, then cross-attention."""
        return [part for part in self.parts if part.kind == "attention"]

    @property
    def feeding(self) -> list[OutlinePart]:
        """MLPs and mixtures of experts."""
        return [part for part in self.parts if part.kind in _FEEDING]

    @property
    def shape(self) -> tuple[str, ...]:
        """The kinds of its parts in order."""
        return tuple("mlp" if part.kind in _FEEDING else part.kind for part in self.parts)

    @property
    def start(self) -> int:
        """The place of its first part."""
        return min(part.place for part in self.parts)

    @property
    def end(self) -> int:
        """The place of its last part."""
        return max(part.place for part in self.parts)


@dataclass(eq=False)
class Stack:
    """Layers of one stream, each of which takes what the one before gives."""

    layers: list[Layer]

    @property
    def first(self) -> OutlinePart:
        """The part that it begins with."""
        return min(self.layers[0].parts, key=lambda part: part.place)

    @property
    def last(self) -> OutlinePart:
        """The part that it ends with."""
        return max(self.layers[-1].parts, key=lambda part: part.place)

    @property
    def parts(self) -> list[OutlinePart]:
        """All parts of all layers."""
        return [part for layer in self.layers for part in layer.parts]

    @property
    def attentions(self) -> list[OutlinePart]:
        """The attentions of all layers."""
        return [part for part in self.parts if part.kind == "attention"]

    @property
    def is_decoder(self) -> bool:
        """Whether all layers but perhaps the first have a cross-attention after another one."""
        return all(len(layer.attentions) == 2 for layer in self.layers[1:]) and (
            len(self.layers[0].attentions) == 2
            if len(self.layers) < 3
            else len(self.layers[0].attentions) in (1, 2)
        )

    @property
    def is_plain(self) -> bool:
        """Whether all layers are one attention and one MLP or mixture of experts."""
        return all(len(layer.attentions) == 1 and len(layer.feeding) == 1 for layer in self.layers)


def find_stacks(outline: Outline) -> list[Stack]:
    """Return the stacks of layers, in the order of their first parts.

    A layer goes on with the stream that the one before ends: its part has that one's last part
    before it, on the side that its residual sum adds to it. Where attention and MLP take the same
    value they stand side by side (B. Wang and A. Komatsuzaki, GPT-J, 2021).
    """
    chains: list[list[OutlinePart]] = []
    for part in outline.parts:
        if part.kind != "attention" and not _feeds_itself(part):
            continue
        chain = _find_chain(outline, chains, part)
        if chain is None and len(chains) == _MOST_CHAINS:
            return []
        if chain is None:
            chains.append([part])
        else:
            chain.append(part)
    beside = [part for part in outline.parts if part.kind in _MIXING]
    stacks = [
        Stack(layers)
        for chain in chains
        if (layers := list(_cut(chain))) and not any(_is_joined(one, beside) for one in layers)
    ]
    return sorted(stacks, key=lambda stack: stack.first.place)


def _is_joined(layer: Layer, beside: Sequence[OutlinePart]) -> bool:
    """Return whether something else mixes tokens beside attention, and the MLP takes both.

    So do a graph and attention in a layer of GPS (L. Rampasek and others, Recipe for a General,
    Powerful, Scalable Graph Transformer, 2022, figure 1): it is no block of a transformer.
    """
    mixing = layer.attentions
    return any(
        feeding.follows(part) and not any(part.follows(one) or one.follows(part) for one in mixing)
        for part in beside
        for feeding in layer.feeding
    )


def _feeds_itself(part: OutlinePart) -> bool:
    """Return whether it is a mixture of experts or an MLP that gives what it takes."""
    if part.kind not in _FEEDING:
        return False
    widths = part.widths
    return part.kind == "experts" or (len(widths) > 2 and widths[0] == widths[-1])


def _find_chain(
    outline: Outline, chains: list[list[OutlinePart]], part: OutlinePart
) -> list[OutlinePart] | None:
    found = [chain for chain in chains if part.follows(chain[-1])]
    stream = find_stream(outline, part)
    if stream is not None:
        before = stream.before | 1 << stream.place
        found = [chain for chain in found if before >> chain[-1].place & 1]
    elif has_constant_stream(outline, part):
        found = []
    if found:
        return max(found, key=lambda chain: chain[-1].place)
    beside = [
        chain
        for chain in chains
        if chain[-1].kind != part.kind and outline.share_start(chain[-1], part)
    ]
    return beside[-1] if beside else None


def find_sum(outline: Outline, part: OutlinePart) -> OutlinePart | None:
    """Return the residual sum, or the norm with one, that a block's result goes to."""
    current: OutlinePart | None = part
    for _ in range(_MOST_BETWEEN):
        users = outline.users(current) if current is not None else []
        for user in users:
            if user.kind == "Add" or (user.kind == "norm" and "Residual" in user.name):
                return user
        if not users or not all(user.has(*_BETWEEN) or user.kind == "norm" for user in users):
            return None
        current = users[0]
    return None


def find_stream(outline: Outline, part: OutlinePart) -> OutlinePart | None:
    """Return the part whose result is added to that of a block; None where it is not plain."""
    residual = find_sum(outline, part)
    if residual is None:
        return None
    others = [
        giver for giver in outline.givers(residual) if giver is not part and not giver.follows(part)
    ]
    return others[0] if len(others) == 1 else None


def has_constant_stream(outline: Outline, part: OutlinePart) -> bool:
    """Return whether the result of a block is added to a constant, as to learned queries."""
    residual = find_sum(outline, part)
    return residual is not None and any(
        outline.operations.fixed(number) for number in residual.numbers
    )


def _cut(chain: Sequence[OutlinePart]) -> Iterator[Layer]:
    """Yield the layers of a chain of parts; those without attention are none."""
    kinds = [part.kind == "attention" for part in chain]
    # half a layer before the attention, and half behind it (A. Gulati and others, Conformer, 2020)
    if len(chain) % 3 == 0 and kinds == [False, True, False] * (len(chain) // 3):
        for start in range(0, len(chain), 3):
            yield Layer(list(chain[start : start + 3]))
        return
    layer = Layer()
    for part in chain:
        if part.kind == "attention" and (layer.feeding or len(layer.attentions) == 2):
            yield layer
            layer = Layer()
        elif layer.feeding and part.widths[:1] != layer.feeding[-1].widths[:1]:
            yield layer  # a stream has one width
            layer = Layer()
        if layer.parts or part.kind == "attention":
            layer.parts.append(part)
    if layer.parts:
        yield layer
