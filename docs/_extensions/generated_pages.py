"""Pages and tables that are made from the code when the site is built: commands, findings, outcomes, task metrics."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from cli_reference import cli_reference, plain
from sphinx.application import Sphinx

FOLDER = "_generated"


def findings(folder: Path) -> str:
    """A table of the scripts that show a defect of a backend: each with the first sentence of its docstring."""
    rows = []
    for path in sorted(folder.glob("*.py")):
        text = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split())
        versions, _, rest = text.partition(": ")
        what = re.split(r"(?<=[.;:])\s", rest)[0].rstrip(".;:")
        rows.append(f"| [{path.stem}](../findings/{path.name}) | {plain(versions)} | {plain(what)} |")
    return "\n".join(
        [
            "# Findings in backends",
            "",
            "Each script shows one defect that Assay found, runs without Assay (some ask ONNX Runtime as a witness), and says what is",
            "expected and what comes out. Run it to see whether your version still has the defect.",
            "",
            "```",
            "python docs/findings/onnxruntime-int64-min-max.py",
            "```",
            "",
            "| script | where | what is wrong |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def write(app: Sphinx) -> None:
    """Only what changed: an unchanged page is not read again."""
    from assay.judge.metric_registry import METRICS, RECORDED, metric_reference
    from assay.judge.outcome_table import outcome_reference
    from assay.task_metrics.registry import task_inputs_reference, task_reference

    docs = Path(app.srcdir)
    pages = {
        "cli.md": cli_reference(),
        "findings.md": findings(docs / "findings"),
        # Included by pages, and no page of its own: its name does not end in .md.
        "outcomes.inc": outcome_reference(),
        "metrics-of-jobs.inc": metric_reference(RECORDED),
        "metrics-of-outputs.inc": metric_reference(METRICS),
        "task-metrics.inc": task_reference(),
        "task-inputs.inc": task_inputs_reference(),
    }
    (docs / FOLDER).mkdir(exist_ok=True)
    for name, text in pages.items():
        path = docs / FOLDER / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
