"""Text forms: protobuf text, protobuf JSON and ONNX's own syntax become the binary form."""
