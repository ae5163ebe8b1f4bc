"""What our timing loop costs beside a bare loop of the same calls, and whether our median is that of the backends' own tools.

Overhead: CPU time of the whole loop, ours and the bare one in turns, median of the ratios. Agreement: `benchmark_app` of OpenVINO
(one thread, one synchronous request) between two measurements of ours, and the `model_run` events of ONNX Runtime's profile, of
the very calls that we time.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from speed_gate import SIZES, chain

from assay import plugins
from assay.worker.calls import timed_call
from assay.worker.measure import sample

Call = Callable[[], object]


def engine_call(name: str, model: Path, folder: Path, width: int) -> Call:
    flow = plugins.find_flow(name)
    backend = plugins.load("assay.backends", flow.backend)()
    backend.prepare()
    backend.lower(model, flow).save(folder)
    engine = backend.load(folder, flow)
    feed = {"x": np.random.default_rng(0).standard_normal((width, width), np.float32)}
    call = timed_call(engine, feed)
    for _ in range(10):
        call()
    return call


def overhead(call: Call, rounds: int) -> float:
    """Percent of CPU time that our loop costs more for as many calls."""
    ratios = []
    for number in range(rounds):
        seconds = {}
        for which in ("ours", "bare") if number % 2 else ("bare", "ours"):
            begin = time.thread_time()
            if which == "ours":
                count = len(sample(call, 0.3)[0])
                seconds[which] = (time.thread_time() - begin) / count
            else:
                end = time.perf_counter() + 0.3
                count = 0
                while time.perf_counter() < end:
                    for _ in range(10):
                        call()
                    count += 10
                seconds[which] = (time.thread_time() - begin) / count
        ratios.append(seconds["ours"] / seconds["bare"])
    return 100.0 * (statistics.median(ratios) - 1.0)


def our_median(call: Call) -> float:
    return statistics.median(sample(call, 1.0)[0])


def openvino_tool(model: Path) -> float:
    command = [
        str(Path(sys.executable).with_name("benchmark_app")), "-m", str(model), "-d", "CPU", "-hint", "none", "-api", "sync",
        "-nireq", "1", "-nthreads", "1", "-infer_precision", "f32", "-t", "2",
    ]  # fmt: skip
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"Median:\s+([\d.]+) (us|ms)", told)
    assert found, told
    return float(found[1]) * {"us": 1e-6, "ms": 1e-3}[found[2]]


def onnxruntime_profile(model: Path, width: int) -> tuple[float, float]:
    """The median that the profile tells of its calls, and ours of the same calls."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.enable_profiling = True
    options.profile_file_prefix = str(model.with_name("profile"))
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    binding.bind_cpu_input("x", np.random.default_rng(0).standard_normal((width, width), np.float32))
    binding.bind_output("y")
    ours = statistics.median(sample(lambda: session.run_with_iobinding(binding), 1.0)[0])
    events = json.loads(Path(session.end_profiling()).read_text())
    return 1e-6 * statistics.median(event["dur"] for event in events if event["name"] == "model_run"), ours


def agreement(flow: str, model: Path, width: int, call: Call) -> float:
    """Percent by which the tool's median is above ours."""
    if flow == "onnxruntime":
        theirs, ours = onnxruntime_profile(model, width)
    else:
        before = our_median(call)
        theirs = openvino_tool(model)
        ours = (before + our_median(call)) / 2
    return 100.0 * (theirs / ours - 1.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        for size in ("0.1ms", "2ms"):
            width = SIZES[size][0]
            folder = Path(name) / size
            folder.mkdir()
            model = chain(folder / "m.onnx", *SIZES[size], 0.0)
            for flow in ("onnxruntime", "openvino-f32"):
                (folder / flow).mkdir()
                call = engine_call(flow, model, folder / flow, width)
                print(f"{size:6}{flow:14} overhead {overhead(call, arguments.rounds):+.2f} %")
                found = [agreement(flow, model, width, call) for _ in range(max(3, arguments.rounds // 3))]
                tool = "benchmark_app" if flow == "openvino-f32" else "profile"
                told = ", ".join(f"{one:+.1f}" for one in found)
                print(f"{size:6}{flow:14} {tool} beside ours {statistics.median(found):+.1f} % ({told})")


if __name__ == "__main__":
    main()
