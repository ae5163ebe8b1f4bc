"""What scripts and notebooks of a submission may import where a zoo names nothing else: by the name in the import."""

from __future__ import annotations

PACKAGES = ("numpy", "onnx", "onnxruntime", "scipy", "PIL", "matplotlib")
