"""What CPU kernels releases of ONNX Runtime have, as they say themselves.

The facts are those of ``runtimes.json``, which ``tools/make_runtime_table.py`` makes from wheels
for Linux on x86-64; those for other machines may have a kernel more. Its form:

- ``releases``: by release the newest version of each operator set that it takes, the newest IR
  version, and the exact ``version`` that was asked; without one the documentation tells;
- ``types``: lists of types, with spaces between;
- ``sets``: lists of releases, with spaces between;
- ``kernels[domain][op_type]``: rows of the first version, the last one (0 for none), by type
  variable or name of an operand the number of the types that it may be, and the number of the
  releases that have the kernel.
"""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple


class Kernel(NamedTuple):
    """A kernel of an operator.

    Parameters
    ----------
    first, last
        The versions of the operator that it is for; 0 for no last one.
    types
        By type variable, or name of an operand that has none, the types that it may be.
    """

    first: int
    last: int
    types: Mapping[str, frozenset[str]]

    def is_for(self, since_version: int) -> bool:
        """Return whether it is for a version of the operator.

        Without a last version it is for its first one alone: nothing is known of later ones.
        """
        return self.first == since_version or self.first <= since_version <= self.last


def list_releases() -> Mapping[str, Mapping[str, Any]]:
    """Return what is known of each release, but for its kernels."""
    releases: Mapping[str, Mapping[str, Any]] = _load_table()["releases"]
    return releases


@cache
def list_known() -> tuple[str, ...]:
    """Return the releases whose kernels are known."""
    having = {release for text in _load_table()["sets"] for release in text.split()}
    return tuple(release for release in list_releases() if release in having)


@cache
def list_domains(release: str) -> frozenset[str]:
    """Return the domains of which a release has a kernel."""
    table = _load_table()["kernels"]
    return frozenset(
        domain
        for domain, operators in table.items()
        if any(find_kernels(release, domain, op_type) for op_type in operators)
    )


@cache
def find_kernels(release: str, domain: str, op_type: str) -> tuple[Kernel, ...]:
    """Return the CPU kernels that a release has of an operator."""
    table = _load_table()
    return tuple(
        Kernel(first, last, {name: _read_types(number) for name, number in types.items()})
        for first, last, types, releases in table["kernels"].get(domain, {}).get(op_type, ())
        if release in _read_set(releases)
    )


@cache
def _read_types(number: int) -> frozenset[str]:
    return frozenset(_load_table()["types"][number].split())


@cache
def _read_set(number: int) -> frozenset[str]:
    return frozenset(_load_table()["sets"][number].split())


@cache
def _load_table() -> dict[str, Any]:
    data = pkgutil.get_data(__name__, "runtimes.json")
    if data is None:  # only a loader that cannot read files at all
        raise FileNotFoundError("netloupe was installed without its table of runtimes")
    table: dict[str, Any] = json.loads(data)
    return table
