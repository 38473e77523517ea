"""The wire: message classes for the bytes of ONNX (IR 1 to 14) and Caffe2 files.

In come the bytes of a model file; out come messages of ``onnx_pb2`` and ``caffe2_pb2``, generated
by ``tools/generate_proto.py`` from the schemas beside them and registered under names of our own,
so that they live beside ``import onnx``. This package must not know the view model, nor import
``onnx`` or anything of ``netloupe.explorer``.
"""
