"""The HTML page of a picture."""

from __future__ import annotations

from html import escape

from netloupe.explorer.model import Model

from .html import write_model_html
from .text import clean_label
from .theme import load_theme

#: so many characters of a line of words are shown
_LONGEST_LINE = 1_000


def draw_html_page(svg: str, title: str, model: Model | None = None, theme: str = "light") -> str:
    """Return one HTML page with a picture and, where given, its model's summary.

    Parameters
    ----------
    svg
        The picture, as :func:`~netloupe.explorer.render.svg.draw_svg` returns it.
    title
        The page's title.
    model
        The model that is told in words, and summarized, above the picture.
    theme
        ``light`` or ``dark``, as the picture.

    Raises
    ------
    ViewError
        For an unknown theme.
    """
    colours = load_theme(theme)
    summary = ""
    if model is not None:
        told = model.architecture
        lines = [line for line in (told.sentence, told.costs_sentence) if line]
        said = "<br>".join(escape(clean_label(line, _LONGEST_LINE)) for line in lines)
        summary = f'<p class="nl-architecture">{said}</p>' if said else ""
        summary += f"<details><summary>Summary</summary>{write_model_html(model)}</details>"
    heading = escape(clean_label(title))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{heading}</title>
<style>
:root {{
  color-scheme: {colours.name};
  --jp-content-font-color1: {colours.ink};
  --jp-content-font-color2: {colours.muted};
}}
body {{
  background: {colours.page};
  color: {colours.ink};
  font: 14px/1.5 "DejaVu Sans", Verdana, "Segoe UI", sans-serif;
  margin: 0;
}}
header {{ border-bottom: 1px solid {colours.rule}; padding: .8em 1.2em; }}
.nl-architecture {{ margin: .3em 0; max-width: 80em; overflow-wrap: anywhere; }}
h1 {{ font-size: 1.15em; margin: 0; overflow-wrap: anywhere; }}
header summary {{ color: {colours.muted}; cursor: pointer; }}
main {{ overflow: auto; padding: 1.2em; text-align: center; }}
main svg {{ display: inline-block; }}
</style>
</head>
<body>
<header><h1>{heading}</h1>{summary}</header>
<main>
{svg}</main>
</body>
</html>
"""
