"""Real comparisons: identical engines (false alarms) and engines that truly do more work (misses), raw launches kept.

The extra work is more rows of one product in the chain, so that the share of it is known by construction and the
measured ratio is printed beside it.
"""

from __future__ import annotations

import argparse
import csv
import gc
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model

from assay import plugins
from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import CompareSpeedJob
from assay.core.model import Model
from assay.core.speed import BaselineEngine, SpeedComparison, SpeedRule
from assay.models.conversion import convert_to
from assay.pipeline.threads import with_threads
from assay.ports import Backend, Engine
from assay.stats.sequential_test import Answer, answer_at
from assay.worker.timing.interleaved_timing import time_interleaved

SIZES = {"0.1ms": (96, 3), "2ms": (256, 8), "30ms": (768, 5)}
"""Width of the square products and how many there are."""
UNTUNED = {"0.1ms": (32, 3), "2ms": (96, 3), "30ms": (160, 8)}
"""For TVM, whose products are plain loops as long as nothing has been tuned: models that take it about as long."""
RARER = {"30ms": 4}
"""One gate in so many is of this size."""
BUSY = (
    "import time\nwhile True:\n    end = time.time() + 0.03\n    while time.time() < end: pass\n    time.sleep(0.02)\n"
)


def chain(path: Path, width: int, count: int, extra: float) -> Path:
    """`count` products of width x width with a Tanh between; one more of `extra` times the rows of all of them."""
    rng = np.random.default_rng(0)
    weight = numpy_helper.from_array((rng.standard_normal((width, width)) / math.sqrt(width)).astype(np.float32), "w")
    names = ["x", *(f"h{n}" for n in range(1, count)), "y"]
    nodes = []
    for n in range(count):
        nodes += [
            helper.make_node("MatMul", [names[n], "w"], [f"p{n}"]),
            helper.make_node("Tanh", [f"p{n}"], [names[n + 1]]),
        ]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [width, width])]
    tensors = [weight]
    if extra:
        rows = max(1, round(extra * count * width))
        tensors.append(numpy_helper.from_array(rng.standard_normal((rows, width)).astype(np.float32), "more"))
        nodes += [
            helper.make_node("MatMul", ["more", "y"], ["q"]),
            helper.make_node("Tanh", ["q"], ["z"]),
        ]
        outputs.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, [rows, width]))
    graph = helper.make_graph(
        nodes, "chain", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [width, width])], outputs, tensors
    )
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def shape_of(size: str, flow: str) -> tuple[int, int]:
    return (UNTUNED if flow.startswith("tvm") else SIZES)[size]


@dataclass(frozen=True)
class Built:
    """An engine on disk, with `extra` more work than its rival."""

    size: str
    flow: Flow
    extra: float
    backend: Backend
    artifact: Path
    rival: Path

    def load(self, artifact: Path) -> Engine:
        return self.backend.load(artifact, self.flow)


def build(arguments: argparse.Namespace, root: Path) -> Iterator[Built]:
    """Everything asked for; what lies in `root` from an earlier process is not lowered again."""
    extras = arguments.extra or [0.0]
    for size in arguments.size or SIZES:
        for flow_name in arguments.flow or ["onnxruntime"]:
            flow = with_threads(plugins.find_flow(flow_name), arguments.threads)
            backend = plugins.load("assay.backends", flow.backend)()
            backend.prepare()
            folders = {extra: root / f"{size}-{flow_name}-{arguments.threads}-{extra}" for extra in (0.0, *extras)}
            for extra, folder in folders.items():
                if not (folder / "done").exists():
                    (folder / "artifact").mkdir(parents=True)
                    model = chain(folder / "m.onnx", *shape_of(size, flow_name), extra)
                    backend.lower(convert_to(model, backend.accepts, folder), flow).save(folder / "artifact")
                    (folder / "done").touch()
            for extra in extras:
                yield Built(size, flow, extra, backend, folders[extra] / "artifact", folders[0.0] / "artifact")


