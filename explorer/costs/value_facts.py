"""What is known of single values of a model: what the rules follow, or what the file states."""

from __future__ import annotations

from netloupe.explorer.model import Model, Value
from netloupe.explorer.model.kept import find_kept
from netloupe.explorer.model.stored_tensors import find_stored_tensor

from .analysis import Analysis
from .costs import analyze
from .elementwise import read_elements
from .fact_table import FactTable
from .facts import UNKNOWN, Dims, Fact
from .symbols import Symbols

#: of values of larger models it is known only what the file states
_MOST_NODES = 20_000
#: and so it is of models with more inputs and outputs
_MOST_TERMINALS = 1_000
#: a function is called with operands of so many kinds at most, where its values are of one at all
_MOST_CALLS = 16


class ValueFacts:
    """What is known of the values of a model without sizes for its symbols."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._stated = FactTable(Symbols())
        self._analysis: Analysis | None = None
        graph = model.graph
        terminals = len(graph.inputs) + len(graph.outputs)
        if model.node_count <= _MOST_NODES and terminals <= _MOST_TERMINALS:
            self._analysis = analyze(model)

    def find(self, value: Value) -> Fact:
        """Return what is known of a value; of one in a function what holds for all its calls."""
        analysis = self._analysis
        if analysis is None:
            is_given = value.graph is self._model.graph and value.is_input
            return self._stated.read_type(value, is_local=False, is_given=is_given)
        frames = analysis.frames_of(value.graph)[:_MOST_CALLS]
        found = {analysis.facts.of(frame.facts[value]) for frame in frames}
        return found.pop() if len(found) == 1 else UNKNOWN

    def find_dims(self, value: Value | None) -> Dims | None:
        """Return the dimensions of a value; None where not even their number is known."""
        return None if value is None else self.find(value).dims

    def find_elements(self, value: Value | None) -> Dims | None:
        """Return the elements of a small list of sizes, axes or limits; None where unknown."""
        if value is None:
            return None
        found = self.find(value).elements
        if found is None:
            tensor = find_stored_tensor(value)
            found = None if tensor is None else read_elements(tensor)
        return found


def find_value_facts(model: Model) -> ValueFacts:
    """Return what is known of the values of a model; it is kept with it."""
    return find_kept(model, ValueFacts, lambda: ValueFacts(model))
