"""From which iteration on a loop is wrong."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import NodeProto, helper

from assay.worker.regions.iterations import first_wrong

LSTM = helper.make_node("LSTM", ["x", "w", "r"], ["y", "h", "c"], hidden_size=2)
BATCHES = helper.make_node("GRU", ["x", "w", "r"], ["y"], hidden_size=2, layout=1)
REVERSE = helper.make_node("RNN", ["x", "w", "r"], ["y"], hidden_size=2, direction="reverse")
BOTH = helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=2, direction="bidirectional")
LOOP = helper.make_node("Loop", ["n", "go", "state"], ["last", "y"])
SCAN = helper.make_node("Scan", ["state", "x"], ["last", "y"], num_scan_inputs=1, scan_output_axes=[1])


@pytest.mark.parametrize(
    ("node", "shape", "wrong", "first_place"),
    [
        (LSTM, (6, 1, 3, 2), np.s_[3:], (4, 6)),
        (BATCHES, (3, 6, 1, 2), np.s_[:, 3:], (4, 6)),
        (REVERSE, (6, 1, 3, 2), np.s_[:4], (3, 6)),
        (BOTH, (6, 2, 3, 2), np.s_[:1, 1], (6, 6)),
        (LOOP, (6, 4), np.s_[2:], (3, 6)),
        (SCAN, (4, 6), np.s_[:, 5:], (6, 6)),
        (LSTM, (6, 1, 3, 2), np.s_[:0], (0, 0)),
    ],
)
def test_the_first_wrong_iteration_is_counted_as_it_is_computed(
    node: NodeProto, shape: tuple[int, ...], wrong: object, first_place: tuple[int, int]
) -> None:
    exact = np.ones(shape)
    given = exact.astype(np.float32)
    given[wrong] = 2.0  # type: ignore[index]
    assert first_wrong(node, "y", given, exact) == first_place


def test_the_last_state_has_no_iterations() -> None:
    assert first_wrong(LSTM, "h", np.zeros((1, 3, 2), np.float32), np.ones((1, 3, 2))) == (0, 0)
