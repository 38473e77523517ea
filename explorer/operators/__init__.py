"""What is known of the operators of ONNX, its common extensions and Caffe2.

In come a domain, an operator type and an opset version; out come what the operator is (roles of
operands, traits, family, cost rule), from ``catalogue.json`` and from what was registered beside
it, and the formal names of inputs and outputs, the kinds and defaults of attributes, the body as a
function, and in what two versions differ, from a table made by ``tools/make_operator_table.py``.
This package must not know models, readers or protobuf, and needs no ``onnx`` except for
documentation.
"""

from typing import TYPE_CHECKING

from netloupe.explorer.later import import_later

if TYPE_CHECKING:
    from .catalogue import (
        Layout,
        Operator,
        RoleList,
        WeightKind,
        find_newest_operator,
        find_operator,
        list_known_domains,
        list_known_operators,
    )
    from .formulas import LEADING, AxisNames, Formula, NamedDims, Operation, list_names
    from .registry import kept_with_catalogue, list_registered, set_entries
    from .schemas import (
        AttributeDefault,
        AttributeSchema,
        BodyNode,
        FunctionBody,
        OperatorSchema,
        Parameter,
        find_release,
        find_schema,
        read_documentation,
    )
    from .versions import (
        SUCCESSORS,
        BecameOperand,
        VersionDifference,
        compare_versions,
        find_default,
        rename_value,
    )
    from .vocabulary import (
        ARITHMETIC_TRAITS,
        ARRANGING_ROLES,
        ARRANGING_TRAITS,
        CONVERTING_TRAITS,
        HANDING_TRAITS,
        LAYOUT_TRAITS,
        MASKING_TRAITS,
        MOVING_TRAITS,
        OPERATOR_FAMILIES,
        PASSING_TRAITS,
        ROLES,
        TAKING_TRAITS,
        TRAITS,
        kind_of,
    )
else:
    __getattr__ = import_later(
        __name__,
        {
            "catalogue": [
                "Layout",
                "Operator",
                "RoleList",
                "WeightKind",
                "find_newest_operator",
                "find_operator",
                "list_known_domains",
                "list_known_operators",
            ],
            "formulas": [
                "LEADING",
                "AxisNames",
                "Formula",
                "NamedDims",
                "Operation",
                "list_names",
            ],
            "registry": ["kept_with_catalogue", "list_registered", "set_entries"],
            "schemas": [
                "AttributeDefault",
                "AttributeSchema",
                "BodyNode",
                "FunctionBody",
                "OperatorSchema",
                "Parameter",
                "find_release",
                "find_schema",
                "read_documentation",
            ],
            "versions": [
                "SUCCESSORS",
                "BecameOperand",
                "VersionDifference",
                "compare_versions",
                "find_default",
                "rename_value",
            ],
            "vocabulary": [
                "ARITHMETIC_TRAITS",
                "ARRANGING_ROLES",
                "ARRANGING_TRAITS",
                "CONVERTING_TRAITS",
                "HANDING_TRAITS",
                "LAYOUT_TRAITS",
                "MASKING_TRAITS",
                "MOVING_TRAITS",
                "OPERATOR_FAMILIES",
                "PASSING_TRAITS",
                "ROLES",
                "TAKING_TRAITS",
                "TRAITS",
                "kind_of",
            ],
        },
    )

__all__ = [
    "ARITHMETIC_TRAITS",
    "ARRANGING_ROLES",
    "ARRANGING_TRAITS",
    "CONVERTING_TRAITS",
    "HANDING_TRAITS",
    "LAYOUT_TRAITS",
    "LEADING",
    "MASKING_TRAITS",
    "MOVING_TRAITS",
    "OPERATOR_FAMILIES",
    "PASSING_TRAITS",
    "ROLES",
    "SUCCESSORS",
    "TAKING_TRAITS",
    "TRAITS",
    "AttributeDefault",
    "AttributeSchema",
    "AxisNames",
    "BecameOperand",
    "BodyNode",
    "Formula",
    "FunctionBody",
    "Layout",
    "NamedDims",
    "Operation",
    "Operator",
    "OperatorSchema",
    "Parameter",
    "RoleList",
    "VersionDifference",
    "WeightKind",
    "compare_versions",
    "find_default",
    "find_newest_operator",
    "find_operator",
    "find_release",
    "find_schema",
    "kept_with_catalogue",
    "kind_of",
    "list_known_domains",
    "list_known_operators",
    "list_names",
    "list_registered",
    "read_documentation",
    "rename_value",
    "set_entries",
]
