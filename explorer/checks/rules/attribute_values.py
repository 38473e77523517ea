"""Attributes whose value must be one of a few: what else is in them no runtime knows."""

from __future__ import annotations

from collections.abc import Iterator

from netloupe.explorer.checks.operands import CONTRIB_DOMAIN, KNOWN_DOMAINS
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import Attribute, Node
from netloupe.explorer.operators import AttributeSchema, OperatorSchema

from .attribute_fits import find_misfits
from .attribute_limits import find_numbers
from .legality import judge_nodes


def _read_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PADDING = frozenset({"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"})
_REDUCTION = frozenset({"none", "add", "mul", "max", "min"})
_LOSS = frozenset({"none", "sum", "mean"})
_DIRECTION = frozenset({"forward", "reverse", "bidirectional"})
_ROUNDING = frozenset({"up", "down", "nearest"})
_SCORES = frozenset({"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"})
_KERNEL = frozenset({"LINEAR", "POLY", "RBF", "SIGMOID"})
_ORDER = frozenset({"DCR", "CRD"})
_BRANCHES = _read_words(
    "BRANCH_LEQ BRANCH_LT BRANCH_GTE BRANCH_GT BRANCH_EQ BRANCH_NEQ BRANCH_MEMBER LEAF"
)
#: words of an attribute of recurrent layers; ONNX Runtime takes them in any case
_ACTIVATIONS = _read_words(
    "Affine Relu LeakyRelu ThresholdedRelu ScaledTanh Sigmoid HardSigmoid Elu Softsign Softplus "
    "Tanh"
)
_SAMPLED = _read_words(
    "half_pixel half_pixel_symmetric pytorch_half_pixel align_corners asymmetric "
    "tf_half_pixel_for_nn tf_crop_and_resize"
)
#: facts of this rule: by operator and attribute what it may be, in any version of either operator
#: set (Operators.md and Operators-ml.md, Attributes); the operators of ``ai.onnx.ml`` have names of
#: their own
CHOICES: dict[tuple[str, str], frozenset[str]] = {
    **{
        (op_type, "auto_pad"): _PADDING
        for op_type in (
            *("AveragePool", "Conv", "ConvInteger", "ConvTranspose", "LpPool", "MaxPool"),
            "QLinearConv",
        )
    },
    **{(op_type, "direction"): _DIRECTION for op_type in ("GRU", "LSTM", "RNN")},
    **{(op_type, "activations"): _ACTIVATIONS for op_type in ("GRU", "LSTM", "RNN")},
    **{(op_type, "reduction"): _REDUCTION for op_type in ("ScatterElements", "ScatterND")},
    **{
        (op_type, "reduction"): _LOSS
        for op_type in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
    },
    **{(op_type, "round_mode"): _ROUNDING for op_type in ("Cast", "CastLike")},
    **{(op_type, "mode"): _ORDER for op_type in ("DepthToSpace", "SpaceToDepth")},
    **{
        (op_type, "post_transform"): _SCORES
        for op_type in (
            *("LinearClassifier", "LinearRegressor", "SVMClassifier", "SVMRegressor"),
            *("TreeEnsembleClassifier", "TreeEnsembleRegressor"),
        )
    },
    **{(op_type, "kernel_type"): _KERNEL for op_type in ("SVMClassifier", "SVMRegressor")},
    **{
        (op_type, "nodes_modes"): _BRANCHES
        for op_type in ("TreeEnsembleClassifier", "TreeEnsembleRegressor")
    },
    ("BitShift", "direction"): frozenset({"LEFT", "RIGHT"}),
    ("CastMap", "cast_to"): frozenset({"TO_FLOAT", "TO_STRING", "TO_INT64"}),
    ("CastMap", "map_form"): frozenset({"DENSE", "SPARSE"}),
    ("CausalConvWithState", "activation"): frozenset({"silu", "swish", "none"}),
    ("Gelu", "approximate"): frozenset({"none", "tanh"}),
    ("GridSample", "mode"): frozenset({"bilinear", "nearest", "bicubic", "linear", "cubic"}),
    ("GridSample", "padding_mode"): frozenset({"zeros", "border", "reflection"}),
    ("ImageDecoder", "pixel_format"): frozenset({"RGB", "BGR", "Grayscale"}),
    ("LinearAttention", "update_rule"): frozenset({"linear", "gated", "delta", "gated_delta"}),
    ("Normalizer", "norm"): frozenset({"MAX", "L1", "L2"}),
    ("Pad", "mode"): frozenset({"constant", "reflect", "edge", "wrap"}),
    ("Resize", "coordinate_transformation_mode"): _SAMPLED,
    ("Resize", "keep_aspect_ratio_policy"): frozenset({"stretch", "not_larger", "not_smaller"}),
    ("Resize", "mode"): frozenset({"nearest", "linear", "cubic"}),
    ("Resize", "nearest_mode"): frozenset(
        {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}
    ),
    ("RoiAlign", "coordinate_transformation_mode"): frozenset({"half_pixel", "output_half_pixel"}),
    ("RoiAlign", "mode"): frozenset({"avg", "max"}),
    ("StringNormalizer", "case_change_action"): frozenset({"LOWER", "UPPER", "NONE"}),
    ("TensorScatter", "mode"): frozenset({"linear", "circular"}),
    ("TfIdfVectorizer", "mode"): frozenset({"TF", "IDF", "TFIDF"}),
    ("TreeEnsembleRegressor", "aggregate_function"): frozenset({"SUM", "AVERAGE", "MIN", "MAX"}),
    ("Upsample", "mode"): frozenset({"nearest", "linear", "bilinear", "cubic"}),
}
#: the same of the operators of ONNX Runtime (ContribOperators.md)
CONTRIB_CHOICES: dict[tuple[str, str], frozenset[str]] = {
    **{
        (op_type, "auto_pad"): _PADDING
        for op_type in (
            *("ConvTransposeWithDynamicPads", "FusedConv", "MaxpoolWithMask", "NhwcConv"),
            *("NhwcFusedConv", "NhwcMaxPool", "QLinearAveragePool", "QLinearConv"),
        )
    },
    **{(op_type, "direction"): _DIRECTION for op_type in ("AttnLSTM", "DynamicQuantizeLSTM")},
    **{(op_type, "activations"): _ACTIVATIONS for op_type in ("AttnLSTM", "DynamicQuantizeLSTM")},
    **{
        (op_type, "activation"): frozenset({"silu", "swish", "none"})
        for op_type in ("CausalConvWithState", "VarlenCausalConvWithState")
    },
    **{
        (op_type, name): frozenset({"NONE", "PER_TENSOR", "PER_CHANNEL"})
        for op_type in ("GroupQueryAttention", "PagedAttention", "SparsePagedAttention")
        for name in ("k_quant_type", "v_quant_type")
    },
    **{
        (op_type, "activation_type"): frozenset(
            {"relu", "gelu", "silu", "swiglu", "identity", "relu2", "geglu"}
        )
        for op_type in ("MoE", "QMoE")
    },
    **{
        (op_type, "update_rule"): frozenset({"linear", "gated", "delta", "gated_delta"})
        for op_type in ("GatedDeltaNet", "LinearAttention")
    },
    ("CropAndResize", "mode"): frozenset({"bilinear", "nearest"}),
    ("FusedConv", "activation"): _read_words(
        "Relu Tanh Sigmoid LeakyRelu Clip HardSigmoid HardSwish"
    ),
    ("FusedGemm", "activation"): _read_words(
        "Relu Tanh Sigmoid LeakyRelu HardSigmoid Elu ThresholdedRelu Softplus Softsign "
        "ScaledTanh Selu ParametricSoftplus Celu"
    ),
    ("GatedRMSNorm", "activation"): frozenset({"silu", "swish", "sigmoid"}),
    ("GridSample", "mode"): frozenset({"bilinear", "nearest", "bicubic"}),
    ("GridSample", "padding_mode"): frozenset({"zeros", "border", "reflection"}),
    ("Pad", "mode"): frozenset({"constant", "reflect", "edge", "wrap"}),
}
#: what may also be written in capitals or not
_IN_ANY_CASE = frozenset({"activations", "CropAndResize.mode"})
#: what may be left empty, for what holds without it
MAY_BE_EMPTY = _read_words(
    "auto_pad nearest_mode approximate reduction round_mode keep_aspect_ratio_policy "
    "RoiAlign.coordinate_transformation_mode"
)
#: what had other words in other versions of ``ai.onnx``: since which version it has which
RENAMED: dict[tuple[str, str], tuple[tuple[int, frozenset[str]], ...]] = {
    ("GridSample", "mode"): (
        (16, frozenset({"bilinear", "nearest", "bicubic"})),
        (20, frozenset({"linear", "nearest", "cubic"})),
    ),
    ("Upsample", "mode"): (
        (1, frozenset({"nearest", "bilinear"})),
        (7, frozenset({"nearest", "linear", "cubic"})),  # the last in ONNX Runtime alone
    ),
}
#: attributes that are the number of an element type
ELEMENT_TYPES = frozenset({"to", "dtype", "output_dtype", "output_datatype"})
_MOST_ENTRIES = 100_000


