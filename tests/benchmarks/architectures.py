"""What netloupe says that every model of the tests is.

Run ``python tests/benchmarks/architectures.py [NAME …]``. Models are those of
``tests/benchmarks/first_views.py``; names are parts of theirs (``gpt2``, ``light/``,
``beside:sklearn``). For each stand its family, the summary, and how long that took beside reading
and grouping; where nothing is said, what is known of it from ``tests/known_architectures.py``.
``--json FILE`` writes the same.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from netloupe.explorer.readers.load import load  # noqa: E402
from tests.benchmarks.first_views import list_models  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    told: dict[str, dict[str, object]] = {}
    silent = 0
    for name, path, known in list_models(options.names):
        start = time.process_time()
        model = load(path)
        list(model.groups.nodes)
        grouped = time.process_time()
        found = model.architecture
        end = time.process_time()
        told[name] = {
            "family": found.family,
            "summary": found.summary,
            "known": known.family,
            "seconds": round(end - grouped, 3),
            "blocks": [(block.name, block.count, block.path) for block in found.blocks],
        }
        silent += not found
        print(f"{name}  [{found.family or '-'}]  {grouped - start:.2f} s + {end - grouped:.2f} s")
        print(f"    {found.summary or f'nothing is said; it is: {known.family or chr(45)}'}")
    print(f"{len(told)} models, of {silent} nothing is said")
    if options.json:
        options.json.write_text(json.dumps(told, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
