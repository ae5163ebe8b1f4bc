"""In a limited process: the test data sets of a submission are written as a golden folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.case import Case
from assay.models.goldens import write_golden
from assay.models.model_precision import readable_coarse_types
from assay.suites.build_folder import data_sets
from assay_zoo.performance.fresh_inputs import drawn_again


def write(item: dict[str, Any]) -> int:
    """The target of `run_limited`: how many samples were written."""
    case = msgspec.convert(item["case"], Case)
    inputs, outputs = data_sets(Path(case.model.source), [Path(path) for path in item["sets"]])
    if item["fresh"]:
        seed, turned = item["fresh"]
        inputs = drawn_again(inputs, seed, turned=turned)
        outputs = [{"nothing": np.zeros(1, np.float32)}] * len(inputs)
    write_golden(
        Path(item["into"]), model=case.model, inputs=inputs, outputs=outputs, seed=0, producer="test_data_set",
        producer_version="", who="submission", reason="handed in with the model", created_at="",
        coarse=readable_coarse_types(Path(case.model.source)),
    )  # fmt: skip
    return len(inputs)
