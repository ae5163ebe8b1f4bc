"""kill -9 of the driver at random moments, then `assay resume`: results lost, doubled, and verdicts changed."""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from assay.stores.sql import SqlStore

FLOWS = ("faulty", "faulty-lie", "faulty-zeros", "faulty-segfault", "faulty-scale2", "faulty-nan")
MODELS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(MODELS):
            _model(folder / f"m{number}.onnx", number)
        begin = time.perf_counter()
        command = [
            sys.executable,
            "-m",
            "assay",
            "check",
            *(f"m{n}.onnx" for n in range(MODELS)),
            "--only-kind",
            "verify",
        ]
        command += [word for flow in FLOWS for word in ("--flow", flow)]
        expected = subprocess.run(
            [*command, "--history", "whole"], cwd=folder, capture_output=True, check=False
        ).returncode
        whole = time.perf_counter() - begin
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; an unharmed run: {whole:.1f} s, exit {expected}")
        words = _words(folder / "whole")
        lost = doubled = changed = killed = 0
        for number in range(arguments.rounds):
            history = f"h{number}"
            killed += _kill(command, history, folder, chance.uniform(0.3, whole))
            report = _finish(command, history, folder)
            words_here = _words(folder / history)
            counts = Counter(result.job_key for result in _results(folder / history))
            lost += len(words.keys() - words_here.keys())
            doubled += sum(count - 1 for count in counts.values())
            changed += (report != expected) + sum(words_here.get(key) != word for key, word in words.items())
        print(
            f"{arguments.rounds} rounds, {killed} killed while running: {lost} lost, {doubled} doubled, {changed} verdicts changed"
        )
        sys.exit(1 if lost or doubled or changed else 0)


def _kill(command: list[str], history: str, folder: Path, after_s: float) -> bool:
    child = subprocess.Popen(
        [*command, "--history", history], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        child.wait(after_s)
        return False
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return True


def _finish(command: list[str], history: str, folder: Path) -> int:
    """Resume what is there; a run killed before it was recorded is simply run."""
    database = folder / history / "history.db"
    runs = []
    if database.exists():
        store = SqlStore(str(database))
        runs = store.runs(1)
        store.close()
    if runs and runs[0].status == "complete":
        verb = ["rejudge"]
    elif runs:
        verb = ["resume"]
    else:
        return subprocess.run([*command, "--history", history], cwd=folder, capture_output=True, check=False).returncode
    line = [sys.executable, "-m", "assay", *verb, "last", "--history", history]
    return subprocess.run(line, cwd=folder, capture_output=True, check=False).returncode


def _results(history: Path):  # type: ignore[no-untyped-def]
    store = SqlStore(str(history / "history.db"))
    try:
        return store.results("last")
    finally:
        store.close()


def _words(history: Path) -> dict[str, str]:
    return {result.job_key: result.outcome.value for result in _results(history)}


def _model(path: Path, number: int) -> None:
    spec = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["N", number + 2]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Tanh", ["x"], ["y"])], "tanh", spec[:1], spec[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)


if __name__ == "__main__":
    main()
