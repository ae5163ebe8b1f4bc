"""A submission of digits in a zoo of its own, as the checks of one group see it."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from assay_zoo.metadata import Metadata
from assay_zoo.policy import Scenario, ZooPolicy
from assay_zoo.submission import SubmissionContext

BROKEN = Path(__file__).parents[2] / "examples" / "zoo" / "broken"
DATASETS = Path(__file__).parents[2] / "examples" / "zoo" / "datasets"


def scenario(**more: object) -> Scenario:
    declared = {"name": "image-classification", "title": "Digits", "task": "classification", "metric": "top1_accuracy"}
    return Scenario.model_validate({**declared, **more})


def place(root: Path, change: Callable[[Path], None] = lambda folder: None, **more: object) -> SubmissionContext:
    """The good submission, changed. `more` is the scenario's."""
    sys.path.insert(0, str(BROKEN))
    try:
        import good
    finally:
        sys.path.remove(str(BROKEN))
    folder = root / "submissions" / good.NAME
    good.write(folder)
    change(folder)
    metadata = Metadata.model_validate(tomllib.loads((folder / "metadata.toml").read_text(encoding="utf-8")))
    policy = ZooPolicy(name="test")
    run = policy.run.model_copy(update={"seconds": 60.0, "memory_bytes": 1_500_000_000, "disk_bytes": 50_000_000})
    made = SubmissionContext(folder=folder, root=root, policy=policy.model_copy(update={"run": run}), metadata=metadata)
    return replace(made, scenario=scenario(**more), name=good.NAME)


def validation(*cells: str, stored: str = "") -> Callable[[Path], None]:
    """A change: the validation notebook has these cells of code, each with the stored output `stored`."""

    def change(folder: Path) -> None:
        outputs = [{"output_type": "stream", "name": "stdout", "text": stored}] if stored else []
        content = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": {"name": "no-such-kernel", "display_name": "None"}},
            "cells": [
                {"cell_type": "markdown", "id": "words", "metadata": {}, "source": "top1 = 0.984375"},
                *(
                    {"cell_type": "code", "id": f"code-{at}", "metadata": {}, "execution_count": 7, "source": source,
                     "outputs": outputs}
                    for at, source in enumerate(cells)
                ),
            ],
        }  # fmt: skip
        (folder / "validation.ipynb").write_text(json.dumps(content, indent=1), encoding="utf-8")

    return change


def metadata_says(old: str, new: str) -> Callable[[Path], None]:
    """A change of metadata.toml."""

    def change(folder: Path) -> None:
        path = folder / "metadata.toml"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return change
