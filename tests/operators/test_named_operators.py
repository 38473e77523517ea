"""Outside the catalogue and the patterns hardly any code names operators: what does, says why."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache

import pytest

from tests.operators.named_operators import ROOT, Naming, list_namings

#: by module the vocabularies that are its own: tables of its functions by operator, words to show,
#: facts that only its subject knows. A comment beside each says which
LOCAL = {
    "architecture/cells.py": {"_GATES"},
    "architecture/classical.py": {"_FAMILIES", "_STEPS"},
    "architecture/composites.py": {"_ROUTING"},
    "architecture/denoisers.py": {"_WAVES"},
    "architecture/module_names.py": {"_WRITTEN"},
    "architecture/special_kinds.py": {"_SUMMING"},
    "architecture/two_stacks.py": {"_LARGEST_SUMMED"},
    "checks/kernel_search.py": {"_WRITTEN_AS"},
    "checks/known_ranges.py": {"KNOWN_RANGES"},
    "checks/rules/arranged_shapes.py": {"_ARRANGED"},
    "checks/rules/attribute_fits.py": {"DEMANDS", "_UNSUPPORTED"},
    "checks/rules/attribute_values.py": {"CHOICES", "CONTRIB_CHOICES", "RENAMED", "_ACTIVATIONS"},
    "checks/rules/axes.py": {"_AXES", "_PARTS", "_PICKED"},
    "checks/rules/learned_attributes.py": {"LEARNED"},
    "checks/rules/operand_ranks.py": {"_LENGTHS", "_RANKED", "_RANKS"},
    "checks/rules/operand_shapes.py": {"_CHANNELS", "_CONTRIB_PRODUCTS", "_PRODUCTS", "_STRETCH"},
    "checks/rules/tree_ensembles.py": {"TREES"},
    "checks/rules/windows.py": {"_CONTRIB", "_REACHES", "_WINDOWS"},
    "checks/rules/written_out.py": {"_OPERATORS"},
    "compare/fused_pairs.py": {"_ALIKE"},
    "compare/owners.py": {"NORMS", "SAME", "WRITTEN_OUT", "_BLOCKS"},
    "compare/read_gelus.py": {"_FORMULAS", "_RESULTS", "_WRITTEN_OUT"},
    "compare/written_out.py": {"_ACTIVATIONS", "_VALUES", "_VALUES_OF_RUNTIME"},
    "costs/bodies.py": {"BODIES"},
    "costs/constants.py": {"_BOUNDING"},
    "costs/elementwise.py": {"_COMPUTE"},
    "costs/products.py": {"GATES"},
    "grouping/role_groups.py": {"_AFTER"},
    "overlays/formats/ort_names.py": {"_ADDED"},
    "readers/caffe2/fills.py": {"_RANDOM_FILLS", "_STORED_FILLS"},
    "readers/onnx/dialect.py": {"ONNX"},
    "layout/telling.py": {"_BOUNDED", "_ORDINARY", "_PICKING"},
    "render/group_faces.py": {"_QUANTIZING"},
    "render/member_words.py": {"_NORMS"},
    "roles/origins.py": {"_ARRANGED"},
    "roles/unlearned.py": {"_OF_DISTANCES"},
}
_MOST = 60


@cache
def find_namings() -> list[Naming]:
    """Return where code names operators: all of it is parsed, and not in every process of tests."""
    return [*list_namings()]


def test_what_names_operators_is_listed_here_and_is_there() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for naming in find_namings():
        module, _, owner = naming.place.partition(" ")
        found[module].add(owner)
    assert found == LOCAL
    assert sum(map(len, LOCAL.values())) <= _MOST


def test_no_op_type_is_compared_with_a_literal() -> None:
    assert [naming.place for naming in find_namings() if naming.is_comparison] == []


@pytest.mark.parametrize(
    ("module", "owner"), [(module, owner) for module in LOCAL for owner in sorted(LOCAL[module])]
)
def test_a_vocabulary_says_why_it_is_local(module: str, owner: str) -> None:
    source = (ROOT / "explorer" / module).read_text("utf-8")
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        if ast.unparse(target) == owner:
            around = lines[node.lineno - 2 : node.end_lineno]
            assert any(line.strip().startswith("#") for line in around), around
            return
    raise AssertionError(f"{module} {owner} is no vocabulary of a module")
