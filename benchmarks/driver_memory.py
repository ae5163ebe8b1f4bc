"""Peak resident memory of the driver while it checks a large model: the tensors stay behind the wall."""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model

import assay

WIDTH = 4096


def large_model(path: Path, megabytes: int) -> None:
    """A chain of square products, 64 MiB of weights each, scaled so that the signal keeps its size."""
    count = max(1, megabytes // (WIDTH * WIDTH * 4 // 2**20))
    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.standard_normal((WIDTH, WIDTH), np.float32) / np.float32(WIDTH**0.5), f"w{n}")
        for n in range(count)
    ]
    nodes = [
        helper.make_node("MatMul", [f"x{n}", f"w{n}"], [f"x{n + 1}" if n + 1 < count else "y"]) for n in range(count)
    ]
    shape = ["batch", WIDTH]
    graph = helper.make_graph(
        nodes,
        "large",
        [helper.make_tensor_value_info("x0", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        weights,
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), path)


def peak_megabytes() -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise SystemExit("no VmHWM in /proc/self/status: this needs Linux")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--flow", default="onnxruntime")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = folder / "large.onnx"
        # In a process of its own: making the model takes several times its size.
        if (child := os.fork()) == 0:
            large_model(model, arguments.megabytes)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            raise SystemExit("the model could not be written")
        checked = assay.check(model, flows=[arguments.flow], history=folder / "history", samples=2)
        for result in checked.results:
            print(f"{result.job_key}: {result.outcome.value} in {result.seconds:.1f} s {result.detail}")
        print(f"model {model.stat().st_size / 2**20:.0f} MB, load {os.getloadavg()[0]:.1f}")
        print(f"peak resident memory of the driver: {peak_megabytes():.0f} MB")


if __name__ == "__main__":
    main()
