"""Nodes that are each right, and an end that is wrong."""

from __future__ import annotations

import datetime

import pytest

from assay.core.finding import Finding
from assay.core.outcome import Outcome
from assay.core.policy import Policy
from assay.judge import judge
from assay.judge.verdicts import COMBINATION
from assay.testing.builders import make_comparison, make_result

WRONG = make_result(
    outcome=Outcome.MISMATCH,
    comparisons=(make_comparison(budget_used=9.0, findings=(Finding("values", "scores"),)),),
)


@pytest.mark.parametrize(
    ("outcome", "flow", "said"),
    [
        (Outcome.OK, "onnxruntime", True),
        (Outcome.MISMATCH, "onnxruntime", False),  # a node is blamed
        (Outcome.MISTRUSTED, "onnxruntime", False),  # none could be judged
        (Outcome.OK, "openvino-f32", False),  # another engine's nodes
    ],
)
def test_a_combination_is_named_where_no_node_is_at_fault(outcome: Outcome, flow: str, said: bool) -> None:
    nodes = make_result(flow=flow, kind="per_node", outcome=outcome)
    judgement = judge(
        [WRONG, nodes], Policy(), planned=[WRONG.job_key, nodes.job_key], today=datetime.date(2026, 11, 24)
    )
    assert (COMBINATION in judgement.verdicts[0].reason) is said


def test_a_right_end_says_nothing_of_it() -> None:
    nodes = make_result(kind="per_node")
    right = make_result()
    judgement = judge(
        [right, nodes], Policy(), planned=[right.job_key, nodes.job_key], today=datetime.date(2026, 11, 24)
    )
    assert COMBINATION not in judgement.verdicts[0].reason
