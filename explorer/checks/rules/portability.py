"""Where a model can run: versions of ONNX, and operators that not every runtime has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from netloupe.explorer.checks.rule import Occurrence, Rule
from netloupe.explorer.checks.runtimes import OLDEST_OPSET
from netloupe.explorer.checks.subject import Subject
from netloupe.explorer.model import Node, count_each_operator
from netloupe.explorer.notation import join_parts, write_count
from netloupe.explorer.operators import find_release, find_schema

STANDARD = frozenset(
    {"", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training", "ai.onnx.training"}
)
#: domains whose operators ONNX Runtime has (docs/ContribOperators.md), and its own inner ones
OF_ORT = frozenset({"com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc"})
#: who defines an operator that ONNX does not, and what is said of it
_RUNTIME, _NOT_EVEN_RUNTIME, _QONNX, _NOBODY = "runtime", "not even runtime", "qonnx", "nobody"
_REGISTERED = "registered"
_SAYS = {
    _RUNTIME: "which ONNX Runtime has beside ONNX",
    _NOT_EVEN_RUNTIME: "which neither ONNX nor the model defines, nor ONNX Runtime {release}",
    _QONNX: "which the tools of QONNX run, and hardware compilers take",
    _REGISTERED: "which are registered here, and neither ONNX nor the model defines",
    _NOBODY: "which neither ONNX nor the model defines",
}
#: of whom somebody knows what they are, which a note says: what their fingerprints are told by
_CAUSES = {_QONNX: " QONNX", _REGISTERED: " registered"}
_TABLE = "ONNX Runtime, docs/reference/compatibility.md: ONNX opset support"


def _find_new_ir(subject: Subject) -> Iterator[Occurrence]:
    target, stated = subject.target, subject.model.ir_version
    if target is not None and stated is not None and stated > target.ir_version:
        yield Occurrence(
            subject.model.path,
            f"the file is of IR version {stated}; {target.title} reads up to {target.ir_version}",
            {"ir_version": stated, "newest": target.ir_version},
        )


def _find_new_opsets(subject: Subject) -> Iterator[Occurrence]:
    target = subject.target
    for domain, version in subject.model.opset_imports.items() if target else ():
        newest = target.opsets.get(domain) if target else None
        if target is not None and newest is not None and version > newest:
            name = subject.model.dialect.name_domain(domain)
            yield Occurrence(
                subject.model.path,
                f"version {version} of {name} is imported; {target.title} has up to {newest}",
                {"domain": name, "opset": version, "newest": newest},
                domain,
            )


def _find_old_opset(subject: Subject) -> Iterator[Occurrence]:
    version = subject.model.opset_imports.get("") if subject.is_onnx else None
    if version is not None and 0 < version < OLDEST_OPSET:
        yield Occurrence(
            subject.model.path,
            f"version {version} of ai.onnx is imported; ONNX Runtime has {OLDEST_OPSET} and newer",
            {"opset": version, "oldest": OLDEST_OPSET},
        )


def _find_custom(subject: Subject) -> Iterator[Occurrence]:
    return _find_domains(subject, are_contrib=False)


def _find_contrib(subject: Subject) -> Iterator[Occurrence]:
    return _find_domains(subject, are_contrib=True)


def _find_domains(subject: Subject, *, are_contrib: bool) -> Iterator[Occurrence]:
    """Yield a hit for each domain with operators that neither ONNX nor the model defines."""
    if not subject.is_onnx:
        return
    counts: dict[tuple[str, str], Counter[str]] = {}
    firsts: dict[tuple[str, str], str] = {}
    versions: dict[str, int | None] = {}
    own = {function.domain for function in subject.model.functions}  # see unknown-function
    for graph in subject.graphs:
        for node, count in count_each_operator(graph):
            who = "" if node.domain in own or node.function is not None else _name_definer(node)
            if who and (who == _RUNTIME) == are_contrib:
                key = node.domain, who
                firsts.setdefault(key, node.path)
                versions.setdefault(node.domain, node.opset_version)
                counts.setdefault(key, Counter())[node.op_type] += count
    for (domain, who), operators in counts.items():
        names = sorted(operators)
        total = operators.total()
        shown = join_parts([name[:60] for name in names[:5]], len(names))
        where, says = domain[:100], _SAYS[who].format(release=find_release("onnxruntime"))
        if domain in STANDARD:
            where = f"version {versions[domain]} of {subject.model.dialect.name_domain(domain)}"
        yield Occurrence(
            firsts[domain, who],
            f"{write_count(total, 'node')} of {where}, {says}: {shown}",
            {"domain": domain[:200], "operators": names[:20]},
            f"{domain[:200]}{_CAUSES.get(who, '')}",
            places=total,
            severity="note" if who in _CAUSES else None,
        )


def _name_definer(node: Node) -> str:
    """Return who beside ONNX defines an operator; "" for ONNX itself."""
    if node.operator.is_registered:
        return _REGISTERED
    schema = find_schema(node.domain, node.op_type, node.opset_version)
    if node.domain in STANDARD:
        return _RUNTIME if schema is not None and schema.is_beside_onnx else ""
    if node.domain in OF_ORT:
        return _NOT_EVEN_RUNTIME if schema is None else _RUNTIME
    return _QONNX if node.operator.has("rounds_to_integers") else _NOBODY


RULES = (
    Rule(
        "NL-P01",
        "ir-version-too-new",
        "error",
        "An IR version that the target does not read",
        "The runtime refuses the file, whatever is in it.",
        "Write an older one where nothing newer is used: `m.ir_version = 9; onnx.save(m, path)`.",
        _TABLE,
        _find_new_ir,
        needs_target=True,
    ),
    Rule(
        "NL-P02",
        "opset-too-new",
        "error",
        "An operator set that the target does not have",
        "The runtime refuses the file, or warns and may fail at newer operators.",
        "Export with an older one, or `onnx.version_converter.convert_version(m, version)`.",
        _TABLE,
        _find_new_opsets,
        needs_target=True,
    ),
    Rule(
        "NL-P03",
        "opset-too-old",
        "warning",
        "An operator set older than ONNX Runtime has",
        "Older operators are not tested there, and some differ.",
        "`onnx.version_converter.convert_version(m, 13)`.",
        _TABLE,
        _find_old_opset,
    ),
    Rule(
        "NL-P04",
        "custom-operator",
        "warning",
        "Operators that neither ONNX nor the model defines",
        "They need a library of native code where the model runs, which is then trusted too. Those "
        "that are registered with netloupe, and those of QONNX for its own tools, are a note; of "
        "com.microsoft builds of ONNX Runtime for training have some that its wheels lack.",
        "Ship the library with the model, or give the operators a function body.",
        "ONNX Runtime, docs/ContribOperators.md; Netron #117; QONNX, docs/qonnx-custom-ops",
        _find_custom,
    ),
    Rule(
        "NL-P05",
        "contrib-operator",
        "note",
        "Operators that ONNX Runtime has beside ONNX",
        "Other runtimes do not have them.",
        "Convert before optimising for ONNX Runtime, where the model shall run elsewhere too.",
        "ONNX Runtime, docs/ContribOperators.md",
        _find_contrib,
    ),
)
