"""Write docs/operators.md, the page on what is known of each operator, from the catalogue.

Usage: python tools/make_operator_page.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(_ROOT))  # this tree, and not one that is installed

from netloupe.explorer.costs.rules import find_cost_rule  # noqa: E402
from netloupe.explorer.operators import (  # noqa: E402
    Operator,
    RoleList,
    find_operator,
    find_schema,
)
from netloupe.explorer.operators.entries import read_shipped  # noqa: E402
from netloupe.explorer.operators.vocabulary import (  # noqa: E402
    DOMAIN_NAMES,
    LAYOUTS,
    OPERATOR_FAMILIES,
    PARTS,
    ROLES,
    TRAITS,
    WEIGHT_KINDS,
)

PAGE = _ROOT / "docs" / "operators.md"

_HEAD = """# Operators

What netloupe knows of operators stands in one catalogue: what each operand is, what the operator
does, how its weight is to be read, how its cost is counted. Pictures, checks, costs and comparisons
ask it. [Operators of your own](own_operators.md) can be told in the same words.

This page is written by `python tools/make_operator_page.py` from
`explorer/operators/catalogue.json` and `explorer/operators/vocabulary.py`.

## Roles

What operands and results are. Numbers behind a role tell several apart, as `weight1`, `weight2`; a
star, `data*`, stands for all further ones, and several with stars take turns.

"""

_PARTS = """
Behind the point of a role, as in `weight.scale`, stands what an operand tells of another one:

"""

_WEIGHTS = """
## Weights

What an operator does with its weight, which is the operand with the role `weight`, one with the
role `factor`, or the `rows` of an embedding:

"""

_TABLES = """
## What is known of each operator

Roles of operands, an arrow, roles of results; what was other before a version stands behind. MACs
are *counted*, *none*, or *unknown*, which leaves totals of a model a lower bound.

"""

#: where operators of a domain are documented, by domain
_DOCUMENTED = {
    "": "https://onnx.ai/onnx/operators/onnx__{}.html",
    "ai.onnx.ml": "https://onnx.ai/onnx/operators/onnx_aionnxml_{}.html",
}


def write_page() -> str:
    """Return the page."""
    families = ", ".join(map(_code, OPERATOR_FAMILIES))
    parts = [
        _HEAD,
        _write_table(("role", "what it is"), _list_words(ROLES)),
        _PARTS,
        _write_table(("part", "what it is"), _list_words(PARTS)),
        "\n## Traits\n\nWhat an operator with the trait does.\n\n",
        _write_table(("trait", "what it does"), _list_words(TRAITS)),
        f"\n## Families\n\nWhat boxes are coloured by: {families}.\n",
        _WEIGHTS,
        _write_table(("kind", "what the operator does"), _list_words(WEIGHT_KINDS)),
        "\nand how the dimensions of the weight are to be read:\n\n",
        _write_table(("layout", "dimensions"), _list_words(LAYOUTS)),
        _TABLES,
    ]
    for domain, entries in read_shipped().items():
        parts.append(f"### {DOMAIN_NAMES.get(domain, domain)}\n\n")
        parts.append(
            _write_table(
                ("operator", "form of", "operands → results", "traits", "MACs"),
                (_write_operator(find_operator(domain, op_type)) for op_type in sorted(entries)),
            )
        )
        parts.append("\n")
    return "".join(parts).rstrip("\n") + "\n"


def _write_operator(operator: Operator) -> tuple[str, ...]:
    entry = read_shipped()[operator.domain][operator.op_type]
    roles = [_write_roles(operator)]
    for version in sorted(map(int, entry.get("before", {}))):
        older = operator.at(version - 1)
        roles.append(f"before {version}: {_write_roles(older)}")
    form = _code(operator.form) if "form_of" in entry else ""
    return (
        _name_operator(operator),
        form,
        "; ".join(roles),
        " ".join(map(_code, sorted(operator.traits))),
        _write_macs(operator),
    )


def _name_operator(operator: Operator) -> str:
    schema = find_schema(operator.domain, operator.op_type, None)
    address = _DOCUMENTED.get(operator.domain)
    if address is None or schema is None or schema.is_beside_onnx:
        return _code(operator.op_type)
    return f"[{_code(operator.op_type)}]({address.format(operator.op_type)})"


def _write_roles(operator: Operator) -> str:
    return f"{_list_roles(operator.operands)} → {_list_roles(operator.results)}"


def _list_roles(roles: RoleList) -> str:
    first = len(roles.names) - roles.repeated
    words = [f"{name}*" if place >= first else name for place, name in enumerate(roles.names)]
    return _code(" ".join(words)) if words else "…"


def _write_macs(operator: Operator) -> str:
    rule = find_cost_rule(operator.domain, operator.op_type)
    if rule is None or (rule.multiplies and rule.find is None):
        return "unknown"
    return "counted" if rule.multiplies else "none"


def _list_words(words: Mapping[str, str]) -> Iterable[tuple[str, ...]]:
    return ((_code(word), meaning) for word, meaning in words.items())


def _code(text: str) -> str:
    return f"`{text}`"


def _write_table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


if __name__ == "__main__":
    PAGE.write_text(write_page(), encoding="utf-8")
