"""`python warm_worker.py LIBRARY FD PARENT --fork-server`: imports what workers need, and is forked into them."""

from __future__ import annotations

import contextlib
import importlib
import os
import runpy
import socket
import sys
from pathlib import Path

BEFORE_WORKERS = "before_workers"
"""A folder of code in the one where a test works: each worker runs it first."""
COMMON = (
    "onnx.checker",
    "onnx.inliner",
    "onnx.model_container",
    "onnx.reference",
    "onnx.shape_inference",
    "numpy.ma",
    "numpy.random",
    "safetensors.numpy",
    "sympy",  # what quantizes needs it
    "assay.backends.onnx_reference",
    "assay.models.examination.steps",
    "assay.numerics.oracle.learning",
    "assay.numerics.oracle.other_readings",
    "assay.numerics.tolerance.derive",
    "assay.numerics.tolerance.simulate.overflow",
    "assay.worker.serve",
)
TORCH = ("torch", "torch.export", "torch._export", "torch.onnx", "torch._dynamo", "assay.onnx_to_torch.module")
EXECUTORCH = (
    "executorch.exir",
    "executorch.kernels.quantized",
    "executorch.runtime",
    "executorch.backends.xnnpack.partition.xnnpack_partitioner",
)
LIBRARIES = {"": (), "torch": TORCH, "executorch": (*TORCH, *EXECUTORCH), "tvm": ("tvm.relax.frontend.onnx",)}


def serve_after_own_code() -> None:
    """A test may leave code for each worker where it works (`witnessing.py`): as if Python had run it when the worker started there."""
    from assay.worker import serve as module
    from assay.worker.engine.artifact_cache import environment_key

    serve = module.serve

    def serve_after(connection: socket.socket) -> None:
        if (code := Path(BEFORE_WORKERS, "sitecustomize.py").absolute()).is_file():
            os.environ["PYTHONPATH"] = str(code.parent)
            environment_key.cache_clear()
            environment_key()  # what such a worker lowers is its own
            runpy.run_path(str(code))
        serve(connection)

    module.serve = serve_after


if __name__ == "__main__":
    library = sys.argv.pop(1)
    if library == "tvm":
        os.environ.setdefault("TVM_BIND_THREADS", "0")
    from assay.models.import_without_gc import import_without_gc
    from assay.worker.__main__ import main
    from assay.worker.dispatch import HANDLERS
    from assay.worker.engine.artifact_cache import environment_key

    environment_key()  # before libraries set variables of their own
    with import_without_gc():
        handlers = (f"assay.worker.{handler.partition(':')[0]}" for handler in HANDLERS.values())
        for name in (*COMMON, *handlers, *LIBRARIES[library]):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
    serve_after_own_code()
    main()
