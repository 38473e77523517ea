"""The words of the catalogue of operators, each with a meaning: roles, traits, families, weights.

An entry of the catalogue holds no other words than these; what is registered from outside is held
to them. The page on operators in the documentation is made from these tables.
"""

from __future__ import annotations

from typing import Final

#: what people call a domain that nodes have by another name
DOMAIN_NAMES: Final = {"": "ai.onnx"}

#: roles of operands and results. Where there are several of one kind, numbers stand behind them
#: (``weight1``); a point and a word say that it belongs to another one (``weight.scale``)
ROLES: Final = {
    "addend": "added to the result, or to scores, as a residual or a mask of numbers",
    "axes": "which axes are meant",
    "beta": "how much of a new value linear attention writes",
    "bias": "added, and learned",
    "bound": "the least, the largest, or where something begins to count",
    "boxes": "regions of a picture",
    "cell": "the cell state of an LSTM",
    "choice": "decides from which operand, or whether, an element is taken",
    "classes": "numbers or names of classes",
    "condition": "decides what is run",
    "cos": "cosines of positions",
    "count": "how many",
    "data": "what is computed with",
    "decay": "how much of a state is kept",
    "diagonal": "which diagonal",
    "element_weight": "a factor for each element or class, given and not learned",
    "ends": "where parts end",
    "factor": "one side of a product; the weight may be either",
    "fill": "what fills the places around",
    "gate": "multiplied with the data after an activation",
    "grid": "places to sample",
    "ids": "numbers of tokens or segments",
    "indices": "places of elements",
    "initial_cell": "the cell state before the first step",
    "initial_state": "the state before the first step",
    "inverse_deviation": "1 / standard deviation, of a normalization",
    "key": "keys of attention",
    "lengths": "how much of each sequence counts",
    "like": "an operand of which only the type counts",
    "loss": "what training makes small",
    "mask": "what does not count",
    "mean": "the mean of a normalization, measured in training where it is an operand",
    "norm_bias": "the bias of a normalization inside",
    "norm_weight": "the scale of a normalization inside",
    "offsets": "how far places are moved",
    "pads": "how much is padded",
    "past": "a state from the step before",
    "past_key": "keys of earlier steps",
    "past_value": "values of earlier steps",
    "peephole": "weights from the cell state of an LSTM to its gates",
    "position": "which element of a sequence",
    "positions": "positions of tokens",
    "present": "the state after this step",
    "present_key": "keys for later steps",
    "present_value": "values for later steps",
    "query": "queries of attention",
    "recurrent_weight": "weights from a state to the next one",
    "region": "which part of a picture is resized",
    "repeats": "how often something is repeated",
    "result": "stands for the first result, of which an operand tells scale or zero point",
    "routing": "which experts work on a token, and how much each counts",
    "rows": "what rows are taken of: a table where they were learned",
    "scales": "how many times larger",
    "scores": "how well something fits",
    "sequence": "a list of tensors",
    "setting": "a number that an attribute might hold as well",
    "shape": "the sizes of all axes",
    "sin": "sines of positions",
    "sizes": "sizes of some axes",
    "slope": "the learned slope of an activation",
    "starts": "where parts begin",
    "state": "what a recurrent layer hands on",
    "steps": "how far it is from one to the next",
    "sum": "what was normalized: the sum of data, addend and bias",
    "target": "what training wants",
    "thresholds": "from where on an element counts one step more, as training chose it",
    "trip_count": "how often a loop runs at most",
    "updates": "what is written into the data or a state",
    "value": "values of attention",
    "variance": "the variance of a normalization, measured in training where it is an operand",
    "weight": "multiplied, and learned",
}
#: what may stand behind the point of a role: what it tells of the one before
PARTS: Final = {
    "global_scale": "one scale for all",
    "group_indices": "which scale each row has",
    "scale": "the scale of quantized elements",
    "shape": "the shape of packed elements",
    "zero_point": "which integer stands for 0",
}
#: roles of operands that tell sizes, places or axes, so that what gives them computes shapes
ARRANGING_ROLES: Final = frozenset(
    {"axes", "condition", "count", "diagonal", "ends", "pads", "position", "region", "repeats"}
    | {"scales", "shape", "sizes", "starts", "steps", "trip_count"}
)