def find_choices(op_type: str, name: str, schema: OperatorSchema) -> frozenset[str] | None:
    """Return what an attribute may be in a version of an operator; None for anything."""
    if schema.domain == CONTRIB_DOMAIN:
        return CONTRIB_CHOICES.get((op_type, name))
    versions = RENAMED.get((op_type, name), ()) if not schema.domain else ()
    known = [choices for since, choices in versions if since <= schema.since_version]
    return known[-1] if known else CHOICES.get((op_type, name))


def _judge_values(node: Node, schema: OperatorSchema) -> tuple[str, str] | None:
    """Return an attribute whose value the operator does not know, and what is wrong with it."""
    for name, declared in schema.attributes.items():
        attribute = node.attributes.get(name)
        if attribute is None or attribute.reference or attribute.kind != declared.kind:
            continue
        if name in ELEMENT_TYPES and declared.kind == "int":
            number = attribute.value
            types = node.graph.dialect.element_types
            # 0 is "undefined", which only a default may be
            if not isinstance(number, int) or declared.is_default(number):
                continue
            if not number or number not in types:
                return name, f"{name} of {node.op_type} is {number}, which is no element type"
            continue
        choices = find_choices(node.op_type, name, schema)
        if choices is None:
            continue
        for text in _list_unknown(attribute, declared, choices, node.op_type):
            shown = ", ".join(sorted(choices))
            return name, f"{name} of {node.op_type} is {text[:60]!r}, but must be one of {shown}"
    return None


