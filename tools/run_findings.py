"""Do the scripts of docs/findings still show what they say?

python tools/run_findings.py                        # all of them, one after the other: some 15 minutes of one core
python tools/run_findings.py NAME...                # these (the name of the file, with or without .py)
python tools/run_findings.py --python INTERPRETER   # against the backends of another environment

A line for each: what it showed, the versions that are installed where they are not those that the script names, seconds, its last line.
Exit code 1: a script is broken, or does not show its defect in the versions that it names.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FINDINGS = Path(__file__).parents[1] / "docs" / "findings"
LIMIT_S = 300.0
DISTRIBUTIONS = {
    "ExecuTorch": "executorch", "IREE": "iree-base-compiler", "LiteRT": "ai-edge-litert", "MNN": "mnn", "NNCF": "nncf",
    "ONNX Runtime": "onnxruntime", "OpenVINO": "openvino", "QNN": "onnxruntime-qnn", "TVM": "apache-tvm", "ncnn": "ncnn",
    "onnx": "onnx", "pnnx": "pnnx", "torch": "torch", "torchao": "torchao",
}  # fmt: skip
"""The package of each backend that a script may name in its first line."""
BROKEN, UNAVAILABLE = 70, 77
"""Exit codes of a script that ended in an exception, which Python would end with 1: the code of a defect that is seen. A script ends
with 77 itself where it finds no device."""
MODULES = (
    "MNN", "ai_edge_litert", "executorch", "iree", "iree.compiler", "iree.runtime", "litert_torch", "ncnn", "nncf", "onnxruntime",
    "onnxruntime_qnn", "openvino", "pnnx", "torch", "torchao", "tvm",
)  # fmt: skip
"""Of backends: a script that lacks one of them, or what one of them imports, cannot say anything. One that lacks another is broken."""
RUN = f"""
import runpy, sys, traceback
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
except Exception as error:
    frames = [one for one, _ in traceback.walk_tb(error.__traceback__) if not one.f_code.co_filename.startswith("<frozen")]
    importing = frames[-1].f_globals.get("__name__", "").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and (error.name in {MODULES} or importing in {MODULES}):
        sys.exit(print(error) or {UNAVAILABLE})
    traceback.print_exc()
    sys.exit({BROKEN})
"""
VERSIONS = """
import sys
from importlib import metadata
for name in sys.argv[1:]:
    try:
        print(metadata.version(name))
    except metadata.PackageNotFoundError:
        print("none")
"""


@dataclass(frozen=True)
class Shown:
    """What one script showed: `status` is shown, gone, broken, late or unavailable."""

    name: str
    status: str
    other: tuple[str, ...]
    """Backends whose installed version is not the one that the script names."""
    seconds: float
    last_line: str

    @property
    def is_right(self) -> bool:
        return self.status in ("shown", "unavailable") or (self.status == "gone" and bool(self.other))


def named_versions(script: Path) -> dict[str, str]:
    """By backend, from the first line: `ONNX Runtime 1.31.1 and OpenVINO 2026.4.1, CPU: ...`."""
    said = (ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or "").partition(":")[0]
    names = "|".join(DISTRIBUTIONS)
    return dict(re.findall(rf"\b({names}) (\d[\w.]*\w)", said))


def run(script: Path, python: str = sys.executable, limit_s: float = LIMIT_S) -> Shown:
    """One script, in a session of its own that ends with it."""
    began = time.monotonic()
    named = named_versions(script)
    there = _output([python, "-c", VERSIONS, *(DISTRIBUTIONS[name] for name in named)]).split()
    other = tuple(
        f"{name} {now}" for (name, then), now in zip(named.items(), there, strict=True) if now.split("+")[0] != then
    )
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log:
        child = subprocess.Popen(
            [python, "-c", RUN, str(script)], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
        try:
            status = {0: "gone", 1: "shown", UNAVAILABLE: "unavailable"}.get(child.wait(limit_s), "broken")
        except subprocess.TimeoutExpired:
            status = "late"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        log.seek(0)
        lines = [line.strip() for line in log if line.strip()]
    return Shown(script.stem, status, other, time.monotonic() - began, lines[-1] if lines else "")


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--python", default=sys.executable, metavar="INTERPRETER")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="SECONDS", help="for one script")
    asked = parser.parse_args(arguments)
    scripts = [FINDINGS / f"{name.removesuffix('.py')}.py" for name in asked.names] or sorted(FINDINGS.glob("*.py"))
    for script in scripts:
        if not script.is_file():
            parser.error(f"{script.stem}: there is no such script in docs/findings")
    findings = []
    for script in scripts:
        findings.append(shown := run(script, asked.python, asked.limit))
        mark = "" if shown.is_right else "NOT AS IT SAYS: "
        print(
            f"{mark}{shown.status} {shown.name} ({', '.join((*shown.other, f'{shown.seconds:.0f} s'))}): {shown.last_line[:160]}"
        )
        sys.stdout.flush()
    wrong = [finding.name for finding in findings if not finding.is_right]
    print(f"{len(findings) - len(wrong)} of {len(findings)} as they say{': not ' + ', '.join(wrong) if wrong else ''}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
