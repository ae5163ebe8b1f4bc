"""What our timing loop costs beside a bare loop of the same calls, and whether our median is that of the backends' own tools.

Overhead: both loops call one engine in turns ABBA of 0.2 s, in CPU time and on the wall clock less the time spent waiting for a core;
the median of the pairs' ratios, with a bootstrap interval of 95 %; and the bare loop over itself, which says what of that is the
machine's.

Agreement: `benchmark_app` of OpenVINO (one thread, one synchronous request) beside a process of ours, both fresh for every pair,
because engines in two processes differ by a percent or two already. The tool does not time its calls: it prints the median of what
its request says of itself (`latency`), and what a call from Python costs beyond that is in no metric of it. So it is compared with
the latencies of our process's calls, and our own metric, the whole call, beside both. And of the very calls that we time, what the
backend says of them: the `model_run` events of ONNX Runtime's profile, the `latency` of OpenVINO's request. `--first` gives the
benchmark a real-time priority, where the system allows it: medians of the wall clock mean nothing on a busy machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from speed_gate import SIZES, chain

from assay import plugins
from assay.worker.timing.bound_call import bound_call
from assay.worker.timing.measure import sample
from assay.worker.timing.scheduler_clock import running_time

Call = Callable[[], object]
TURN_S = 0.2
SECONDS = 1.0
"""Of sampling for one median."""


def loaded(name: str, folder: Path, width: int) -> tuple[Any, Call]:
    """The engine saved in `folder`, and its timed call after ten others."""
    flow = plugins.find_flow(name)
    backend = plugins.load("assay.backends", flow.backend)()
    backend.prepare()
    engine = backend.load(folder, flow)
    call = bound_call(engine, {"x": np.random.default_rng(0).standard_normal((width, width), np.float32)})
    for _ in range(10):
        call()
    return engine, call


def overhead(call: Call, quads: int, *, control: bool = False) -> list[list[float]]:
    """Logarithms of our loop over the bare one, of each pair of neighbouring turns: in CPU time, and on our wall clock. As a
    control of the bare one over itself."""
    count = len(sample(call, TURN_S)[0])

    def bare() -> int:
        for _ in range(count):
            call()
        return count

    def ours() -> int:
        return bare() if control else len(sample(call, TURN_S)[0])

    def turn(loop: Callable[[], int]) -> tuple[float, float]:
        wall, cpu = running_time(), time.thread_time()
        calls = loop()
        return (time.thread_time() - cpu) / calls, (running_time() - wall) / calls

    found: list[list[float]] = [[], []]
    for _ in range(quads):
        order = random.choice([(ours, bare, bare, ours), (bare, ours, ours, bare)])
        seen = [turn(loop) for loop in order]
        mine, theirs = (
            [turn_times for turn_times, loop in zip(seen, order, strict=True) if loop is which]
            for which in (ours, bare)
        )
        for clock, logs in enumerate(found):
            logs += [math.log(times[clock] / other[clock]) for times, other in zip(mine, theirs, strict=True)]
    return found


def told(logs: Sequence[float]) -> str:
    """The median in percent, and the interval that a bootstrap gives it."""
    rng = np.random.default_rng(0)
    draws = np.median(rng.choice(np.asarray(logs), (4000, len(logs))), axis=1)
    low, high = np.quantile(draws, (0.025, 0.975))
    middle, low, high = (100.0 * math.expm1(number) for number in (statistics.median(logs), low, high))
    return f"{middle:+.2f} % ({low:+.2f} to {high:+.2f})"


def our_median(call: Call) -> float:
    return statistics.median(sample(call, SECONDS)[0])


def our_process(folder: Path, width: int, options: Sequence[str]) -> tuple[float, float]:
    """Of an engine in a process of its own: our median, and that of the latencies that OpenVINO tells of the same calls."""
    command = [sys.executable, __file__, "--once", str(folder), str(width), *options]
    ours, latency = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-2:]
    return float(ours), float(latency)


def openvino_tool(model: Path) -> float:
    """Seconds: the median of `benchmark_app`."""
    command = [
        str(Path(sys.executable).with_name("benchmark_app")), "-m", str(model), "-d", "CPU", "-hint", "none", "-api", "sync",
        "-nireq", "1", "-nthreads", "1", "-infer_precision", "f32", "-t", f"{SECONDS:.0f}",
    ]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(r"Median:\s+([\d.]+) (us|ms)", said)
    assert match, said
    return float(match[1]) * {"us": 1e-6, "ms": 1e-3}[match[2]]


def openvino_latency(engine: Any, call: Call) -> tuple[float, float]:
    """Median seconds of our calls: what we say, and what OpenVINO says of the same."""
    said: list[float] = []

    def noted() -> None:
        call()
        said.append(1e-3 * engine._request.latency)

    ours = our_median(noted)
    return ours, statistics.median(said)


def onnxruntime_profile(model: Path, width: int) -> float:
    """What the profile says of its calls, over what we say of the same."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_profiling = True
    options.profile_file_prefix = str(model.with_name("profile"))
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_cpu_input("x", np.random.default_rng(0).standard_normal((width, width), np.float32))
    binding.bind_output("y")
    ours = our_median(lambda: session.run_with_iobinding(binding))
    events = json.loads(Path(session.end_profiling()).read_text())
    return 1e-6 * statistics.median(event["dur"] for event in events if event["name"] == "model_run") / ours


