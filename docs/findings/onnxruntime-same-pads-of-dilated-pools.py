"""ONNX Runtime 1.31.1, CPU, with any optimization: MaxPool and AveragePool with auto_pad SAME pad too little where windows are dilated.

Expected: with SAME_UPPER or SAME_LOWER an output has ceil(input / stride) elements, 7 of 7 here. A window of 3 with dilation 2 reaches over
5 elements, so 4 are padded. Got: 5 elements, as if the window reached over 3 and 2 were padded: the dilation is left out when the pads
are computed, and counted when the size follows from them. OpenVINO gives 7 elements, and so does onnx's inference of shapes.
Found by `assay fuzz --flow onnxruntime --seed 7` (generator sweep).
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

x = np.arange(7, dtype=np.float32).reshape(1, 1, 7)
padded = np.pad(x[0, 0], 2, constant_values=np.nan)
windows = np.stack([padded[start : start + 5 : 2] for start in range(7)])
RIGHT = {("MaxPool", 12): np.nanmax(windows, axis=1), ("AveragePool", 19): np.nanmean(windows, axis=1)}
wrong = False
for (operator, opset), right in RIGHT.items():
    for way in ("SAME_UPPER", "SAME_LOWER"):
        node = helper.make_node(operator, ["x"], ["y"], kernel_shape=[3], dilations=[2], auto_pad=way)
        graph = helper.make_graph(
            [node],
            "pool",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 7])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, None])],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        got = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0].reshape(-1)
        bad = got.shape != right.shape or not np.allclose(got, right)
        print(f"{operator}, {way}: {got.tolist()}, due {right.tolist()}{'  WRONG' if bad else ''}")
        wrong = wrong or bad
sys.exit(int(wrong))