#: operands of a product, the likelier place of the weight first
WEIGHT_ROLES: Final = ("weight", "weight1", "factor2", "factor1", "factor", "rows")

_NUMBERS = "0123456789"


def kind_of(role: str) -> str:
    """Return a role without number and without what it is of: ``weight`` of ``weight1.scale``."""
    return role.partition(".")[0].rstrip(_NUMBERS)


TRAITS: Final = {
    "accumulates": "sums or multiplies up along an axis",
    "activates": "is an activation function",
    "adds": "adds operands",
    "associative": "gives the same in whatever order several are put together",
    "attends": "is attention",
    "attends_linearly": "is attention with a state instead of scores",
    "averages": "takes the mean over axes",
    "branches": "runs one of several graphs",
    "broadcasts": "gives elements several times along axes of size 1, as arithmetic does",
    "casts": "changes the type of its first operand alone",
    "channels_last": "takes the last axis of data and weight for channels",
    "chooses": "takes each element from one operand or from another",
    "clips": "limits elements to a range",
    "codebook_weight": "takes its weight as numbers of the entries of a code book",
    "commutative": "gives the same for operands in any order",
    "compares": "compares two operands",
    "compares_order": "tells which of two operands is larger",
    "control_flow": "runs graphs",
    "convolves": "is a convolution",
    "copies": "gives its first operand as it is",
    "counts": "gives numbers at equal distances",
    "dequantizes": "makes numbers of quantized elements",
    "dequantizes_result": "computes with quantized elements and gives numbers",
    "detects": "computes or chooses the boxes of a detector",
    "differs_in_training": "computes something else in training",
    "distributes": "gives shares that add up to 1 along an axis, or their logarithms",
    "divides": "divides the first operand by the second",
    "drops_out": "gives its first operand as it is but in training",
    "elementwise": "computes each element from those at the same place",
    "encodes": "writes something in another way: as a word, a number, a vector",
    "fills": "gives one element many times",
    "finds_largest": "tells where the largest or the least element is",
    "fitted": "holds in attributes what was fitted to data",
    "gates": "computes how much of something counts",
    "gathers": "gives elements of its first operand by index, as they are",
    "generates": "gives numbers by a rule",
    "generates_text": "is a step of generating text",
    "idempotent": "changes elements, but none of them when it is done again",
    "inserts_axes": "gives its operand with more axes; an axis that it names is one of the result",
    "joins": "puts operands one behind the other",
    "logical": "computes truth values from truth values, or tells what numbers are",
    "looks_up": "takes rows or elements by index",
    "loops": "runs a graph several times",
    "masks": "keeps a part of the places and sets others to zero",
    "moves_pixels": "moves elements between space and channels",
    "multiplies": "multiplies matrices",
    "multiplies_elements": "multiplies elements of operands",
    "negates": "turns the sign",
    "normalizes": "is a normalization",
    "normalizes_channels": "is a normalization of data with channels and places, as of pictures",
    "normalizes_last_axes": "is a normalization over the last axes: a LayerNorm or an RMSNorm",
    "opaque": "holds a compiled part of a model",
    "packed_weight": "takes its weight as small integers packed in bytes, with scales of blocks",
    "pads": "puts elements around",
    "permutes": "changes the order of axes alone",
    "picks": "takes parts",
    "places_positions": "gives numbers for the distances of positions",
    "pools": "takes a mean, a maximum or the like of each window",
    "pools_all": "takes a mean, a maximum or the like over the whole picture",
    "predicts": "gives classes or numbers by what was fitted to data",
    "quantized_weight": "takes its weight quantized",
    "quantizes": "makes quantized elements of numbers",
    "quantizes_data": "quantizes its first operand to compute with it",
    "random": "gives other elements each time",
    "reads_shape": "uses no element of its operand",
    "recurrent": "is a recurrent layer or one step of it",
    "reduces": "makes one element of many along axes",
    "reinterprets": "reads the same bits as another type",
    "repeats": "gives elements several times",
    "replays_state": "writes a state again from what was kept of its updates",
    "resamples": "makes a picture larger or smaller",
    "reshapes": "changes the shape alone; the order of elements stays",
    "reverses": "turns the order along an axis",
    "rotates": "is a rotary embedding",
    "rounds_to_integers": "gives numbers that are integers of few bits times a scale",
    "routes_experts": "is a mixture of experts",
    "samples": "takes elements between others, at places that an operand tells",
    "scales_product": "takes quantized factors; what multiplies its result tells their scales",
    "scatters": "writes elements into others",
    "selects": "chooses elements by what they are",
    "sequence": "works on lists of tensors, or on what may be missing",
    "shape_arithmetic": "sizes of shapes are computed with it",
    "shares_scale": "gives elements of several operands, or sums of them, on one scale",
    "simulates_quantization": "quantizes numbers and gives them back as numbers",
    "slices": "takes a part of its operand by where it begins and ends",
    "solves": "is linear algebra besides products: transforms, inverses, distances",
    "splits": "gives its operand in several parts, one for each result",
    "squashes": "brings all numbers between two limits, as a sigmoid does",
    "stores_constant": "gives a stored tensor",
    "subtracts": "subtracts the second operand from the first",
    "takes_power": "raises to a power",
    "takes_root": "takes the square root, or 1 / square root",
    "takes_sine": "takes the sine or the cosine",
    "trains": "belongs to training: losses, gradients, updates",
    "transposed": "is a transposed convolution",
}

