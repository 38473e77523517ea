"""Nodes that a release of ONNX Runtime has no CPU kernel for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from netloupe.explorer.checks.kernel_search import KernelRequest, MissingKernel, search_kernel
from netloupe.explorer.checks.kernels import list_known
from netloupe.explorer.checks.operands import is_operator
from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.runtimes import Runtime
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.checks.uses import OVERFLOW, Case
from netloupe.explorer.model import Node
from netloupe.explorer.notation import clip_text, join_parts, write_count

from .portability import OF_ORT, STANDARD

_LONGEST_NAME = 60
_MOST_SHOWN = 8
_MOST_NODES = 20


class _Told(NamedTuple):
    """Why nodes find no kernel; those of which all of it is equal are told as one."""

    operator: str
    message: str
    types: tuple[tuple[str, str], ...] = ()
    versions: tuple[str, ...] = ()


class _Group:
    """Nodes that are told as one: how many, and the first ones."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.count = 0

    def add(self, nodes: Sequence[Node]) -> None:
        self.count += len(nodes)
        self.paths += [node.path for node in nodes[: _MOST_NODES - len(self.paths)]]


def _find_missing(subject: Subject) -> Iterator[Occurrence]:
    target = subject.target
    if target is None or not subject.is_onnx:
        return
    if not target.has_kernels:
        known = join_parts([*list_known()], len(list_known()))
        subject.leave_out(f"it is not known which kernels {target.title} has; known are {known}")
        return
    missing: dict[_Told, _Group] = {}
    not_judged: dict[str, _Group] = {}
    for case, nodes in subject.uses.list_reached():
        found = _judge(target, case)
        if isinstance(found, str):
            not_judged.setdefault(found, _Group()).add(nodes)
        elif found is not None:
            missing.setdefault(_tell(target, case.node, found), _Group()).add(nodes)
    for told, group in missing.items():
        evidence = {
            "operator": told.operator,
            "types": dict(told.types),
            "release": target.release,
            "versions_with_kernels": [*told.versions],
            "nodes": group.paths,
        }
        cause = " ".join((told.operator, *(f"{name}={text}" for name, text in told.types)))
        yield Occurrence(group.paths[0], told.message, evidence, cause, places=group.count)
    for reason, group in not_judged.items():
        count = write_count(group.count, "node")
        subject.leave_out(f"kernels for {count}: {reason} ({group.paths[0]})")
    if OVERFLOW in subject.uses.unknown:
        node, number = subject.uses.unknown[OVERFLOW]
        subject.leave_out(f"kernels for {write_count(number, 'node')}: {OVERFLOW} ({node.path})")


def _judge(target: Runtime, case: Case) -> MissingKernel | str | None:
    """Return what has no kernel at a use, why that is not known, or None where all have one."""
    node = case.node
    domain = node.domain
    if node.function is not None or (domain not in STANDARD and domain not in OF_ORT):
        return None
    newest = target.opsets.get(domain)
    if newest is not None and case.opset is not None and case.opset > newest:
        name = node.graph.dialect.name_domain(domain)
        return f"{target.title} has no version {case.opset} of {name}, the newest is {newest}"
    if case.schema is None and not domain:  # see unknown-operator
        return None
    if _is_removed(node, case):
        return None
    taken, given = (
        [None if fact is None else fact.type_name for fact in facts]
        for facts in (case.operands, case.given)
    )
    request = KernelRequest(domain, node.op_type, case.opset, taken, given)
    return search_kernel(target.release, request)


def _is_removed(node: Node, case: Case) -> bool:
    """Return whether the optimizer takes a node away before kernels are looked for.

    It does so with what changes nothing and gives no output of the graph.
    """
    given = node.output(0)
    if node.domain or given is None or given.is_output:
        return False
    if is_operator(node, "Cast"):
        result = case.given[0] if case.given else None
        before = case.operand(0).type_name
        return bool(before) and result is not None and result.type_name == before
    return is_operator(node, "Identity")


def _tell(target: Runtime, node: Node, missing: MissingKernel) -> _Told:
    schema = missing.schema
    domain = node.domain
    if missing.is_inner:  # what bodies hold is of the standard domain
        domain = ""
    name = _name(node, domain, missing)
    fitting = missing.fitting
    if fitting:
        names = sorted({n for each in fitting for n in each.types if missing.types.get(n)})
        types = tuple((each, missing.types[each]) for each in names)
        what = f"{name} {_tell_types(missing, names)}"
        versions: tuple[str, ...] = ()
    else:
        since = schema.since_version if schema is not None else None
        versions, rest = _tell_versions(missing, since)
        what, types = f"{name}{rest}", ()
    outer = ""
    if missing.is_inner:
        own = node.graph.dialect.name_operator(node.domain, node.op_type)
        outer = f" of {clip_text(own, _LONGEST_NAME)}, and in its body none"
    message = f"{target.title} has no CPU kernel{outer} of {what}{_tell_bodies(missing)}"
    return _Told(name, message, types, versions)


def _name(node: Node, domain: str, missing: MissingKernel) -> str:
    name = clip_text(node.graph.dialect.name_operator(domain, missing.op_type), _LONGEST_NAME)
    return name if missing.schema is None else f"{name}-{missing.schema.since_version}"


def _tell_versions(missing: MissingKernel, since: int | None) -> tuple[tuple[str, ...], str]:
    """Return the versions that have kernels, and what is said of them."""
    ranges = sorted({(each.first, each.last or each.first) for each in missing.kernels})
    shown = tuple(str(first) if first == last else f"{first} to {last}" for first, last in ranges)
    if since is None or not ranges:
        return shown, ", nor of another version"
    nearest = min((version for each in ranges for version in each), key=lambda v: abs(v - since))
    return shown, f"; the nearest version that has one is {nearest}"


def _tell_bodies(missing: MissingKernel) -> str:
    """Return which operator sets the bodies are for, none of which is the one at hand."""
    schema = missing.schema
    bodies = schema.bodies if schema is not None and not schema.domain else ()
    if not bodies:
        return ""
    sets = [
        f"{each.first}"
        if each.last == each.first
        else f"{each.first} to {each.last}"
        if each.last
        else f"{each.first} and newer"
        for each in bodies
    ]
    return f"; its body as a function is for operator set {join_parts(sets, len(sets))} alone"


def _tell_types(missing: MissingKernel, names: Sequence[str]) -> str:
    """Return which types no kernel takes, and which are taken."""
    refused = []
    for name in names:
        allowed = {text for each in missing.fitting for text in each.types.get(name, ())}
        if missing.types[name] not in allowed:
            taken = sorted(allowed)
            shown = join_parts(taken[:_MOST_SHOWN], len(taken))
            refused.append(f"where {name} is {missing.types[name]}; it has them for {shown}")
    if refused:
        return ", nor ".join(refused)
    return f"where {' and '.join(f'{name} is {missing.types[name]}' for name in names)}"


RULES = (
    Rule(
        "NL-P06",
        "no-kernel",
        "error",
        "Nodes that the target has no CPU kernel for",
        "The CPU provider refuses the model: NOT_IMPLEMENTED, could not find an implementation. "
        "Providers for other hardware may have one.",
        "Export with an operator set whose version of the operator has a kernel, insert a Cast to "
        "a type that it takes, write it with other operators, or aim at another release.",
        "ONNX Runtime, get_all_opkernel_def of each release; core/framework/kernel_registry.cc",
        _find_missing,
        needs_target=True,
    ),
)
