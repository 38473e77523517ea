"""Make ``explorer/render/font_metrics.json``: advance widths of the font that labels use.

The font is DejaVu Sans as matplotlib ships it, regular and bold. The form of the file is
described in ``explorer/render/text.py``. ``--check`` writes nothing and exits with 1 if the
committed file differs.
"""

import argparse
import json
import sys
from pathlib import Path

import matplotlib
from matplotlib.ft2font import FT2Font, LoadFlags

OUTPUT = Path(__file__).resolve().parent.parent / "explorer" / "render" / "font_metrics.json"
FONTS = {"regular": "DejaVuSans.ttf", "bold": "DejaVuSans-Bold.ttf"}
LAST = 0xFFFF  # beyond the basic plane the fallback widths do


def read_widths(file_name: str) -> tuple[int, dict[int, int]]:
    """Return the font units per em and the advance width of every character."""
    path = Path(matplotlib.get_data_path()) / "fonts" / "ttf" / file_name
    font = FT2Font(str(path))
    widths = {}
    for code in sorted(font.get_charmap()):
        if 0x20 <= code <= LAST:
            glyph = font.load_char(code, flags=LoadFlags.NO_SCALE)
            widths[code] = glyph.horiAdvance
    return font.units_per_EM, widths


def encode_runs(widths: dict[int, int]) -> list[list[int]]:
    """Return ``[first, width, width, …]`` for every run of neighbouring characters.

    A width that repeats is written once with its count, as a negative number, after it.
    """
    runs: list[list[int]] = []
    previous = -2
    for code, width in widths.items():
        if code != previous + 1:
            runs.append([code])
        run = runs[-1]
        if len(run) > 1 and run[-1] == width:
            run.append(-2)
        elif len(run) > 2 and run[-1] < 0 and run[-2] == width:
            run[-1] -= 1
        else:
            run.append(width)
        previous = code
    return runs


def make_metrics() -> str:
    """Return the file's text."""
    parts = []
    for name, file_name in FONTS.items():
        units, widths = read_widths(file_name)
        runs = ",\n".join(json.dumps(run, separators=(",", ":")) for run in encode_runs(widths))
        parts.append(f'"{name}":{{"units_per_em":{units},"runs":[\n{runs}\n]}}')
    return "{" + ",\n".join(parts) + "}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args()
    text = make_metrics()
    if options.check:
        return int(OUTPUT.read_text() != text)
    OUTPUT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
