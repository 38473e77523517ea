"""The blobs that a Caffe2 net sees: its own, and those of the nets around it.

A net among an operator's arguments works on the workspace of the net around it. So what it
writes is written there, too, whether or not the operator lists it among its outputs: a use
after the operator means a value that the operator produces. Such a value is made when it is
used, is appended to the operator's outputs, and says in its metadata which nets write it.

Two operators have workspaces of their own. Of what the net of a Do writes, only the blobs that
its arguments bind to operands are seen outside. The step nets of RecurrentNetwork work on
workspaces that are made for each step: what they write is seen outside where the blob was there
before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from netloupe.explorer.model import Graph, ModelWarning, Node, Value

#: how many names are followed out of nested nets, in all; each is followed once a level
MOST_FOLLOWED = 2_000_000


class _Inside(NamedTuple):
    """Who writes a blob inside of nets: the operator, their scopes, and the name there."""

    node: Node
    scopes: tuple[Scope, ...]
    name: str


class Scope:
    """The blobs of one graph, each with its values in the order in which they are written.

    Parameters
    ----------
    outer
        The scope around; None for a net that nothing holds.
    """

    def __init__(self, graph: Graph, outer: Scope | None = None) -> None:
        self.graph = graph
        self.outer = outer
        #: values of the scope around by the names that they have here; None where all blobs of
        #: the scope around are seen under their own names
        self.aliases: dict[str, Value] | None = None
        #: of a net within an operator: the blobs that become the operator's results
        self.results: list[str] = []
        #: of a Do: blobs here that are operands outside, by their names there
        self.operands: dict[str, str] = {}
        #: whether the net works on a workspace of its own, made for each step
        self.is_step = False
        #: blobs that the init net gives otherwise than by a fill -> the path of the node
        self.given: dict[str, str] = {}
        #: the values of each blob, in the order in which they are written
        self.versions: dict[str, list[Value]] = {}
        #: blobs that nested nets have written since this one did
        self.inside: dict[str, _Inside] = {}
        #: how many names were followed out of nested nets: one number for all scopes
        self.followed: list[int] = outer.followed if outer is not None else [0]

    def define(self, name: str) -> Value:
        """Return a new value for a blob that is written, or first used, now."""
        self.inside.pop(name, None)
        versions = self.versions.setdefault(name, [])
        key, count = name, len(versions) + 1
        if versions:
            key = f"{name}#{count}"
        while key in self.graph.values:
            count += 1
            key = f"{name}#{count}"
        value = self.graph.values[key] = Value(name, self.graph, key)
        versions.append(value)
        return value

    def last(self, name: str) -> Value | None:
        """Return the value that a blob has now, if this graph has the blob."""
        if name in self.inside:
            self._settle(name)
        return self.peek(name)

    def peek(self, name: str) -> Value | None:
        """Return the last value of a blob, whatever nested nets have written since."""
        versions = self.versions.get(name)
        return versions[-1] if versions else None

    def capture(self, name: str, *, is_settled: bool = False) -> Value | None:
        """Find a blob in the scopes around as it is when this net runs; note it on the way.

        With ``is_settled`` no value is made for what nested nets write.
        """
        passed = []
        scope = self
        while scope.outer is not None:
            passed.append(scope)
            if scope.aliases is not None:
                value = scope.aliases.get(name)
            else:
                value = scope.outer.peek(name) if is_settled else scope.outer.last(name)
            if value is not None:
                for inner in passed:
                    inner.note(value)
                return value
            if scope.aliases is not None:
                return None
            scope = scope.outer
        return None

    def note(self, value: Value) -> None:
        """Note on the operator that holds the net that it takes a value from around."""
        caller = self.graph.parent_node
        if caller is not None and value not in caller.captures:
            caller.captures = (*caller.captures, value)

    # what nested nets write

    def follow(self, node: Node, inner: tuple[Scope, ...], names: set[str]) -> None:
        """Note what the nets of an operator write.

        Parameters
        ----------
        node
            The operator, of this scope's graph; its own outputs are already defined.
        inner
            The scopes of its nets, read to their ends.
        names
            The blobs that the operator lists as its outputs.
        """
        for scope in inner:
            for name, own in scope.list_written():
                if name in names or (scope.is_step and not self._is_around(name)):
                    continue
                if self.followed[0] >= MOST_FOLLOWED:
                    message = "holds nets that write more blobs than are followed out of them"
                    self.graph.warnings.append(ModelWarning(node.path, message))
                    return
                self.followed[0] += 1
                before = self.inside.get(name)
                if before is not None and before.node is not node:
                    self._settle(name)
                self.inside[name] = _Inside(node, inner, own)

    def list_written(self) -> Iterator[tuple[str, str]]:
        """Yield the blobs that are written here and seen outside: the name there, and here."""
        written = [
            name
            for name, versions in self.versions.items()
            if any(value.producer is not None for value in versions)
        ]
        for name in dict.fromkeys((*written, *self.inside)):
            if self.aliases is None:
                yield name, name
            elif name in self.operands:
                yield self.operands[name], name

    def _is_around(self, name: str) -> bool:
        """Return whether a blob is there, here or in a scope around whose blobs are seen."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.versions or name in scope.inside:
                return True
            if scope.aliases is not None:
                return name in scope.aliases
            scope = scope.outer
        return False

    def _settle(self, name: str) -> None:
        """Make the values for a blob that is written inside of nets, the innermost first."""
        found: list[tuple[Scope, str]] = []
        pending: list[tuple[Scope, str]] = [(self, name)]
        while pending:
            scope, wanted = pending.pop()
            inside = scope.inside.get(wanted)
            if inside is not None:
                found.append((scope, wanted))
                pending += ((inner, inside.name) for inner in inside.scopes)
        for scope, wanted in reversed(found):
            scope.write_through(wanted)

    def write_through(self, name: str) -> None:
        """Make the value of a blob that the nets of an operator write, and that is used now."""
        node, scopes, own = self.inside.pop(name)
        writers = []
        for scope in scopes:
            value = scope.peek(own)
            if value is not None and value.producer is not None:
                value.is_output = True
                writers.append(scope.graph.path)
            else:
                value = value or scope.capture(own, is_settled=True)
            if value is not None and value not in scope.graph.outputs:
                scope.graph.outputs.append(value)
        value = self.define(name)
        value.producer = node
        value.output_index = len(node.outputs)
        value.metadata["written by"] = ", ".join(writers)
        node.outputs = (*node.outputs, value)
