"""A case that native code of onnx does not outlive ends no session."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

import assay.fuzz.own_process
from assay.core.screening import CaseId
from assay.fuzz.own_process import can_be_read, make_again
from assay.generators.files import keep_case
from assay.generators.sweep import Sweep
from assay.ports.generator import GeneratedCase


def _case(rows: int) -> GeneratedCase:
    """`rows` other than 2 do not broadcast: onnx knows no shape of the Min then, and its EyeLike with a `dtype` reads one nevertheless."""
    nodes = [
        helper.make_node("Min", ["a", "b"], ["m"]),
        helper.make_node("EyeLike", ["m"], ["y"], dtype=TensorProto.DOUBLE),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info("a", TensorProto.INT32, [2, 2]),
            helper.make_tensor_value_info("b", TensorProto.INT32, ["rows", 2]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.DOUBLE, ["r", "c"])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=8)
    feeds = {"a": np.ones((2, 2), np.int32), "b": np.ones((rows, 2), np.int32)}
    return GeneratedCase(model.SerializeToString(), feeds)


def test_a_case_that_ends_the_process_that_reads_it_cannot_be_read(tmp_path: Path) -> None:
    for name, rows in (("ends", 3), ("stays", 2)):
        keep_case(_case(rows), tmp_path, name)
    assert not can_be_read(tmp_path / "ends")
    assert can_be_read(tmp_path / "stays")


def test_a_case_is_made_again_in_a_process_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CaseId("sweep", Sweep.version, 7, 3)
    assert make_again(case, "", "", tmp_path)
    assert (tmp_path / f"{case}.onnx").exists()
    assert not make_again(CaseId("sweep", Sweep.version + 1, 7, 3), "", "", tmp_path)
    monkeypatch.setattr(assay.fuzz.own_process, "LIMIT_S", 0.01)
    assert not make_again(case, "", "", tmp_path)
