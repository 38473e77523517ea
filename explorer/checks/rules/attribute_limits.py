"""Attributes whose numbers must lie in a range: sizes, counts, flags, numbers of modes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from netloupe.explorer.checks.rule import Occurrence
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.checks.uses import Case
from netloupe.explorer.notation import write_float

_MOST_ENTRIES = 100_000
_LARGEST = 2**31 - 1


class NumberLimit(NamedTuple):
    """What a number must be, in words, and whether one is."""

    says: str
    holds: Callable[[float], bool]


def _read_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _list_choices(*numbers: int) -> NumberLimit:
    *most, last = map(str, numbers)
    return NumberLimit(f"{', '.join(most)} or {last}", frozenset(numbers).__contains__)


def _is_power(number: float) -> bool:
    return isinstance(number, int) and number >= 16 and number & (number - 1) == 0


FLAG = _list_choices(0, 1)
_FROM_ZERO = NumberLimit("at least 0", lambda number: number >= 0)
_FROM_ONE = NumberLimit("at least 1", lambda number: number >= 1)
_FROM_TWO = NumberLimit("at least 2", lambda number: number >= 2)
_ABOVE_ZERO = NumberLimit("more than 0", lambda number: number > 0)
#: what ONNX Runtime keeps in 32 bits
_COUNT = NumberLimit(f"1 to {_LARGEST}", lambda number: 1 <= number <= _LARGEST)
_COUNT_OR_NONE = NumberLimit(f"0 to {_LARGEST}", lambda number: 0 <= number <= _LARGEST)
_ODD = NumberLimit("odd and at least 1", lambda number: number >= 1 and number % 2 == 1)
_BLOCK = NumberLimit("a power of two from 16 on", _is_power)
_BLOCK_OR_NONE = NumberLimit(
    "0 or a power of two from 16 on", lambda number: not number or _is_power(number)
)
_BITS = _list_choices(2, 4, 8)
#: numbers of float32, float16, float64 and bfloat16; 0 for none
_FLOATS, _STASHED = _list_choices(0, 1, 10, 11, 16), _list_choices(1, 10, 11, 16)
_UP_TO_EIGHT = NumberLimit("0 to 8", lambda number: 0 <= number <= 8)

#: by domain, the attributes that have a limit: what operators document (Operators.md,
#: Operators-ml.md, ContribOperators.md), and what ONNX Runtime's kernels demand when they are made
_LISTED: Mapping[str, tuple[tuple[NumberLimit, str], ...]] = {
    "": (
        (_ODD, "LRN.size"),
        (_ABOVE_ZERO, "LRN.alpha LRN.beta GRU.clip LSTM.clip MaxRoiPool.spatial_scale"),
        (NumberLimit("more than 0", lambda number: not number <= 0), "Attention.scale"),
        (_COUNT, "GRU.hidden_size LSTM.hidden_size RNN.hidden_size"),
        (_COUNT, "LinearAttention.q_num_heads LinearAttention.kv_num_heads"),
        (_COUNT_OR_NONE, "RotaryEmbedding.num_heads RotaryEmbedding.rotary_embedding_dim"),
        (_COUNT_OR_NONE, "Attention.q_num_heads Attention.kv_num_heads"),
        (_list_choices(1, 2), "LpNormalization.p"),
        (_FROM_ONE, "TopK.k MaxRoiPool.pooled_shape Upsample.scales DeformConv.offset_group"),
        (_FROM_ONE, "TfIdfVectorizer.min_gram_length TfIdfVectorizer.max_gram_length"),
        (_FROM_ZERO, "TfIdfVectorizer.max_skip_count TfIdfVectorizer.ngram_counts"),
        (_FROM_ZERO, "TfIdfVectorizer.ngram_indexes RandomNormal.shape RandomUniform.shape"),
        (_FROM_ZERO, "GatherND.batch_dims RoiAlign.sampling_ratio Split.split"),
        (_FROM_ZERO, "QuantizeLinear.block_size DequantizeLinear.block_size"),
        (FLAG, "Scan.directions Scan.scan_input_directions Scan.scan_output_directions"),
        (_list_choices(6, 7), "Multinomial.dtype"),
        (_FLOATS, "QuantizeLinear.precision Attention.softmax_precision"),
        (_STASHED, "LayerNormalization.stash_type RMSNormalization.stash_type"),
        (_STASHED, "GroupNormalization.stash_type SimplifiedLayerNormalization.stash_type"),
        (_STASHED, "Range.stash_type"),
    ),
    "ai.onnx.preview": ((_FLOATS, "FlexAttention.softmax_precision"),),
    "ai.onnx.ml": (
        (_FROM_ONE, "LinearRegressor.targets TreeEnsemble.n_targets"),
        (_FROM_ONE, "TreeEnsembleRegressor.n_targets"),
        (_FROM_ZERO, "SVMClassifier.vectors_per_class"),
        (_list_choices(0, 1, 2, 3), "TreeEnsemble.aggregate_function"),
        (_list_choices(0, 1, 2, 3, 4), "TreeEnsemble.post_transform"),
    ),
    "com.microsoft": (
        (_COUNT, "Attention.num_heads QAttention.num_heads MultiHeadAttention.num_heads"),
        (_COUNT, "DecoderMaskedMultiHeadAttention.num_heads AttnLSTM.hidden_size"),
        (_COUNT, "DynamicQuantizeLSTM.hidden_size GroupQueryAttention.num_heads"),
        (_COUNT, "GroupQueryAttention.kv_num_heads SparseAttention.num_heads"),
        (_COUNT, "SparseAttention.kv_num_heads LinearAttention.q_num_heads"),
        (_COUNT, "LinearAttention.kv_num_heads CausalConvWithState.dilation"),
        (_COUNT, "VarlenCausalConvWithState.dilation UnfoldTensor.step"),
        (_COUNT_OR_NONE, "RotaryEmbedding.num_heads RotaryEmbedding.rotary_embedding_dim"),
        (_COUNT_OR_NONE, "MRotaryEmbedding.num_heads MRotaryEmbedding.rotary_embedding_dim"),
        (_ABOVE_ZERO, "AttnLSTM.clip DynamicQuantizeLSTM.clip"),
        (_FROM_ZERO, "SkipLayerNormalization.epsilon SkipSimplifiedLayerNormalization.epsilon"),
        (_FROM_ZERO, "EmbedLayerNormalization.epsilon QEmbedLayerNormalization.epsilon"),
        (_FROM_ZERO, "MatMulNBits.K MatMulNBits.N"),
        (_FROM_ONE, "MatMulBnb4.K MatMulBnb4.N MatMulBnb4.block_size GatherPacked.K"),
        (_FROM_ONE, "MoE.k QMoE.k NGramRepeatBlock.ngram_size Tokenizer.mincharnum"),
        (_FROM_ONE, "MoEGroupRouter.top_k MoEGroupRouter.n_group MoEGroupRouter.topk_group"),
        (_FROM_ONE, "MoEGroupRouter.group_topk NGramHashMapping.n_head_per_ngram"),
        (_FROM_ONE, "VarlenNGramHashMapping.n_head_per_ngram"),
        (_FROM_ONE, "BifurcationDetector.min_ngram_size BifurcationDetector.max_ngram_size"),
        (_FROM_TWO, "NGramHashMapping.max_ngram_size VarlenNGramHashMapping.max_ngram_size"),
        (_BLOCK, "MatMulNBits.block_size GatherBlockQuantized.block_size"),
        (_BLOCK_OR_NONE, "QMoE.block_size"),
        (_BITS, "MatMulNBits.bits GatherBlockQuantized.bits"),
        (_list_choices(2, 3, 4, 8), "QMoE.expert_weight_bits QMoE.fc1_expert_weight_bits"),
        (_list_choices(2, 3, 4, 8), "QMoE.fc2_expert_weight_bits QMoE.fc3_expert_weight_bits"),
        (_FROM_ZERO, "CausalConvWithState.input_channel_offset CausalConvWithState.state_length"),
        (_FROM_ZERO, "CausalConvWithState.input_channels VarlenCausalConvWithState.delta_offset"),
        (_FROM_ONE, "VarlenCausalConvWithState.group_size"),
        (FLAG, "MatMulBnb4.quant_type GroupQueryAttention.causal"),
        (FLAG, "CausalConvWithState.channels_last"),
        (_list_choices(1, 2, 3), "CausalConvWithState.ndim"),
        (_list_choices(-1, 0, 1), "QMoE.weights_prepacked CausalConvWithState.state_channels_last"),
        (_UP_TO_EIGHT, "CausalConvWithState.state_window LinearAttention.state_window"),
        (_UP_TO_EIGHT, "CausalConvWithState.state_update_capacity"),
        (_UP_TO_EIGHT, "VarlenCausalConvWithState.state_update_capacity"),
        (_UP_TO_EIGHT, "VarlenNGramHashMapping.state_update_capacity"),
        (_list_choices(1, 10, 16), "GatherPacked.output_dtype"),
    ),
}
LIMITS: Mapping[tuple[str, str], NumberLimit] = {
    (domain, name): limit
    for domain, listed in _LISTED.items()
    for limit, names in listed
    for name in names.split()
}
#: attributes that are 0 or 1, of whichever operator of ONNX has them
FLAGS = _read_words(
    "align_corners allowzero antialias broadcast ceil_mode center_point_box count_include_pad "
    "detect_negative detect_positive exclude_outside exclusive fmod input_forget interleaved "
    "inverse is_case_sensitive is_causal is_test keepdims largest layout linear_before_reset "
    "new_axis noop_with_empty_axes normalize_variance one_class onesided output_sequence periodic "
    "reverse saturate select_last_index sorted spatial storage_order training_mode transA transB "
    "upper zeros across_channels"
)
#: of these flags ONNX Runtime refuses other numbers; of all others it takes them for 0 or for 1
REFUSED_FLAGS = _read_words(
    "CumProd.exclusive CumProd.reverse CumSum.exclusive CumSum.reverse MaxPool.storage_order "
    "Mod.fmod NonMaxSuppression.center_point_box"
)
_OWN = frozenset({"", "ai.onnx.ml"})


def find_limit(domain: str, op_type: str, name: str, kind: str) -> NumberLimit | None:
    """Return what the numbers of an attribute must be; None where any will do."""
    found = LIMITS.get((domain, f"{op_type}.{name}"))
    if found is None and kind == "int" and domain in _OWN and name in FLAGS:
        return FLAG
    return found


def _judge_numbers(case: Case) -> Iterator[tuple[str, bool]]:
    """Say which numbers are out of their limits, and whether a runtime refuses that."""
    schema = case.schema
    for name, declared in schema.attributes.items() if schema is not None else ():
        if schema is None or not case.is_stated(name):
            continue
        limit = find_limit(schema.domain, case.op_type, name, declared.kind)
        if limit is None:
            continue
        number = case.number(name)
        listed = (number,) if number is not None else case.numbers(name) or ()
        for entry in listed[:_MOST_ENTRIES]:
            if not isinstance(entry, int | float) or limit.holds(entry):
                continue
            if declared.is_default(entry):
                continue
            shown = write_float(entry) if isinstance(entry, float) else str(entry)
            verb = "has" if declared.kind in ("ints", "floats") else "is"
            what = f"{name} of {case.op_type} {verb} {shown}"
            is_lenient = limit is FLAG and f"{case.op_type}.{name}" not in REFUSED_FLAGS
            is_lenient = is_lenient and (schema.domain, f"{case.op_type}.{name}") not in LIMITS
            hint = ", and runtimes differ in what they take it for" if is_lenient else ""
            yield f"{what}, but must be {limit.says}{hint}", not is_lenient
            break


def _say_refused(case: Case) -> Iterator[str]:
    return (told for told, is_refused in _judge_numbers(case) if is_refused)


def _say_doubtful(case: Case) -> Iterator[str]:
    return (told for told, is_refused in _judge_numbers(case) if not is_refused)


def find_numbers(subject: Subject) -> Iterator[Occurrence]:
    """Yield the attributes whose numbers are out of their limits."""
    yield from subject.uses.find_all(_say_refused)
    for found in subject.uses.find_all(_say_doubtful):
        yield found._replace(severity="warning")
