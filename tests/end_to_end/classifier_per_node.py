"""The classifier of the example, judged node by node."""

from __future__ import annotations

from pathlib import Path

from assay.commands.check import run_check
from assay.core.result import Result
from assay.options.check import CheckOptions

DIGITS = Path(__file__).parents[2] / "examples" / "digits"
MODEL = DIGITS / "models" / "classifier.onnx"


def per_node_results(flows: dict[str, str], tmp_path: Path, task: str = "per_node") -> dict[str, Result]:
    """Each flow (its table in assay.toml) judged node by node on the classifier, by name."""
    config = tmp_path / "flows.toml"
    config.write_text("".join(f"[flow.{name}]\n{table}\n" for name, table in flows.items()))
    options = CheckOptions(
        models=(MODEL,), flows=tuple(flows), golden=DIGITS / "goldens" / "classifier", config=config, only_kind=task,
        history=str(tmp_path / "history"), per_node=True,
    )  # fmt: skip
    return {f"{result.flow}|{result.kind}": result for result in run_check(options).results}
