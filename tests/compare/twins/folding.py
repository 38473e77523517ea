"""Twins that an optimiser has been at: constants folded, dead nodes gone, norms in convolutions."""

from __future__ import annotations

from random import Random

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tests.compare.twins.graphs import (
    Constants,
    Names,
    drop_unused,
    evaluate,
    free_weights,
    graphs_of,
    infer_types,
    list_uses,
    opset_of,
    output_names,
    replace_nodes,
    taken_by,
)
from tests.compare.twins.truth import read_tags, set_tags

#: elements of what is folded, at most
_SMALL = 4096
_CHANCE = {
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
}
_DEAD = 3


def add_dead_nodes(model: onnx.ModelProto, chance: Random) -> None:
    """Add some nodes that nobody uses, so that there are some to be removed."""
    graph = model.graph
    types = infer_types(model)[0]
    tensors = [
        name
        for node in graph.node
        for name in node.output
        if name in types and types[name].HasField("tensor_type")
    ]
    names = Names(model)
    for name in chance.sample(tensors, min(_DEAD, len(tensors))):
        copy, shape = names.make(f"{name}_copy"), names.make(f"{name}_shape")
        graph.node.append(helper.make_node("Identity", [name], [copy], names.make("dead/Identity")))
        graph.node.append(helper.make_node("Shape", [copy], [shape], names.make("dead/Shape")))


def fold_constants(model: onnx.ModelProto, chance: Random) -> onnx.ModelProto:
    """Let small constants be weights, computed where need be, and remove what nobody uses."""
    free_weights(model)
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    given = {value.name for value in graph.input}
    known = {
        name: numpy_helper.to_array(tensor)
        for name, tensor in weights.items()
        if name not in given and int(np.prod(tensor.dims)) <= _SMALL
    }
    results = output_names(graph)
    kept = []
    for node in graph.node:
        found = _fold(node, known, model) if results.isdisjoint(node.output) else None
        if found is None:
            kept.append(node)
            continue
        for name, array in found.items():
            known[name] = array
            graph.initializer.append(numpy_helper.from_array(array, name))
    replace_nodes(graph, kept)
    remove_dead_nodes(graph)
    drop_unused(graph)
    return model


def _fold(
    node: onnx.NodeProto, known: dict[str, np.ndarray], model: onnx.ModelProto
) -> dict[str, np.ndarray] | None:
    """Return what a node gives where it depends on nothing; None where it may not be folded."""
    names = [name for name in node.input if name]
    is_plain = node.domain in ("", "ai.onnx") and node.op_type not in _CHANCE
    if not is_plain or graphs_of(node) or not all(name in known for name in names):
        return None
    try:
        arrays = evaluate(node, {name: known[name] for name in names}, model.opset_import)
    except Exception:  # the reference does not know every operator
        return None
    found = dict(zip([name for name in node.output if name], arrays, strict=True))
    fits = all(isinstance(each, np.ndarray) and each.size <= _SMALL for each in arrays)
    return found if fits else None


def remove_dead_nodes(graph: onnx.GraphProto) -> None:
    """Remove nodes of which nobody uses what they give, and then those before them."""
    wanted = output_names(graph)
    kept = []
    for node in reversed(graph.node):
        if wanted.isdisjoint(node.output):
            continue
        kept.append(node)
        wanted |= taken_by(node)
    replace_nodes(graph, reversed(kept))


