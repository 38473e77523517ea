"""The value of which a quantization is asked, whichever way it is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloupe.explorer.errors import NotFoundError
from netloupe.explorer.notation import join_parts

from .constant import constant_tensor
from .node import Node
from .paths import find_element, resolve_path
from .sparse_tensor import SparseTensor
from .tensor import Tensor
from .value import Value

if TYPE_CHECKING:
    from .model import Model


def find_quantizable(model: Model, element: object) -> Value:
    """Return a value itself, that of a constant tensor, or that of a path or name.

    Raises
    ------
    NotFoundError
        Where nothing is there, or what can have no quantization.
    """
    found = resolve_path(model, element) if isinstance(element, str) else element
    if isinstance(found, Value):
        return found
    hint = "Give a value, an initializer, or the path of one, such as 'main/%x'."
    if isinstance(found, Tensor | SparseTensor):
        value = _find_value_of(model, found)
        if value is not None:
            return value
        hint = "Give a tensor that is an initializer or a constant of this model."
    elif isinstance(found, Node):
        paths = [repr(value.path) for value in (*found.inputs, *found.outputs) if value is not None]
        hint = f"Give one of its values: {join_parts(paths[:5], len(paths))}." if paths else hint
    kind = type(found).__name__
    path = getattr(found, "path", None)
    named = kind if path is None else f"{kind} {path!r}"
    raise NotFoundError(f"{model.source}: {named} has no quantization of its own. {hint}")


def _find_value_of(model: Model, tensor: Tensor | SparseTensor) -> Value | None:
    """Return the value that a tensor is the constant of: an initializer, or what a node gives."""
    found = find_element(model, tensor.path)
    if isinstance(found, Value):
        stored = found.initializer
        parts = (stored.values, stored.indices) if isinstance(stored, SparseTensor) else ()
        return found if stored is None or tensor is stored or tensor in parts else None
    node = find_element(model, tensor.path.rpartition(".")[0])
    value = node.output(0) if isinstance(node, Node) and len(node.outputs) == 1 else None
    return value if value is not None and constant_tensor(value) is tensor else None
