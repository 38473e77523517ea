"""What an author's names say in words: ``text_encoder``, ``duration_predictor``, ``GatedMlp``.

Names of containers (``layers``, ``blocks``, ``0``) and letters that only the author reads (``AG``,
``s1``) say nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from netloupe.explorer.grouping.container_names import CONTAINERS, ORDER
from netloupe.explorer.roles import FEATURES

#: words of which names of classes are told
_TERMS = frozenset(
    {"adaptive", "attention", "axial", "bidirectional", "causal", "channel", "conv"}
    | {
        "conditional",
        "convolution",
        "convolutional",
        "cross",
        "deformable",
        "dense",
        "depthwise",
        "dilated",
    }
    | {"dual", "dynamic", "edge", "excitation", "expert", "feature", "forward", "fourier", "fusion"}
    | {
        "gate",
        "gated",
        "gating",
        "global",
        "graph",
        "grouped",
        "hourglass",
        "inverted",
        "joint",
        "linear",
    }
    | {"local", "masked", "memory", "mixer", "mixing", "multi", "parallel", "pixel", "point"}
    | {"pooling", "position", "pyramid", "query", "recurrent", "refinement", "residual"}
    | {"retention", "routing", "scale", "selective", "self", "separable", "shift", "shifted"}
    | {"shuffle", "sparse", "spatial", "spectral", "squeeze", "state", "temporal", "time"}
    | {"token", "transformer", "transition", "triangle", "universal", "upsampling", "wavelet"}
    | {"window"}
)
#: nouns for parts of networks; others are known by their ending
_PARTS = frozenset(
    {"actor", "backbone", "branch", "cell", "critic", "embedding", "expert", "flow", "gate", "head"}
    | {"memory", "neck", "policy", "pooling", "pyramid", "stem", "tail", "tower", "tree", "trunk"}
    | {"value", "vocoder", "mlp", "fpn", "bifpn", "aspp", "rnn", "ffn", "prenet", "postnet", "gru"}
    | {"lstm", "residual", "bottleneck", "unet", "resnet", "backcast", "query"}
)
#: endings of nouns for what does something: ``predictor``, ``retention``
_ENDINGS = ("er", "or", "tion", "ment", "ing")
#: words with such an ending that say nothing of a part
_SILENT = frozenset(
    {"activation", "after", "container", "convolution", "inner", "layer", "lower", "normalization"}
    | {"number", "other", "outer", "string", "upper", "block"}
)
#: endings of names of networks, which keep their first letter
_NETWORKS = ("former", "mamba", "net")
#: how words are written that the field writes in its own way, and what it shortens
_WRITTEN = {
    "attn": "attention",
    "bifpn": "BiFPN",
    "conv": "convolution",
    "dec": "decoder",
    "emb": "embedding",
    "enc": "encoder",
    "embed": "embedding",
    "ffn": "feed-forward",
    "fpn": "FPN",
    "gru": "GRU",
    "img": "image",
    "lstm": "LSTM",
    "mlp": "MLP",
    "res": "residual",
    "rnn": "RNN",
    "aspp": "ASPP",
    "txt": "text",
    "unet": "UNet",
    "resnet": "ResNet",
}
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
_VOWEL = re.compile("[aeiouy]", re.IGNORECASE)
#: a word of fewer letters is an abbreviation, unless the field has it
_LEAST_LETTERS = 4
_MOST_WORDS = 4
_MOST_LETTERS = 40
_SHORT = frozenset({"box", "key", "map", "mel", "pre"})
#: a name is cut before the first number that stands alone, and where a row of names begins
_ROW = " … "
_CHAIN = " / "
_JOINT = "–"
#: names of several operators that an exporter made one of
_FUSED = (";", ":")


def read_mask(label: str) -> str:
    """Return a name with ``#`` for each of its numbers: ``blocks.#`` for ``blocks.0.1``.

    Of a row of names that of the first; of a chain of containers the outermost.
    """
    first = label.split(_ROW)[0].split(_CHAIN)[0].split(_JOINT)[0]
    return re.sub(r"[0-9]+(\.[0-9]+)*", "#", first)


def tell_name(label: str, *, is_row: bool = False) -> str:
    """Return what the name of a module says in words; "" where it says nothing.

    The first of its components that says something counts: ``vision model`` for
    ``clip.vision_model``. Of one of a row of modules ``decoder_blocks.0`` is a decoder block, and
    of modules by themselves ``decoder_blocks`` is the decoder; ``vision_model.blocks.0`` of a row
    has no name, since that before its list is the name of all of them together.
    """
    first = label.split(_ROW)[0].split(_JOINT)[0]
    components = [part for chained in first.split(_CHAIN) for part in chained.split(".")]
    if any(sign in label for sign in _FUSED) or label.split(" ")[0] == FEATURES:
        return ""
    if is_row and len(components) > 2 and components[-1].isdigit():
        components = components[-2:]
    for component in components:
        said = _tell_words(_split(component), is_row=is_row)
        if said:
            return said
    return ""


def tell_class(type_name: str) -> str:
    """Return what the name of a class says in words; "" where it says nothing.

    So does one of the field's terms alone, and a name before what it is a layer of:
    ``Timesformer layer``.
    """
    found = _split(type_name)
    words = [_say_term(word) for word in found]
    if not words or len(words) > _MOST_WORDS:
        return ""
    if words[-1] in CONTAINERS and len(words) == 2 and words[0] not in _TERMS:
        is_name = found[0].istitle() and _is_word(found[0]) and words[0] not in ORDER
        said = found[0] if words[0].endswith(_NETWORKS) else words[0]
        return f"{said} {words[1]}" if is_name and words[0] not in CONTAINERS else ""
    terms = [word for word in words if word not in CONTAINERS]
    if not terms or terms == ["linear"] or not all(word in _TERMS for word in terms):
        return ""
    return " ".join(words)


def _say_term(word: str) -> str:
    """Return a word of a class in lower case; what the field shortens as the term that it is."""
    said = _WRITTEN.get(word.lower(), "") if word.lower() not in _TERMS else ""
    return said if said in _TERMS else word.lower()


def drop_common_start(type_names: Sequence[str]) -> list[str]:
    """Return names of classes without the words that all of them begin with.

    So does the name of a network: ``XyzResBlock`` and ``XyzAttnBlock``.
    """
    ways = [_split(name) for name in type_names]
    count = 0
    while all(len(way) > count + 1 and way[count] == ways[0][count] for way in ways):
        count += 1
    return ["".join(way[count:]) for way in ways]


def tell_noun(type_name: str) -> str:
    """Return the name of a class that is one noun for what it does: ``outlooker``; else ""."""
    words = _split(type_name)
    is_noun = len(words) == 1 and words[0].istitle() and _is_word(words[0])
    return _name_part(words[0].lower()) if is_noun and words[0].lower() not in _TERMS else ""


def _split(name: str) -> list[str]:
    return _WORD.findall(name) if len(name) <= _MOST_LETTERS else []


def _tell_words(found: list[str], *, is_row: bool) -> str:
    if not found or len(found) > _MOST_WORDS:
        return ""
    words = [_WRITTEN.get(word.lower(), word if word.isupper() else word.lower()) for word in found]
    noun = _singular(words[-1])
    before = words[:-1]
    if noun in CONTAINERS:
        kept = [word for word in before if _is_word(word) and word not in ORDER]
        if len(kept) < len(before) or all(_singular(word) in CONTAINERS for word in kept):
            return ""
        part = _name_part(kept[-1])
        if not is_row and (part in _PARTS or part.endswith(("er", "or"))):
            return " ".join((*kept[:-1], part))
        return " ".join((*kept, noun))
    noun = _name_part(words[-1])
    if not noun:
        return ""
    kept = [word for word in before if _is_word(word) and _singular(word) not in CONTAINERS]
    return " ".join((*(word for word in kept if word not in ORDER), noun))


def _singular(word: str) -> str:
    return word.removesuffix("s") if word.removesuffix("s") in CONTAINERS else word


def _name_part(word: str) -> str:
    """Return a word if it is a noun for a part of a network, as it is for one; else ""."""
    for one in (word, word.removesuffix("es" if word.endswith("ches") else "s")):
        is_noun = one.endswith(_ENDINGS) and len(one) > _LEAST_LETTERS and one not in _SILENT
        if one.lower() in _PARTS or is_noun:
            return _WRITTEN.get(one.lower(), one)
    return ""


def _is_word(word: str) -> bool:
    if word in _WRITTEN.values() or word in _SHORT:
        return True
    return len(word) >= _LEAST_LETTERS and bool(_VOWEL.search(word)) and not word.isupper()
