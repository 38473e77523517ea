"""What ONNX Runtime calls nodes after its optimizations, and what they are called in the file."""

from __future__ import annotations

import re

_TOKEN = re.compile(r"^(.+)_token_\d+$")
_NCHWC = re.compile(r"^(.+)_nchwc$")
_FUSION = re.compile(r"^(.+?)/\w+Fusion/?$")
_FUSED = re.compile(r"^(.+?)_?fused \S.*$|^fused (.+)$")
_QUANTIZED = re.compile(r"^(.+?)(?:_quant|_QuantizeLinear|_DequantizeLinear)(?:_\d+)?$")
_NUMBERED = re.compile(r"^(\w+)_(\d+)$")
#: names of parts of the graph that a provider has compiled into one node
_PARTITION = re.compile(
    r"TRTKernel|DmlFusedNode|QNNExecutionProvider|OpenVINO|CoreMLExecutionProvider|"
    r"MIGraphX|_subgraph_|VitisAI|Nnapi|ExecutionProvider_\w+_\d+$",
    re.IGNORECASE,
)
#: what the runtime itself adds; a profile tells operators by name alone
_ADDED = frozenset({"ReorderInput", "ReorderOutput", "MemcpyFromHost", "MemcpyToHost"})


def list_candidates(name: str, index: int, operator: str) -> tuple[str, ...]:
    """Return what a node may be called in the file, the likeliest first; not its own name.

    Parameters
    ----------
    name
        In the profile.
    index
        Of the node in the optimized graph; -1 where that is not known.
    operator
        What it computes.

    Notes
    -----
    ``_token_3`` is put behind names that occur twice; ``x_nchwc`` computes the output ``x`` in
    another layout; fusions put ``/MatMulAddFusion`` and the like behind the name of a node that
    they replace, quantization ``_quant``. A node without a name is ``Conv_5`` by its operator and
    index, which is that of the file where nothing was optimized.
    """
    found: list[str] = []
    for pattern in (_TOKEN, _NCHWC, _FUSION, _FUSED, _QUANTIZED):
        match = pattern.match(name)
        if match:
            rest = next(group for group in match.groups() if group)
            found.append(rest)
            # a fusion of a fusion
            found += list_candidates(rest, -1, "") if len(rest) < len(name) else ()
    numbered = _NUMBERED.match(name)
    if numbered and index >= 0 and numbered[1] == operator and len(numbered[2]) < 10:
        found.append(f"main/#{int(numbered[2])}:{operator}")
    return tuple(dict.fromkeys(found))


def say_why_unknown(name: str, operator: str, provider: str) -> str:
    """Return why nothing in the file may have a name; "" where that is not plain."""
    if operator in _ADDED:
        return "the runtime has added it, to copy or reorder"
    if _PARTITION.search(name) or _PARTITION.search(operator):
        where = f" of {provider}" if provider else ""
        return f"a part of the graph{where} that was compiled into one node"
    return ""