def _list_unknown(
    attribute: Attribute, declared: AttributeSchema, choices: frozenset[str], op_type: str
) -> Iterator[str]:
    """Yield what an attribute says that is none of the choices, nor nothing, nor its default."""
    value, name = attribute.value, declared.name
    if declared.is_default(value):
        return
    in_any_case = bool({name, f"{op_type}.{name}"} & _IN_ANY_CASE)
    may_be_empty = bool({name, f"{op_type}.{name}"} & MAY_BE_EMPTY)
    known = {choice.lower() for choice in choices} if in_any_case else choices
    for entry in (value if isinstance(value, list | tuple) else [value])[:_MOST_ENTRIES]:
        text = entry.decode(errors="replace") if isinstance(entry, bytes) else str(entry)
        if not text and may_be_empty:
            continue
        if (text.lower() if in_any_case else text) not in known:
            yield text


def _find_values(subject: Subject) -> Iterator[Occurrence]:
    yield from judge_nodes(subject, _judge_values, frozenset({*KNOWN_DOMAINS, CONTRIB_DOMAIN}))
    if subject.is_onnx:
        yield from find_numbers(subject)
        yield from find_misfits(subject)


RULES = (
    Rule(
        "NL-L41",
        "attribute-value",
        "error",
        "An attribute with a value that the operator does not take, or that fits no other one",
        "The operator's documentation says what it may be; runtimes refuse anything else, or take "
        "it for something.",
        "Write one of the values that are allowed; give lists that belong together one length.",
        "Operators.md, Operators-ml.md and ContribOperators.md, Attributes; onnx.proto, "
        "TensorProto.DataType; ONNX Runtime, core/providers/cpu",
        _find_values,
    ),
)
