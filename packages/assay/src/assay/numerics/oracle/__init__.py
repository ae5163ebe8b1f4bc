"""The oracle: an ONNX graph evaluated in double precision, every place where a real kernel rounds marked."""
