"""The digit models on every flow of a GPU, as a table with the GPU's name, and what differs from what the code expects.

`python tools/gpu_table.py FOLDER` writes FOLDER/gpu.md and FOLDER/gpu.jsonl (a line for each check and comparison). Exit code 1 where
something differs. On a machine without a GPU each line says so.
"""

from __future__ import annotations

import json
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
MODELS = ("classifier", "detector", "segmenter")
ON_CUDA = ("--option", "device=cuda")
NO_TF32 = (*ON_CUDA, "--option", "tf32=off")
FLOWS: dict[str, tuple[str, ...]] = {
    "tensorrt-fp32": (), "tensorrt-fp16": (), "tensorrt-int8-qdq": (), "trtexec-fp32": (),
    "torch-eager": ON_CUDA, "torch-inductor": ON_CUDA, "torch-aot-inductor": ON_CUDA,
    "tvm-cuda": (), "iree-cuda": (),
}  # fmt: skip
COMPARISONS: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...] = (
    ("an engine with itself", ("--flow", "torch-eager"), ("same",)),
    ("eager, then compiled", ("--flow", "torch-eager", "--flow", "torch-inductor"), ("same", "faster", "slower")),
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
    names = ", ".join(sorted({f"{one.name} (driver {one.driver})" for one in gpus()})) or "no GPU"
    rows: list[dict[str, Any]] = []
    with (out / "gpu.jsonl").open("w") as lines, tempfile.TemporaryDirectory() as scratch:
        for row in _rows(Path(scratch)):
            rows.append(row)
            lines.write(json.dumps({"gpu": names, **row}) + "\n")
            lines.flush()
            print(json.dumps(row))
    (out / "gpu.md").write_text(_page(names, rows))
    differs = [row for row in rows if row["differs"]]
    print(f"{len(rows)} lines on {names}; {len(differs)} differ from what the code expects")
    for row in differs:
        print(f"  {row['flow']} {row['model']}: {row['differs']}")
    return 1 if differs else 0


def _rows(scratch: Path) -> Iterator[dict[str, Any]]:
    for flow, options in FLOWS.items():
        for model in MODELS:
            yield _checked(scratch, flow, model, options)
    yield _checked(scratch, "torch-eager", "segmenter", NO_TF32)
    for what, words, expected in COMPARISONS:
        yield _compared(scratch, what, words, expected)


def _checked(scratch: Path, flow: str, model: str, options: tuple[str, ...]) -> dict[str, Any]:
    data = DIGITS / "models" / f"{model}.onnx", "--golden", DIGITS / "goldens" / model
    began = time.monotonic()
    report, words = _assay(
        scratch, "check", *data, "--flow", flow, *options, "--measure-seconds", "0.5", limit=CHECK_LIMIT_S
    )
    row: dict[str, Any] = {
        "flow": " ".join((flow, *(one for one in options if one.startswith("tf32")))), "model": model,
        "verdict": "error", "s": round(time.monotonic() - began, 1), "said": words, "differs": "",
    }  # fmt: skip
    if report is None:
        return {**row, "differs": "no report was written"}
    for job in report["jobs"]:
        _taken(row, job)
    return row


def _taken(row: dict[str, Any], job: Mapping[str, Any]) -> None:
    result, kind = job["result"], job["job"]["kind"]
    row[kind] = {"outcome": result["outcome"], "reason": job["reason"], "detail": result["detail"]}
    if kind == "verify":
        row["verdict"] = job["word"]
        row["budget"] = max(
            (one["observed"] for one in job["verdicts"] if one["metric"] == "budget_used"), default=None
        )
        row["placements"] = [one["operator"] for one in (result["facts"] or {}).get("placements", ())][:20]
    if result["outcome"] in ("unavailable", "unsupported"):
        row["verdict"] = result["outcome"]
        return
    if result["outcome"] != "ok":
        row["differs"] += f"{kind}: {result['outcome']}: {job['reason']} {result['detail']}"[:600]
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


def _compared(scratch: Path, what: str, words: tuple[str, ...], expected: tuple[str, ...]) -> dict[str, Any]:
    model = DIGITS / "models" / "detector-static.onnx"
    began = time.monotonic()
    report, said = _assay(scratch, "compare", model, *words, *ON_CUDA, "--batch", "1", limit=COMPARE_LIMIT_S)
    row: dict[str, Any] = {
        "flow": what,
        "model": "detector-static",
        "s": round(time.monotonic() - began, 1),
        "said": said,
    }
    if report is None:
        return {**row, "verdict": "error", "differs": "no report was written"}
    (job,) = [one for one in report["jobs"] if one["job"]["kind"] in ("compare", "speed")] or report["jobs"][-1:]
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
