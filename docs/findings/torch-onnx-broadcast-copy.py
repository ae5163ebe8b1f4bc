"""torch 2.13.0, `torch.onnx.export`: a copy into a slice that broadcasts is written without the broadcast, and no runtime takes it.

Expected: the program's answer, or a refusal. Got: a ScatterElements whose indices and updates have the rank of what is copied, `Indices
must have the same rank as Input` in ONNX Runtime, after an export and a check of the model without a word. Copied from the slice's own
shape it is right.
Found by `assay run gradients --flow onnxruntime --filter 'affine_grid*'`.
"""

from __future__ import annotations

import logging
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
import torch
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


class Filled(torch.nn.Module):
    def forward(self, row: torch.Tensor) -> torch.Tensor:
        made = torch.zeros(2, 3, 4)
        made.select(-1, 0).copy_(row)
        return made


def wrong(given: torch.Tensor) -> str:
    """What is wrong with the exported model's answer, "" if nothing."""
    program = torch.export.export(Filled(), (given,), strict=False)
    model = torch.onnx.export(program, dynamo=True, verbose=False).model_proto
    onnx.checker.check_model(model, full_check=True)
    try:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        (answer,) = session.run(None, {session.get_inputs()[0].name: given.numpy()})
    except InvalidArgument as error:
        return str(error)
    return "" if np.array_equal(answer, Filled()(given).numpy()) else "another answer"


faults = {"of the slice's shape": wrong(torch.ones(2, 3)), "of one row, broadcast": wrong(torch.ones(3))}
for what, fault in faults.items():
    print(f"a copy {what}: {fault or 'right'}")
sys.exit(int(any(faults.values())))
