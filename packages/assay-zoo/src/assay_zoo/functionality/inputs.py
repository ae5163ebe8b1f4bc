"""Whether test data sets prove anything, by their inputs alone: asked of a submission whose model cannot be run, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay_zoo.check import Check, CheckOutcome
from assay_zoo.limited_process import Ending, run_limited
from assay_zoo.performance.fresh_inputs import telling_samples

LEAST = 2
"""Samples that prove something."""
_SECONDS = 60.0


def inputs_alone(folder: Path, *, memory_bytes: int) -> list[Check]:
    """As `inputs_check`; nothing where the inputs cannot be read as tensors: other checks say so."""
    sets = sorted(path.name for path in folder.glob("test_data_set_*") if path.is_dir())
    if not sets:
        return []
    (answer,) = run_limited(
        "assay_zoo.functionality.inputs:read_inputs", [str(folder)], seconds=_SECONDS, memory_bytes=memory_bytes
    )
    if answer.ending is not Ending.OK or not answer.value:
        return []
    telling, samples = answer.value
    return inputs_check(telling, samples, sets[0])


def read_inputs(folder: str) -> Any:
    """The target of `run_limited`: [telling, all] samples, None where an input is no tensor."""
    import onnx
    from onnx import numpy_helper

    samples = []
    for path in sorted(Path(folder).glob("test_data_set_*")):
        files = sorted(path.glob("input_*.pb"))
        try:
            samples.append({file.name: numpy_helper.to_array(onnx.load_tensor(str(file))) for file in files})
        except Exception:  # noqa: BLE001 - what a parser says of a stranger's bytes; the checks of files say it better
            return None
    return list(telling_samples(samples)) if any(samples) else None


def inputs_check(telling: int, samples: int, first: str) -> list[Check]:
    """Nothing where there are two different samples at least that a wrong model would answer in another way than the right one."""
    if telling >= LEAST:
        return []
    sentence = (
        f"the test data sets prove too little: of {samples} samples {telling} are different from one another and not of "
        f"one value throughout, and {LEAST} are needed: hand in real inputs"
    )
    name = "functionality.inputs"
    return [Check(name, CheckOutcome.FAILED, sentence, first, executed=samples)]
