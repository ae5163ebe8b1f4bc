"""What fails seldom is asked more often."""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import pytest
from msgspec.structs import replace

from assay.core.comparison import Comparison
from assay.core.empty_result import empty_result
from assay.core.finding import Finding
from assay.core.job import RegionJob, other_kind
from assay.core.outcome import Outcome
from assay.core.region import GraphNode, RegionError, RegionGraph
from assay.core.repeats import Instability, Pattern, Repeats
from assay.core.result import RegionResult
from assay.testing.builders import make_job, make_result
from assay.triage.cause_search import MOST_OUTPUTS, MOST_TRIES, _part, tries_for
from assay.triage.context import Whole, end_of
from assay.triage.graph import Graph, Places
from assay.triage.prober import OutOfTime, Prober
from assay.triage.reduce import MOST_SETS
from assay.triage.symptom import UNSTABLE, Symptom
from assay.triage.unstable import FEW, RUNS, builds_for


def test_what_fails_in_half_of_its_tries_is_asked_six_times() -> None:
    assert [tries_for(share) for share in (1.0, 0.5, 0.01)] == [1, 6, MOST_TRIES]


def test_an_answer_that_is_unstable_is_looked_into_as_such() -> None:
    assert end_of(make_result(outcome=Outcome.NONDETERMINISTIC)).kind == UNSTABLE


def test_a_wrong_answer_that_is_another_one_in_each_run_is_looked_into_as_a_wrong_one() -> None:
    wrong = Comparison(
        "y", "float32", (4,), 1, 4, metrics={"budget_used": 9.0, "rel_l2": 0.5}, findings=(Finding("y", "values"),)
    )
    end = end_of(make_result(outcome=Outcome.NONDETERMINISTIC, comparisons=(wrong,)))
    assert (end.kind, end.output, end.size, end.unstable) == ("values", "y", 0.5, True)


@pytest.mark.parametrize(("pattern", "builds"), [(Pattern.EVERY_CALL, FEW), (Pattern.SECOND_BUILD, RUNS)])
def test_few_engines_are_built_where_the_calls_of_one_differ(pattern: Pattern, builds: int) -> None:
    assert builds_for(make_result(repeats=Repeats(found=(Instability(pattern),)))) == builds


class Seldom:
    """Jobs that fail in their third try."""

    asked = 0

    async def run(self, job: RegionJob) -> RegionResult:
        self.asked += 1
        errors = (RegionError(0, "y", "values", 9.0, 0.5),) if job.attempt == 2 else ()
        return replace(empty_result(job), errors=errors)


def test_a_part_is_asked_until_it_fails() -> None:
    class Services:
        jobs = Seldom()

    job = other_kind(make_job(), RegionJob, values_dir="", windows=())
    prober = Prober(cast("Any", Services()), job, float("inf"))
    assert not asyncio.run(prober.ask([{0}])).errors
    prober.tries = 6
    assert asyncio.run(prober.ask([{0}])).errors
    assert Services.jobs.asked == 3, "the first was known"


@pytest.mark.parametrize(("left_s", "raised"), [(1000.0, False), (5.0, True), (-1.0, True)])
def test_a_question_ends_when_the_time_is_over(left_s: float, raised: bool) -> None:
    seen: list[float] = []

    class Slow:
        async def run(self, job: RegionJob) -> RegionResult:
            seen.append(job.limits.timeout_s)
            return replace(empty_result(job), outcome=Outcome.TIMEOUT)

    class Services:
        jobs = Slow()

    job = other_kind(make_job(), RegionJob, values_dir="", windows=())
    prober = Prober(cast("Any", Services()), job, time.monotonic() + left_s)
    if raised:
        with pytest.raises(OutOfTime):
            asyncio.run(prober.ask([{0}]))
    else:
        assert prober.symptom_of(asyncio.run(prober.ask([{0}]))) is not None, "it takes longer than it may"
    assert all(seconds <= max(left_s, 0.0) or seconds == job.limits.timeout_s for seconds in seen)
    assert bool(seen) == (left_s > 0)


ENDINGS = (
    (("c",), (("c",), frozenset({0, 2}))),
    (("b", "c"), (("b", "c"), frozenset({0, 1, 2}))),
    (("a", "b"), (("a", "b"), frozenset({0, 1}))),
    (("never",), None),
)


@pytest.mark.parametrize(("ending", "due"), ENDINGS)
def test_a_model_that_ends_its_process_is_cut_at_the_fewest_outputs_that_it_ends_with(
    ending: tuple[str, ...], due: object
) -> None:
    """What the first of its outputs is computed by may run: what makes that right is no cure, and its script fails nowhere."""
    nodes = tuple(
        GraphNode(name, "Neg", reads, (name,)) for name, reads in (("a", ("x",)), ("b", ("x",)), ("c", ("a",)))
    )
    crash = Symptom("crash SIGABRT")

    class Ends:
        async def ask(self, windows: list[Places], *, outputs: tuple[str, ...]) -> tuple[str, ...]:
            return outputs

        def symptom_of(self, result: object) -> Symptom | None:
            ends = isinstance(result, tuple) and {*ending} <= {*result}
            return crash if ends or result is whole.result else None

    graph = Graph(RegionGraph(nodes, ("x",), ("a", "b", "c"), ("x", "a", "b", "c")))
    job = other_kind(make_job(), RegionJob, values_dir="", windows=())
    result = replace(empty_result(job), outcome=Outcome.CRASH)
    whole = Whole(cast("Any", None), graph, cast("Any", Ends()), frozenset({0, 1, 2}), result)
    part = asyncio.run(_part(whole, frozenset()))
    assert (None if part is None else (part.outputs, part.places)) == due


def test_of_many_outputs_only_the_first_are_tried_alone() -> None:
    """Each is a process that may end: a model with hundreds of outputs would take all the time of triage."""
    names = tuple(f"y{place}" for place in range(5 * MOST_OUTPUTS))
    asked: list[tuple[str, ...]] = []

    class EndsWithAll:
        async def ask(self, windows: list[Places], *, outputs: tuple[str, ...]) -> tuple[str, ...]:
            asked.append(outputs)
            return outputs

        def symptom_of(self, result: object) -> Symptom | None:
            return Symptom("crash SIGABRT") if result is whole.result else None

    graph = Graph(RegionGraph(tuple(GraphNode(name, "Neg", ("x",), (name,)) for name in names), ("x",), names, names))
    result = replace(empty_result(other_kind(make_job(), RegionJob, values_dir="", windows=())), outcome=Outcome.CRASH)
    everything = frozenset(range(len(names)))
    whole = Whole(cast("Any", None), graph, cast("Any", EndsWithAll()), everything, result)
    assert asyncio.run(_part(whole, frozenset())) is None
    assert asked[:MOST_OUTPUTS] == [(name,) for name in names[:MOST_OUTPUTS]]
    assert len(asked) <= MOST_OUTPUTS + MOST_SETS + 1
