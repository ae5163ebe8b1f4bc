"""The digit models and those of the matrix on every flow of a GPU: a table with its name, and what differs from what the code expects.

`python tools/gpu_table.py FOLDER` writes FOLDER/gpu.md and FOLDER/gpu.jsonl (a line for each check and comparison). Exit code 1 where
something differs. On a machine without a GPU each line says so.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from assay.launch.gpus import gpus

ROOT = Path(__file__).parents[1]
DIGITS = ROOT / "examples" / "digits"
MATRIX = ROOT / "examples" / "matrix" / "models"
MODELS = ("classifier", "detector", "segmenter", "depthwise", "encoder", "recurrent")
"""Those of the matrix have no golden, and are compared with the oracle."""
NO_TF32 = ("--option", "tf32=off")
FLOWS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("torch-eager-cuda", NO_TF32), ("torch-inductor-cuda", NO_TF32), ("torch-aot-inductor-cuda", NO_TF32), ("torch-eager-cuda", ()),
    ("tvm-cuda", ()), ("iree-cuda", ()),
    ("tensorrt-fp32", ()), ("tensorrt-fp16", ()), ("tensorrt-int8-qdq", ()), ("trtexec-fp32", ()),
)  # fmt: skip
"""torch's own choice of TF32 is red on two of the models, and names its cause."""
COMPARISONS: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("an engine with itself", "copy.onnx", ("torch-inductor-cuda",), ("same",)),
    ("eager, then compiled", "", ("torch-eager-cuda", "torch-inductor-cuda"), ("same", "faster", "slower")),
)
CHECK_LIMIT_S, COMPARE_LIMIT_S = 240.0, 150.0
COLUMNS = (
    "flow",
    "model",
    "verdict",
    "budget",
    "median, caller",
    "median, device",
    "clock",
    "GPU memory",
    "SM clock",
    "s",
)


def main(out: Path) -> int:
    """Everything, each line written as soon as it is known."""
    out.mkdir(parents=True, exist_ok=True)
    names = ", ".join(sorted({f"{gpu.name} (driver {gpu.driver})" for gpu in gpus()})) or "no GPU"
    rows: list[dict[str, Any]] = []
    with (out / "gpu.jsonl").open("w") as lines, tempfile.TemporaryDirectory() as scratch:
        for row in _rows(Path(scratch)):
            rows.append(row)
            (out / "gpu.md").write_text(_page(names, rows))
            lines.write(json.dumps({"gpu": names, **row}) + "\n")
            lines.flush()
            print(json.dumps(row))
    differs = [row for row in rows if row["differs"]]
    print(f"{len(rows)} lines on {names}; {len(differs)} differ from what the code expects")
    for row in differs:
        print(f"  {row['flow']} {row['model']}: {row['differs']}")
    return 1 if differs else 0


def _rows(scratch: Path) -> Iterator[dict[str, Any]]:
    for flow, options in FLOWS:
        yield from _checked(scratch, flow, options)
    for comparison in COMPARISONS:
        yield compared(scratch, *comparison)


