"""Caffe2: from the messages of caffe2.proto, nets with their init nets, to the model."""
