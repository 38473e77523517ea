"""Twins with other names."""

from __future__ import annotations

from random import Random

import onnx

from tests.compare.twins.graphs import Body, graphs_of, list_bodies, list_nodes, sort_nodes
from tests.compare.twins.truth import read_tags, set_tags


def change_names(model: onnx.ModelProto, chance: Random) -> onnx.ModelProto:
    """Give everything another name, and forget what else tells names.

    These are nodes, values, weights, graphs, functions, their domains and named dimensions; what
    has no name gets none. Documentation and metadata go. Attributes keep their names, as those
    belong to operators; so do attributes of functions.
    """
    names = _Names(chance, sum(1 for _ in list_nodes(model)) * 4 + 1000)
    names.avoid(model)
    _rename_functions(model, names)
    for body in (model.graph, *model.functions):
        _rename_body(body, {}, names)
    model.doc_string = ""
    del model.metadata_props[:]
    return model


class _Names:
    """New names in no order that tells anything, and dimensions that share one."""

    def __init__(self, chance: Random, count: int) -> None:
        self._numbers = list(range(count))
        chance.shuffle(self._numbers)
        self._prefix = "t"
        self._dimensions: dict[str, str] = {}

    def avoid(self, model: onnx.ModelProto) -> None:
        known = {name for body in list_bodies(model) for node in body.node for name in node.output}
        known.update(node.name for node in list_nodes(model))
        known.update(tensor.name for tensor in model.graph.initializer)
        while any(name.startswith(self._prefix) for name in known):
            self._prefix += "q"

    def make(self) -> str:
        if not self._numbers:
            raise ValueError("there are more names than were expected")
        return f"{self._prefix}{self._numbers.pop()}"

    def of_dimension(self, name: str) -> str:
        return self._dimensions.setdefault(name, f"{self._prefix}d{len(self._dimensions)}")


def _rename_functions(model: onnx.ModelProto, names: _Names) -> None:
    functions = {(each.domain, each.name, each.overload) for each in model.functions}
    identities = {key[:2]: names.make() for key in sorted(functions)}
    called = {(node.domain, node.op_type) for node in list_nodes(model)}
    other = {domain for domain, op_type in called if (domain, op_type) not in identities}
    domains = {domain: names.make() for domain, _ in identities if domain and domain not in other}
    for node in list_nodes(model):
        key = (node.domain, node.op_type)
        if key in identities:
            node.op_type = identities[key]
            node.domain = domains.get(node.domain, node.domain)
    for function in model.functions:
        function.name = identities[function.domain, function.name]
        function.domain = domains.get(function.domain, function.domain)
    for holder in (model, *model.functions):
        for entry in holder.opset_import:
            entry.domain = domains.get(entry.domain, entry.domain)


def _rename_body(body: Body, outer: dict[str, str], names: _Names) -> None:
    """Rename a graph or function inside of what the names outside have become."""
    known = dict(outer)
    if isinstance(body, onnx.FunctionProto):
        body.input[:] = [_add(known, name, names) for name in body.input]
    else:
        body.name = names.make()
        inputs = {value.name for value in body.input}
        for value in body.input:
            _add(known, value.name, names)
        for tensor in body.initializer:
            if tensor.name not in inputs:
                _add(known, tensor.name, names)
            tensor.name = known[tensor.name]
            _forget(tensor)
        for sparse in body.sparse_initializer:
            sparse.values.name = _add(known, sparse.values.name, names)
            sparse.indices.name = ""
    for node in body.node:
        for name in node.output:
            _add(known, name, names)
    for node in body.node:
        node.input[:] = [known.get(name, name) for name in node.input]
        node.output[:] = [known.get(name, name) for name in node.output]
        node.name = names.make() if node.name else ""
        tags = read_tags(node)
        _forget(node)
        set_tags(node, tags)
        for attribute in node.attribute:
            attribute.doc_string = ""
            if attribute.HasField("t"):
                attribute.t.name = ""
                _forget(attribute.t)
            for tensor in attribute.tensors:
                tensor.name = ""
        for graph in graphs_of(node):
            _rename_body(graph, known, names)
    infos = [value for value in body.value_info if value.name in known]
    del body.value_info[:]
    body.value_info.extend(infos)
    if isinstance(body, onnx.FunctionProto):
        body.output[:] = [known.get(name, name) for name in body.output]
    else:
        for entry in body.quantization_annotation:
            entry.tensor_name = known.get(entry.tensor_name, entry.tensor_name)
            for parameter in entry.quant_parameter_tensor_names:
                parameter.value = known.get(parameter.value, parameter.value)
        for value in (*body.input, *body.output):
            _rename_value(value, known, names)
    for value in body.value_info:
        _rename_value(value, known, names)
    _forget(body)


def _add(known: dict[str, str], name: str, names: _Names) -> str:
    if name:
        known[name] = names.make()
    return known.get(name, name)


def _rename_value(value: onnx.ValueInfoProto, known: dict[str, str], names: _Names) -> None:
    value.name = known.get(value.name, value.name)
    _forget(value)
    tensor = value.type.tensor_type
    if value.type.HasField("tensor_type") and tensor.HasField("shape"):
        for dim in tensor.shape.dim:
            if dim.dim_param:
                dim.dim_param = names.of_dimension(dim.dim_param)


def _forget(said: Body | onnx.NodeProto | onnx.TensorProto | onnx.ValueInfoProto) -> None:
    said.doc_string = ""
    del said.metadata_props[:]


def shuffle_nodes(model: onnx.ModelProto, chance: Random) -> onnx.ModelProto:
    """Order the nodes of all graphs and functions in another way that is as good."""
    for body in list_bodies(model):
        sort_nodes(body, [chance.random() for _ in body.node])
    return model
