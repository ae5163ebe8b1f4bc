"""Backends that read exported programs are given one made from the ONNX file: whether that computes the same before it is compiled."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay import plugins
from assay.generators.case_values import CaseValues
from assay.generators.comparison import far_of
from assay.worker.engine.lower import backend_class

EAGER = "torch-eager"


def is_right_uncompiled(program: Path, values: CaseValues, seed: int) -> bool:
    """Run by torch operator by operator. Where it is not, the conversion is wrong, or torch itself."""
    flow = plugins.find_flow(EAGER)
    try:
        engine = backend_class(flow.backend)().lower(program, flow)
        answers = {name: np.asarray(array) for name, array in engine.run(values.case.inputs).items()}
    except Exception:  # noqa: BLE001  whatever torch raises of a program that it cannot run
        return False
    return not far_of(answers, values, flow, seed).kind
