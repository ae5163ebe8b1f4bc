"""ONNX Runtime 1.31.1, CPU: Attention of one query with `is_causal` and a past sees keys that come after it.

Expected, by the standard: "query `i` attends key `j` iff `j <= i + past_sequence_length`": with a past of two keys the one query sees the
first three of six. Got: all six; with two queries, and without a past, the mask is right. Where only one key is new, as in a loop that
generates text, nothing comes after the query and nothing is wrong. The wording with the offset is that of onnx 1.23; before, "a lower
triangular matrix" did not speak of a past. Found by `assay fuzz --flow onnxruntime` (generator sweep, seed 11) when the generator learned
what was computed before.
"""

from __future__ import annotations

import sys

import numpy as np
import onnxruntime
from onnx import TensorProto, helper

wrong = False
for queries in (2, 1):
    zeros = np.zeros(
        (1, 1, 1, 1), np.float32
    )  # every key has the same score: the answer is the mean of the values that are seen
    feeds = {
        "q": np.zeros((1, 1, queries, 1), np.float32),
        "k": np.repeat(zeros, 4, axis=2),
        "v": np.asarray([30, 40, 50, 60], np.float32).reshape(1, 1, 4, 1),
        "past_k": np.repeat(zeros, 2, axis=2),
        "past_v": np.asarray([10, 20], np.float32).reshape(1, 1, 2, 1),
    }
    graph = helper.make_graph(
        [
            helper.make_node(
                "Attention", ["q", "k", "v", "", "past_k", "past_v"], ["y", "present_k", "present_v"], is_causal=1
            )
        ],
        "attention",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in feeds.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("y", "present_k", "present_v")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    given = np.asarray(onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)[0]).reshape(-1)
    due = np.asarray([20.0, 25.0][:queries], np.float32)
    bad = not np.allclose(given, due)
    wrong = wrong or bad
    print(f"{queries} queries: {given.tolist()}, due {due.tolist()}{'  WRONG' if bad else ''}")
sys.exit(int(wrong))