def gate(built: Built, seed: int, rule: SpeedRule) -> tuple[SpeedComparison, Answer, float]:
    """With the seconds that it took."""
    width = shape_of(built.size, built.flow.name)[0]
    feed = {"x": np.random.default_rng(seed).standard_normal((width, width), np.float32)}
    model = Model(built.size, "", "")
    baseline = BaselineEngine("old", built.flow, model)
    job = CompareSpeedJob(Case(f"{built.size}-{seed}", model), built.flow, baseline=baseline, rule=rule)
    begin = time.perf_counter()
    seen = time_interleaved(lambda: built.load(built.artifact), lambda: built.load(built.rival), feed, job)
    took = time.perf_counter() - begin
    return seen, answer_at(seen.launches, rule), took


def note(path: Path, name: str, built: Built, noisy: bool, answered: tuple[SpeedComparison, Answer, float]) -> None:
    seen, answer, took = answered
    launches = [
        f"{launch.cpu:.5f};{launch.wall:.3f};{launch.load:.3f};{launch.own_first:d}" for launch in seen.launches
    ]
    load = f"{os.getloadavg()[0]:.1f}"
    row = [built.size, name, built.extra, int(noisy), load, answer.word, f"{took:.2f}", f"{1e3 * seen.rival_s:.4f}"]
    with path.open("a", newline="") as stream:
        csv.writer(stream).writerow([*row, *launches])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flow", action="append", default=[])
    parser.add_argument("--size", action="append", choices=list(SIZES), default=[])
    parser.add_argument("--extra", type=float, action="append", default=[], help="share of more work, 0 for none")
    parser.add_argument("--gates", type=int, default=20, help="of each combination; of 30 ms a quarter")
    parser.add_argument("--threads", type=int, default=1, help="of both engines")
    parser.add_argument("--min-slowdown", type=float, default=1.0, help="percent; the margin is twice as much")
    parser.add_argument("--noisy", action="store_true", help="with two busy neighbours")
    parser.add_argument("--artifacts", type=Path, help="folder that keeps the engines for the next time")
    parser.add_argument("--csv", type=Path, help="append every gate and its launches")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        engines = list(build(arguments, arguments.artifacts or Path(name)))
        neighbours = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2 * arguments.noisy)]
        try:
            run(arguments, engines)
        finally:
            for neighbour in neighbours:
                neighbour.kill()


def run(arguments: argparse.Namespace, engines: Sequence[Built]) -> None:
    rule = SpeedRule(min_slowdown=arguments.min_slowdown / 100, margin=arguments.min_slowdown / 50)
    answers_by_gate: dict[tuple[str, str, float], list[tuple[SpeedComparison, Answer, float]]] = defaultdict(list)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}{', two busy neighbours' * arguments.noisy}")
    gc.freeze()  # A worker holds one backend, and collecting after each launch is quick; here all of them are loaded.
    for number in range(arguments.gates):
        for built in engines:
            if number % RARER.get(built.size, 1):
                continue
            name = built.flow.name + f" threads={arguments.threads}" * (arguments.threads != 1)
            name += f" floor={arguments.min_slowdown:g}" * (arguments.min_slowdown != 1.0)
            seen = gate(built, number, rule)
            answers_by_gate[built.size, name, built.extra].append(seen)
            if arguments.csv:
                note(arguments.csv, name, built, arguments.noisy, seen)
    print("size   flow                   more work  measured  gates  slower   same faster undecided  median s")
    for (size, name, extra), many in answers_by_gate.items():
        words = [answer.word for _, answer, _ in many]
        slower, same, faster, undecided = (words.count(word) for word in ("slower", "same", "faster", "inconclusive"))
        measured = 100 * statistics.median(math.expm1(answer.mean) for _, answer, _ in many)
        took = statistics.median(seconds for _, _, seconds in many)
        print(
            f"{size:7}{name:22}{100 * extra:8.1f} %{measured:8.2f} %{len(many):7}"
            f"{slower:8}{same:7}{faster:7}{undecided:10}{took:10.2f}"
        )


if __name__ == "__main__":
    main()
