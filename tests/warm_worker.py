"""`python warm_worker.py LIBRARY FD PARENT --fork-server`: imports what workers need, and is forked into them."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys

COMMON = (
    "onnx.checker",
    "onnx.inliner",
    "onnx.model_container",
    "onnx.reference",
    "onnx.shape_inference",
    "numpy.ma",
    "numpy.random",
    "safetensors.numpy",
    "assay.backends.onnx_reference",
    "assay.worker.reference.compute_reference",
    "assay.worker.reference.derive_tolerance",
    "assay.worker.serve",
)
TORCH = ("torch", "torch.export", "torch._export", "torch.onnx", "torch._dynamo", "assay.onnx_to_torch.module")
LIBRARIES = {"": (), "torch": TORCH, "executorch": TORCH, "tvm": ("tvm.relax.frontend.onnx",)}

if __name__ == "__main__":
    library = sys.argv.pop(1)
    sys.path[0] = os.getcwd()  # as `python -m` has it
    if library == "tvm":
        os.environ.setdefault("TVM_BIND_THREADS", "0")
    from assay.models.import_without_gc import import_without_gc
    from assay.worker.__main__ import main
    from assay.worker.engine.artifact_cache import environment_key

    environment_key()  # before libraries set variables of their own
    with import_without_gc():
        for name in (*COMMON, *LIBRARIES[library]):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    main()
