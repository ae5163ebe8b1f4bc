"""Through how many files of Assay one `assay check` goes: those of which at least one function ran, in the driver and in its workers.

    python benchmarks/files_run.py                           # a model of two nodes on one flow
    python benchmarks/files_run.py --flow onnxruntime --flow openvino-f32 --names

Every process of the command is watched from its start (`sys.setprofile`), so nothing is missed. The bodies of modules and classes,
with what they build tables by, run when they are imported, and do not
count. Also counted: launches of the launcher, and processes of workers.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx
from onnx import TensorProto, helper

import assay

ROOT = Path(assay.__file__).parent
FOLDER = "ASSAY_FILES_RUN"
WATCH = f'''
import os, sys, threading
folder = os.environ.get("{FOLDER}")
if folder:
    log = open(os.path.join(folder, str(os.getpid())), "a", buffering=1)
    log.write(f"= {{' '.join(sys.orig_argv)}}\\n")
    seen = set()
    inside = {{"<genexpr>", "<listcomp>", "<setcomp>", "<dictcomp>"}}
    def called(frame, event, argument):
        code = frame.f_code
        if event == "call" and code.co_name == "launch" and code.co_filename.endswith("launch/pool.py"):
            log.write("= launch\\n")
        if event == "call" and code.co_filename not in seen and code.co_flags & 2 and code.co_name not in inside:
            seen.add(code.co_filename)
            if code.co_filename.startswith({str(ROOT)!r}):
                log.write(f"{{code.co_filename}} {{code.co_name}}\\n")
    threading.setprofile(called)
    sys.setprofile(called)
'''


@dataclass(frozen=True)
class Seen:
    """Files of which a function ran, relative to the package; how often a launcher was asked; processes that did jobs."""

    driver: frozenset[str]
    worker: frozenset[str]
    launches: int
    processes: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--flow", action="append", default=[])
    parser.add_argument("--names", action="store_true", help="name the files")
    arguments = parser.parse_args()
    seen = files_run(arguments.flow or ["onnxruntime"])
    print(
        f"driver {len(seen.driver)} files, workers {len(seen.worker)}, {_rooms(seen.worker)['worker']} of them in worker/"
    )
    print(f"{seen.launches} launches, {seen.processes} processes of workers")
    if arguments.names:
        for name, files in (("driver", seen.driver), ("workers", seen.worker)):
            print(f"{name}:", *(f"{room} {count}" for room, count in _rooms(files).most_common()))
            print(*sorted(files), sep="\n")


def files_run(flows: Sequence[str]) -> Seen:
    """What one check of a model of two nodes goes through."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        logs, site = folder / "logs", folder / "site"
        logs.mkdir(), site.mkdir()
        (site / "sitecustomize.py").write_text(WATCH)
        onnx.save(two_nodes(), folder / "model.onnx")
        words = [
            "check",
            "model.onnx",
            *(word for flow in flows for word in ("--flow", flow)),
            "--measure-seconds",
            "0.2",
        ]
        environ = {**os.environ, FOLDER: str(logs), "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run([sys.executable, "-m", "assay", *words], cwd=folder, env=environ, check=True)
        logs_lines = [path.read_text().splitlines() for path in logs.iterdir()]
    driver = [
        lines for lines in logs_lines if "assay.worker" not in lines[0] and "assay check" in lines[0].replace("-m ", "")
    ]
    workers = [lines for lines in logs_lines if "assay.worker" in lines[0]]
    launches = sum(line == "= launch" for lines in driver for line in lines)
    return Seen(_files(driver), _files(workers), launches, len(workers))


def _rooms(files: frozenset[str]) -> Counter[str]:
    return Counter(file.partition("/")[0] for file in files)


def two_nodes() -> onnx.ModelProto:
    """A product and what is added to it."""
    weight = helper.make_tensor("w", TensorProto.FLOAT, (4, 3), [0.1 * value for value in range(12)])
    bias = helper.make_tensor("b", TensorProto.FLOAT, (3,), [0.5, -0.25, 1.0])
    nodes = [helper.make_node("MatMul", ["x", "w"], ["xw"]), helper.make_node("Add", ["xw", "b"], ["y"])]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ("batch", 4))
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ("batch", 3))
    graph = helper.make_graph(nodes, "two_nodes", [x], [y], [weight, bias])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _files(processes: Sequence[Sequence[str]]) -> frozenset[str]:
    ran = {line.rpartition(" ")[0] for lines in processes for line in lines if not line.startswith("=")}
    return frozenset(str(Path(path).relative_to(ROOT)) for path in ran)


if __name__ == "__main__":
    main()
