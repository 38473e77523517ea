"""``netloupe info``: a summary of a model, what is in it, in numbers."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Collection
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

from netloupe.explorer.architecture import describe_architecture
from netloupe.explorer.costs import Bindings, Totals, describe_costs, list_apart
from netloupe.explorer.describe.architecture import collect_architecture
from netloupe.explorer.describe.costs import collect_costs
from netloupe.explorer.describe.encoding import MOST_ENTRIES, Listing, encode_json
from netloupe.explorer.describe.file_text import list_operators, order_counts
from netloupe.explorer.describe.groups import DEPTH, collect_groups, list_groups
from netloupe.explorer.errors import OutputError
from netloupe.explorer.model import Dialect, Model, Value
from netloupe.explorer.notation import join_parts, write_bytes, write_count
from netloupe.explorer.quantization import summarize_quantization
from netloupe.explorer.render.text import clean_label

from .operands import expand_operands
from .running import load_named, most_entries, tell_each
from .tables import SummaryPrinter

#: of what ``--json`` writes
SCHEMA = 1

_SHOWN_OPERATORS = 12
_SHOWN_COSTS = 3
_SHOWN_GRAPHS = 12
_SHOWN_WARNINGS = 8
_SHOWN_DOC_LINES = 6
_DEEPEST_INDENT = 8
_LONGEST_PATH = 60
_LONGEST_SUMMARY = 1_000
_WIDTH = 100


def run_info(parsed: argparse.Namespace) -> int:
    """Print a summary of each model, or its tree of groups, or a row of a table."""
    if parsed.depth is not None and not parsed.groups:
        raise OutputError("--depth says how many levels of --groups. Give --groups too.")
    if parsed.csv and (parsed.json or parsed.groups):
        raise OutputError("--csv prints a table of models. Leave --json and --groups out.")
    models = expand_operands(parsed.models)
    several = len(models) > 1 or models != parsed.models
    work = InfoWork(
        init=parsed.init,
        infer_shapes=parsed.infer_shapes,
        bind=tuple(parsed.bind),
        depth=(DEPTH if parsed.depth is None else parsed.depth) if parsed.groups else None,
        most=most_entries(parsed),
        is_encoded=parsed.json or parsed.csv,
    )
    printer = SummaryPrinter(
        _COLUMNS if parsed.csv else None,
        _make_row,
        is_json=parsed.json,
        several=several,
        schema=SCHEMA,
    )
    return tell_each(models, work, printer.tell, printer.tell_error, jobs=parsed.jobs)


@dataclass(frozen=True, slots=True)
class InfoWork:
    """What is done for each model: reading it, and telling what is in it.

    Parameters
    ----------
    init, infer_shapes, bind, depth, most
        What the options say; ``depth`` is None where no tree of groups is asked for.
    is_encoded
        Whether the summary is returned as JSON has it, not as text.
    """

    init: str | None = None
    infer_shapes: bool = False
    bind: tuple[tuple[str, int | tuple[int, ...]], ...] = ()
    depth: int | None = None
    most: int | None = MOST_ENTRIES
    is_encoded: bool = False

    def __call__(self, name: str) -> dict[str, Any] | str:
        """Return the summary of a model, as text or as JSON has it."""
        model = load_named(name, self.init, infer_shapes=self.infer_shapes)
        bind = dict(self.bind)
        if self.depth is not None and not self.is_encoded:
            return "\n".join([clean_label(name), *list_groups(model, self.depth, bind)])
        summary = summarize_model(model, most=self.most, bind=bind, depth=self.depth)
        return summary if self.is_encoded else format_summary(summary, model.dialect)


#: of the table
_COLUMNS = (
    "model",
    "error",
    "format",
    "ir_version",
    "opsets",
    "producer",
    "architecture",
    "graphs",
    "nodes",
    "operators",
    "initializers",
    "parameters",
    "weight_bytes",
    "macs",
    "macs_is_lower_bound",
    "inputs",
    "outputs",
    "quantized",
    "warnings",
)


def _make_row(summary: dict[str, Any]) -> dict[str, object]:
    """Return the row of a model: counts, and texts where there is a word for it."""
    totals, costs = summary["totals"], summary["costs"]
    opsets = summary["opsets"].items()
    return {
        "model": summary["source"],
        "format": summary["format"],
        "ir_version": summary["ir_version"],
        "opsets": " ".join(f"{domain}={version}" for domain, version in opsets),
        "producer": summary["producer"],
        "architecture": next(iter(summary["architecture"]["text"]), ""),
        "graphs": totals["graphs"],
        "nodes": totals["nodes"],
        "operators": _count(summary, "op_types"),
        "initializers": totals["initializers"],
        "parameters": totals["parameters"],
        "weight_bytes": totals["bytes"],
        "macs": costs["macs_expression"] if costs["macs"] is None else costs["macs"],
        "macs_is_lower_bound": costs["macs_is_lower_bound"],
        "inputs": _write_typed(summary, "inputs"),
        "outputs": _write_typed(summary, "outputs"),
        "quantized": summary["quantization"]["tensors"],
        "warnings": _count(summary, "warnings"),
    }


def _write_typed(summary: dict[str, Any], name: str) -> str:
    shown = [f"{value['name']} {value['type']}".strip() for value in summary[name][:_SHOWN_GRAPHS]]
    return join_parts(shown, _count(summary, name))


def summarize_model(
    model: Model,
    *,
    most: int | None = MOST_ENTRIES,
    bind: Bindings | None = None,
    depth: int | None = None,
) -> dict[str, Any]:
    """Return the summary that ``netloupe info --json`` prints.

    Parameters
    ----------
    model
        A model.
    most
        So many entries of each list are given; all of them where None.
    bind
        Sizes of symbols and shapes of inputs, as :meth:`~netloupe.Model.costs` takes them.
    depth
        So many levels of the tree of groups are told; None for no tree.

    Returns
    -------
    dict
        ``schema`` (1; another number where keys mean something else), ``source``,
        ``format``, ``container``, ``message`` (Caffe2: which one), ``ir_version``,
        ``producer``, ``domain``, ``model_version``, ``doc``, ``opsets``, ``inputs``,
        ``weights_not_given`` (names of inputs that only serve as weights and whose elements are
        in a file that was not given), ``outputs``, ``graphs`` (path, kind, nodes, initializers),
        ``totals`` (as :class:`~netloupe.explorer.costs.Totals` says), ``architecture`` (as
        :func:`~netloupe.explorer.describe.architecture.collect_architecture` says), ``costs`` (as
        :func:`~netloupe.explorer.describe.costs.collect_costs` says), ``op_types``,
        ``quantization``, ``metadata``, ``warnings``, with ``depth`` ``groups`` (as
        :func:`~netloupe.explorer.describe.groups.collect_groups` says), and in ``cut``
        which of these are cut short (see :func:`~netloupe.explorer.describe.encoding.encode_json`).
    """
    graphs = model.graphs
    costs = model.costs(bind)
    warnings = model.all_warnings()
    open_inputs = [value for value in model.graph.inputs if value.initializer is None]
    not_given = [value.name for value in open_inputs if value.is_parameter]
    first = list(islice(warnings, most))
    entries = {
        "schema": SCHEMA,
        "source": model.source,
        "format": model.format,
        "container": model.container,
        "message": model.header.message,
        "ir_version": model.ir_version,
        "producer": " ".join(
            part for part in (model.header.producer_name, model.header.producer_version) if part
        ),
        "domain": model.header.domain,
        "model_version": model.header.model_version,
        "doc": model.doc,
        "opsets": model.dialect.name_opsets(model.opset_imports),
        "inputs": _list_typed([value for value in open_inputs if not value.is_parameter]),
        "weights_not_given": Listing(not_given, str, len(not_given)),
        "outputs": _list_typed(model.graph.outputs),
        "graphs": Listing(
            graphs,
            lambda graph: {
                "path": graph.path,
                "kind": graph.kind,
                "nodes": len(graph.nodes),
                "initializers": len(graph.initializers) + len(graph.sparse_initializers),
            },
            len(graphs),
        ),
        "architecture": collect_architecture(describe_architecture(model, bind)),
        "totals": asdict(model.totals),
        "costs": collect_costs(costs) | {"text": list(describe_costs(costs))},
        "op_types": dict(order_counts(list_operators(graphs))),
        "quantization": summarize_quantization(model),
        "metadata": dict(model.metadata),
        "warnings": Listing(
            first,
            lambda warning: {"path": warning.path, "message": warning.message},
            len(first) + sum(1 for _ in warnings),  # there may be more than memory should hold
        ),
    }
    if depth is not None:
        entries["groups"] = collect_groups(model.groups, depth, bind)
    return encode_json(entries, most=most)


def _list_typed(values: Collection[Value]) -> Listing:
    return Listing(
        values,
        lambda value: {"name": value.name, "type": str(value.inferred_type or value.type or "")},
        len(values),
    )


def format_summary(summary: dict[str, Any], dialect: Dialect) -> str:
    """Return the summary of a model of a dialect as lines for a terminal."""
    totals = summary["totals"]
    lines = [
        clean_label(summary["source"]),
        *(line for text in summary["architecture"]["text"] for line in _wrap(text)),
        _line("format", _describe_format(summary)),
        _line("producer", summary["producer"] or "not stated"),
    ]
    if summary["domain"]:
        lines.append(_line("domain", summary["domain"]))
    if summary["model_version"] is not None:
        lines.append(_line("version", str(summary["model_version"])))
    if dialect.has_opsets:
        opsets = ", ".join(f"{domain} {version}" for domain, version in summary["opsets"].items())
        lines.append(_line("opsets", opsets or "none"))
    lines.append(_line("size", _describe_totals(totals)))
    costs = summary["costs"]["text"]
    shown_costs = _SHOWN_COSTS + bool(summary["costs"]["replaced_shapes"])
    lines += _listed("costs", costs, shown_costs, len(costs))
    for name in ("inputs", "outputs"):
        shown = [f"{value['name']} {value['type']}".strip() for value in summary[name]]
        lines += _listed(name, shown, _SHOWN_GRAPHS, _count(summary, name))
        if name == "inputs" and summary["weights_not_given"]:
            lines.append(_line("weights", _describe_not_given(summary)))
    operators = [f"{name} ×{count}" for name, count in summary["op_types"].items()]
    listed = join_parts(operators[:_SHOWN_OPERATORS], _count(summary, "op_types"))
    lines.append(_line("operators", listed or "none"))
    if len(summary["graphs"]) > 1:
        lines += _list_graphs(summary["graphs"], _count(summary, "graphs"))
    quantization = summary["quantization"]
    if quantization["tensors"]:
        sources = ", ".join(f"{name} {n}" for name, n in quantization["sources"].items())
        lines.append(
            _line("quantized", f"{write_count(quantization['tensors'], 'value')} ({sources})")
        )
    if quantization["not_quantized"]:
        told = write_count(quantization["not_quantized"], "value")
        lines.append(_line("annotated", f"{told} with a type of floating point or a layout alone"))
    if summary["doc"].strip():
        doc = [line for line in summary["doc"].splitlines() if line.strip()]
        lines += _listed("doc", doc, _SHOWN_DOC_LINES, len(doc))
    if summary["metadata"]:
        shown = [f"{key} = {value}" for key, value in summary["metadata"].items()]
        lines += _listed("metadata", shown, _SHOWN_GRAPHS, _count(summary, "metadata"))
    warnings = [f"{warning['path']}: {warning['message']}" for warning in summary["warnings"]]
    lines += _listed("warnings", warnings, _SHOWN_WARNINGS, _count(summary, "warnings"))
    return "\n".join(lines)


def _wrap(text: str) -> list[str]:
    """Return a text in indented lines."""
    indent = "  "
    return textwrap.wrap(
        clean_label(text, _LONGEST_SUMMARY),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )


def _count(summary: dict[str, Any], name: str) -> int:
    """Return how many entries there are of a list that may be cut."""
    cut = summary["cut"].get(f"/{name}")
    return cut["total"] if cut is not None else len(summary[name])


def _describe_format(summary: dict[str, Any]) -> str:
    if summary["message"]:
        return f"{summary['format']} ({summary['message']}, {summary['container']})"
    version = summary["ir_version"]
    return (
        f"{summary['format']} (IR version {version if version is not None else 'not stated'}, "
        f"{summary['container']})"
    )


def _describe_not_given(summary: dict[str, Any]) -> str:
    """Return how many weights have their elements in a file that was not given, and the first."""
    names, count = summary["weights_not_given"], _count(summary, "weights_not_given")
    listed = join_parts(names[:_SHOWN_COSTS], count)
    if "init net" in summary["metadata"]:
        return f"{count:,} not filled by the init net: {listed}"
    return f"{count:,} not given, for want of the init net (--init): {listed}"


def _describe_totals(totals: dict[str, int]) -> str:
    graphs = f" in {totals['graphs']:,} graphs" if totals["graphs"] > 1 else ""
    held = [
        write_count(totals["parameters"], "parameter"),
        *(f"{count:,} {name}" for name, count in list_apart(Totals(**totals)).items()),
    ]
    return (
        f"{write_count(totals['nodes'], 'node')}{graphs}, "
        f"{write_count(totals['initializers'], 'initializer')}, "
        f"{' and '.join(held)}, "
        f"{write_bytes(totals['bytes'])}"
    )


def _line(name: str, text: str) -> str:
    return f"  {name:<10} {clean_label(text, 400)}"


def _listed(name: str, entries: list[str], limit: int, count: int) -> list[str]:
    """Return a line for each of the first entries; ``count`` is that of all."""
    lines = [
        _line(name if index == 0 else "", entry) for index, entry in enumerate(entries[:limit])
    ]
    hidden = count - len(lines)
    return [*lines, _line("", f"… {hidden:,} more")] if hidden > 0 else lines


def _list_graphs(graphs: list[dict[str, Any]], count: int) -> list[str]:
    """Return a line for each graph: its path within the one around it, its kind, its nodes.

    ``count`` is the number of all.
    """
    around: list[str] = []  # paths of the graphs around the one at hand
    rows: list[tuple[str, str, int]] = []
    for graph in graphs[:_SHOWN_GRAPHS]:
        path = graph["path"]
        while around and not path.startswith(f"{around[-1]}/"):
            around.pop()
        local = path.removeprefix(f"{around[-1]}/") if around else path
        indent = "  " * min(len(around), _DEEPEST_INDENT)
        rows.append((indent + clean_label(local, _LONGEST_PATH), graph["kind"], graph["nodes"]))
        around.append(path)
    widths = [
        max(map(len, column))
        for column in zip(*((path, kind, f"{nodes:,}") for path, kind, nodes in rows), strict=True)
    ]
    lines = [
        f"{path:<{widths[0]}}  {kind:<{widths[1]}}  {nodes:>{widths[2]},} "
        + ("node" if nodes == 1 else "nodes")
        for path, kind, nodes in rows
    ]
    return _listed("graphs", lines, _SHOWN_GRAPHS, count)
