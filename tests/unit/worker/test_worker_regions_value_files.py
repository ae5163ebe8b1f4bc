"""Values of a graph on disk: read in the type that the graph declares, without a descriptor that stays open."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from onnx import helper

from assay.worker.regions.value_files import GraphValues, save_values


def test_values_come_back_in_their_type_and_no_file_stays_open(tmp_path: Path) -> None:
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [])
    save_values(tmp_path, helper.make_model(graph), {"y": np.array([1 / 3])}, {"y": "float32"})
    before = len(os.listdir("/proc/self/fd"))
    values = GraphValues(tmp_path)
    held = [values.wide("y"), values["y"]]
    assert len(os.listdir("/proc/self/fd")) == before
    assert [array.dtype.name for array in held] == ["float64", "float32"]
