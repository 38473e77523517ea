"""What the operators of ONNX and its common extensions declare about themselves.

In come a domain, an operator type and an opset version; out come the formal names of inputs and
outputs, the kinds and defaults of attributes, the body as a function, and in what two versions
differ, from a table made by ``tools/make_operator_table.py``. This package must not know models,
readers or protobuf, and needs no ``onnx`` except for documentation.
"""

from typing import TYPE_CHECKING

from netloupe.explorer.later import import_later

if TYPE_CHECKING:
    from .schemas import (
        AttributeDefault,
        AttributeSchema,
        BodyNode,
        FunctionBody,
        OperatorSchema,
        Parameter,
        find_release,
        find_schema,
        list_known_domains,
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
else:
    __getattr__ = import_later(
        __name__,
        {
            "schemas": [
                "AttributeDefault",
                "AttributeSchema",
                "BodyNode",
                "FunctionBody",
                "OperatorSchema",
                "Parameter",
                "find_release",
                "find_schema",
                "list_known_domains",
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
        },
    )

__all__ = [
    "SUCCESSORS",
    "AttributeDefault",
    "AttributeSchema",
    "BecameOperand",
    "BodyNode",
    "FunctionBody",
    "OperatorSchema",
    "Parameter",
    "VersionDifference",
    "compare_versions",
    "find_default",
    "find_release",
    "find_schema",
    "list_known_domains",
    "read_documentation",
    "rename_value",
]
