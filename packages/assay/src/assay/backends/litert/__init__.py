"""LiteRT: the interpreter of TensorFlow Lite, on models that a converter of PyTorch made."""
