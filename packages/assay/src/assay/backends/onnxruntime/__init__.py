"""ONNX Runtime: sessions on its providers, and next to it QNN and the runtime of language models."""
