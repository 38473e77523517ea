"""The ONNX reader: a ModelProto as a model of the view (onnx.proto, IR versions 1 to 14)."""

from __future__ import annotations

from functools import partial
from typing import Any

from netloupe.explorer.errors import ModelFormatError
from netloupe.explorer.model import (
    Function,
    Graph,
    Model,
    ModelWarning,
    TrainingInfo,
    fill_later,
)
from netloupe.explorer.model.collector import collector_paused
from netloupe.explorer.model.failing import fail
from netloupe.explorer.model.model import add_function
from netloupe.explorer.model.reading import get_model_reading
from netloupe.explorer.model.statement import Statement
from netloupe.explorer.notation import write_count
from netloupe.explorer.progress import step
from netloupe.explorer.readers.freed_memory import give_back_memory
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.explorer.readers.source import Source

from .attributes import read_attribute
from .deep_types import MOST_NESTED_TYPES
from .dialect import ONNX
from .elements import name_message
from .graph import GraphReader
from .parts import OnnxParts, parse_model
from .statements import read_onnx_statement
from .tensors import TensorReader, read_entries

#: a graph of so many nodes, which stands alone, is read by columns
MANY_NODES = 500


def read_onnx(source: Source, *, is_recognized: bool = True) -> Model:
    """Read an ONNX model from its protobuf bytes.

    Parameters
    ----------
    source
        The bytes.
    is_recognized
        False where nothing but the bytes' being nothing else speaks for a model.

    Raises
    ------
    ModelFormatError
        Where the bytes are no ModelProto, or graphs are nested too deep.
    """
    parts = parse_model(source, is_recognized=is_recognized)
    proto = parts.proto
    if not (proto.HasField("graph") or proto.functions or proto.training_info):
        raise ModelFormatError(
            f"{source.name}: holds no graph, so it is no ONNX model. Check which file it is."
        )
    return _ModelReader(source, parts).read()


class _ModelReader:
    def __init__(self, source: Source, parts: OnnxParts) -> None:
        self.parts = parts
        self.model = Model(source.name, ONNX.name, "protobuf", ONNX, source.files)
        self.graph_reader = GraphReader(TensorReader(source.files, parts), parts)
        self._function_paths: set[str] = set()
        reading = get_model_reading(self.model)
        reading.parts, reading.state = parts, self._state

    def read(self) -> Model:
        model, proto = self.model, self.parts.proto
        self._read_header()
        # functions come first, so that every call finds its function
        for number, function in enumerate(proto.functions):
            try:
                self._read_function(function, number)
            except Exception as error:
                fail(error, model.source, name_message(function, "function"))
        model.graph.name = read_text(proto.graph.name)
        has_many = len(proto.graph.node) >= MANY_NODES or self.parts.has_many_messages
        if not self._stands_alone() or not has_many:
            self.parts.forget_columns()
        if self._stands_alone():
            # nothing else refers to what is in it, and no graph within can be nested too deep
            fill_later(model.graph, partial(self._fill, model.graph))
        else:
            self.graph_reader.read(model.graph, proto.graph)
        for number, training in enumerate(proto.training_info):
            self._read_training(training, number)
        if self.parts.types_cut:
            types = write_count(self.parts.types_cut, "type")
            get_model_reading(model).left_out += (
                f"{types} nested deeper than {MOST_NESTED_TYPES} levels",
            )
            self._warn(
                "model",
                f"{types} nested deeper than {MOST_NESTED_TYPES} levels: shown to that depth",
            )
        return model

    def _stands_alone(self) -> bool:
        uses_subgraphs, proto = self.parts.presence.subgraphs, self.parts.proto
        return not (uses_subgraphs or proto.functions or proto.training_info)

    def _fill(self, graph: Graph) -> None:
        step("reading nodes")
        with collector_paused():
            has_many = len(self.parts.proto.graph.node) >= MANY_NODES
            is_packed = self.parts.pack()
            columns = self.parts.columns() if has_many else None
            self.parts.forget_columns()
            if is_packed:  # messages are gone, and with the graph what it was made of
                give_back_memory()
            self.graph_reader.read(graph, self.parts.proto.graph, columns=columns)
        if is_packed:
            give_back_memory()

    def _read_header(self) -> None:
        proto, header = self.parts.proto, self.model.header
        header.ir_version = proto.ir_version if proto.HasField("ir_version") else None
        header.producer_name = read_text(proto.producer_name)
        header.producer_version = read_text(proto.producer_version)
        header.domain = read_text(proto.domain)
        header.model_version = proto.model_version if proto.HasField("model_version") else None
        header.doc = read_text(proto.doc_string)
        header.metadata = read_entries(proto.metadata_props)
        header.opset_imports = self._read_opsets(proto.opset_import, "model")
        if proto.configuration:
            from .devices import read_device_configurations

            header.device_configurations = read_device_configurations(proto.configuration)
        header.unknown_fields = self.parts.find_unknown(
            proto, frozenset(("GraphProto", "FunctionProto"))
        )
        if header.ir_version is None:
            self._warn("model", "the file does not state its IR version")

    def _read_opsets(self, imports: Any, path: str) -> dict[str, int]:
        result: dict[str, int] = {}
        for entry in imports:
            domain = ONNX.read_domain(read_text(entry.domain))
            if domain in result:
                shown = ONNX.name_domain(domain)
                self._warn(path, f"the operator set {shown} is imported twice")
            result[domain] = max(entry.version, result.get(domain, entry.version))
        return result

    def _read_function(self, proto: Any, number: int) -> None:
        domain, name = read_text(proto.domain), read_text(proto.name)
        overload = read_text(proto.overload)
        path = f"functions/{domain}::{name}" + (f":{overload}" if overload else "")
        if path in self._function_paths:
            path = f"{path}#{number}"
        self._function_paths.add(path)
        function = Function(self.model, domain, name, overload, path)
        if not add_function(self.model, function):
            self._warn(path, "another function has the same domain, name and overload")
        function.attribute_names = tuple(map(read_text, proto.attribute))
        function.own_opset_imports = self._read_opsets(proto.opset_import, path)
        for attribute_proto in proto.attribute_proto:
            try:
                graphs = self.graph_reader.read_default_graphs(function, attribute_proto)
                attribute = read_attribute(
                    attribute_proto, path, self.graph_reader.tensor_reader, graphs
                )
            except Exception as error:
                element = f"{name_message(attribute_proto, 'attribute')} of {path}"
                fail(error, self.model.source, element)
            function.attribute_defaults[attribute.name] = attribute
        self.graph_reader.read_function(function, proto)

    def _read_training(self, proto: Any, number: int) -> None:
        graphs: dict[str, Graph] = {}
        for field in ("initialization", "algorithm"):
            if proto.HasField(field):
                graphs[field] = self.graph_reader.read_training(
                    self.model, getattr(proto, field), f"training_{number}.{field}", field
                )
        self.model.training.append(
            TrainingInfo(
                graphs.get("initialization"),
                graphs.get("algorithm"),
                tuple((read_text(e.key), read_text(e.value)) for e in proto.initialization_binding),
                tuple((read_text(e.key), read_text(e.value)) for e in proto.update_binding),
            )
        )

    def _state(self) -> Statement:
        return read_onnx_statement(self.parts.proto, self.parts, self.graph_reader.tensor_reader)

    def _warn(self, path: str, message: str) -> None:
        self.model.warnings.append(ModelWarning(path, message))
