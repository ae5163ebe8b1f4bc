"""`assay run onnx-node --flow onnxruntime`, the second time, and lowered again, beside a bare loop over the same cases in one process.

The bare loop creates one session per case, runs it once and compares with numpy: no isolation, no saved artifact, no
second run, no records. Wall and processor seconds, the load of the machine, and what came out.
"""

from __future__ import annotations

import compileall
import csv
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import assay

GOAL_S = 4.2


def main() -> None:
    # As pip leaves an installed package: a checkout may be kept without, and is then compiled in every process.
    compileall.compile_dir(str(Path(assay.__file__).parent), quiet=2)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "out.csv"
        command = [sys.executable, "-m", "assay", "run", "onnx-node", "--flow", "onnxruntime", "--expectations", folder]
        command += ["--history", f"{folder}/history", "--report", f"csv={report}"]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        print(f"assay, second run: {_timed(command)}; goal {GOAL_S} s wall on 2 idle cores")
        outcomes = Counter(row["outcome"] for row in csv.DictReader(report.read_text().splitlines()))
        print(", ".join(f"{count} {name}" for name, count in outcomes.most_common()))
        print(f"assay, everything lowered again: {_timed([*command, '--no-cache'])}")
    done = subprocess.run([sys.executable, __file__, "bare"], capture_output=True, text=True, check=True)
    print(done.stdout, end="")


def _timed(command: list[str]) -> str:
    load, before, begin = os.getloadavg()[0], resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    wall, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{wall:.1f} s wall, {cpu:.1f} s of processor time, load {load:.1f}"


def bare() -> None:
    """The loop of the comparison."""
    import numpy as np
    import onnxruntime

    from assay.models.goldens import read_golden
    from assay.suites.onnx_node import OnnxNode

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    begin = time.perf_counter()
    cases = list(OnnxNode().cases(seed=0))
    print(f"collected again: {len(cases)} cases in {time.perf_counter() - begin:.2f} s")
    begin, cpu, passed = time.perf_counter(), time.process_time(), 0
    for case in cases:
        golden = read_golden(Path(case.inputs.golden))
        try:
            session = onnxruntime.InferenceSession(case.model.source, options, providers=["CPUExecutionProvider"])
            outputs = session.run(None, golden.inputs[0])
            wanted = list(golden.outputs[0].values())
            passed += all(
                np.allclose(output, other, 1e-3, 1e-7, equal_nan=True)
                if other.dtype != object
                else (output == other).all()
                for output, other in zip(outputs, wanted, strict=False)
            )
        except Exception:  # noqa: BLE001  whatever is not supported is not counted
            continue
    wall, spent = time.perf_counter() - begin, time.process_time() - cpu
    print(
        f"bare loop: {wall:.1f} s wall, {spent:.1f} s of processor time, {passed} pass, load {os.getloadavg()[0]:.1f}"
    )


if __name__ == "__main__":
    bare() if sys.argv[1:] == ["bare"] else main()
