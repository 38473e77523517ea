"""What kind of network a graph is: the first words of its sentence, where no family is sure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from netloupe.explorer.patterns import Detail
from netloupe.explorer.patterns.graph_convolutions import RELATIONAL
from netloupe.explorer.patterns.graph_networks import GRAPH_NETWORK
from netloupe.explorer.patterns.vector_tracks import VECTOR_MESSAGES
from netloupe.explorer.patterns.weight_sizes import read_kernel

from .called_blocks import BLOCK_OF
from .counted_words import join_with_and
from .detectors import find_detector
from .flows import FLOW, name_by_density
from .graph_kinds import update_over_depth
from .levels import Levels, find_levels, works_on_maps, write_axes
from .map_heads import find_map_heads
from .mixing import Mixing, find_mixing
from .nested_unets import NESTED_UNET
from .outline import Outline
from .pieces import Piece, list_piece_weights
from .purposes import add_purpose
from .resolutions import Resolutions
from .special_kinds import name_by_operation
from .transformer_kinds import ENCODER_DECODER, is_encoder_decoder, is_patches
from .verified_kinds import is_convolved
from .whole_kinds import MASKING, name_by_wiring

_CONVOLUTIONS = frozenset(
    {"atrous pyramid", "conv", "inverted", "pyramid pooling", "residual", "separable"}
)
_LINEAR = frozenset(
    {
        "basis",
        "coupling",
        "cross",
        "draw",
        "duel",
        "embedding",
        "factorization",
        "interaction",
        "linear",
    }
    | {"mlp", "positions"}
)


#: what a network is called of which convolutions are a part
_BESIDE_OTHERS = "Network with convolutions"
#: what blocks are called that mix tokens by states, without attention
_STATE_SPACES = "Mamba"
_LEAST_COUPLINGS = 2
_LEAST_RECURRENCES = 2
#: layers that are not recurrent are used less often one behind the other
_LEAST_STEPS = 16
#: so many MLPs of heads a transformer has besides
_MOST_HEADS = 2
#: a transformer has so many attentions at least, and MLPs for one of two (G. Bertasius and others,
#: Is Space-Time Attention All You Need for Video Understanding?, 2021, section 3)
_LEAST_ATTENTIONS = 2
#: what blocks are called whose kind is not told, as where an author has put them into a module
_OF_MESSAGES = (GRAPH_NETWORK, VECTOR_MESSAGES)
#: and nothing that mixes along the edges of a graph
_OF_GRAPHS = frozenset({"graph convolution", "graph network", "message passing"})
CONVOLUTIONAL = "Convolutional network"
_ENCODER_DECODER = "Convolutional encoder-decoder"
#: of these it is told along how many axes they convolve, where that are not two
_OF_AXES = frozenset({_ENCODER_DECODER, CONVOLUTIONAL, NESTED_UNET, "UNet"})


@dataclass(frozen=True)
class NetworkKind:
    """What a network is called, and what is said of it as a whole.

    Parameters
    ----------
    title
        How the sentence begins: ``Convolutional network``.
    text
        What is said of its way through resolutions; "" for nothing.
    facts
        The same by name.
    tells_outputs
        Whether that says what the network gives, too.
    """

    title: str
    text: str = ""
    facts: tuple[tuple[str, Detail], ...] = ()
    tells_outputs: bool = False


def find_network_kind(
    outline: Outline, every: Sequence[Piece], told: Sequence[Piece], kept: Sequence[Piece]
) -> NetworkKind:
    """Return what kind of network a graph is.

    Parameters
    ----------
    outline
        Of the graph.
    every
        All its blocks in order.
    told
        Those that the sentence tells.
    kept
        The same, once where they share weights.
    """
    on_maps = works_on_maps([piece.part for piece in told])
    resolutions = Resolutions(outline)
    levels = _find_way(outline, resolutions) if on_maps else Levels()
    is_shared = any(piece.uses > 1 for piece in kept)
    title = levels.title or name_by_wiring(outline, resolutions)
    if not title and is_encoder_decoder(outline, every):
        title = ENCODER_DECODER
    mixing = find_mixing(outline)
    if title in ("", _ENCODER_DECODER):
        updating = update_over_depth(outline, every)
        own = [one for one in every if id(one) not in updating]
        words = _list_words(
            outline, own, mixing, recurs=_carries_state(outline, told, kept, mixing)
        )
        special = name_by_operation(outline, every, words, mixes_experts=mixing.mixes_experts)
        title = special or title or _name_by_blocks(every, mixing, words, is_shared)
    title = name_by_density(outline) or title
    if title == CONVOLUTIONAL and not is_convolved(outline):
        title = _BESIDE_OTHERS
    if title in _OF_AXES:
        title = write_axes(outline, title)
    title = add_purpose(outline, every, title)
    # a decoder of masked waves gives one channel for each source
    tells_outputs = "scales" in dict(levels.facts) or title.startswith(MASKING)
    return NetworkKind(title, levels.text, levels.facts, tells_outputs)


def _find_way(outline: Outline, resolutions: Resolutions) -> Levels:
    """Return the way of maps through resolutions, and what is predicted from them."""
    heads = find_map_heads(outline, resolutions)
    return find_detector(outline, resolutions, heads) or find_levels(outline, resolutions)


def _carries_state(
    outline: Outline, told: Sequence[Piece], kept: Sequence[Piece], mixing: Mixing
) -> bool:
    """Return whether a linear layer takes in many steps what it gave in the one before, gated.

    As of a recurrent layer of a kind that is not known, all steps of which are written out (M.
    Ravanelli and others, Light Gated Recurrent Units for Speech Recognition, 2018, equation 7).
    """
    for layer in kept if mixing.gates else ():
        if layer.kind != "linear" or layer.uses < _LEAST_STEPS:
            continue
        weights = list_piece_weights(outline, layer)
        calls = [one for one in told if list_piece_weights(outline, one) == weights]
        if len(calls) >= _LEAST_STEPS and all(
            two.part.follows(one.part) for one, two in pairwise(calls)
        ):
            return True
    return False


def _list_words(
    outline: Outline, pieces: Sequence[Piece], mixing: Mixing, *, recurs: bool
) -> list[str]:
    """Return what mixes places in a network: as convolutions and attention do.

    Those of one place of a row are linear layers, along whichever axis: over tokens where these
    stand in the place of channels (H. Touvron and others, ResMLP, 2021, section 2).
    """
    kinds = Counter(piece.kind for piece in pieces)
    words = []
    convolving = [piece for piece in pieces if _convolves(piece)]
    attends = any(piece.kind in ("attention", "transformer") for piece in pieces)
    if kinds["recurrence"]:  # short ones before these take a few steps (S. De and others, Griffin,
        convolving = [piece for piece in convolving if not _is_short(piece)]  # 2024, section 2.3)
    if convolving and _convolves_no_places(outline):
        convolving = []
    if convolving and not (attends and all(map(is_patches, convolving))):
        words.append("convolutions")
    if kinds["recurrence"] >= _LEAST_RECURRENCES:
        words.append("linear recurrences")
    if recurs or kinds["unrolled"] or any(piece.part.has("recurrent") for piece in pieces):
        words.append("recurrent layers")
    if any(map(_is_of_states, pieces)):
        words.append("state spaces")
    weighs = mixing.weighs and "recurrent layers" in words
    calls_it = any(piece.name.startswith(f"{BLOCK_OF}attention") for piece in pieces)
    blocks = [piece for piece in pieces if piece.kind in ("attention", "transformer")]
    if not all(map(_is_of_states, blocks)) or mixing.attends or weighs or calls_it:
        words.append("attention")
    if kinds["transform"]:
        words.append("Fourier transforms")
    return words


def _name_by_blocks(
    pieces: Sequence[Piece], mixing: Mixing, words: Sequence[str], is_shared: bool
) -> str:
    """Return what a network is called by the kinds of its blocks, and by what mixes beside them.

    Parameters
    ----------
    pieces
        The blocks.
    mixing
        What mixes outside of them.
    words
        What mixes places in them.
    is_shared
        Whether some weights are used several times.
    """
    kinds = Counter(piece.kind for piece in pieces)
    names = Counter(piece.name for piece in pieces)
    if names["Mixer block"] and words in ([], ["convolutions"]):
        return "Mixer network"
    if kinds["coupling"] >= _LEAST_COUPLINGS and words in ([], ["convolutions"], ["attention"]):
        return FLOW  # L. Dinh and others, Real NVP, 2017: layers can be undone
    if (
        kinds["message passing"]
        or kinds["graph network"]
        or any(names[one] for one in _OF_MESSAGES)
    ) and not words:
        return "Message-passing network"
    if kinds["graph convolution"] and not words:
        is_relational = names[RELATIONAL] == kinds["graph convolution"]
        return f"{'Relational g' if is_relational else 'G'}raph convolutional network"
    if not words:
        is_gated = mixing.gates and is_shared  # as a state is by a step that is written out
        is_plain = kinds.keys() <= _LINEAR and not (mixing.mixes or is_gated)
        return "Feed-forward network" if is_plain else "Network"
    if words == ["convolutions"]:
        return _BESIDE_OTHERS if mixing.mixes else CONVOLUTIONAL
    if words == ["recurrent layers"]:
        return "Recurrent network"
    if words == ["state spaces"]:
        return "State-space model"  # A. Gu and T. Dao, Mamba, 2023
    if words == ["attention"]:
        feeds = 2 * kinds["mlp"] >= kinds["attention"] >= _LEAST_ATTENTIONS
        feeds = feeds and not kinds.keys() & _OF_GRAPHS
        # two about each attention (A. Gulati and others, Conformer, 2020), and those of heads
        most = 2 * (kinds["attention"] + kinds["transformer"]) + _MOST_HEADS
        if kinds["mlp"] > most:
            return "Attention network"
        return "Transformer" if kinds["transformer"] or feeds else "Attention network"
    return f"Network of {join_with_and(words)}"


def _convolves(piece: Piece) -> bool:
    """Return whether a block is one of convolutions, or an idea that is put together from such."""
    own = any(found.kind == "conv" for part in piece.parts for found in part.parts)
    return piece.kind in _CONVOLUTIONS or (piece.kind == "unit" and own)


def _convolves_no_places(outline: Outline) -> bool:
    """Return whether all convolutions have one axis, and take each place of it alone."""
    nodes = outline.operations.nodes
    return all(read_kernel(node) == (1,) for node in nodes if node.operator.has("convolves"))


def _is_short(piece: Piece) -> bool:
    """Return whether a block is a convolution of each channel along one axis."""
    return piece.part.is_depthwise and len(piece.part.kernel) == 1


def _is_of_states(piece: Piece) -> bool:
    return piece.name.startswith(_STATE_SPACES)
