"""From bytes to the view model: the only code that knows both protobuf and the model.

A source (path, bytes, file object, in-memory model) goes in, a :class:`Model` comes out, or a
NetloupeError that says what the source is instead. Readers know nothing of groups or pictures.

One pipeline (:mod:`.pipeline`) leads through all formats. Each has a folder (``onnx/``,
``caffe2/``), which knows neither the other nor the pipeline; ``text/`` turns text into the binary
form, and ``protobuf/`` is what formats share that are written in protobuf.
"""
