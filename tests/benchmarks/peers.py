"""What checkers say of five models that a fault was planted in, and had not said before.

Each model is one of those that the tests plant faults in: clean, and then with one fault. A checker
finds the fault where it says something of the second model that it does not say of the first.

``onnx.checker`` is there wherever the tests run; onnx-doctor takes part where it is installed
(``pip install onnx-doctor``). Netron and Model Explorer are viewers that say nothing of a model of
their own accord, so that there is nothing to run.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import onnx

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from netloupe.explorer.checks import check
from netloupe.explorer.readers.load import load
from tests.checks.planted.editing import Editor, Fault
from tests.checks.planted.numbers import FAULTS as NUMBERS
from tests.checks.planted.originals import copy_model
from tests.checks.planted.structure import FAULTS as STRUCTURE
from tests.checks.planted.waste import FAULTS as WASTE

#: the faults by rule and words, and how the table calls them
_CHOSEN = {
    ("NL-L30", "an operator is misspelt"): "BERT: an operator is misspelt",
    ("NL-X03", "a traced batch in a Reshape"): "BERT: the traced batch baked into a Reshape",
    ("NL-N01", "a weight has a NaN"): "BERT: a NaN in a weight",
    ("NL-Q09", "a channel's bias has a wrong scale"): "int8 CNN: a bias scale twice too large",
    (
        "NL-R01",
        "one GELU of twelve is another",
    ): "GPT-2: one GELU of twelve differs",
}
#: says what is wrong with a model, a text for each thing
Checker = Callable[[Path], Counter[str]]


def ask_onnx(path: Path) -> Counter[str]:
    """Return what ``onnx.checker.check_model(path, full_check=True)`` raises."""
    try:
        onnx.checker.check_model(str(path), full_check=True)
    except Exception as error:  # of several kinds, not all of onnx
        return Counter([str(error).strip().splitlines()[0]])
    return Counter()


def ask_doctor(path: Path) -> Counter[str]:
    """Return what ``onnx-doctor check --output-format json`` says."""
    command = [sys.executable, "-m", "onnx_doctor", "check", "--output-format", "json", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        return Counter([f"ends with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"])
    text = done.stdout
    told = json.loads(text[text.index("[") : text.rindex("]") + 1])
    return Counter(f"{each['code']} {each['message']}" for each in told)


def ask_netloupe(path: Path) -> Counter[str]:
    """Return what ``netloupe check`` says."""
    return Counter(f"{f.id} {f.paths[0]}: {f.message}" for f in check(load(path)))


def list_checkers() -> dict[str, Checker]:
    """Return those that run here."""
    found: dict[str, Checker] = {f"onnx.checker {onnx.__version__}": ask_onnx}
    if importlib.util.find_spec("onnx_doctor") is not None:
        from importlib.metadata import version

        found[f"onnx-doctor {version('onnx-doctor')}"] = ask_doctor
    return found | {"netloupe check": ask_netloupe}


def plant(fault: Fault, folder: Path) -> tuple[Path, Path]:
    """Write a model before and after a fault is planted."""
    before, after = folder / "before" / "model.onnx", folder / "after" / "model.onnx"
    for path in (before, after):
        path.parent.mkdir()
    proto = copy_model(fault.model)
    before.write_bytes(proto.SerializeToString())
    fault.plant(Editor(proto))
    after.write_bytes(fault.patch(proto.SerializeToString()))
    return before, after


def main() -> None:
    """Print a table, and with --all every word that is new."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--all", action="store_true", help="print all that is said anew")
    shows_all = parser.parse_args().all
    checkers = list_checkers()
    print(f"| planted | {' | '.join(checkers)} |\n|---|{'---|' * len(checkers)}")
    for fault in (*STRUCTURE, *WASTE, *NUMBERS):
        title = _CHOSEN.get((fault.rule, fault.what))
        if title is None:
            continue
        cells, details = [], []
        for name, ask in checkers.items():
            with tempfile.TemporaryDirectory() as folder:
                before, after = plant(fault, Path(folder))
                old, new = ask(before), ask(after)
            said = list((new - old).elements())
            cells.append(_shorten(said))
            details += [f"    {name}: {text}" for text in said]
        print(f"| {title} | {' | '.join(cells)} |")
        if shows_all:
            print("\n".join(details))


def _shorten(said: list[str]) -> str:
    """Return what is said in a cell: the first words, and how many more there are."""
    if not said:
        return "–"
    first = re.sub(r"\s+", " ", said[0]).replace("|", "\\|")
    shown = first if len(first) <= 110 else first[:110] + "…"
    return shown + (f" and {len(said) - 1:,} more" if len(said) > 1 else "")


if __name__ == "__main__":
    main()
