"""Twins of the same structure: another opset, other values in the weights."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import onnx
from onnx import numpy_helper

from tests.compare.twins.graphs import list_bodies, list_nodes, opset_of
from tests.compare.twins.truth import read_tags, set_tags

#: opsets to raise a model to, of which the converter manages the first that it does
_OPSETS = (25, 24, 23, 22, 21, 19, 17, 15, 13, 11)
#: what is beyond stands for minus infinity in masks
_HUGE = 1e30


def raise_opset(model: onnx.ModelProto, chance: Random) -> onnx.ModelProto | None:
    """Convert a model to the highest opset that ``onnx.version_converter`` manages."""
    from onnx import version_converter

    if model.functions or any(node.doc_string for node in list_nodes(model)):
        return None
    # of what nodes say beside the operator the converter keeps documentation alone
    for node in list_nodes(model):
        node.doc_string = " ".join(read_tags(node))
    for version in _OPSETS:
        if version <= opset_of(model) or version > onnx.defs.onnx_opset_version():
            continue
        try:
            raised: onnx.ModelProto = version_converter.convert_version(model, version)
        except Exception:  # of C++, for operators that it has no adapter for
            continue
        for node in list_nodes(raised):
            set_tags(node, node.doc_string.split())
            node.doc_string = ""
        return raised
    return None


def retrain(model: onnx.ModelProto, chance: Random) -> onnx.ModelProto | None:
    """Give all weights of floats other values, as if they had been trained on.

    Single numbers stay: they are constants of the network rather than weights.
    """
    changed = [
        tensor
        for body in list_bodies(model)
        if isinstance(body, onnx.GraphProto)
        for tensor in body.initializer
        if perturb(tensor, np.random.default_rng(chance.getrandbits(32)), _train_on)
    ]
    return model if changed else None


def perturb(
    tensor: onnx.TensorProto,
    chance: np.random.Generator,
    change: Callable[[np.ndarray, np.random.Generator], np.ndarray],
) -> bool:
    """Change the finite elements of a tensor of floats; return whether it is one."""
    if np.prod(tensor.dims) <= 1:
        return False
    array = numpy_helper.to_array(tensor)
    if array.dtype.kind != "f":
        return False
    wide = array.astype(np.float64)
    is_plain = np.isfinite(wide) & (np.abs(wide) < _HUGE)
    result = np.where(is_plain, change(np.where(is_plain, wide, 0.0), chance), wide)
    tensor.CopyFrom(numpy_helper.from_array(result.astype(array.dtype), tensor.name))
    return True


def _train_on(array: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    scaled: np.ndarray = array * np.exp(0.1 * chance.standard_normal(array.shape))
    # variances are positive, and stay so
    if array.min() < 0:
        scaled += 0.1 * array.std() * chance.standard_normal(array.shape)
    return scaled


def draw_anew(array: np.ndarray, chance: np.random.Generator) -> np.ndarray:
    """Return other numbers of the same spread; positive ones for positive ones."""
    drawn: np.ndarray = array.mean() + (array.std() + 1e-3) * chance.standard_normal(array.shape)
    return np.abs(drawn) if array.min() >= 0 else drawn