def _checked(scratch: Path, flow: str, options: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """All models in one command: a row for each."""
    config = scratch / "assay.toml"
    config.write_text("".join(map(_model, MODELS)) + "[measure]\nseconds = 0.5\n")
    began = time.monotonic()
    report, said = _assay(scratch, "check", "--config", config, "--flow", flow, *options, limit=CHECK_LIMIT_S)
    seconds = round(time.monotonic() - began, 1)
    named = " ".join((flow, *(option for option in options if option.startswith("tf32"))))
    for model in MODELS:
        row: dict[str, Any] = {
            "flow": named,
            "model": model,
            "verdict": "error",
            "s": seconds,
            "said": said,
            "differs": "",
        }
        jobs = [job for job in report["jobs"] if job["job"]["case"]["name"] == model] if report else []
        for job in jobs:
            _taken(row, job)
        yield row if jobs else {**row, "differs": "no report was written"}


def _model(name: str) -> str:
    """Its table of assay.toml."""
    path = MATRIX / f"{name}.onnx"
    if path.is_file():
        return f'[[model]]\npath = "{path}"\n\n'
    return f'[[model]]\npath = "{DIGITS / "models" / name}.onnx"\ngolden = "{DIGITS / "goldens" / name}"\n\n'


def _taken(row: dict[str, Any], job: Mapping[str, Any]) -> None:
    result, kind = job["result"], job["job"]["kind"]
    row[kind] = {"outcome": result["outcome"], "reason": job["reason"], "detail": result["detail"]}
    if kind == "verify":
        row["verdict"] = job["word"]
        row["budget"] = max(
            (verdict["observed"] for verdict in job["verdicts"] if verdict["metric"] == "budget_used"), default=None
        )
        row["placements"] = [placement["operator"] for placement in (result["facts"] or {}).get("placements", ())][:20]
    if result["outcome"] in ("unavailable", "unsupported"):
        row["verdict"] = result["outcome"]
        return
    if result["outcome"] != "ok" and not any(
        default["cures"] for default in (result["facts"] or {}).get("numeric_defaults", ())
    ):
        before = f"{row['differs']}; " if row["differs"] else ""
        row["differs"] = before + f"{kind}: {job['reason']}"[:600]
    for taken in result.get("measurements") or ():
        seen = taken.get("gpu") or {}
        row |= {
            "clock": seen.get("clock", ""),
            "memory": seen.get("memory_bytes", 0),
            "mhz": seen.get("sm_mhz"),
            "gpu": seen,
        }
        row |= {"caller": _median(taken["wall_s"]), "device": _median(taken["device_s"])}
        if not row["flow"].startswith(("trtexec", "iree")) and seen.get("clock") != "cuda events":
            row["differs"] += "the device's clock was not read; "


def compared(scratch: Path, what: str, copy: str, flows: tuple[str, ...], expected: tuple[str, ...]) -> dict[str, Any]:
    models = [DIGITS / "models" / "detector-static.onnx"]
    models += [Path(shutil.copy(models[0], scratch / copy))] if copy else []
    began = time.monotonic()
    report, said = _assay(
        scratch, "compare", *models, *(word for flow in flows for word in ("--flow", flow)), limit=COMPARE_LIMIT_S
    )
    row: dict[str, Any] = {
        "flow": what,
        "model": "detector-static",
        "s": round(time.monotonic() - began, 1),
        "said": said,
    }
    if report is None:
        return {**row, "verdict": "error", "differs": "no report was written"}
    jobs = [candidate for candidate in report["jobs"] if candidate["job"]["kind"] == "compare_speed"]
    if not jobs:
        return {**row, "verdict": "error", "differs": "nothing was compared"}
    (job,) = jobs
    reason = str(job["reason"])
    return {
        **row, "verdict": job["word"], "reason": reason,
        "differs": "" if any(word in reason for word in expected) else f"expected {' or '.join(expected)}: {reason}",
    }  # fmt: skip


def _assay(scratch: Path, *words: object, limit: float) -> tuple[Any, str]:
    """The JSON report and the last words of the command."""
    path = scratch / "report.json"
    path.unlink(missing_ok=True)
    command = [
        sys.executable,
        "-m",
        "assay",
        *map(str, words),
        "--history",
        str(scratch / "history"),
        "--report",
        f"json={path}",
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, cwd=scratch)
        said = (done.stdout + done.stderr)[-1500:]
    except subprocess.TimeoutExpired:
        said = f"no end after {limit:g} s"
    return (json.loads(path.read_text()) if path.is_file() else None), said


def _median(values: list[float]) -> float | None:
    return sorted(values)[len(values) // 2] if values else None


def _page(names: str, rows: list[dict[str, Any]]) -> str:
    def told(row: Mapping[str, Any], key: str, scale: float, unit: str) -> str:
        return f"{row[key] * scale:.4g} {unit}".strip() if row.get(key) else ""

    lines = [f"On {names}.", "", "| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    for row in rows:
        cells = (
            row["flow"], row["model"], row["verdict"], told(row, "budget", 1, ""), told(row, "caller", 1e3, "ms"),
            told(row, "device", 1e3, "ms"), row.get("clock", ""), told(row, "memory", 2**-20, "MiB"),
            str((row.get("mhz") or [""])[0]), str(row["s"]),
        )  # fmt: skip
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *(f"- {row['flow']} {row['model']}: {row['differs']}" for row in rows if row["differs"])]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
