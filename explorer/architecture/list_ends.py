"""Stages end where an author's lists do, though blocks go on alike behind it.

As in a row of the table of A. Howard and others, Searching for MobileNetV3, 2019, table 1, of which
the next one has the same width and size, and other kernels.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import accumulate, groupby

from .authored_lists import AuthoredLists, Path, read_form
from .clause import Clause
from .sketch import write_row

_DIGITS = r"\d{1,3}(?:,\d{3})*"
_STAGES = re.compile(rf"stages of (?P<row>{_DIGITS}(?:, {_DIGITS})+) ")


def end_with_lists(lists: AuthoredLists, paths: Mapping[int, Path], clause: Clause) -> Clause:
    """Return a clause whose stages end where lists of one form do, if one of these ends with each.

    Parameters
    ----------
    lists
        What the author numbered.
    paths
        By the id of each block the path of its module.
    clause
        What is told of blocks; as it is where it tells no stages.
    """
    stages = _STAGES.match(clause.text)
    if stages is None:
        return clause
    counts = [int(word.replace(",", "")) for word in stages["row"].split(", ")]
    kind = Counter(piece.kind for piece in clause.scope).most_common(1)[0][0]
    pieces = [piece for piece in clause.scope if piece.kind == kind]
    located = [found[0] for piece in pieces if (found := lists.locate(paths[id(piece)]))]
    members = {member.path for _, member in located}
    if sum(counts) != len(pieces) or len(members) < len(pieces):
        return clause
    runs = [(key, len([*run])) for key, run in groupby(key for key, _ in located)]
    row = [count for _, count in runs]
    is_one_form = len({(read_form(path), name) for (path, name), _ in runs}) == 1
    if not is_one_form or not {*accumulate(counts)} < {*accumulate(row)}:
        return clause
    start, end = stages.span("row")
    return replace(clause, text=f"{clause.text[:start]}{write_row(row)}{clause.text[end:]}")
