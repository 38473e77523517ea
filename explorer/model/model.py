"""The model: one file and everything in it."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from netloupe.explorer.arguments import explain_methods
from netloupe.explorer.notation import write_count

from . import upper_rooms
from .dialect import Dialect
from .drawing import Drawable
from .graph import Function, Graph
from .header import ModelHeader, TrainingInfo
from .inference import Inference
from .kept import KeptFindings, forget_kept, get_kept
from .loaded import Loaded
from .node import Node, list_node_warnings
from .paths import MODEL, Element, list_paths, resolve_path
from .quantizable import find_quantizable
from .reading import ModelReading
from .sparse_tensor import SparseTensor
from .tensor import Tensor
from .value import Value
from .warning import ModelWarning
from .wiring import find_nodes_by_op_type

if TYPE_CHECKING:
    from pathlib import Path


@explain_methods()
class Model(Drawable, Loaded):
    """One model file, as :func:`netloupe.load` returns it.

    ``model[path]`` is the element at a path, or the only one with that name; ``path in model``,
    iterating over it and ``len(model)`` treat it as a collection of paths.

    Parameters
    ----------
    source
        What the user calls it: a file name, or ``<bytes>``.
    format
        ``ONNX`` or ``Caffe2``.
    container
        How the bytes are written: ``protobuf``, ``protobuf text`` …
    dialect
        What differs between formats.
    files
        The files that it is read from; None where there are none.
    """

    __slots__ = {  # with a text for each: help() shows them
        "__weakref__": "Who refers to the model without keeping it.",
        "_calls": "The nodes that call each function, once they were asked for.",
        "_findings": "What is odd in the model as a whole, once it was looked for.",
        "_functions_by_id": "Functions by domain, name and overload.",
        "_graphs": "Graphs by path, once they were asked for.",
        "_kept": "What was found of the model, by its type.",
        "_node_count": "How many nodes there are, once it was asked for.",
        "_reading": "How more is learned of the model than it holds.",
        "_totals": "How much there is in the model, once it was asked for.",
        "_warnings_by_path": "What is odd about elements, once it was asked for.",
        "comparison": "What differs between the two models that it was made of; else None.",
        "container": "How the bytes are written: ``protobuf``, ``protobuf text`` …",
        "dialect": "What differs between formats: how domains are written, what operators mean.",
        "files": "The files of the model, held to be what they were when it was read.",
        "format": "``ONNX`` or ``Caffe2``.",
        "functions": "The model-local functions; of Caffe2 the nets that a plan runs.",
        "graph": "The main graph.",
        "header": "What the file says of itself before any graph.",
        "nets": "Of Caffe2: graphs beside the main one that nothing calls.",
        "source": "What the user calls the model: a file name, or ``<bytes>``.",
        "training": "How the model is trained (ONNX IR 7).",
        "warnings": "What is odd about the file itself.",
    }

    def __init__(
        self,
        source: str,
        format: str,
        container: str,
        dialect: Dialect,
        files: upper_rooms.ModelFiles | None = None,
    ) -> None:
        self.source = source
        self.format = format
        self.container = container
        self.dialect = dialect
        self.files = files
        self.header = ModelHeader()
        self.graph = Graph(self, "main", "", "main")
        self.functions: list[Function] = []
        self.training: list[TrainingInfo] = []
        self.nets: list[Graph] = []
        self.warnings: list[ModelWarning] = []
        self._functions_by_id: dict[tuple[str, str, str], Function] = {}
        self._kept: KeptFindings = {}
        self.comparison: upper_rooms.Diff | None = None
        self._calls: dict[Function, list[Node]] | None = None
        self._graphs: dict[str, Graph] | None = None
        self._node_count: int | None = None
        self._reading = ModelReading()
        self._findings: tuple[ModelWarning, ...] | None = None
        self._warnings_by_path: dict[str, tuple[ModelWarning, ...]] | None = None
        self._totals: upper_rooms.Totals | None = None

    @property
    def folder(self) -> Path | None:
        """Where external data may lie; None where the model did not come from a file."""
        return None if self.files is None else self.files.folder

    # what the header says, under the specification's names

    @property
    def path(self) -> str:
        """Where what is odd in the whole file is said to be: ``model``."""
        return MODEL

    @property
    def ir_version(self) -> int | None:
        """Version of the ONNX intermediate representation; None where not stated."""
        return self.header.ir_version

    @property
    def opset_imports(self) -> dict[str, int]:
        """Version of each operator set, by domain ("" is ai.onnx)."""
        return self.header.opset_imports

    @property
    def metadata(self) -> dict[str, str]:
        """The model's metadata_props."""
        return self.header.metadata

    @property
    def doc(self) -> str:
        """The model's documentation string."""
        return self.header.doc

    @property
    def graphs(self) -> list[Graph]:
        """Every graph once: main, functions, training graphs and further nets.

        Each is followed by its subgraphs.
        """
        roots: list[Graph] = [self.graph, *self.functions]
        for training in self.training:
            roots += [g for g in (training.initialization, training.algorithm) if g is not None]
        roots += self.nets
        return [graph for root in roots for graph in (root, *root.subgraphs)]

    @property
    def graphs_by_path(self) -> dict[str, Graph]:
        """All graphs by their paths; a model does not change once it is read."""
        if self._graphs is None:
            self._graphs = {graph.path: graph for graph in self.graphs}
        return self._graphs

    def function(self, domain: str, name: str, overload: str = "") -> Function | None:
        """Return the model-local function of that identity, or None.

        Parameters
        ----------
        domain, name, overload
            What nodes that call it have as ``domain``, ``op_type`` and ``overload``.
        """
        return self._functions_by_id.get((self.dialect.read_domain(domain), name, overload))

    def _find_calls(self, function: Function) -> tuple[Node, ...]:
        """Return the nodes that call a function; all graphs are looked at the first time."""
        if self._calls is None:
            self._calls = {}
            names = {known.name for known in self.functions}
            for graph in self.graphs if names else ():
                for index in find_nodes_by_op_type(graph, names).tolist():
                    called = graph.nodes[index].function
                    if called is not None:
                        self._calls.setdefault(called, []).append(graph.nodes[index])
        return tuple(self._calls.get(function, ()))

    def find(self, pattern: str) -> list[Node]:
        """Return the nodes whose name, op type or path matches a shell pattern.

        Parameters
        ----------
        pattern
            As in ``fnmatch``, case-sensitive: ``Conv*``, ``*/attention/*``.
        """
        match = fnmatch.fnmatchcase
        return [
            node
            for graph in self.graphs
            for node in graph.nodes
            if match(node.name, pattern)
            or match(node.op_type, pattern)
            or match(node.path, pattern)
        ]

    def search(self, text: str, *, regex: bool = False) -> list[str]:
        """Return the paths of groups, nodes, values and graphs that match, as an explorer does.

        Parameters
        ----------
        text
            Words in any order, in any case: parts of names, op types, attributes
            (``axis = 1``), labels of groups and classes of modules. ``layer.7 query`` finds
            the query of one layer.
        regex
            Whether ``text`` is a regular expression (of ``re``, case ignored).

        Raises
        ------
        ViewError
            For an invalid regular expression.
        """
        hits = upper_rooms.search_model(
            self, text, regex=regex, find_tree=upper_rooms.build_group_tree
        )
        return [hit.path for hit in hits]

    def node(self, name: str) -> Node:
        """Return the node at a path, or the only one with that name.

        Parameters
        ----------
        name
            A path such as ``main/If_3.then_branch/Conv_1``, or a name.

        Raises
        ------
        NotFoundError
            Where no node matches, with the nearest names or with what else has that name; or
            where several nodes have it.
        """
        from .lookup import resolve_node

        return resolve_node(self, name)

    def value(self, name: str) -> Value:
        """Return the value at a path, or the only one with that name.

        Parameters
        ----------
        name
            A path such as ``main/%conv1.weight``, or a name.

        Raises
        ------
        NotFoundError
            As for ``node``.
        """
        from .lookup import resolve_value

        return resolve_value(self, name)

    def tensor(self, name: str) -> Tensor:
        """Return the stored elements of a value: an initializer, or what a constant node gives.

        Parameters
        ----------
        name
            The path or name of the value, or the path of a tensor among the attributes of a
            node (``main/Constant_2.value``).

        Raises
        ------
        NotFoundError
            As for ``node``; also where the elements of the value are not in the file, and for
            a sparse tensor, which ``model[name]`` gives.
        """
        from .lookup import resolve_tensor

        return resolve_tensor(self, name)

    def __getitem__(self, path: str) -> Element:
        """Return the element at a path, or the only one with that name.

        Where the kind is known, :meth:`node`, :meth:`value` and :meth:`tensor` say it to who
        reads and to type checkers, and find elements that share their name with another kind.

        Raises
        ------
        NotFoundError
            Where nothing matches, with the nearest names; or where a name is ambiguous.
        """
        return resolve_path(self, path)

    def __contains__(self, element: object) -> bool:
        """Return whether a path or name leads anywhere, or an element is one of this model."""
        from .lookup import is_element

        return is_element(self, element)

    def __iter__(self) -> Iterator[str]:
        """Yield the paths of all graphs, nodes and values, as a dict yields its keys."""
        return list_paths(self)

    def __len__(self) -> int:
        """Return the number of graphs, nodes and values."""
        return sum(1 + len(graph.nodes) + len(graph.values) for graph in self.graphs)

    def _ipython_key_completions_(self) -> list[str]:
        from .lookup import offer_keys

        return offer_keys(self)

    def list_former(self, node: Node) -> tuple[Value, ...]:
        """Return what a node took in the older of two models that this one was made of, alone.

        Parameters
        ----------
        node
            A node of :attr:`Diff.merged`; nodes of other models give nothing.
        """
        found = self.comparison
        return () if found is None else found.merging.former.get(node, ())

    def list_taken(self, node: Node) -> tuple[tuple[Value | None, ...], tuple[Value | None, ...]]:
        """Return what a node takes in the older of two models alone, and in the newer one alone.

        Parameters
        ----------
        node
            A node of :attr:`Diff.merged`: of one that is removed all that it takes, of one that is
            added likewise. Nodes of other models give nothing.
        """
        found = self.comparison
        if found is None:
            return (), ()
        return found.merging.list_taken_before(node), found.merging.list_taken_now(node)

    @property
    def findings(self) -> tuple[ModelWarning, ...]:
        """What is odd when the model is looked at as a whole: cycles, recursion and the like.

        Looked for once, when first asked for, in time linear in the size of the model.
        """
        if self.comparison is not None:
            return self.comparison.right.findings
        if self._findings is None:
            self._findings = tuple(upper_rooms.find_oddities(self))
        return self._findings

    @property
    def node_count(self) -> int:
        """Number of nodes of all graphs; the body of a function counts once."""
        if self._node_count is None:  # fifty thousand functions may be asked one by one
            self._node_count = sum(len(graph.nodes) for graph in self.graphs)
        return self._node_count

    @property
    def totals(self) -> upper_rooms.Totals:
        """Numbers of graphs, nodes, initializers, elements, parameters and bytes.

        Counted once, when first asked for, without reading any elements. What counts as a
        parameter, and that running statistics do not, :class:`~netloupe.Totals` says.
        """
        if self._totals is None:
            self._totals = upper_rooms.count_model(self)
        return self._totals

    @property
    def groups(self) -> upper_rooms.ModelGroup:
        """The tree of groups of the main graph: ``.groups``, ``.label``, ``.recognised`` of each.

        Looked for once, when first asked for, as pictures group nodes by default.

        Examples
        --------
        >>> for block in model.group("encoder").groups:
        ...     print(block.path, block.recognised, block.parameters)
        """
        return upper_rooms.group_model(self)

    def group(self, path: str) -> upper_rooms.ModelGroup:
        """Return the group at a path, or with the only path of the main graph that ends so.

        Parameters
        ----------
        path
            ``main/encoder/layer.0/`` or ``encoder/layer.0`` or ``layer.0``; in other graphs with
            the graph's path before it, as in ``main/If_3.then_branch/decoder/`` and
            ``functions/pkg::Block/attn/``.

        Raises
        ------
        NotFoundError
            Where no group is there, with the nearest paths; or where it is a node.
        """
        return upper_rooms.group_model(self, path)

    @property
    def architecture(self) -> upper_rooms.Architecture:
        """What the model is: a sentence, a family, blocks and sizes.

        Told from its structure alone, and empty where that is not plain. Looked for once, when
        first asked for.

        Examples
        --------
        >>> model.architecture.family
        'decoder-only transformer'
        >>> model.architecture.facts["heads"]
        12
        """
        return upper_rooms.describe_architecture(self)

    def costs(self, bind: Mapping[str, int | Sequence[int]] | None = None) -> upper_rooms.Costs:
        """Return what the model costs each time it runs: parameters, MACs, bytes.

        Shapes are followed from the inputs, from what the file says and by rules of our own. Of
        weights that could be copies of one another some numbers are read, see ``tied_parameters``.

        Parameters
        ----------
        bind
            Sizes of symbols (``{"batch": 1}``), and shapes of inputs, such as those of which the
            file states none (``{"data": (1, 3, 224, 224)}``). A shape gives the symbols in it
            their sizes, and replaces sizes that the file states; ``replaced_shapes`` of the
            costs says so. A dimension of an input that has neither size nor name is called
            ``input[0]``.

        Raises
        ------
        BindingError
            For a name that no dimension and no input has, for what is no size, for a shape with
            another number of axes than is stated, and for two sizes of one symbol.

        Examples
        --------
        >>> model.costs().macs_expression
        '4089184256*batch'
        >>> model.costs(bind={"batch": 1}).macs
        4089184256
        """
        return upper_rooms.count_costs(self, bind)

    @property
    def notes(self) -> upper_rooms.Notes:
        """What people wrote of its elements, kept in ``MODEL.notes.jsonl`` beside the file.

        Examples
        --------
        >>> model.notes.add("main/Conv_1", "clips: see the histogram", tags=["int8"])
        >>> for note in model.notes.at("main/Conv_1"):
        ...     print(note.author, note.text)
        """
        return upper_rooms.open_notes(self)

    def warnings_at(self, path: str) -> tuple[ModelWarning, ...]:
        """Return what its graph or the whole model shows to be odd about the element at a path.

        Parameters
        ----------
        path
            Of a node, a value or a graph; one that is not there has no warnings.
        """
        if self._warnings_by_path is None:
            found: dict[str, list[ModelWarning]] = {}
            for warning in (*self.findings, *self._list_inferred_warnings()):
                found.setdefault(warning.path, []).append(warning)
            for graph in self.graphs:
                for warning in graph.warnings:
                    if warning.path != graph.path:
                        found.setdefault(warning.path, []).append(warning)
            self._warnings_by_path = {key: tuple(entries) for key, entries in found.items()}
        return self._warnings_by_path.get(path, ())

    def _list_inferred_warnings(self) -> tuple[ModelWarning, ...]:
        found = get_kept(self, Inference)
        return () if found is None else found.warnings

    def all_warnings(self) -> Iterator[ModelWarning]:
        """Yield what is odd anywhere in the model; reads the details of every node.

        Where the same is said of more than 100 nodes of a graph, the others are counted.
        """
        yield from self.warnings
        yield from self.findings
        yield from list_inner_warnings(self, list_node_warnings)

    @property
    def can_infer_shapes(self) -> bool:
        """Whether :meth:`infer_shapes` applies: the model is of ONNX."""
        return self._reading.parts is not None

    def infer_shapes(self, timeout: float = 60.0) -> None:
        """Let onnx infer the types that the file does not state: ``value.inferred_type``.

        Done once; ``load(source, infer_shapes=True)`` does it, too. onnx gets the model without
        its weights, whatever their size, and runs in a process of its own that ends with the
        work. Inside functions types are inferred as far as they hold for every call. Where a
        stated type cannot be, the node that gives the value has a warning.

        Parameters
        ----------
        timeout
            Seconds after which onnx is stopped.

        Raises
        ------
        InferenceError
            Where onnx is not installed (``pip install onnx``), refuses the model,
            crashes, or needs more time or memory than it may have; and where the model is not
            of ONNX or not well formed. The model can be used as before.
        SourceChangedError
            Where the file is no longer as it was when it was opened.
        """
        upper_rooms.infer_shapes(self, timeout)
        # what was counted without these types may be too little
        forget_kept(self, upper_rooms.Analyses)

    def quantization(
        self, element: Value | Tensor | SparseTensor | str
    ) -> upper_rooms.Quantization | None:
        """Return how a value is quantized, whatever part of the file says so; else None.

        Parameters
        ----------
        element
            A value, a tensor that is the constant behind one, or the path or name of either.

        Raises
        ------
        NotFoundError
            Where there is no such element, or where it is neither a value nor a tensor.
        """
        return upper_rooms.find_quantization(find_quantizable(self, element))

    def _subject(self, view: upper_rooms.ViewKeywords) -> tuple[Model, upper_rooms.ViewKeywords]:
        return self, view

    def _find_model(self) -> Model:
        return self

    def __repr__(self) -> str:
        graphs = write_count(len(self.graphs), "graph")
        nodes = write_count(self.node_count, "node")
        return f"<Model {self.source!r}: {self.format}, {nodes} in {graphs}>"

    def _repr_html_(self) -> str:
        return upper_rooms.write_model_html(self)


def add_function(model: Model, function: Function, *former: Function) -> bool:
    """Add a function; False where another has the same domain, name and overload.

    It is found as well by the names of the former ones that it stands for.
    """
    model.functions.append(function)
    keys = [(known.domain, known.name, known.overload) for known in (function, *former)]
    found = [model._functions_by_id.setdefault(key, function) for key in keys]
    return found[0] is function


def list_inner_warnings(
    model: Model, list_of_nodes: Callable[[Graph], Iterator[ModelWarning]]
) -> Iterator[ModelWarning]:
    """Yield what inference and readers found odd about elements; of nodes, what is listed."""
    yield from model._list_inferred_warnings()
    for graph in model.graphs:
        yield from graph.warnings
        for tensor in graph.initializers:
            if tensor.warnings:  # of a million hardly one has any
                yield from tensor.warnings
        for sparse in graph.sparse_initializers:
            yield from sparse.warnings
        for value in graph.values.values():
            if value._notes is not None:
                yield from value.warnings
        yield from list_of_nodes(graph)


def forget_warnings(model: Model) -> None:
    """Forget what was said to be odd about elements, after more has been found out."""
    model._warnings_by_path = None
