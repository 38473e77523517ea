"""Types that a file does not state, inferred by onnx where it is installed.

A model comes in; its values get an ``inferred_type``. onnx sees a skeleton without weights, in a
process that can be ended. What the file states stays as it is, and pictures and first views know
nothing of what is inferred here: they do not depend on what is installed.
"""

from .infer import infer_shapes, is_installed, lacks_types, note_problem

__all__ = ["infer_shapes", "is_installed", "lacks_types", "note_problem"]
