"""Attributes that do not fit one another: lists of different lengths, choices that exclude others.

What runtimes refuse for the values of several attributes together, whatever the operands are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from netloupe.explorer.checks.rule import Occurrence
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.checks.uses import Case, Demand
from netloupe.explorer.notation import say_how_many, write_count, write_number

from .attribute_counts import count_entries, judge_lengths, judge_presence
from .learned_attributes import LEARNED
from .tree_ensembles import TREES

#: the limits of Clip where none are given
_LARGEST_FLOAT = 3.4028234663852886e38


def _give_constant(case: Case) -> Iterator[str]:
    """Say whether Constant has no value, or several (Operators.md, Constant: Attributes)."""
    schema = case.schema
    names = [name for name in schema.attributes if case.is_stated(name)] if schema else ["value"]
    if len(names) != 1 and schema is not None:
        known = ", ".join(schema.attributes)
        told = " and ".join(names[:4]) if names else "no value"
        yield f"Constant has {told}, but must have exactly one of {known}"


def _recur(case: Case, each: int, default: int = 0) -> Iterator[str]:
    """Say whether a recurrent layer has not the activations of each direction (Operators.md).

    As many as there are by default may be written whatever the directions.
    """
    count = count_entries(case, "activations")
    if count is None:
        return
    directions = 2 if case.text("direction", "forward") == "bidirectional" else 1
    wanted = directions * each
    if count not in (wanted, default):
        told = f"activations of {case.op_type} has {write_count(count, 'entry', 'entries')}"
        yield f"{told}, but must have {wanted} for {write_count(directions, 'direction')}"


def _scan(case: Case) -> Iterator[str]:
    """Say what of Scan does not fit its inputs and outputs (Operators.md, Scan: Attributes)."""
    scanned = case.integer("num_scan_inputs")
    given = len(case.operands) - (case.since < 9)  # before, the lengths of sequences come first
    if scanned is None:
        return
    if not 1 <= scanned <= given:
        yield f"num_scan_inputs of Scan is {scanned}, but {say_how_many(given, 'input')}"
        return
    stacked = case.results - (given - scanned)
    lists = {
        "directions": scanned,
        "scan_input_directions": scanned,
        "scan_input_axes": scanned,
        "scan_output_directions": stacked,
        "scan_output_axes": stacked,
    }
    for name, wanted in lists.items():
        count = count_entries(case, name)
        if count is not None and count != wanted:
            kind = "output" if "output" in name else "input"
            told = f"{name} of Scan has {write_count(count, 'entry', 'entries')}"
            yield f"{told}, but {say_how_many(wanted, f'scanned {kind}')}"
    first = given - scanned
    for place, axis in enumerate(case.integers("scan_input_axes") or (), first):
        rank = case.rank(place)
        if rank is not None and not -rank <= axis < rank:
            yield f"scan_input_axes of Scan has {axis}, but {case.say(place)}"


def _resize(case: Case) -> Iterator[str]:
    """Say which ways of sampling exclude one another (Operators.md, Resize: Attributes)."""
    mode, smooths = case.text("mode", "nearest"), case.integer("antialias", 0)
    if smooths and mode not in ("linear", "cubic"):
        yield f"antialias of Resize is {smooths}, but mode is {mode}: it must be linear or cubic"
    leaves = case.integer("exclude_outside", 0)
    if leaves and mode != "cubic" and not (mode == "linear" and smooths):
        yield (
            f"exclude_outside of Resize is {leaves}, but mode is {mode}: it must be cubic, or "
            "linear with antialias"
        )


def _clip(case: Case) -> Iterator[str]:
    """Say whether the limits of Clip leave nothing between them (Clip-6: Attributes)."""
    low, high = (
        case.number(name) if case.is_stated(name) else default
        for name, default in (("min", -_LARGEST_FLOAT), ("max", _LARGEST_FLOAT))
    )
    if low is not None and high is not None and not low <= high:
        yield f"min of Clip is {write_number(low)}, but max {write_number(high)}"


def _pool_regions(case: Case) -> Iterator[str]:
    count = count_entries(case, "pooled_shape")
    if count not in (None, 2):
        told = write_count(count or 0, "entry", "entries")
        yield f"pooled_shape of MaxRoiPool has {told}, but must have height and width"


def _normalize_batch(case: Case) -> Iterator[str]:
    """Say whether the number of results does not fit the mode (BatchNormalization-14)."""
    if case.since < 14:
        return
    trains = case.integer("training_mode", 0)
    if trains and case.results != 3:
        wanted = 3
    elif trains == 0 and case.results > 1:
        wanted = 1
    else:
        return
    told = f"training_mode of BatchNormalization is {trains}, which gives {wanted}"
    yield f"{told}, but {say_how_many(case.results, 'output')}"


def _attend_linearly(case: Case) -> Iterator[str]:
    heads, few = case.integer("q_num_heads"), case.integer("kv_num_heads")
    if heads is None or few is None or heads < 1 or few < 1:
        return
    if heads % few:
        yield f"q_num_heads of LinearAttention is {heads}, no multiple of kv_num_heads, {few}"
        return
    for place, count in ((0, heads), (2, few)):
        dims = case.dims(place)
        width = dims[2] if dims is not None and len(dims) == 3 else None
        if isinstance(width, int) and width % count:
            yield f"{case.say(place)}, whose width {width} is not divisible by {count} heads"
            return


def _attend_to_groups(case: Case) -> Iterator[str]:
    heads, few = case.integer("num_heads"), case.integer("kv_num_heads")
    if heads is not None and few is not None and heads > 0 and few > 0 and heads % few:
        yield f"num_heads of {case.op_type} is {heads}, no multiple of kv_num_heads, {few}"
    window = case.integer("local_window_size", -1)
    if case.integer("sliding_window_cache", 0) == 1 and window is not None and window < 1:
        yield f"sliding_window_cache is 1, but local_window_size is {window}: it must be at least 1"


def _rotate(case: Case) -> Iterator[str]:
    width, heads = case.integer("rotary_embedding_dim", 0), case.integer("num_heads", 0)
    if width and heads == 0:
        told = f"rotary_embedding_dim of {case.op_type} is {width}"
        yield f"{told}, for which num_heads must be more than 0"


def _mix(case: Case) -> Iterator[str]:
    """Say what of a layer of experts does not fit (ContribOperators.md, MoE)."""
    picked = case.integer("k", 1)
    if case.integer("use_sparse_mixer", 0) == 1 and picked != 2:
        yield f"use_sparse_mixer of {case.op_type} is 1, for which k must be 2, not {picked}"


def _integer(case: Case, name: str) -> int | None:
    """Return an attribute, or what is declared for where it is left out."""
    declared = case.schema.attributes.get(name) if case.schema is not None else None
    default = declared.default if declared is not None else None
    return case.integer(name, default if isinstance(default, int) else None)


def _order(case: Case, low: str, high: str) -> Iterator[str]:
    """Say whether the smaller of two sizes is the larger one."""
    small, large = (_integer(case, name) for name in (low, high))
    if small is not None and large is not None and small > large:
        yield f"{low} of {case.op_type} is {small}, more than {high}, {large}"


def _weigh_grams(case: Case) -> Iterator[str]:
    """Say what of TfIdfVectorizer does not fit (Operators.md, TfIdfVectorizer: Attributes)."""
    yield from judge_presence(case, "ngram_counts")
    yield from judge_presence(case, "ngram_indexes")
    yield from judge_lengths(case, "ngram_indexes", "weights")
    if count_entries(case, "pool_strings") == 0 or not case.is_stated("pool_strings"):
        yield from judge_presence(
            case, "pool_strings" if case.is_stated("pool_strings") else "pool_int64s"
        )
    yield from _order(case, "min_gram_length", "max_gram_length")
    counts = case.integers("ngram_counts") or ()
    longest = case.integer("max_gram_length")
    if longest is not None and counts and longest > len(counts):
        told = write_count(len(counts), "entry", "entries")
        yield f"max_gram_length of TfIdfVectorizer is {longest}, but ngram_counts has {told}"
    pool: Sequence[object] = case.numbers("pool_strings") or case.numbers("pool_int64s") or ()
    if counts and pool:
        yield from _cut_pool(counts, pool)


def _cut_pool(counts: tuple[int, ...], pool: Sequence[object]) -> Iterator[str]:
    """Say where the pool of n-grams is not made of whole ones, or has one twice."""
    for size, (begin, end) in enumerate(zip(counts, (*counts[1:], len(pool)), strict=True), 1):
        if not 0 <= begin <= end <= len(pool):
            yield f"ngram_counts has {begin} for {size}-grams, but they end at {end} of {len(pool)}"
            return
        if (end - begin) % size:
            yield f"the pool has {end - begin} items for {size}-grams, no multiple of {size}"
            return
        grams = [tuple(pool[i : i + size]) for i in range(begin, end, size)]
        if len({*grams}) < len(grams):
            yield f"the pool has one of its {size}-grams twice"
            return


def _saturate(case: Case) -> Iterator[str]:
    """Say whether a cast to other types than float8 is not to saturate."""
    if case.integer("saturate", 1) != 0 or not case.is_stated("saturate"):
        return
    like = case.operator.operands.find("like")
    dtype = case.element_type("to") if like is None else case.operand(like).dtype
    if dtype is not None and not dtype.name.startswith("float8"):
        yield f"saturate of {case.op_type} is 0, which ONNX Runtime takes for float8 alone"


def _quantize(case: Case) -> Iterator[str]:
    """Say whether type and zero point of QuantizeLinear are two (QuantizeLinear-21)."""
    wanted = case.element_type("output_dtype") if case.integer("output_dtype", 0) else None
    given = case.operand(2).dtype if case.has(2) else None
    if wanted is not None and given is not None and wanted != given:
        yield f"output_dtype of QuantizeLinear is {wanted}, but {case.say(2)}"


def _take_bits(case: Case) -> Iterator[str]:
    """Say whether BitCast is to give wider or narrower numbers (Operators.md, BitCast)."""
    wanted, given = case.element_type("to"), case.operand(0).dtype
    if wanted is None or given is None or given.bits == wanted.bits:
        return
    if given.bits is not None and wanted.bits is not None:
        yield f"to of BitCast is {wanted}, of {wanted.bits} bits, but {case.say(0)}"


def _transform(case: Case) -> Iterator[str]:
    """Say whether a spectrum of one side comes from real numbers (Operators.md, DFT)."""
    if not case.integer("onesided", 0) or not case.integer("inverse", 0):
        return
    dims = case.dims(0)
    if dims and isinstance(dims[-1], int) and dims[-1] != 2:
        yield f"inverse and onesided of DFT need complex numbers, two at the end: {case.say(0)}"


def _split_text(case: Case) -> Iterator[str]:
    if count_entries(case, "separators") == 0:
        yield from judge_presence(case, "separators")


def _lack_size(case: Case) -> Iterator[str]:
    if not case.is_stated("hidden_size"):
        yield f"{case.op_type} has no hidden_size, without which ONNX Runtime does not load it"


#: by domain and operator what is demanded of its attributes together: a function of this module
DEMANDS: Mapping[str, Mapping[str, Demand]] = {
    "": {
        "Constant": _give_constant,
        "RNN": partial(_recur, each=1, default=2),
        "GRU": partial(_recur, each=2),
        "LSTM": partial(_recur, each=3),
        "Scan": _scan,
        "Resize": _resize,
        "Clip": _clip,
        "QuantizeLinear": _quantize,
        "BitCast": _take_bits,
        "DFT": _transform,
        "BatchNormalization": _normalize_batch,
        "LinearAttention": _attend_linearly,
        "MaxRoiPool": _pool_regions,
        "TfIdfVectorizer": _weigh_grams,
    },
    "ai.onnx.ml": {**LEARNED, **TREES},
    "com.microsoft": {
        **dict.fromkeys(("AttnLSTM", "DynamicQuantizeLSTM"), partial(_recur, each=3)),
        **dict.fromkeys(("GroupQueryAttention", "SparseAttention"), _attend_to_groups),
        **dict.fromkeys(("RotaryEmbedding", "MRotaryEmbedding"), _rotate),
        **dict.fromkeys(("MoE", "QMoE"), _mix),
        "Tokenizer": _split_text,
        "BifurcationDetector": partial(_order, low="min_ngram_size", high="max_ngram_size"),
    },
}
#: the same for what the specification allows and ONNX Runtime has no kernel for
_UNSUPPORTED: Mapping[str, Demand] = {
    "Cast": _saturate,
    "CastLike": _saturate,
    **dict.fromkeys(("RNN", "GRU", "LSTM"), _lack_size),
}


def find_misfits(subject: Subject) -> Iterator[Occurrence]:
    """Yield the attributes that do not fit one another."""
    for domain, demands in DEMANDS.items():
        yield from subject.uses.find(demands, domain)
    for found in subject.uses.find(_UNSUPPORTED):
        yield found._replace(severity="warning")