#: what changes nothing of the elements but their order and type
LAYOUT_TRAITS: Final = ("casts", "copies", "permutes", "reshapes")
#: what changes nothing of the elements but their type and precision
CONVERTING_TRAITS: Final = ("casts", "copies", "dequantizes", "drops_out", "quantizes")
#: what hands its first operand on, changed in nothing but order, type and precision
HANDING_TRAITS: Final = (*LAYOUT_TRAITS, "dequantizes", "drops_out", "quantizes")
#: what only chooses elements, and puts them elsewhere
ARRANGING_TRAITS: Final = (*LAYOUT_TRAITS, "joins", "pads", "picks", "repeats")
#: what puts a mask to scores
MASKING_TRAITS: Final = ("adds", "chooses", "multiplies_elements", "subtracts")
#: what gives elements of its first operand as they are: all or some, elsewhere or several times
MOVING_TRAITS: Final = (
    *("copies", "gathers", "moves_pixels"),
    *("permutes", "picks", "repeats", "reshapes"),
)
#: what gives elements of its first operand and of no other: all, some, or some several times
PASSING_TRAITS: Final = (*HANDING_TRAITS, "picks", "repeats")
#: what takes elements of one value and gives them as they are: all, some, or with a border
TAKING_TRAITS: Final = (
    *(*LAYOUT_TRAITS, "drops_out", "gathers", "inserts_axes"),
    *("pads", "picks", "repeats", "slices", "splits"),
)
#: what computes with elements at the same place as + - · / do
ARITHMETIC_TRAITS: Final = ("adds", "divides", "multiplies_elements", "subtracts")

#: which family an operator is coloured as
OPERATOR_FAMILIES: Final = (
    *("linear", "activation", "normalization", "pooling", "shape", "elementwise", "reduction"),
    *("logic", "quantization", "recurrent", "attention", "control", "generator", "training"),
    *("classical", "other"),
)

#: what an operator does with its weight
WEIGHT_KINDS: Final = {
    "attention": "projects to queries, keys and values",
    "convolution": "convolves with it",
    "embedding": "takes rows of it",
    "experts": "holds the matrices of all experts",
    "linear": "multiplies by it",
    "ml": "holds in attributes what was fitted",
    "normalization": "scales channels by it",
    "recurrent": "multiplies each step of a sequence by it",
}
#: how the dimensions of a weight are to be read
LAYOUTS: Final = {
    "conv": "(M, C / group, kernel …)",
    "conv_transposed": "(C, M / group, kernel …)",
    "linear": "(…, in, out)",
    "linear_transposed": "(out, in …)",
    "recurrent": "(directions, gates × hidden, in)",
    "table": "(rows, width …)",
}
