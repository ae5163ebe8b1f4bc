"""How long `assay check` takes for what never ends, beside its time limit: a model that is a loop without an end, the same with answers of
its own, an engine that hangs, a tolerance whose derivation takes too long, a program of torch, files that are slow to read. Beside the
clock, the processor time of all its processes: on a machine that others use, a limit by the clock is put off by what they take.

`python benchmarks/endless.py [--timeout 10] [KIND ...]`; `sound` and `torch_sound` end at once: what a check takes besides.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from assay.testing.broken_models import built

TORCH = """
import sys, torch
class Loops(torch.nn.Module):
    def forward(self, x):
        return torch.ops.higher_order.while_loop(lambda x: (x.abs() < 2).all(), lambda x: (torch.tanh(x) + STEP,), (x,), ())[0]
torch.export.save(torch.export.export(Loops(), (torch.rand(4, 4),)), sys.argv[1])
"""
"""It ends as soon as a value is 2; without a step that never comes."""


def loop(folder: Path, trips: int) -> list[str]:
    """A model that applies Tanh so many times."""
    value = lambda name, kind, shape: helper.make_tensor_value_info(name, kind, shape)  # noqa: E731
    body = helper.make_graph(
        [helper.make_node("Tanh", ["a"], ["b"]), helper.make_node("Identity", ["c"], ["more"])],
        "body",
        [value("i", TensorProto.INT64, []), value("c", TensorProto.BOOL, []), value("a", TensorProto.FLOAT, [4, 4])],
        [value("more", TensorProto.BOOL, []), value("b", TensorProto.FLOAT, [4, 4])],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n", "t", "x"], ["y"], body=body)],
        "loop",
        [value("x", TensorProto.FLOAT, [4, 4])],
        [value("y", TensorProto.FLOAT, [4, 4])],
        [numpy_helper.from_array(np.array(trips, np.int64), "n"), numpy_helper.from_array(np.array(True), "t")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    return ["model.onnx", "--flow", "onnxruntime"]


def with_answers(folder: Path) -> list[str]:
    arguments = loop(folder, 2**62)
    np.savez(folder / "answers.npz", x=np.ones((4, 4), np.float32), y=np.zeros((4, 4), np.float32))
    return [*arguments, "--golden", "answers.npz"]


def hangs(folder: Path) -> list[str]:
    return [loop(folder, 1)[0], "--flow", "faulty-hang"]


def torch_program(folder: Path, step: int = 0) -> list[str]:
    program = TORCH.replace("STEP", str(step))
    subprocess.run([sys.executable, "-c", program, str(folder / "model.pt2")], check=True, capture_output=True)
    return ["model.pt2", "--flow", "torch-eager"]


def broken(name: str) -> Callable[[Path], list[str]]:
    def write(folder: Path) -> list[str]:
        built(name, folder)
        return ["model.onnx", "--flow", "onnxruntime"]

    return write


def sparse_file(folder: Path) -> list[str]:
    with (folder / "model.onnx").open("wb") as file:
        file.truncate(1 << 30)
    return ["model.onnx", "--flow", "onnxruntime"]


KINDS: dict[str, Callable[[Path], list[str]]] = {
    "sound": lambda folder: loop(folder, 1),
    "model": lambda folder: loop(folder, 2**62),
    "model_with_answers": with_answers,
    "engine": hangs,
    "derivation": lambda folder: loop(folder, 1500),
    "oracle_slow": lambda folder: loop(folder, 8000),
    "torch_program": torch_program,
    "torch_sound": lambda folder: torch_program(folder, step=2),
    "functions_deep": broken("function_chain"),
    "functions_expand": broken("function_bomb"),
    "file_sparse": sparse_file,
}


def processor_s() -> float:
    """Of all that descended from this process and has ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kinds", nargs="*")
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--show", action="store_true", help="all that the check says")
    arguments = parser.parse_args()
    for name in arguments.kinds or KINDS:
        with tempfile.TemporaryDirectory() as place:
            asked = [*KINDS[name](Path(place)), "--timeout", f"{arguments.timeout:g}"]
            begin, used, load = time.monotonic(), processor_s(), os.getloadavg()[0]
            done = subprocess.run(
                [sys.executable, "-m", "assay", "check", *asked], cwd=place, capture_output=True, text=True, check=False
            )
            seconds, processor = time.monotonic() - begin, processor_s() - used
        lines = [line.strip() for line in done.stdout.splitlines() if line.startswith("  ")]
        said = (lines or done.stderr.splitlines()[-1:] or [""])[0][:110]
        print(
            f"{name:20} {seconds:6.1f} s = {seconds / arguments.timeout:4.1f} T  processor {processor:5.1f} s  load {load:4.1f}  "
            f"exit {done.returncode}  {said}",
            flush=True,
        )
        if arguments.show:
            print(done.stdout, done.stderr)


if __name__ == "__main__":
    main()
