"""Many boxes behind the one module that is nearly all of a model are its head."""

from __future__ import annotations

from netloupe.explorer.grouping import Group
from netloupe.explorer.model import Node

from .test_spilled_ideas import build, list_operators

_BENDS = ("Tanh", "Elu", "Selu", "Softplus", "Softsign", "Erf", "Sigmoid", "Abs")


def _build(core: int, behind: int) -> list[Group | Node]:
    """Return the children of a network of one module, and of layers that take its results."""
    text, taken = "", "x"
    for n in range(core):
        operator = _BENDS[n * n % 8]
        text += f"[core__{operator}_{n}] b{n} = {operator} ({taken})"
        text += f"[core__MatMul_{n}] c{n} = MatMul (b{n}, w)"
        taken = f"c{n}"
    outputs = []
    for n in range(behind):
        operator = _BENDS[n % 8]
        text += f"[at{n}__MatMul] d{n} = MatMul (c{core - 1 - n}, w) [{operator}_{n}] e{n} = "
        text += f"{operator} (d{n}) [last{n}__MatMul] y{n} = MatMul (e{n}, w)"
        outputs.append(f"float y{n}")
    return build(f"""
        heads (float[4, 4] x) => ({", ".join(outputs)})
        <int64[2] square = {{4, 4}}>
        {{ [make] w = ConstantOfShape (square) {text} }}
    """).root.children


def _list_labels(children: list[Group | Node]) -> list[str]:
    return [child.label for child in children if isinstance(child, Group)]


def test_what_is_behind_most_of_a_model_is_its_head() -> None:
    children = _build(60, 6)
    assert _list_labels(children)[-1:] == ["head"]
    head = children[-1]
    assert isinstance(head, Group)
    assert list_operators(head).count("MatMul") == 12


def test_few_boxes_behind_a_module_are_seen_at_once() -> None:
    assert "head" not in _list_labels(_build(60, 3))


def test_a_module_that_is_a_part_of_a_model_has_no_head() -> None:
    assert "head" not in _list_labels(_build(14, 9))
