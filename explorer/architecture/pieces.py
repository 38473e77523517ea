"""What a sentence counts: the blocks of a graph in order, once where they share weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from netloupe.explorer.patterns.attention_streams import ASKS_ONCE
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails
from netloupe.explorer.patterns.deformable_attention import DEFORMABLE
from netloupe.explorer.patterns.readings import read_str
from netloupe.explorer.patterns.rotations import ROTARY
from netloupe.explorer.patterns.shifted_channels import TOKEN_SHIFT
from netloupe.explorer.patterns.stored_kernels import BEGUN_AT_ZERO, ZERO
from netloupe.explorer.patterns.transformer_details import CLASS_ATTENTION
from netloupe.explorer.roles import find_weight

from .causal import looks_back
from .layers import Layer, Stack
from .opened import has_levels
from .outline import MAIN_KINDS, Outline, OutlinePart
from .over_tokens import is_over_tokens
from .sizes import list_matrices
from .verified_layers import is_inside, takes_zeros

#: kinds besides those that carry a network, of blocks that are told
_TOLD = frozenset(
    {"atrous pyramid", "draw", "gate", "group", "interaction", "message passing", "positions"}
    | {"quantizer", "similarity", "tokenizer", "transform", "unrolled"}
    | {"coupling", "cross", "duel", "expectation", "factorization", "neighbours", "outer product"}
    | {"edges", "graph convolution", "graph network", "splines", "token masking"}
    | {"basis", "biaffine", "boxes", "coordinates", "copying", "correlation", "decomposition"}
    | {"edge softmax", "gated network", "highway", "label chain", "recurrence", "soft trees"}
    | {"generated", "integration", "matrix memory", "sparsemax", "value iteration"}
    | {"cost volume", "pyramid pooling", "residual quantizer", "triangle", "unit"}
    | {"Det", "soft pooling", "variable selection"}
)

#: what mixes tokens without comparing them
_STATE_SPACE = "Mamba-2"
#: of queries, keys and values
_PROJECTIONS = 3

#: the kind of blocks that nothing is known of but the class of their author
CLASS = "class"
#: what is done to what layers take or give, and is no block of its own
SMALL_STEPS = frozenset({ROTARY, TOKEN_SHIFT})
#: what attention to another value is called
CROSS_ATTENTION = "Cross-attention"
#: and that of a class token to another stream (C. Chen and others, CrossViT, 2021, section 3.3)
CLASS_CROSS_ATTENTION = "Class-token cross-attention"
#: a block around whose lower levels its own sum goes (A. Newell and others, Stacked Hourglass
#: Networks, 2016, figure 3)
HOURGLASS = "Hourglass"
#: before the name of a block of convolutions of which each place takes no later one
CAUSAL = "Causal"
#: linear layers of which there is one for each of several rows
STACKED = "Stacked"
#: what stands between two sums of capsules' votes
ROUTING = "Routing update"
#: kinds that take rows of their weights
_LOOKING_UP = frozenset({"embedding", "quantizer", "residual quantizer"})
#: what stands between a product and the search for the least distance
_OF_DISTANCES = (
    *("adds", "clips", "divides", "gathers", "multiplies_elements", "negates", "picks"),
    *("subtracts", "takes_root"),
)
#: what has no weights may stand so many parts before the first of a loop that has some
_MOST_BEFORE = 8


@dataclass(eq=False)
class Piece:
    """One block, or one layer of a transformer.

    Parameters
    ----------
    kind, name
        Alike ones have the same.
    parts
        Its parts in order, the last of which gives its result.
    layer
        Of a transformer block.
    uses
        How often it is used with the same weights.
    fold
        Of one in a repetition that stands for others, which run it is of and how many there are.
    calls
        At which part each of its uses begins; nothing where that is not known.
    """

    kind: str
    name: str
    parts: list[OutlinePart]
    layer: Layer | None = None
    uses: int = 1
    fold: tuple[int, int] = (0, 1)
    calls: tuple[int, ...] = ()

    @property
    def part(self) -> OutlinePart:
        """The part that it is, or the last one."""
        return self.parts[-1]

    @property
    def token(self) -> tuple[str, str, int, tuple[int, int]]:
        """The same for alike ones, whatever their sizes are."""
        return self.kind, self.name, self.uses, self.fold


def are_called_in_turn(pieces: Sequence[Piece], others: Sequence[Piece]) -> bool:
    """Return whether others are called between the calls of some blocks, as parts of a loop are.

    What is called only behind all of these is a loop of its own.
    """
    known = next((piece.calls for piece in pieces if len(piece.calls) > 1), ())
    behind = next((piece.calls for piece in others if len(piece.calls) > 1), ())
    return not known or not behind or (behind[0] < known[-1] and known[0] < behind[-1])


def list_pieces(outline: Outline, stacks: Sequence[Stack]) -> list[Piece]:
    """Return the blocks of a graph in order; what joins, arranges or normalizes is none.

    Attention and the MLP behind it are one, unless something else that is told is on the way from
    one to the other. What another branch has in the file between them is none.
    """
    told = [
        part
        for part in outline.parts
        if is_told(part)
        and not any(is_none(outline, part) for is_none in (_is_bare, is_inside, takes_zeros))
    ]
    places = {id(part): place for place, part in enumerate(told)}
    layers: dict[int, Layer] = {}
    inside: set[int] = set()
    for stack in stacks:
        for layer in stack.layers:
            own = sorted(places.get(id(part), -1) for part in layer.parts)
            is_whole = own[0] >= 0 and not any(
                told[between].follows(told[own[0]]) and told[own[-1]].follows(told[between])
                for between in range(own[0] + 1, own[-1])
                if between not in own
            )
            if is_whole and layer.attentions and layer.feeding and _is_one_block(layer):
                layers[own[0]] = layer
                inside.update(own[1:])
    pieces: list[Piece] = []
    for place, part in enumerate(told):
        found = layers.get(place)
        if found is not None:
            name = _name_layer(found)
            parts = sorted(found.parts, key=lambda part: part.place)
            pieces.append(Piece("transformer", name, parts, found))
        elif place not in inside:
            pieces.append(Piece(part.kind, _name(outline, part), [part]))
    return pieces


def find_piece_distances(outline: Outline, pieces: Sequence[Piece]) -> list[int]:
    """Return how many pieces before each the nearest one is that it takes from; 1 for none."""
    owners = {id(part): place for place, piece in enumerate(pieces) for part in piece.parts}
    nearest: dict[int, int] = {}
    for part in outline.parts:
        found = [
            owners.get(id(giver), nearest.get(id(giver), -1)) for giver in outline.givers(part)
        ]
        own = owners.get(id(part))
        nearest[id(part)] = max((one for one in found if one != own), default=-1)
    distances = []
    for place, piece in enumerate(pieces):
        giver = nearest[id(piece.parts[0])]
        distances.append(place - giver if 0 <= giver < place else 1)
    return distances


def _is_bare(outline: Outline, part: OutlinePart) -> bool:
    """Return whether a part is a gate without weights, as is behind the layers that feed it."""
    return part.kind == "gate" and not list_matrices(outline, [part])


def is_told(part: OutlinePart) -> bool:
    """Return whether a part is one that a sentence counts."""
    return part.kind in MAIN_KINDS or part.kind in _TOLD or part.has("recurrent", "samples")


def _is_one_block(layer: Layer) -> bool:
    """Return whether no state space and attention are taken together for a layer.

    Mixers of two kinds one behind the other are layers of a hybrid (A. Blakeman and others,
    Nemotron-H, 2025, section 2.1), and what feeds forward behind them is a layer of its own, too.
    """
    kinds = {one.name for one in layer.attentions}
    return len(kinds) < 2 or _STATE_SPACE not in kinds


def _name_layer(layer: Layer) -> str:
    """Return what tells alike layers of a transformer from others."""
    if all(one.name == CROSS_ATTENTION for one in layer.attentions):
        return CROSS_ATTENTION
    if all(one.name == CLASS_ATTENTION for one in layer.attentions):
        return CLASS_ATTENTION
    if all(one.name == DEFORMABLE for one in layer.attentions):
        return DEFORMABLE
    if len(layer.attentions) > 1:
        is_own = all(one.name == "Self-attention" for one in layer.attentions)
        return "self twice" if is_own else "both"
    return "self"


def _name(outline: Outline, part: OutlinePart) -> str:
    """Return what tells alike parts from others of their kind."""
    if part.kind == "conv":
        form = part.details.read_as(ConvolutionDetails).form
        flags = part.is_transposed, part.is_depthwise, part.kernel, form
        return " ".join(map(str, flags))
    if part.kind == "mlp" and is_over_tokens(outline, part):
        return f"{part.name} over tokens"
    if part.kind == "residual" and has_levels(outline, part):
        return HOURGLASS
    if part.kind == "residual" and looks_back(outline, part):
        return f"{CAUSAL} {part.name}"
    if part.kind == "attention" and ASKS_ONCE in part.facts:
        return CLASS_CROSS_ATTENTION if part.name == CROSS_ATTENTION else part.name
    if part.has("recurrent"):  # layers behind one of both directions may go along one
        direction = read_str(outline.operations.nodes[part.end], "direction")
        return direction if direction == "bidirectional" else ""
    if part.kind == "linear":  # one for each of several features or members is another kind
        return STACKED if is_stacked(part) else ""
    return part.name


def is_stacked(part: OutlinePart) -> bool:
    """Return whether a linear layer is several: a matrix for each of some features or members.

    So are those of numbers, each embedded by its own (Y. Gorishniy and others, On Embeddings for
    Numerical Features in Tabular Deep Learning, 2022, section 3.3), and heads of an ensemble.
    """
    return part.kind == "linear" and len(part.facts) == 1 and " × (" in part.facts[0]


def list_piece_weights(outline: Outline, piece: Piece) -> frozenset[tuple[bool, int]]:
    """Return the matrices of a block by their ids, and whether rows of them are looked up.

    Of a table that is looked up and multiplied by both are told. Kernels of zeros are stored once
    for all layers of the same size that begin with them.
    """
    if piece.part.details.read_as(ConvolutionDetails).form in (ZERO, BEGUN_AT_ZERO):
        return frozenset({(False, id(outline.operations.nodes[piece.part.end]))})
    is_looking = piece.kind in _LOOKING_UP
    found = frozenset((is_looking, one) for one in list_matrices(outline, piece.parts))
    if piece.layer is None:
        return found
    return found - _list_computed_queries(outline, piece.layer) or found


def _list_computed_queries(outline: Outline, layer: Layer) -> frozenset[tuple[bool, int]]:
    """Return what attentions compare keys with where no input reaches it: no matrix of theirs.

    A layer that is used again asks with other queries, as each place does that is read in turn (D.
    Bautista and R. Atienza, Scene Text Recognition with Permuted Autoregressive Sequence Models,
    2022, section 3.1), and in its first step with those that nothing has changed yet (F. Locatello
    and others, Object-Centric Learning with Slot Attention, 2020, algorithm 1).
    """
    found = map(find_weight, outline.nodes(layer.attentions))
    return frozenset(
        (False, id(one.value))
        for one in found
        if one is not None and one.tensor is None and one.index == 0
    )


def leave_out_distances(outline: Outline, pieces: Sequence[Piece]) -> list[Piece]:
    """Return pieces without products with a table of which a row is then looked up.

    These are distances to the entries of a code book, and no layer (A. van den Oord and others,
    Neural Discrete Representation Learning, 2017, equation 1). A last layer that shares its table
    with the tokens that come in has such a row before it. Where the least is searched they are
    distances, whatever is looked up.
    """
    lookups = [piece for piece in pieces if piece.kind == "embedding"]
    tables = [list_matrices(outline, piece.parts) for piece in lookups]
    kept = []
    for piece in pieces:
        own = _list_sources(outline, piece) if lookups and piece.kind == "linear" else None
        users = [
            one
            for one, table in zip(lookups, tables, strict=True)
            if own and not own.isdisjoint(table)
        ]
        is_looked_up = bool(users) and all(one.part.follows(piece.part) for one in users)
        if not is_looked_up and not (piece.kind == "linear" and _leads_to_least(outline, piece)):
            kept.append(piece)
    return kept


def _leads_to_least(outline: Outline, piece: Piece) -> bool:
    """Return whether of what a layer gives the place of the least is searched, and nothing else."""
    operations = outline.operations
    number: int | None = piece.part.end
    for _ in range(_MOST_BEFORE):
        number = operations.only_user(number) if number is not None else None
        if number is None or operations.kinds[number] == "ArgMin":
            break
        is_known = operations.nodes[number].operator.has(*_OF_DISTANCES)
        if not is_known and operations.kinds[number] != "Max":
            return False
    return number is not None and operations.kinds[number] == "ArgMin"


def _list_sources(outline: Outline, piece: Piece) -> set[int]:
    """Return by their ids the matrices of a piece, and those that they are computed of."""
    found = {*list_matrices(outline, piece.parts)}
    for node in outline.nodes(piece.parts):
        weight = find_weight(node)
        pending = [weight.value] if weight is not None and weight.tensor is None else []
        for _ in range(_MOST_BEFORE):
            value = pending.pop(0) if pending else None
            if value is None:
                break
            if value.initializer is not None:
                found.add(id(value.initializer))
            elif value.producer is not None:
                pending += [one for one in value.producer.inputs if one is not None]
    return found


def join_attentions(outline: Outline, pieces: Sequence[Piece]) -> list[Piece]:
    """Return pieces with one for products of attention that share their queries, keys and values.

    Sparse and approximated attention is written as several, of parts of the queries (M. Zaheer and
    others, Big Bird, 2020, section 2) or over landmarks (Y. Xiong and others, Nystromformer, 2021,
    equation 13): no more than three projections stand before all of them, and none between them.
    """
    kept: list[Piece] = []
    linears = 0
    for piece in pieces:
        before = kept[-1] if kept else None
        is_bare = piece.kind == "attention" and not list_matrices(outline, piece.parts)
        is_part = before is not None and before.kind == "attention" and before.name == piece.name
        if is_bare and is_part and 0 < linears <= _PROJECTIONS:
            continue
        if piece.kind == "linear":
            linears = linears + 1 if before is not None and before.kind == "linear" else 1
        elif not is_bare or before is None or before.kind != "linear":
            linears = 0
        kept.append(piece)
    return kept
