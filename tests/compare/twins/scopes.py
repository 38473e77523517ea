"""Where in the network a node belongs, as exporters write it."""

from __future__ import annotations

import ast
import re

import onnx

_SCOPES = "pkg.torch.onnx.name_scopes"


def module_path(node: onnx.NodeProto) -> str:
    """Return the module that a node is from, ``encoder.layer.3.attention``; else nothing."""
    for entry in node.metadata_props:
        if entry.key == _SCOPES:
            scopes = ast.literal_eval(entry.value)
            return str(scopes[-2]) if len(scopes) > 1 else ""
    parts: list[str] = []
    for part in node.name.strip("/").split("/")[:-1]:
        if parts and part.startswith(f"{parts[-1]}."):
            # the legacy exporter repeats what holds a module in the name of it
            parts[-1] = part
        else:
            parts.append(part)
    return ".".join(parts)


def number_pattern(prefix: str) -> re.Pattern[str]:
    """Return what finds the numbers of layers in names of all sorts, after their prefix."""
    parts = "[./_]".join(map(re.escape, prefix.split(".")))
    return re.compile(rf"(?<![A-Za-z0-9])({parts}[./_])(\d+)(?!\d)")
