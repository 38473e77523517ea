"""What is told of a node without its details, which of a million nodes would take 200 MB."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .node import Node
    from .statement import Statement

#: of longer attributes, such as trees, a digest is kept
_LONGEST_KEY = 4_096


def key_attributes(node: Node) -> bytes:
    """Return what is equal for nodes of equal attributes, graphs left out.

    No tensor is decoded for it. Left out is as well what does not tell how a node is built, so
    that layers of different width are alike.
    """
    try:
        return node._loader.attribute_key(node)
    except Exception as error:
        node._fail(error)


def key_whole_attributes(node: Node) -> bytes:
    """Return what is equal for nodes whose attributes are all the same, graphs left out.

    What follows of a node is kept by it.
    """
    try:
        key = node._loader.attribute_key(node, is_whole=True)
        return key if len(key) <= _LONGEST_KEY else blake2b(key).digest()
    except Exception as error:
        node._fail(error)


def key_statement(node: Node) -> bytes:
    """Return what is equal for nodes of which the file says the same.

    That is all but their names and those of their operands.
    """
    try:
        return node._loader.statement_key(node)
    except Exception as error:
        node._fail(error)


def state_node(node: Node) -> Statement:
    """List all that the file says of a node, but for its operands and the graphs in it."""
    try:
        return node._loader.state(node)
    except Exception as error:
        node._fail(error)


def may_have_attributes(node: Node) -> bool:
    """Return whether a node may have attributes."""
    try:
        return node._loader.may_have_attributes(node)
    except Exception as error:
        node._fail(error)


def tell_oddities(node: Node) -> tuple[str, ...] | None:
    """Say what is odd about a node; None where its details need to be read for it."""
    try:
        return node._loader.oddities(node)
    except Exception as error:
        node._fail(error)
