"""What a network is for, where what it takes and gives makes that sure: ``for speech synthesis``.

It stands around a title that tells no more than kinds of layers, as ``Network of convolutions and
attention`` and ``1-D UNet`` do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from netloupe.explorer.model import TensorType, Value
from netloupe.explorer.patterns import read_convolution
from netloupe.explorer.patterns.convolution_details import ConvolutionDetails

from .graph_kinds import takes_pairs
from .layer_words import write_lower
from .outline import Outline
from .pieces import Piece, list_piece_weights
from .sinc_filters import SINC
from .sizes import find_token_tables, read_stated_shape

#: titles that tell kinds of layers alone
_GENERIC = re.compile(
    r"(?:(?:[13]-D c|C)onvolutional (?:network|encoder-decoder|decoder)|(?:[13]-D )?UNet"
    r"|(?:Attention|Feed-forward|Recurrent) network|Network|Network (?:of|with) .+|Transformer"
    r"|Encoder-decoder transformer)"
)
#: of these what they take is told with a word
_OF_SEVERAL = "Network of "
#: names of what is heard, as it is and by frequencies (J. Shen and others, Natural TTS Synthesis by
#: Conditioning WaveNet on Mel Spectrogram Predictions, 2018, section 2)
_WAVES = frozenset({"audio", "mixture", "speech", "wav", "wave", "waveform", "waveforms", "wavs"})
_SPECTRA = frozenset({"mel", "mels", "melspec"})
#: and of the sounds that are in one (D. Stoller and others, Wave-U-Net, 2018, section 3)
_SOURCES = frozenset({"source", "sources", "stems"})
#: an image of colours has so many channels, and so many axes
_COLOURS = 3
_AXES_OF_IMAGE = 4
#: a wave has so many places at least, and at most so many channels
_LEAST_OF_WAVE = 256
_MOST_CHANNELS = 2
#: attention of an item to those that a user has seen (G. Zhou and others, DIN, 2018, section 4.3)
TARGET_ATTENTION = "Target attention"
#: fewer tables are of what is told one by one
_LEAST_FIELDS = 3
#: first words of what networks are called without attention or convolutions
_PLAIN = frozenset({"Feed-forward", "Network"})
#: a generator makes so many numbers of a wave of what it takes for one place
_LEAST_GROWTH = 64
#: so many operations behind the last layer are looked at
_MOST_BEHIND = 12
#: names of images that are as those that come in, but for noise, blur, or what else was wrong
_MADE = frozenset(
    {"deblurred", "dehazed", "denoised", "enhanced", "fake", "image", "img", "inpainted"}
    | {"reconstruction", "restored", "rgb", "stylized", "translated"}
)


def add_purpose(outline: Outline, pieces: Sequence[Piece], title: str) -> str:
    """Return a title with what a network is for, where that is sure.

    Parameters
    ----------
    outline
        Of the graph.
    pieces
        All its blocks in order.
    title
        What it is by its blocks.
    """
    if _GENERIC.fullmatch(title) is None:
        return title
    for tell in _RULES:
        told = tell(outline, pieces, title)
        if told:
            return told
    return title


def _tell_graph(outline: Outline, pieces: Sequence[Piece], title: str) -> str:
    """Tell attention that is biased by how pairs of nodes are related."""
    is_attending = title in ("Attention network", "Transformer")
    return f"Graph {write_lower(title)}" if is_attending and takes_pairs(outline) else ""


def _tell_items(outline: Outline, pieces: Sequence[Piece], title: str) -> str:
    """Tell what weighs the items that a user has seen by one that may be next."""
    is_of_items = any(piece.name == TARGET_ATTENTION for piece in pieces)
    return "Recommender with target attention" if is_of_items else ""


def _tell_fields(outline: Outline, pieces: Sequence[Piece], title: str) -> str:
    """Tell how many categories are looked up of what has a column for each of them.

    H.-T. Cheng and others, Wide & Deep Learning for Recommender Systems, 2016, figure 4: each has a
    table of its own, and they give one number.
    """
    tables: dict[frozenset[tuple[bool, int]], int] = {
        list_piece_weights(outline, piece): piece.part.row_width
        for piece in pieces
        if piece.kind == "embedding"
    }
    count = max(Counter(tables.values()).values(), default=0)
    shapes = [read_stated_shape(value) for value in outline.graph.outputs]
    is_one = len(shapes) == 1 and shapes[0] is not None and {*shapes[0][1:]} <= {1}
    is_plain = title.split(" ")[0] in _PLAIN and not find_token_tables(outline)
    if count < _LEAST_FIELDS or not (is_one and is_plain):
        return ""
    return f"{title} over {count:,} categorical fields"


def _tell_speech(outline: Outline, pieces: Sequence[Piece], title: str) -> str:
    """Tell tokens of which something that is heard is made."""
    outputs = outline.graph.outputs
    if not find_token_tables(outline) or not all(map(_is_integer, _list_inputs(outline)[:1])):
        return ""
    if any(_has_word(value, _SPECTRA) for value in outputs):
        return f"{title} for speech synthesis"
    is_wave = any(_has_word(value, _WAVES) for value in outputs) or _grows_to_wave(outline, pieces)
    return f"{title} from tokens to waveform" if is_wave else ""


def _tell_sources(outline: Outline, pieces: Sequence[Piece], title: str) -> str:
    """Tell sources that are taken apart: what a network gives is called so, and it takes sound."""
    outputs = outline.graph.outputs
    is_separated = len(outputs) == 1 and _has_word(outputs[0], _SOURCES)
    shape = read_stated_shape(outputs[0]) if outputs else None
    is_several = shape is not None and len(shape) > _MOST_CHANNELS and shape[1] != 1
    is_heard = any(_has_word(v, _WAVES | _SPECTRA) or _is_wave(v) for v in _list_inputs(outline))
    return f"{title} for source separation" if is_separated and is_several and is_heard else ""


def _tell_raw(outline: Outline, pieces: Sequence[Piece], title: str) -> str:
    """Tell a wave that is convolved as it is, and features that are made of it."""
    inputs, outputs = _list_inputs(outline), outline.graph.outputs
    first = pieces[0].part.details.read_as(ConvolutionDetails) if pieces else None
    is_sinc = first is not None and first.form == SINC
    is_named = len(inputs) == 1 and _has_word(inputs[0], _WAVES) and _is_wave(inputs[0])
    shapes = [read_stated_shape(value) for value in outputs]
    is_vector = all(shape is not None and len(shape) == len("nf") for shape in shapes)
    return f"{title} on raw waveforms" if is_vector and (is_sinc or is_named) else ""


def _tell_generator(outline: Outline, pieces: Sequence[Piece], title: str) -> str:
    """Tell a wave that is made of frames (J. Kong and others, HiFi-GAN, 2020, section 2.2)."""
    if len(outline.graph.outputs) != 1 or not _grows_to_wave(outline, pieces):
        return ""
    if any(_has_word(value, _SPECTRA) for value in _list_inputs(outline)):
        return f"{title} from mel frames to waveform"
    return f"{title} that generates a waveform"


def _tell_images(outline: Outline, pieces: Sequence[Piece], title: str) -> str:
    """Tell an image that is made of one of the same size.

    P. Isola and others, Image-to-Image Translation with Conditional Adversarial Networks, 2017. It
    is one of the same kind where the first is added to it, or where its name says so; three maps
    may be of three classes.
    """
    inputs, outputs = _list_inputs(outline), outline.graph.outputs
    if len(inputs) != 1 or len(outputs) != 1 or not _is_image(inputs[0]):
        return ""
    taken, given = (read_stated_shape(value) for value in (inputs[0], outputs[0]))
    if taken is None or given is None or taken[1:] != given[1:]:
        return ""
    if not (_adds_input(outline) or _has_word(outputs[0], _MADE)):
        return ""
    return f"Image-to-image {write_lower(title)}"


def _tell_vision(outline: Outline, pieces: Sequence[Piece], title: str) -> str:
    """Tell that several kinds of layers, or blocks of a transformer, work on an image alone."""
    inputs = _list_inputs(outline)
    is_told = title.startswith(_OF_SEVERAL) or title == "Transformer"
    is_all = len(inputs) == 1 and _is_image(inputs[0])
    return f"Vision {write_lower(title)}" if is_all and is_told else ""


_RULES: tuple[Callable[[Outline, Sequence[Piece], str], str], ...] = (
    _tell_graph,
    _tell_items,
    _tell_fields,
    _tell_speech,
    _tell_sources,
    _tell_raw,
    _tell_generator,
    _tell_images,
    _tell_vision,
)


def _list_inputs(outline: Outline) -> list[Value]:
    return [
        value
        for value in outline.graph.inputs
        if value.initializer is None and not value.is_parameter
    ]


def _has_word(value: Value, words: frozenset[str]) -> bool:
    return not words.isdisjoint(re.split(r"[^a-z]+", value.name.lower()))


def _is_integer(value: Value) -> bool:
    return isinstance(value.type, TensorType) and value.type.dtype.is_integer


def _is_image(value: Value) -> bool:
    """Return whether a value is of colours at the places of a map of two axes."""
    shape = read_stated_shape(value)
    is_float = isinstance(value.type, TensorType) and value.type.dtype.is_float
    return shape is not None and is_float and len(shape) == _AXES_OF_IMAGE and shape[1] == _COLOURS


def _is_wave(value: Value) -> bool:
    """Return whether a value has one channel, or two, of many places along one axis."""
    shape = read_stated_shape(value)
    if shape is None or not 1 < len(shape) <= len("nct"):
        return False
    channels = shape[1] if len(shape) == len("nct") else 1
    is_few = isinstance(channels, int) and channels <= _MOST_CHANNELS
    return is_few and (not isinstance(shape[-1], int) or shape[-1] >= _LEAST_OF_WAVE)


def _grows_to_wave(outline: Outline, pieces: Sequence[Piece]) -> bool:
    """Return whether transposed convolutions along one axis make a wave of one channel."""
    operations = outline.operations
    convolving = [n for n, one in enumerate(operations.nodes) if one.operator.has("convolves")]
    read = [read_convolution(operations, number) for number in convolving]
    if not read or any(len(one.kernel) > 1 for one in read) or read[-1].out_features != 1:
        return False
    growth = 1
    for one in read:
        stride = one.stride[0] if isinstance(one.stride, tuple) else one.stride
        if one.transposed and stride is not None:
            growth *= stride
    outputs = outline.graph.outputs
    last = outline.owner(convolving[-1])
    ends = [outline.giver(value) for value in outputs]
    is_end = any(end is not None and (end is last or end.follows(last)) for end in ends)
    return growth >= _LEAST_GROWTH and is_end


def _adds_input(outline: Outline) -> bool:
    """Return whether what goes in is added, as it is, to what the last layer gives."""
    operations = outline.operations
    inputs = {*_list_inputs(outline)}
    result, *_ = outline.graph.outputs
    number = operations.giver(operations.source(result))
    for _ in range(_MOST_BEHIND):
        if number is None:
            return False
        operator = operations.nodes[number].operator
        sources = {operations.source(value) for value in operations.operands[number]}
        if operator.has("adds") and sources & inputs:
            return True
        givers = operations.givers(number)
        if len(givers) != 1 or operator.has("convolves", "multiplies"):
            return False
        number = givers[0]
    return False