def add_norms(model: onnx.ModelProto, chance: Random) -> None:
    """Put a BatchNormalization behind each Conv, in a model that has none to be folded."""
    graph = model.graph
    if any(node.op_type == "BatchNormalization" for node in graph.node):
        return
    weights = {t.name: t for t in graph.initializer if t.data_type == onnx.TensorProto.FLOAT}
    names, random = Names(model), np.random.default_rng(chance.getrandbits(32))
    added = {}
    for index, conv in enumerate(graph.node):
        if conv.op_type != "Conv" or conv.input[1] not in weights:
            continue
        inputs = [names.make(f"{conv.output[0]}_unscaled")]
        for part in ("scale", "shift", "mean", "variance"):
            array = random.uniform(0.5, 1.5, weights[conv.input[1]].dims[0]).astype(np.float32)
            inputs.append(names.make(f"{conv.input[1]}_{part}"))
            graph.initializer.append(numpy_helper.from_array(array, inputs[-1]))
        name = names.make(f"{conv.name}/norm") if conv.name else ""
        norm = helper.make_node("BatchNormalization", inputs, [conv.output[0]], name)
        norm.metadata_props.extend(conv.metadata_props)
        conv.output[0] = inputs[0]
        added[index] = norm
    nodes = [(node, added.get(index)) for index, node in enumerate(graph.node)]
    replace_nodes(graph, [each for pair in nodes for each in pair if each is not None])


def fold_norms(model: onnx.ModelProto, chance: Random) -> onnx.ModelProto | None:
    """Fold each BatchNormalization into the Conv before it, which is both from then on."""
    free_weights(model)
    graph = model.graph
    constants, names, uses = Constants(model), Names(model), list_uses(graph)
    results = output_names(graph)
    makers = {name: node for node in graph.node for name in node.output}
    folded = set()
    for index, norm in enumerate(graph.node):
        conv = makers.get(norm.input[0]) if norm.op_type == "BatchNormalization" else None
        if conv is None or conv.op_type != "Conv" or not _is_inference(norm, opset_of(model)):
            continue
        if len(uses[norm.input[0]]) > 1 or norm.input[0] in results:
            continue
        if _fold_norm(graph, conv, norm, constants, names):
            folded.add(index)
    if not folded:
        return None
    replace_nodes(graph, [node for index, node in enumerate(graph.node) if index not in folded])
    remove_dead_nodes(graph)
    drop_unused(graph)
    return model


def _is_inference(norm: onnx.NodeProto, opset: int) -> bool:
    # mean and variance are outputs as well where they are being learnt
    training = [each.i for each in norm.attribute if each.name == "training_mode"]
    return len(list(filter(None, norm.output))) == 1 and not any(training) and opset >= 7


def _fold_norm(
    graph: onnx.GraphProto,
    conv: onnx.NodeProto,
    norm: onnx.NodeProto,
    constants: Constants,
    names: Names,
) -> bool:
    arrays = fold_arrays(conv, norm, constants)
    if arrays is None:
        return False
    inputs = [conv.input[0]]
    for origin, array in zip((conv.input[1], norm.input[2]), arrays, strict=True):
        name = names.make(f"{origin}_folded")
        graph.initializer.append(numpy_helper.from_array(array, name))
        inputs.append(name)
    conv.input[:] = inputs
    conv.output[0] = norm.output[0]
    set_tags(conv, [*read_tags(conv), *read_tags(norm)])
    return True


def fold_arrays(
    conv: onnx.NodeProto, norm: onnx.NodeProto, constants: Constants
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the weight and the bias of a Conv that does what the norm behind it does, too.

    None where something depends on inputs of the model.
    """
    parameters = [constants.read(name) for name in norm.input[1:5]]
    weight = constants.read(conv.input[1])
    old = constants.read(conv.input[2]) if len(conv.input) > 2 else np.float32(0)
    if weight is None or old is None or any(each is None for each in parameters):
        return None
    epsilon = next((each.f for each in norm.attribute if each.name == "epsilon"), 1e-5)
    scale, shift, mean, variance = (
        np.asarray(each, np.float64) for each in parameters if each is not None
    )
    # made-up variances may be negative
    factor = scale / np.sqrt(np.abs(variance) + epsilon)
    whole = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
    bias = (old - mean) * factor + shift
    return whole.astype(weight.dtype), bias.astype(weight.dtype)
