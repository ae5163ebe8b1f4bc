"""A compiler from ONNX to a list of numpy calls: an example of a backend for Assay."""
