"""A skeleton: an ONNX model without its weights, for what needs no more, such as shape inference.

It is made of the messages that were read, so that its size is that of the nodes, whatever the
tensors weigh and wherever they are. Of tensors it has element types and dimensions; elements only
of those so small that shapes may follow from them.

What a reader of it would take for something else than the model means is put right or left out:
a call names its function by number; a node whose subgraph gives a name of a graph around it again
becomes one of an operator that nobody knows; domains are imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from math import prod
from typing import Any

from google.protobuf.message import DecodeError, EncodeError

from netloupe.explorer.errors import InferenceError, SourceChangedError, TensorDataError
from netloupe.explorer.model import Function, Graph, Model, Node, Value, ValueType
from netloupe.explorer.model.dtype import ONNX_DATA_TYPES
from netloupe.explorer.model.reading import get_model_reading
from netloupe.explorer.notation import clip_text, write_bytes
from netloupe.explorer.progress import step
from netloupe.explorer.readers.protobuf.parts import iterate
from netloupe.explorer.readers.protobuf.texts import read_text
from netloupe.proto import onnx_pb2

from .dialect import ONNX
from .parts import ELEMENT_FIELDS, OnnxParts
from .tensors import TensorReader, read_type

#: the domain of calls; the op type is the number of the function's graph
CALL_DOMAIN = "netloupe.function"
#: the domain of nodes of which nothing is told
HIDDEN_DOMAIN = "netloupe.hidden"

#: integers and booleans up to so many elements are kept: shapes, axes, starts, repeats, splits
_MOST_INTEGERS = 1024
#: other elements up to so many: scales of Resize, limits of Range
_MOST_OTHERS = 16
_KEPT_TYPES = {
    **dict.fromkeys(("bool", "uint8", "int8", "uint16", "int16"), _MOST_INTEGERS),
    **dict.fromkeys(("uint32", "int32", "uint64", "int64"), _MOST_INTEGERS),
    **dict.fromkeys(("float16", "float32", "float64"), _MOST_OTHERS),
}
#: the same by DataType numbers
_MOST_KEPT = {ONNX_DATA_TYPES.index(name): most for name, most in _KEPT_TYPES.items()}
_EXTERNAL = 1  # TensorProto.DataLocation.EXTERNAL
#: kinds of attributes that hold neither tensors nor graphs: float, int, string and lists of these
_PLAIN_KINDS = frozenset((1, 2, 3, 6, 7, 8))
#: the runtime takes 100 messages within each other, and each graph in a graph is three
_MOST_NESTED = 25
_MOST_BYTES = 2**29
#: versions that no operator has: nothing is known of the domain
_NO_VERSION = 0
_STEP = 10_000


@dataclass(frozen=True, slots=True)
class Skeleton:
    """A model without weights.

    Parameters
    ----------
    data
        The bytes of a ModelProto. A graph's name is its number; a function's name is its number,
        too, and its documentation says how many calls of it the model has. A node's name is the
        number of its graph and its index: ``0:12``.
    graphs
        The graphs of the model, by number.
    """

    data: bytes
    graphs: tuple[Graph, ...]


def write_skeleton(model: Model) -> Skeleton:
    """Write a model without its weights; no elements are read but those of small tensors.

    Raises
    ------
    InferenceError
        Where the model is not of ONNX, gives a name twice in its main graph, lets functions call
        each other in a circle, or is too large without weights.
    SourceChangedError
        Where a file is no longer as it was when it was opened.
    """
    parts = get_model_reading(model).parts
    if not isinstance(parts, OnnxParts):
        raise InferenceError(
            f"{model.source}: is no ONNX model, and shapes are inferred of these alone. "
            "Export it as ONNX to see them."
        )
    return _SkeletonWriter(model, parts).write()


def read_inferred_types(
    skeleton: Skeleton, messages: Iterable[bytes]
) -> Iterator[tuple[Value, ValueType]]:
    """Yield values of a model and the types that were inferred of them on its skeleton.

    Parameters
    ----------
    skeleton
        What they were inferred on.
    messages
        GraphProtos, each with the number of a graph as its name and types in ``value_info``.

    Raises
    ------
    InferenceError
        Where a message is none.
    """
    for data in messages:
        try:
            message = onnx_pb2.GraphProto.FromString(data)
            graph = skeleton.graphs[int(message.name)]
        except (DecodeError, ValueError, IndexError):
            raise InferenceError("the types that onnx gave are damaged. Try again.") from None
        values = graph.values
        for info in iterate(message.value_info):
            value = values.get(read_text(info.name))
            if value is not None:
                yield value, read_type(info.type)


class _SkeletonWriter:
    def __init__(self, model: Model, parts: OnnxParts) -> None:
        self._model = model
        self._parts = parts
        self._reader = TensorReader(parts.source.files, parts)
        self._graphs: list[Graph] = []
        #: the number of each function, and how many calls of it the model has
        self._numbers: dict[Function, int] = {}
        self._calls: dict[Function, int] = {}

    def write(self) -> Skeleton:
        model, proto, skeleton = self._model, self._parts.proto, onnx_pb2.ModelProto()
        repeated = _find_repeated(model.graph)
        if repeated is not None:
            raise InferenceError(
                f"{model.source}: %{clip_text(repeated.name, 100)} is given more than once in "
                f"{model.graph.path}, so that shapes cannot be inferred. Give each value a name "
                "of its own."
            )
        self._count_calls()
        # names of initializers that are no inputs are allowed from IR version 4 on
        skeleton.ir_version = max(proto.ir_version, 4)
        # functions come first, so that every call knows the number
        self._graphs += model.functions
        self._numbers = {function: number for number, function in enumerate(model.functions)}
        self._parts.copy_graph(skeleton.graph)
        domains = self._reduce(model.graph, skeleton.graph)
        _import_domains(skeleton, model.opset_imports, domains)
        for function, source in zip(model.functions, proto.functions, strict=True):
            self._write_function(function, source, skeleton.functions.add())
        skeleton.DiscardUnknownFields()
        return Skeleton(self._serialize(skeleton), tuple(self._graphs))

    def _serialize(self, skeleton: Any) -> bytes:
        try:
            size = skeleton.ByteSize()
            data: bytes = skeleton.SerializeToString() if size <= _MOST_BYTES else b""
        except EncodeError:
            raise InferenceError(
                f"{self._model.source}: is nested too deep for shapes to be inferred. "
                "Export it with fewer levels."
            ) from None
        if size > _MOST_BYTES:
            raise InferenceError(
                f"{self._model.source}: has {write_bytes(size)} without its weights; shapes are "
                f"inferred up to {write_bytes(_MOST_BYTES)}. Move large attributes into tensors."
            )
        return data

    # functions

    def _count_calls(self) -> None:
        """Count the calls of functions; refuse those that call each other in a circle."""
        functions = self._model.functions
        if not functions:
            return
        called: dict[Function, set[Function]] = {function: set() for function in functions}
        for graph in self._model.graphs:
            outermost = _enclose(graph)[-1]
            for node in graph.nodes:
                function = node.function
                if function is not None:
                    self._calls[function] = self._calls.get(function, 0) + 1
                    if isinstance(outermost, Function):
                        called[outermost].add(function)
        try:
            TopologicalSorter(called).prepare()
        except CycleError as error:
            raise InferenceError(
                f"{self._model.source}: {clip_text(error.args[1][0].path, 100)} calls itself, "
                "directly or through others, so that shapes cannot be inferred. Unroll the "
                "recursion."
            ) from None

    def _write_function(self, function: Function, source: Any, target: Any) -> None:
        target.CopyFrom(source)
        for field in ("opset_import", "overload", "metadata_props"):
            target.ClearField(field)
        target.domain, target.name = CALL_DOMAIN, str(self._numbers[function])
        target.doc_string = str(self._calls.get(function, 0))
        domains: set[str] = set()
        if _find_repeated(function) is None:
            domains = self._reduce(function, target)
        else:  # a body whose names mean several values tells nothing
            target.ClearField("node")
        _import_domains(target, function.opset_imports, domains)

    # graphs

    def _reduce(self, graph: Graph, message: Any) -> set[str]:
        """Take weights and names out of the message of a graph or function.

        Returns the domains of its operators, those in graphs inside included.
        """
        domains: set[str] = set()
        pending = [(graph, message)]
        while pending:
            graph, message = pending.pop()
            number = self._numbers.get(graph) if isinstance(graph, Function) else None
            if number is None:
                number = self._begin_graph(graph, message)
            around = _enclose(graph)
            for index, node in enumerate(message.node):
                if not index % _STEP:
                    step("leaving out weights")
                node.name = f"{number}:{index}"
                if node.doc_string:
                    node.ClearField("doc_string")
                if node.metadata_props:
                    node.ClearField("metadata_props")
                if self._names_operators:
                    self._name_operator(graph.nodes[index], node)
                    domains.add(node.domain)
                if not node.attribute:
                    continue
                inside = graph.nodes[index].subgraphs if self._has_subgraphs else ()
                if inside and (len(around) > _MOST_NESTED or _is_misleading(inside, around)):
                    _hide(node)
                    domains.add(node.domain)
                    continue
                self._reduce_attributes(node)
                if inside:
                    pending += zip(inside, self._list_graphs(node), strict=True)
        return domains

    @property
    def _has_subgraphs(self) -> bool:
        return self._parts.presence.subgraphs

    @property
    def _names_operators(self) -> bool:
        """Whether any operator may be written another way than it is to be understood."""
        return self._parts.presence.domains or bool(self._numbers)

    def _begin_graph(self, graph: Graph, message: Any) -> int:
        """Give a graph its number, and take the weights out of what it stores."""
        number = len(self._graphs)
        self._graphs.append(graph)
        message.name = str(number)
        for field in ("doc_string", "quantization_annotation", "metadata_props"):
            message.ClearField(field)
        names: set[str | bytes] = set()
        repeated = []
        for index, tensor in enumerate(message.initializer):
            if not index % _STEP:
                step("leaving out weights")
            self._reduce_tensor(tensor)
            if tensor.name in names:  # the first counts
                repeated.append(index)
            names.add(tensor.name)
        for index in reversed(repeated):
            del message.initializer[index]
        for sparse in message.sparse_initializer:
            self._reduce_sparse(sparse)
        return number

    def _name_operator(self, node: Node, message: Any) -> None:
        """Write a node's operator so that nothing else can be taken for it."""
        function = node.function
        if function is not None:
            message.domain, message.op_type = CALL_DOMAIN, str(self._numbers[function])
            message.ClearField("overload")
        elif node.domain == ONNX.domain:
            message.ClearField("domain")
        elif type(message.domain) is not str or node.domain in (CALL_DOMAIN, HIDDEN_DOMAIN):
            _hide(message)

    def _list_graphs(self, node: Any) -> Iterator[Any]:
        """Yield the messages of a node's graphs in the order of its subgraphs; none is a stub."""
        for attribute in node.attribute:
            for graph in ([attribute.g] if attribute.HasField("g") else ()), attribute.graphs:
                for message in graph:
                    whole = self._parts.graph(message)
                    if whole is not message:
                        message.CopyFrom(whole)
                    yield message

    # tensors

    def _reduce_attributes(self, node: Any) -> None:
        for attribute in node.attribute:
            if attribute.type in _PLAIN_KINDS:
                continue
            if attribute.HasField("t"):
                self._reduce_tensor(attribute.t)
            for tensor in attribute.tensors:
                self._reduce_tensor(tensor)
            if attribute.HasField("sparse_tensor"):
                self._reduce_sparse(attribute.sparse_tensor)
            for sparse in attribute.sparse_tensors:
                self._reduce_sparse(sparse)

    def _reduce_sparse(self, sparse: Any) -> None:
        _empty(sparse.values)
        sparse.ClearField("indices")

    def _reduce_tensor(self, tensor: Any) -> None:
        """Leave the elements of a tensor out, or put those of a small one in."""
        most = _MOST_KEPT.get(tensor.data_type, -1)
        dims = tensor.dims
        size = prod(dims) if dims else 1
        if not 0 <= size <= most or tensor.HasField("segment"):
            _empty(tensor)
            return
        is_external = tensor.data_location == _EXTERNAL or len(tensor.external_data)
        if not size or (not is_external and any(len(getattr(tensor, f)) for f in ELEMENT_FIELDS)):
            return
        try:
            elements = self._reader.read(tensor, f"the tensor {read_text(tensor.name)}").numpy()
        except SourceChangedError:
            raise
        except TensorDataError:  # its file is not there
            _empty(tensor)
            return
        _empty(tensor)
        tensor.raw_data = elements.astype(elements.dtype.newbyteorder("<")).tobytes()


