"""Tables for pandas, which need not be installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from netloupe.explorer.errors import MissingPackageError

if TYPE_CHECKING:
    import pandas


def make_dataframe(columns: Mapping[str, Sequence[Any]]) -> pandas.DataFrame:
    """Return a table of columns of the same length.

    Raises
    ------
    MissingPackageError
        Where pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise MissingPackageError(
            "a table needs pandas, which is not installed: pip install pandas."
        ) from error
    return pandas.DataFrame(dict(columns))
