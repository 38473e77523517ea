"""What a difference in a field belongs to: names, texts, storage, defaults, order, or more."""

from __future__ import annotations

from typing import Literal

from netloupe.explorer.model import Dialect
from netloupe.explorer.model.statement import SizeName, StatedFact, Way

from .changes import Ignored

Aspect = Ignored | Literal[""]

_DOCS = frozenset({"doc_string", "debug_info", "metadata_props"})
_OF_MODEL = frozenset({"producer_name", "producer_version", "domain", "model_version"})
_STORAGE = frozenset(
    {"data_location", "external_data", "order of external_data", "storage_type", "stored in"}
)
#: messages whose names tell people what something is, and graphs what belongs together
_NAMED = frozenset(
    {"BlobProto", "DBReaderProto", "ExecutionStep", "FunctionProto", "GraphProto", "MapProto"}
    | {"NetDef", "NodeProto", "OperatorDef", "OptionalProto", "PlanDef", "QTensorProto"}
    | {"SequenceProto", "TensorProto", "TensorShape", "ValueInfoProto"}
)
_WORDS = {
    "producer_name": "producer",
    "ir_version": "IR version",
    "producer_version": "producer version",
    "model_version": "model version",
    "doc_string": "documentation",
    "metadata_props": "metadata",
    "opset_import": "opset of",
    "data_type": "dtype",
    "op_type": "operator",
    "type": "operator",
}
_VALUES = frozenset(
    {"f", "i", "s", "t", "g", "n", "floats", "ints", "strings", "tensors", "graphs", "nets"}
    | {"sparse_tensor", "sparse_tensors", "tp", "type_protos", "qtensors", "type", "ref_attr_name"}
)


def find_aspect(
    way: Way, left: StatedFact | None, right: StatedFact | None, dialect: Dialect
) -> Aspect | None:
    """Return what a difference in a field belongs to; None where it says the same.

    Parameters
    ----------
    way
        The way to the field.
    left, right
        What it says on each side; None for nothing.
    dialect
        What the formats have in common.
    """
    fact = left or right
    assert fact is not None  # noqa: S101 - one side says something
    is_text = not _DOCS.isdisjoint(way) or (fact.message == "ModelProto" and way[-1] in _OF_MODEL)
    is_name = fact.message in _NAMED and way[-1] == "name"
    is_name = is_name or (fact.message == "FunctionProto" and way[-1] in ("domain", "overload"))
    if (is_text or is_name) and {_read_text(left), _read_text(right)} == {""}:
        return None  # an empty text says nothing
    if fact.field == "order":
        orders = [fact.content for fact in (left, right) if fact is not None]
        names = [sorted(order) for order in orders if isinstance(order, tuple)]
        return "order" if len(names) == 2 and names[0] == names[1] else None  # else it is told
    if is_text:
        return "docs"
    if is_name:
        return "names"
    if not _STORAGE.isdisjoint(way) or fact.message == "ExternalDataProto":
        return "storage"
    if (left is None or right is None) and fact.is_default:
        return "defaults"
    own = {dialect.domain, *dialect.domain_spellings}
    if fact.field == "domain" and {_read_text(left), _read_text(right)} <= own:
        return "defaults"
    if left is not None and right is not None and isinstance(left.content, SizeName):
        return "names" if isinstance(right.content, SizeName) else ""
    return ""


def _read_text(fact: StatedFact | None) -> object:
    return "" if fact is None else fact.shown


def name_field(way: Way, dialect: Dialect) -> str:
    """Return what a field is called: ``attribute axis``, ``documentation``, ``segment.begin``."""
    if way[-1] == "elements" and len(way) > 1:
        way = way[:-1]
    if way[0] in ("attribute", "arg", "attribute_proto") and len(way) > 1:
        kind = "default of attribute" if way[0] == "attribute_proto" else "attribute"
        rest = [*way[2:]]
        if rest == ["type"]:
            return f"type of {kind} {way[1]}"
        if rest and rest[0] in _VALUES:
            is_value = len(rest) == 1 or rest[-1] in ("dims", "data_type")
            rest = [] if is_value else rest
        return f"{kind} {'.'.join((way[1], *rest))}"
    if way[0] in ("external_data", "data_location", "storage_type") or "stored in" in way:
        way = (*way[: way.index("stored in")],) if "stored in" in way else ()
        return " of ".join(("storage", ".".join(way))) if way else "storage"
    if way[0] in ("metadata_props", "opset_import") and len(way) > 1:
        if way[0] == "metadata_props":
            return f"{_WORDS[way[0]]} {way[1]}"
        own = way[1].rstrip("#")  # of a key that is given again
        again = " (imported again)" if own != way[1] else ""
        field = "domain of the " if way[2:] == ("domain",) else ""
        return f"{field}{_WORDS[way[0]]} {dialect.name_domain(own)}{again}"
    if len(way) == 1:
        return _WORDS.get(way[0], way[0])
    told = ".".join(way)
    return told.replace(".#", "#")