def report(size: str, flow: str, folder: Path, arguments: argparse.Namespace) -> None:
    width = SIZES[size][0]
    model, artifact = folder / "m.onnx", folder / flow
    first = ["--first"] if arguments.first else []
    engine, call = loaded(flow, artifact, width)
    for name, control in (("our loop over a bare one", False), ("a bare one over itself", True)):
        cpu, wall = overhead(call, arguments.quads, control=control)
        print(f"{size:6}{flow:14} {name}: CPU time {told(cpu)}, wall {told(wall)}")
    if flow == "onnxruntime":
        name, ratios = "profile of the same calls", [onnxruntime_profile(model, width) for _ in range(arguments.pairs)]
    else:
        name = "latency of the same calls"
        seen = [openvino_latency(engine, call) for _ in range(arguments.pairs)]
        ratios = [latency / ours for ours, latency in seen]
    print(f"{size:6}{flow:14} {name} over ours: {told([math.log(ratio) for ratio in ratios])}")
    if flow == "openvino-f32":
        beside_the_tool(
            size, flow, lambda: openvino_tool(model), lambda: our_process(artifact, width, first), arguments.pairs
        )


def beside_the_tool(
    size: str, flow: str, tool: Callable[[], float], ours: Callable[[], tuple[float, float]], pairs: int
) -> None:
    seen: list[tuple[float, float, float]] = []
    for number in range(pairs):
        if number % 2:
            theirs = tool()
            seen.append((theirs, *ours()))
        else:
            call, latency = ours()
            seen.append((tool(), call, latency))
    theirs, calls, latencies = (1e6 * statistics.median(column) for column in zip(*seen, strict=True))
    print(
        f"{size:6}{flow:14} medians: our calls {calls:.1f} us, their latency {latencies:.1f} us, benchmark_app {theirs:.1f} us"
    )
    for which, name in ((2, "the latency in our process"), (1, "our calls")):
        logs = [math.log(row[0] / row[which]) for row in seen]
        print(f"{size:6}{flow:14} benchmark_app over {name}, fresh processes, {pairs} pairs: {told(logs)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quads", type=int, default=20, help="of 0.8 s each")
    parser.add_argument("--pairs", type=int, default=9, help="of medians")
    parser.add_argument("--first", action="store_true", help="before all others on the machine (real-time priority)")
    parser.add_argument("--once", nargs=2, metavar=("ARTIFACT", "WIDTH"), help="only OpenVINO's medians, in seconds")
    arguments = parser.parse_args()
    if arguments.first:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    if arguments.once:
        folder, width = arguments.once
        print(*openvino_latency(*loaded("openvino-f32", Path(folder), int(width))))
        return
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        for size in ("0.1ms", "2ms"):
            folder = Path(name) / size
            folder.mkdir()
            model = chain(folder / "m.onnx", *SIZES[size], 0.0)
            for flow_name in ("onnxruntime", "openvino-f32"):
                flow = plugins.find_flow(flow_name)
                backend = plugins.load("assay.backends", flow.backend)()
                backend.prepare()
                (folder / flow_name).mkdir()
                backend.lower(model, flow).save(folder / flow_name)
                report(size, flow_name, folder, arguments)


if __name__ == "__main__":
    main()
