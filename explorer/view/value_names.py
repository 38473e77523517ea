"""What a value is called in a picture: as its author calls it, what it is for, or what gives it.

Exporters make names of operators and numbers: ``Mul_2_output_0``, ``val_244``, ``permute_9``. Such
names say nothing of a model, and are never written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from netloupe.explorer.dataflow import find_source, is_of_shapes, trace_back_where, trace_on
from netloupe.explorer.grouping import GroupTree
from netloupe.explorer.model import Graph, TensorType, Value
from netloupe.explorer.operators import LAYOUT_TRAITS
from netloupe.explorer.patterns.readings import read_scalar
from netloupe.explorer.roles import comes_from_range_or_cumsum

from .attended import SCORES, are_scores, name_attended
from .families import name_family
from .module_names import is_numbered_operator, list_modules, name_by_maker, name_by_module

MASK = "mask"
#: what an operand of a role is called where it stands alone
_BY_ROLE = {
    "cos": "cosines of positions",
    "grid": "places to sample",
    "initial_cell": "cell state c",
    "initial_state": "state h",
    "key": "keys",
    "mask": MASK,
    "past": "past state",
    "past_key": "past keys",
    "past_value": "past values",
    "positions": "positions",
    "routing": "routing",
    "sin": "sines of positions",
    "state": "state",
    "value": "values",
}
POSITIONS, CONSTANTS = "positions", "constants"
#: what masks and relative positions become before they are added to scores
ATTENTION_BIAS = "attention bias"
#: what leaves sines recognisable
_CHANGING_LITTLE = (*LAYOUT_TRAITS, "multiplies_elements", "picks")
#: of more values that stand at one place not all are asked
_MOST_NAMED = 64
#: so many names stand side by side, in so many letters
_MOST_JOINED, _MOST_LETTERS = 3, 34
_DIGITS = re.compile(r"\d+")
#: of a graph with more outputs all have the names of the file
_MOST_OUTPUTS = 100
#: so many uses of a value are looked at
_MOST_USES = 12

#: names of outputs that exporters make of numbers, operators, calls and variables
_MADE_UP = re.compile(
    r"\d+$|onnx::|/|unk__|input\.\d+$|Identity(_\d+)?(:\d+)?$|(Stateful)?PartitionedCall|tf_op_layer_"
    r"|\w+\.tmp_\d+$|save_infer_model"
)
#: names of inputs that exporters make of the operator or function that takes them
_MADE_UP_INPUT = re.compile(
    r"\d+$|onnx::|input\.\d+$|unk__|\w+\.tmp_\d+$|(args?|inputs?)_?\d+(_\d+)?(:\d+)?$"
)
#: what inputs are for, as sentences tell it, and what they are called in pictures
_ROLES = {"timestep": "timestep", "class": "class", "tokens": "ids", "an image": "image"}
#: a picture with one channel may be anything: a spectrogram, a board
_COLOURED = 3
#: examples, and maps or tokens with features
_LEAST_OF_MAPS = 3
#: a name, or hardly one, with a number behind it
_NUMBERED = r".*[_.:#-]\d+|[A-Za-z]?\d+"


def find_written_name(value: Value) -> str:
    """Return the name that an author gave to a value; "" where an exporter made one up.

    Inputs and outputs of a graph have names of authors but for those of :func:`is_made_up`. Of
    others those have one that is neither numbered nor the name of an operator, and of a node that
    says no more of where it comes from.
    """
    if value.is_input or value.is_output:
        return "" if is_made_up(value) else value.name
    node = value.producer
    if node is None or node.metadata or "/" in value.name:
        return ""
    plain = value.name.replace("_", "").lower()
    if re.fullmatch(_NUMBERED, value.name) or plain == node.op_type.lower():
        return ""
    return value.name


def is_made_up(value: Value) -> bool:
    """Return whether a tool gave an input or output its name: a number, an operator or a call."""
    node = value.producer
    if node is None:
        return value.is_input and _MADE_UP_INPUT.match(value.name) is not None
    if node.metadata and node.name == f"node_{value.name}":
        return True  # as torch's exporter calls nodes after their results
    return _MADE_UP.match(value.name) is not None or is_numbered_operator(value.name)


def name_outputs(tree: GroupTree) -> dict[Value, str]:
    """Return what those outputs of a graph are called in a picture whose names a tool made up.

    Each is called after the largest module that gives it alone among them; where there is none it
    is ``output``, or ``output 2``.
    """
    outputs = tree.graph.outputs
    if len(outputs) > _MOST_OUTPUTS:
        return {}
    unnamed = [value for value in dict.fromkeys(outputs) if is_made_up(value)]
    words = {value: list_modules(value, tree) for value in unnamed}
    count = Counter(word for found in words.values() for word in {*found})
    names = {}
    for value, found in words.items():
        place = f" {outputs.index(value) + 1}" if len(outputs) > 1 else ""
        names[value] = next((word for word in found if count[word] == 1), f"output{place}")
    return names


def name_inputs(graph: Graph) -> dict[Value, str]:
    """Return what those inputs of a graph are called in a picture whose names a tool made up.

    Each is called after what it is for, where that is known and no other is for the same; else it
    is ``input``, or ``input 2``.
    """
    inputs = [value for value in dict.fromkeys(graph.inputs) if value.initializer is None]
    if len(inputs) > _MOST_OUTPUTS:
        return {}
    roles = {value: _name_role(value) for value in inputs if is_made_up(value)}
    count = Counter([*roles.values(), *(value.name for value in inputs)])
    names = {}
    for value, role in roles.items():
        place = f" {inputs.index(value) + 1}" if len(inputs) > 1 else ""
        names[value] = role if role and count[role] == 1 else f"input{place}"
    return names


def _name_role(value: Value) -> str:
    role = find_role_name(value)
    if role:
        return role
    from netloupe.explorer.patterns.input_roles import find_role

    role = _ROLES.get(find_role(value), "")
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    is_coloured = shape is not None and len(shape) > 1 and shape[1].value == _COLOURED
    if (role == "image" and not is_coloured) or (role == "class" and not _is_beside_maps(value)):
        return ""
    return role


def _is_beside_maps(value: Value) -> bool:
    """Return whether another input has maps or a sequence for each element of an input.

    One number each may be the class of an example; alone they may be atoms, or items.
    """
    shapes = {one: one.type.shape for one in value.graph.inputs if isinstance(one.type, TensorType)}
    own = shapes.get(value)
    count = own[0].value if own else None
    return count is not None and any(
        shape is not None and len(shape) >= _LEAST_OF_MAPS and shape[0].value == count
        for other, shape in shapes.items()
        if other is not value
    )


def find_role_name(value: Value, *, is_shared: bool = False) -> str:
    """Return what a value is for, as the operators that take it, or parts, call it; else "".

    Others may take it too, for which it has no role, only where it ``is_shared``.
    """
    found: set[str] = set()
    for number, (user, taken) in enumerate(trace_on(value, *LAYOUT_TRAITS, "picks")):
        if number == _MOST_USES:
            return ""
        roles = user.operator.operands
        for place, operand in enumerate(user.inputs):
            if operand is taken:
                found.add(_BY_ROLE.get(roles.kind_at(place), ""))
    found -= {""} if is_shared else set()
    return found.pop() if len(found) == 1 else ""


def name_passing_values(
    values: Sequence[Value], tree: GroupTree, known: dict[Value, str] | None = None
) -> str:
    """Return what values that stand at one place are called in a picture.

    Parameters
    ----------
    values
        One value, or several that go together.
    tree
        The groups of their graph.
    known
        What values are called by their uses, for a caller that asks of the same value at many
        places; it is added to.

    Returns
    -------
    str
        "" where nothing is known of them.
    """
    written = [name for value in values if (name := find_written_name(value))]
    if len(written) == len(values):
        return _join_names(written)
    known = {} if known is None else known
    names = []
    for value in values[:_MOST_NAMED]:
        if value not in known:
            known[value] = _name_by_use(value, tree)
        names.append(known[value])
    told = [name for name in dict.fromkeys(names) if name not in ("", CONSTANTS)]
    return _join_names(told) if told else CONSTANTS if CONSTANTS in names else ""


def _join_names(names: Sequence[str]) -> str:
    """Return some names side by side, those that differ in numbers as one."""
    if len(names) > _MOST_NAMED:
        return name_family(names)
    alike: dict[str, list[str]] = {}
    for name in names:
        alike.setdefault(_DIGITS.sub("*", name), []).append(name)
    told = [name_family(family) for family in alike.values()]
    for count in range(min(len(told), _MOST_JOINED), 0, -1):
        more = len(told) - count
        text = " · ".join(told[:count]) + (f" and {more} more" if more else "")
        if len(text) <= _MOST_LETTERS:
            break
    return text


def _name_by_use(value: Value, tree: GroupTree) -> str:
    if name := find_role_name(value):
        return name
    from .conditioning import name_conditioning

    if name := name_conditioning(value):
        return name
    origin = find_source(value, *LAYOUT_TRAITS) or value
    if prepared := _name_prepared(origin, tree):
        return prepared
    if are_scores(origin):
        return SCORES
    if is_added_to_scores(value):
        return ATTENTION_BIAS
    if origin.producer is None:
        return find_written_name(origin) or name_inputs(origin.graph).get(origin, "")
    if comes_from_range_or_cumsum(origin) or _is_of_sines(origin):
        return POSITIONS
    if is_of_shapes(origin):
        return CONSTANTS
    return (
        name_by_module(value, tree)
        or name_by_maker(value)
        or name_attended(value)
        or _name_by_terms(origin, tree)
    )


def _name_by_terms(value: Value, tree: GroupTree) -> str:
    """Return what a sum is called, or a product with one number: ``a + b``, ``0.1 · a``."""
    node = value.producer
    if node is None or len(node.inputs) != 2:
        return ""
    first, second = node.inputs
    if first is None or second is None:
        return ""
    if node.operator.has("adds"):
        names = [_name_term(one, tree) for one in (first, second)]
        text = " + ".join(names)
        return text if all(names) and len(text) <= _MOST_LETTERS else ""
    if not node.operator.has("multiplies_elements"):
        return ""
    for one, other in ((first, second), (second, first)):
        number = read_scalar(other)
        name = _name_term(one, tree) if number is not None else ""
        if number is not None and name:
            return f"{number:.3g} · {name}"
    return ""


def _name_term(value: Value, tree: GroupTree) -> str:
    """Return what a term is called: by its author, after its module, or as what it is known."""
    origin = find_source(value, *LAYOUT_TRAITS) or value
    name = find_written_name(origin) or name_by_module(value, tree)
    if name or origin.producer is None or origin.graph is not tree.graph:
        return name
    group = tree.group_of(origin.producer)
    known = group.recognised if group is not None else None
    return known.name if known is not None and known.family != "elementwise" else ""


def _name_prepared(value: Value, tree: GroupTree) -> str:
    """Return what a piece of preparation is called that gives a value: ``attention mask``."""
    node = value.producer
    group = tree.group_of(node) if node is not None and node.graph is tree.graph else None
    while group is not None:
        if group.kind == "preparation" and not group.label.startswith(group.kind):
            return group.label
        group = group.parent
    return ""


def _is_of_sines(value: Value) -> bool:
    """Return whether a value that depends on shapes alone is sines or cosines, perhaps scaled."""
    taken = [*trace_back_where(value, lambda node: node.operator.has(*_CHANGING_LITTLE))]
    node = taken[-1].producer
    return is_of_shapes(value) and node is not None and node.operator.has("takes_sine")


def is_added_to_scores(value: Value) -> bool:
    """Return whether a value is only added to scores of attentions: a mask, or positions.

    Several may be added one after the other.
    """
    pending, is_added = [value], False
    for taken in pending:  # grows
        for user, _ in islice(trace_on(taken, *LAYOUT_TRAITS), _MOST_USES):
            if user.operator.has("adds") and len(pending) < _MOST_USES:
                pending += [one for one in user.outputs if one is not None and one not in pending]
            elif user.operator.form != "Softmax" or taken is value:
                return False
            else:
                is_added = True
    return is_added
