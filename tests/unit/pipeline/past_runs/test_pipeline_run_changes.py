"""The figures of the runs before, for a trend."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import SimpleNamespace
from typing import cast

from assay.core.changes import CellChange
from assay.core.result import Result
from assay.judge.changes import cell_changes
from assay.pipeline.adapters import Services
from assay.pipeline.past_runs.run_changes import PAST_RUNS, with_past
from assay.testing.builders import make_measurement, make_result, make_run


def _timed(batch: int, case: str = "m") -> list[Result]:
    return [make_result(case, "f", kind="measure", measurements=(make_measurement(batch),))]


class Past:
    """A history of complete runs by their ids; `read` are those whose results were asked for."""

    def __init__(self, runs: Mapping[str, list[Result]]) -> None:
        self.runs, self.read = runs, list[str]()

    def run_before(self, run_id: str, cells: Collection[tuple[str, str]]) -> str:
        has = (name for name, results in self.runs.items() if {(each.case, each.flow) for each in results} & set(cells))
        return max((name for name in has if name < run_id), default="")

    def results(self, run_id: str, jobs: Collection[str]) -> list[Result]:
        del jobs
        self.read.append(run_id)
        return self.runs[run_id]

    def beside(self, cells: Collection[CellChange], run_id: str) -> dict[tuple[str, str], int]:
        """Values of earlier runs beside each metric."""
        services = cast(Services, SimpleNamespace(store=self))
        shown = with_past(tuple(cells), (), make_run(id=run_id), services)
        return {(cell.case, delta.metric): len(delta.past) for cell in shown for delta in cell.deltas}


def test_a_trend_has_no_latency_of_another_batch() -> None:
    past = Past({"a": _timed(8), "b": _timed(1), "c": _timed(1)})
    values = past.beside(cell_changes(_timed(1), _timed(1)), "d")
    assert values["m", "latency.median_ms"] == 2
    assert values["m", "latency.batch1.median_ms"] == 2


def test_runs_of_other_models_between_take_no_value_away() -> None:
    """A night runs many suites: the dozen runs before a run are seldom of its model."""
    runs = {f"{number:03}": _timed(1, "m" if number % 20 == 0 else f"other{number}") for number in range(200)}
    past = Past({**runs, "300": _timed(1), "301": _timed(1)})
    values = past.beside(cell_changes(_timed(1), _timed(1)), "200")
    assert values["m", "latency.median_ms"] == 10, "later runs are none of the past"
    assert set(past.read) == {f"{number:03}" for number in range(0, 200, 20)}, "no other run is read"


def test_each_cell_has_its_own_last_runs() -> None:
    runs = {f"a{number:02}": _timed(1, "seldom") for number in range(3)}
    runs |= {f"b{number:02}": _timed(1) for number in range(2 * PAST_RUNS)}
    both = [*_timed(1), *_timed(1, "seldom")]
    past = Past(runs)
    values = past.beside(cell_changes(both, both), "c")
    assert values["m", "latency.median_ms"] == PAST_RUNS
    assert values["seldom", "latency.median_ms"] == 3
    assert len(past.read) == PAST_RUNS + 3
