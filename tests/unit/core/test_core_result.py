"""Every kind of job has a result of its own, with no field that nothing fills."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import get_args

import pytest

import assay
from assay.core.empty_result import empty_result
from assay.core.job import AnyJob
from assay.core.job_base import FlowJob, JobKind
from assay.core.result import AnyResult, EngineResult, Result
from assay.testing.builders import make_job

ROOT = Path(next(iter(assay.__path__)))
ROOMS = {
    "inspect": ("worker/reference",),
    "compute_reference": ("worker/reference",),
    "derive_tolerance": ("worker/reference",),
    "verify": ("worker/verify", "pipeline"),
    "per_node": ("worker/per_node", "pipeline"),
    "evaluate_values": ("worker/regions",),
    "verify_region": ("worker/regions",),
    "change": ("worker/inputs", "pipeline"),
    "measure": ("worker/timing", "pipeline"),
    "compare_speed": ("worker/timing",),
    "alternate": ("worker/timing",),
    "search_inputs": ("mutation",),
    "screen": ("generators",),
    "mutation_score": ("pipeline",),
    "load": ("pipeline",),
}
"""Where results of that kind are filled: the room of the handler, and the pipeline, which asks witnesses and sums up mutants."""


def _tag(kind: type[AnyJob] | type[AnyResult]) -> str:
    return str(kind.__struct_config__.tag)


def test_each_kind_has_one_type_of_job_and_one_of_result() -> None:
    jobs, results = ([_tag(arg) for arg in get_args(union)] for union in (AnyJob, AnyResult))
    assert sorted(jobs) == sorted(results) == sorted(JobKind)


@pytest.mark.parametrize("kind", list(JobKind))
def test_a_job_starts_from_the_result_of_its_kind(kind: JobKind) -> None:
    job = make_job(kind=kind)
    result = empty_result(job)
    assert (result.kind, result.flow) == (kind, job.subject)
    # Many questions about parts of one graph have one case, flow and kind.
    assert result.job_key.startswith(f"digits-classifier|{job.subject}|{kind}")


def test_a_job_in_which_no_engine_takes_part_has_no_flow_and_a_subject_of_its_own() -> None:
    every = [make_job(flow="mine", kind=kind) for kind in JobKind]
    assert {job.kind.value: job.subject for job in every if not isinstance(job, FlowJob)} == {
        "noop": "noop",
        "inspect": "inspect",
        "derive_tolerance": "derive-float32",
        "change": "model-change",
    }
    assert {job.subject for job in every if isinstance(job, FlowJob)} == {"mine"}
    narrower = make_job(kind="derive_tolerance", precision="float16", allowances=("winograd",))
    assert narrower.subject == "derive-float16-winograd"


@pytest.mark.parametrize("kind", get_args(AnyResult), ids=_tag)
def test_a_result_has_no_field_that_nothing_fills(kind: type[AnyResult]) -> None:
    shared = EngineResult if issubclass(kind, EngineResult) else Result
    own = set(kind.__struct_fields__) - set(shared.__struct_fields__)
    filled = {name for room in ROOMS.get(_tag(kind), ()) for name in _given(ROOT / room)}
    assert own <= filled, f"nothing in {ROOMS.get(_tag(kind), ())} fills {sorted(own - filled)}"


@cache
def _given(room: Path) -> frozenset[str]:
    """The names of keyword arguments."""
    sources = [path.read_text(encoding="utf-8") for path in room.rglob("*.py")]
    calls = [node for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return frozenset(word.arg for call in calls for word in call.keywords if word.arg)
