"""ONNX: from the messages of onnx.proto and onnx-data.proto to the model."""
