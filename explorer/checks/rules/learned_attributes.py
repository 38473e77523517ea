"""Attributes of ``ai.onnx.ml`` that hold what was learned: labels, coefficients, vectors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from netloupe.explorer.checks.uses import Case, Demand
from netloupe.explorer.notation import write_count

from .attribute_counts import count_entries, judge_choice, judge_lengths, judge_presence

_KEYS = ("keys_floats", "keys_int64s", "keys_strings", "keys_tensor")
_VALUES = ("values_floats", "values_int64s", "values_strings", "values_tensor")
_SUPPORT = ("coefficients", "support_vectors")


def _encode_labels(case: Case) -> Iterator[str]:
    """Say what of LabelEncoder does not fit (Operators-ml.md, LabelEncoder: Attributes)."""
    if case.since < 2:
        yield from judge_presence(case, "classes_strings")
        return
    found = [
        told
        for names in (_KEYS, _VALUES)
        for told in judge_choice(case, *names, may_be_empty=False)
    ]
    yield from found
    if not found:
        filled = [name for name in (*_KEYS, *_VALUES) if count_entries(case, name)]
        yield from judge_lengths(case, *filled)


def _map_categories(case: Case) -> Iterator[str]:
    yield from judge_presence(case, "cats_int64s")
    yield from judge_presence(case, "cats_strings")
    yield from judge_lengths(case, "cats_int64s", "cats_strings")


def _scale(case: Case) -> Iterator[str]:
    yield from judge_presence(case, "scale")
    yield from judge_lengths(case, "scale", "offset")


def _classify_linearly(case: Case) -> Iterator[str]:
    """Say what of LinearClassifier does not fit (Operators-ml.md, LinearClassifier)."""
    yield from judge_presence(case, "coefficients")
    yield from judge_presence(case, "intercepts")
    classes, count = count_entries(case, "intercepts"), count_entries(case, "coefficients")
    if not classes or not count:
        return
    if count % classes:
        yield f"coefficients of LinearClassifier are {count}, no multiple of {classes} classes"
    names = ("classlabels_ints", "classlabels_strings")
    labels = [count_entries(case, name) for name in names]
    if all(labels):
        yield f"LinearClassifier has {names[0]} and {names[1]}, but one must be left out"
    most = max(number or 0 for number in labels)
    if most < classes and (most or classes > 1):
        told = write_count(most, "label")
        yield f"LinearClassifier has {told}, but intercepts for {classes} classes"


def _support(case: Case) -> Iterator[str]:
    """Say what of any support vector machine does not fit (Operators-ml.md, SVMRegressor)."""
    kernel = count_entries(case, "kernel_params")
    if kernel not in (None, 0, 3):
        told = write_count(kernel or 0, "entry", "entries")
        yield f"kernel_params of {case.op_type} has {told}, but must have 3: gamma, coef0, degree"
    yield from judge_presence(case, "rho")
    yield from judge_presence(case, "coefficients")


def _support_regression(case: Case) -> Iterator[str]:
    yield from _support(case)
    coefficients, stored = (count_entries(case, name) or 0 for name in _SUPPORT)
    vectors = case.integer("n_supports", 0) or 0
    if vectors > 0 and not stored:
        yield f"n_supports of SVMRegressor is {vectors}, but it has no support_vectors"
    elif 0 < coefficients < vectors:
        yield f"n_supports of SVMRegressor is {vectors}, but it has {coefficients} coefficients"


def _support_classes(case: Case) -> Iterator[str]:
    yield from _support(case)
    coefficients, stored = (count_entries(case, name) or 0 for name in _SUPPORT)
    both = [count_entries(case, name) or 0 for name in ("prob_a", "prob_b")]
    if both[0] != both[1]:
        yield f"prob_a and prob_b of SVMClassifier have {both[0]} and {both[1]} entries"
    names = ("classlabels_ints", "classlabels_strings")
    yield from judge_choice(case, *names)
    if all(map(case.is_stated, names)) and not all(count_entries(case, name) for name in names):
        yield "SVMClassifier has classlabels_ints and classlabels_strings, but one must be left out"
    each = case.integers("vectors_per_class")
    classes = max(count_entries(case, name) or 0 for name in names)
    if not each or min(each) < 0 or not sum(each) or not classes:
        return
    if len(each) != classes:
        told = write_count(len(each), "entry", "entries")
        yield f"vectors_per_class of SVMClassifier has {told}, but there are {classes} labels"
        return
    vectors = sum(each)
    if stored % vectors:
        yield f"support_vectors has {stored} numbers, not divisible by {vectors} vectors"
    elif 0 < coefficients < vectors * (classes - 1):
        wanted = vectors * (classes - 1)
        yield f"SVMClassifier has {coefficients} coefficients, but must have {wanted}"


def _choose(case: Case, names: tuple[str, ...]) -> Iterator[str]:
    return judge_choice(case, *names)


def _need(case: Case, name: str) -> Iterator[str]:
    return judge_presence(case, name)


#: what is demanded of the attributes of operators with lists: a function of this module for each
LEARNED: Mapping[str, Demand] = {
    "LabelEncoder": _encode_labels,
    "CategoryMapper": _map_categories,
    "Scaler": _scale,
    "OneHotEncoder": partial(_choose, names=("cats_int64s", "cats_strings")),
    "Imputer": partial(_choose, names=("imputed_value_floats", "imputed_value_int64s")),
    "ZipMap": partial(_choose, names=("classlabels_int64s", "classlabels_strings")),
    "DictVectorizer": partial(_choose, names=("int64_vocabulary", "string_vocabulary")),
    "FeatureVectorizer": partial(_need, name="inputdimensions"),
    "LinearClassifier": _classify_linearly,
    "SVMClassifier": _support_classes,
    "SVMRegressor": _support_regression,
}
