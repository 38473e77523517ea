"""Small models of every kind, made when a test asks for one: names and what makes their bytes.

A name is a path, ``hostile/cycle_self.onnx``; the folder says what the model is good for. Larger
ones of real architectures are in :mod:`tests.zoo`.
"""

from collections.abc import Callable

from tests.cases import (
    caffe2,
    damaged,
    external,
    features,
    hostile_caffe2,
    hostile_elements,
    hostile_graphs,
    hostile_names,
    pipelines,
    quantized,
    runtimes,
)

CASES: dict[str, Callable[[], bytes]] = {
    **damaged.CASES,
    **hostile_elements.CASES,
    **hostile_graphs.CASES,
    **hostile_names.CASES,
    **external.CASES,
    **hostile_caffe2.CASES,
    **features.CASES,
    **pipelines.CASES,
    **quantized.CASES,
    **runtimes.CASES,
    **caffe2.CASES,
}
