"""What a rewritten model is fed: floating types as it takes them, everything else as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.worker.engine.transformed_model import TransformedModel

SAMPLE = {"image": np.array([1.5, 1e-9], np.float32), "index": np.array([3], np.int64), "more": np.ones(2, np.float32)}


def test_without_a_change_of_types_copies_are_fed_which_an_engine_may_spoil() -> None:
    (fed,) = TransformedModel(Path("m.onnx")).fed([SAMPLE])
    assert all(
        fed[name].tobytes() == array.tobytes() and fed[name].dtype == array.dtype for name, array in SAMPLE.items()
    )
    assert not any(np.shares_memory(fed[name], array) for name, array in SAMPLE.items())


def test_only_floating_types_are_cast_and_only_to_floating_types() -> None:
    takes = {"image": "float16", "index": "int32", "more": "uint8"}
    (fed,) = TransformedModel(Path("m.onnx"), takes=takes).fed([SAMPLE])
    assert (fed["image"].dtype, fed["image"].tolist()) == (np.float16, [1.5, 0.0])
    assert (fed["index"].dtype, fed["index"].tolist()) == (np.int64, [3])
    assert (fed["more"].dtype, fed["more"].tolist()) == (np.float32, [1.0, 1.0])
