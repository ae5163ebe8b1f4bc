"""Real duels: identical engines (false alarms) and engines that truly do more work (misses), raw launches kept.

The extra work is more rows of one product in the chain, so that the share of it is known by construction and the
measured ratio is printed beside it.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model

from assay import plugins
from assay.core.case import Case
from assay.core.duel import SpeedRule
from assay.core.job import Job, Task
from assay.core.model import Model
from assay.models.conversion import deliver
from assay.pipeline.threads import threaded
from assay.stats.launches import decide
from assay.worker.fight import fight

SIZES = {"0.1ms": (96, 3), "2ms": (256, 8), "30ms": (768, 5)}
"""Width of the square products and how many there are."""
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flow", action="append", default=[])
    parser.add_argument("--size", action="append", choices=list(SIZES), default=[])
    parser.add_argument("--extra", type=float, action="append", default=[], help="share of more work, 0 for none")
    parser.add_argument("--gates", type=int, default=20, help="of each combination")
    parser.add_argument("--threads", type=int, default=1, help="of both engines")
    parser.add_argument("--floor", type=float, default=1.0, help="percent; the margin is twice as much")
    parser.add_argument("--noisy", action="store_true", help="with two busy neighbours")
    parser.add_argument("--minutes", type=float, default=0.0, help="stop after so long")
    parser.add_argument("--csv", type=Path, help="append every gate and its launches")
    arguments = parser.parse_args()
    neighbours = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(2 * arguments.noisy)]
    try:
        run(arguments)
    finally:
        for one in neighbours:
            one.kill()


def run(arguments: argparse.Namespace) -> None:
    rule = SpeedRule(floor=arguments.floor / 100, margin=arguments.floor / 50)
    words: dict[tuple[str, str, float], list[str]] = defaultdict(list)
    ratios: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    seconds: dict[tuple[str, str, float], list[float]] = defaultdict(list)
    end = time.monotonic() + (arguments.minutes * 60 or math.inf)
    with tempfile.TemporaryDirectory() as name:
        engines = {}
        for size in arguments.size or SIZES:
            for flow_name in arguments.flow or ["onnxruntime"]:
                flow = threaded(plugins.find_flow(flow_name), arguments.threads)
                backend = plugins.load("assay.backends", flow.backend)()
                backend.prepare()
                for extra in dict.fromkeys([0.0, *(arguments.extra or [0.0])]):
                    folder = Path(name) / f"{size}-{flow_name}-{extra}"
                    folder.mkdir()
                    model = deliver(chain(folder / "m.onnx", *SIZES[size], extra), backend.accepts, folder)
                    (folder / "artifact").mkdir()
                    backend.lower(model, flow).save(folder / "artifact")
                    engines[size, flow_name, extra] = (backend, folder / "artifact", flow)
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}{', two busy neighbours' * arguments.noisy}")
        for gate in range(arguments.gates):
            for (size, flow_name, extra), (backend, folder, flow) in engines.items():
                if extra not in (arguments.extra or [0.0]) or time.monotonic() > end:
                    continue
                rival = engines[size, flow_name, 0.0][1]
                width = SIZES[size][0]
                feed = {"x": np.random.default_rng(gate).standard_normal((width, width), np.float32)}
                job = Job(Case(f"{size}-{gate}", Model(size, "", "")), flow, Task.DUEL, speed=rule)
                begin = time.perf_counter()
                mine, theirs = (lambda at=at, b=backend, w=flow: b.load(at, w) for at in (folder, rival))
                seen = fight(mine, theirs, feed, job)
                took = time.perf_counter() - begin
                answer = decide([one.cpu for one in seen.launches], rule)
                key = (size, flow_name, extra)
                words[key].append(answer.word)
                ratios[key].append(math.expm1(answer.mean))
                seconds[key].append(took)
                if arguments.csv:
                    launches = [f"{one.cpu:.5f};{one.wall:.3f};{one.load:.3f}" for one in seen.launches]
                    load = f"{os.getloadavg()[0]:.1f}"
                    name = flow_name if arguments.threads == 1 else f"{flow_name} threads={arguments.threads}"
                    name += f" floor={arguments.floor:g}" if arguments.floor != 1.0 else ""
                    row = [
                        size,
                        name,
                        extra,
                        int(arguments.noisy),
                        load,
                        answer.word,
                        f"{took:.2f}",
                        f"{1e3 * seen.rival_s:.4f}",
                    ]
                    with arguments.csv.open("a", newline="") as stream:
                        csv.writer(stream).writerow([*row, *launches])
    print("size   flow                   more work  measured  gates  slower   same faster undecided  median s")
    for key, found in words.items():
        size, flow_name, extra = key
        slower, same, faster, undecided = (found.count(word) for word in ("slower", "same", "faster", "inconclusive"))
        measured, took = 100 * statistics.median(ratios[key]), statistics.median(seconds[key])
        print(
            f"{size:7}{flow_name:22}{100 * extra:8.1f} %{measured:8.2f} %{len(found):7}"
            f"{slower:8}{same:7}{faster:7}{undecided:10}{took:10.2f}"
        )


if __name__ == "__main__":
    main()
