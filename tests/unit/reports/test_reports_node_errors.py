"""Nodes ranked: by their own error, and by what they add."""

from __future__ import annotations

import datetime
import math

from assay.core.node_error import NodeError
from assay.core.result import Result
from assay.judge.verdicts import judge
from assay.reports.node_errors import RANKED, PerNodeCsv, node_rows, node_tables
from assay.reports.terminal import Terminal
from assay.testing.builders import make_job, make_result, make_run

ERRORS = (
    NodeError(0, "/conv", "Conv", "c", 0.2, 60.0, 1e-3, 0.999, 0.01),
    NodeError(1, "=cmd()", "Relu", "r", 0.0, math.inf, 0.0, 1.0, 0.0),
    NodeError(2, "/encoder/layers.11/attention/output/dense/MatMul", "MatMul", "m", 0.9, 20.0, 0.1, 0.99, 1.0),
    NodeError(3, "loop", "Loop", "l", None, 10.0, 0.3, 0.9, 2.0),
)


def _result(errors: tuple[NodeError, ...] = ERRORS) -> Result:
    return make_result(kind="per_node", node_errors=errors)


def test_both_rankings_have_the_worst_first_and_leave_out_what_has_no_figure() -> None:
    (own, _, first), (added, _, second) = node_tables(_result(), names=20)
    assert own.startswith("Nodes by their own error")
    assert [line[0] for line in first] == ["2", "0", "1"]
    assert added.startswith("Nodes by the relative error that they add")
    assert [line[0] for line in second] == ["3", "2", "0"]
    assert first[0][1] == "...tput/dense/MatMul"
    assert first[2][4] == "exact"


def test_long_rankings_say_how_many_there_are() -> None:
    many = tuple(NodeError(place, f"n{place}", "Add", "o", 0.1 * place) for place in range(RANKED + 5))
    ((title, _, lines),) = node_tables(_result(many), names=20)
    assert title.endswith("10 of 15:")
    assert len(lines) == RANKED


def test_the_terminal_shows_them_though_all_is_right_and_the_page_has_all() -> None:
    run = make_run(jobs=(make_job(kind="per_node"),))
    judgement = judge([_result()], run.policy, planned=[run.jobs[0].key], today=datetime.date(2026, 11, 24))
    text = Terminal(width=100).render(run, [_result()], judgement)
    assert "Nodes by their own error" in text
    assert "...layers.11/attention/output/dens" in text or "attention/output/dense/MatMul" in text
    rows = node_rows(_result())
    assert [row[0] for row in rows] == [0, 1, 2, 3]
    assert rows[1][9] is None  # an infinite ratio is no point of the plot


def test_the_file_has_a_line_a_node_at_full_precision_and_no_formula() -> None:
    run = make_run(jobs=(make_job(kind="per_node"),))
    judgement = judge([_result()], run.policy, planned=[run.jobs[0].key], today=datetime.date(2026, 11, 24))
    lines = PerNodeCsv().render(run, [_result()], judgement).splitlines()
    assert len(lines) == 1 + len(ERRORS)
    assert ",'=cmd(),Relu," in lines[2]
    assert lines[4].endswith(",l,,10.0,0.3,0.9,2.0")