def _empty(tensor: Any) -> None:
    for field in (*ELEMENT_FIELDS, "external_data", "data_location", "segment"):
        tensor.ClearField(field)


def _hide(node: Any) -> None:
    """Make a node one of an operator that nobody knows."""
    node.domain, node.op_type = HIDDEN_DOMAIN, "Hidden"
    node.ClearField("overload")
    node.ClearField("attribute")


def _import_domains(message: Any, imports: Mapping[str, int], domains: Iterable[str]) -> None:
    """Write the operator sets that are imported, and of other domains in use that none is known."""
    for domain in sorted({ONNX.domain, *imports, *domains}):
        version = imports.get(domain, _NO_VERSION)
        message.opset_import.add(domain=domain, version=version)


def _enclose(graph: Graph) -> list[Graph]:
    """Return a graph and those around it, innermost first."""
    found = [graph]
    while graph.parent_node is not None:
        graph = graph.parent_node.graph
        found.append(graph)
    return found


def _find_repeated(graph: Graph) -> Value | None:
    """Return a value whose name means another one, too."""
    return next((value for key, value in graph.values.items() if value.name != key), None)


def _is_misleading(inside: Iterable[Graph], around: Iterable[Graph]) -> bool:
    """Return whether any graph gives a name twice, or one that a graph around it gives."""
    return any(
        _find_repeated(graph) is not None
        or any(
            _is_defined(graph.values[name]) and _is_defined(outer.values[name])
            for outer in around
            for name in graph.values.keys() & outer.values.keys()
        )
        for graph in inside
    )


def _is_defined(value: Value) -> bool:
    return value.producer is not None or value.initializer is not None or value.is_input
