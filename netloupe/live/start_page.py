"""The page on which a model is chosen: those that are open, a file, a path, the last ones."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape
from pathlib import Path

from netloupe.explorer.notation import write_count
from netloupe.explorer.page import PAGE
from netloupe.explorer.render.json_text import write_json
from netloupe.explorer.render.text import clean_label

from .intake import MOST_BYTES, Intake
from .naming import tell_apart
from .served import ServedModel


def write_start_page(models: Sequence[ServedModel], intake: Intake | None) -> str:
    """Return the page.

    Parameters
    ----------
    models
        What is open; their numbers are their places.
    intake
        What opens files; None where none can be opened.
    """
    script = (PAGE / "start.js").read_text("utf-8").replace("</script", "<\\/script")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "connect-src 'self'; form-action 'none'; base-uri 'none'"
    )
    style = (PAGE / "start.css").read_text("utf-8")
    data = {"most_dropped": None if intake is None else MOST_BYTES}
    told = write_json(data).decode().replace("<", "\\u003c")
    title = "Choose a model" if not models else write_count(len(models), "model")
    parts = [_write_open(models), "" if intake is None else _write_drop(intake)]
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title} – netloupe</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>netloupe</h1>
<p class="nl-problem" role="alert" hidden></p>
{"".join(parts)}
<noscript><p>The explorer needs a browser that runs scripts.</p></noscript>
</main>
<script type="application/json" id="nl-data">{told}</script>
<script>{script}</script>
</body>
</html>
"""


def _write_open(models: Sequence[ServedModel]) -> str:
    if not models:
        return ""
    rows = "".join(
        f'<li><a data-model="{number}" target="_blank" rel="noopener">'
        f"{escape(clean_label(name))}</a>"
        f'<span class="nl-state">{escape(clean_label(_tell_state(served)))}</span></li>\n'
        for number, (served, name) in enumerate(zip(models, tell_apart(models), strict=True))
    )
    return (
        "<section><h2>Open models</h2>\n"
        f"<ul>{rows}</ul>\n<p>Each opens in a tab of its own.</p></section>\n"
    )


def _tell_state(served: ServedModel) -> str:
    if served.failure is not None:
        return f"cannot be read: {served.explain()}"
    return "" if served.loaded is not None else "being read"


_DROP = """<section class="nl-drop"><h2>Drop a model file here</h2>
<p>or <label class="nl-button">choose one<input type="file" class="nl-file"></label></p>
<p class="nl-progress" role="status" hidden></p>
<p>Up to {limit} GiB. It is kept in a private folder of this machine until netloupe ends. Weights in
files beside the model do not come with it: {advice}.</p></section>
"""
_PATH = """<section><h2><label for="nl-path">Path on this machine</label></h2>
<form class="nl-path"><input id="nl-path" type="text" autocomplete="off" spellcheck="false"
 placeholder="~/models/model.onnx" autofocus><button class="nl-button">Open</button></form>
</section>
"""


def _write_drop(intake: Intake) -> str:
    if not intake.takes_paths:
        advice = "run netloupe open with its path"
        return _DROP.format(limit=MOST_BYTES >> 30, advice=advice)
    parts = [_DROP.format(limit=MOST_BYTES >> 30, advice="give its path instead"), _PATH]
    paths = intake.recent.read() if intake.recent is not None else []
    if paths:
        rows = "".join(
            f'<li><button class="nl-recent" data-path="{escape(path)}">'
            f"{escape(clean_label(Path(path).name))}</button>"
            f'<span class="nl-state">{escape(clean_label(str(Path(path).parent)))}</span></li>\n'
            for path in paths
        )
        parts.append(
            "<section><h2>Recent files</h2>\n"
            f'<ul>{rows}</ul>\n<p><button class="nl-button nl-forget">Forget these</button></p>'
            "</section>\n"
        )
    return "".join(parts)
