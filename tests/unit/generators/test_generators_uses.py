"""Engines in use: what is right at first and wrong later is a suspect, named by the use; a sound engine is none."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.flow import Flow, Option
from assay.core.outcome import Outcome
from assay.core.screening import ANY_OPERATOR, CaseId, Screened, Suspect, Unspecified, Use, is_of_use
from assay.fuzz.corpus import Waiting
from assay.fuzz.look import status_of
from assay.fuzz.screening import KEPT, KEPT_VERSION
from assay.generators.files import keep_case
from assay.generators.kept_cases import KeptCases
from assay.generators.progress import used_s
from assay.generators.screen import _Screener, screen
from assay.generators.sweep import Sweep
from assay.generators.used_engines import UsedEngines
from assay.ports import OptionSpec
from assay.ports.generator import GeneratedCase, Generator
from assay.testing.faulty_backend import Faulty, FaultyEngine
from assay.worker.stages import Stages
from screening import CASES, OfPrograms, screening_job


def _suspects(folder: Path, **options: Option) -> tuple[tuple[Suspect, ...], dict[str, int]]:
    screening = screen(screening_job(folder, **options), Stages(lambda stage: None))
    return screening.suspects, dict(screening.counts)


@pytest.mark.heavy
def test_a_sound_engine_is_right_in_every_use(tmp_path: Path) -> None:
    suspects, counts = _suspects(tmp_path)
    assert suspects == ()
    assert counts[Screened.RIGHT] > CASES / 3
    assert all(counts[use] > 5 for use in Use)


def test_a_job_ends_with_the_case_that_its_time_is_over_in(tmp_path: Path) -> None:
    """A slow backend takes minutes for a few cases."""
    job = replace(screening_job(tmp_path), first=1, seconds=0.0)
    assert screen(job, Stages(lambda stage: None)).done == 2


def test_what_a_compiler_of_its_own_process_uses_counts() -> None:
    before, own = used_s(), time.process_time()
    burn = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-c", burn], check=True)
    assert used_s() - before - (time.process_time() - own) > 0.25


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("fault", "options", "use"),
    [
        ("by_previous", {}, Use.OTHER_SIZES),
        ("late_call", {"from_call": 5}, Use.AGAIN),
        ("late_call", {"from_call": 5}, Use.SIDE_BY_SIDE),
    ],
)
def test_an_engine_that_is_wrong_later_is_named_by_its_use(
    tmp_path: Path, fault: str, options: dict[str, Option], use: Use
) -> None:
    suspects, _ = _suspects(tmp_path, fault=fault, **options)
    of_use = [suspect for suspect in suspects if suspect.kind == use]
    assert of_use
    floats = [
        suspect for suspect in of_use if any(dtype.startswith("float") for dtype in suspect.dtypes)
    ]  # the fault is of them
    assert floats
    assert all(is_of_use(suspect.ablated) for suspect in floats)


class _WrongLater(Faulty):
    """Wrong in a call after the first, where its model has one of these operators; only each so many engines of it are."""

    def __init__(self, operators: dict[str, int]) -> None:
        self._operators, self._made = operators, Counter[str]()

    def lower(self, model: Path, flow: Flow) -> FaultyEngine:
        present = {node.op_type for node in onnx.load(model).graph.node} & self._operators.keys()
        self._made.update(present)
        due = any(self._made[name] % self._operators[name] == 0 for name in present)
        return super().lower(model, replace(flow, options={"fault": "late_call", "from_call": 2} if due else {}))


@pytest.mark.parametrize(
    ("operators", "right"),
    [({"Sigmoid": 1}, True), ({"Sigmoid": 1, "Relu": 1}, False), ({"Sigmoid": 1, "Relu": 5}, False)],
)
def test_what_fails_in_a_use_is_tried_with_another_operator(
    tmp_path: Path, operators: dict[str, int], right: bool
) -> None:
    """Often enough that one is seen that fails now and then."""
    graph = '<ir_version: 8, opset_import: ["" : 17]> g (float[2, 3] x) => (float[2, 3] y) { y = Sigmoid(x) }'
    model = onnx.parser.parse_model(graph).SerializeToString()
    case = GeneratedCase(model, {"x": np.ones((2, 3), np.float32)}, uses=(Use.SIDE_BY_SIDE,))
    keep_case(case, tmp_path, "case")
    job = replace(screening_job(tmp_path), generator=KEPT, version=KEPT_VERSION, kept=(str(tmp_path / "case"),))
    screener = _Screener(job, _WrongLater(operators), KeptCases(job.kept))
    screener.one(0)
    (suspect,) = screener.result().suspects
    assert suspect.kind == Use.SIDE_BY_SIDE
    assert suspect.ablated[ANY_OPERATOR] is right
    assert suspect.operators[0].partition("@")[0] == ("Sigmoid" if right else "Relu")


@pytest.mark.heavy
def test_a_second_engine_reads_the_form_that_the_backend_reads(tmp_path: Path) -> None:
    screener = _Screener(screening_job(tmp_path), OfPrograms(), UsedEngines())
    for index in range(12):  # each is exported
        screener.one(index)
        screening = screener.result()
        if screening.counts.get(Use.SIDE_BY_SIDE, 0) > 1:
            break
    assert screening.suspects == ()
    assert screening.counts[Use.SIDE_BY_SIDE] > 1


class _FirstIsFaulty(Faulty):
    """Of the engines that it makes the first alone has the fault."""

    def __init__(self) -> None:
        self.made = 0

    def lower(self, model: Path, flow: Flow) -> FaultyEngine:
        self.made += 1
        return super().lower(model, flow if self.made == 1 else replace(flow, options={}))


@pytest.mark.heavy
def test_what_is_wrong_at_other_sizes_once_is_no_suspect(tmp_path: Path) -> None:
    job = screening_job(tmp_path, fault="by_previous")
    known = screen(job, Stages(lambda stage: None)).suspects
    case = next(suspect.case for suspect in known if suspect.kind == Use.OTHER_SIZES)
    kept = Path(job.corpus) / f"{case}.uses"
    assert kept.read_text().split() == [Use.OTHER_SIZES]
    assert kept.with_name(f"{case}.other-1.npz").exists()
    screener = _Screener(job, _FirstIsFaulty(), UsedEngines())
    screener.one(case.index)
    screening = screener.result()
    assert screening.counts[Use.OTHER_SIZES] > 1
    assert screening.suspects == ()


class _Swallowing(Faulty):
    """With one thread it gives a false answer in place of an error, which it raises with two."""

    options = (*Faulty.options, OptionSpec("threads", 1))

    def lower(self, model: Path, flow: Flow) -> FaultyEngine:
        fault = "zeros" if flow.options.get("threads", 1) == 1 else "raise"
        return super().lower(model, replace(flow, options={"fault": fault}))


@pytest.mark.parametrize(
    "generator", [Sweep(), UsedEngines()], ids=["alone", "a case with uses that is wrong at first"]
)
def test_an_error_that_one_thread_swallows_is_a_failure(tmp_path: Path, generator: Generator) -> None:
    job = replace(screening_job(tmp_path), generator=generator.name, version=generator.version)
    screener = _Screener(job, _Swallowing(), generator)
    for index in range(20):
        screener.one(index)
    suspects = screener.result().suspects
    assert {suspect.kind for suspect in suspects} == {"failed"}
    assert all("asked to raise" in suspect.detail for suspect in suspects), suspects


def test_a_worker_that_ended_in_use_and_not_in_a_check_is_no_case_that_is_right(tmp_path: Path) -> None:
    result = empty_result(screening_job(tmp_path))
    ended = Waiting("faulty", Suspect(CaseId("used-engines", 2, 3, 0), "crash"))
    assert status_of(ended, result, used=True) == "in_use"
    assert status_of(ended, result) == "not_repeated"
    wrong = Waiting("faulty", Suspect(CaseId("used-engines", 2, 3, 0), "values"))
    assert status_of(wrong, result, used=True) == "not_repeated"
    refused = replace(result, outcome=Outcome.UNSUPPORTED)
    assert status_of(ended, refused) == "refused"
    assert status_of(ended, replace(result, outcome=Outcome.ERROR)) == "failed"
    assert status_of(wrong, refused) == "failed"
    assert status_of(wrong, replace(result, outcome=Outcome.MISTRUSTED)) == "not_judged"


@pytest.mark.parametrize(
    ("reason", "outcome", "status"),
    [
        (Unspecified.REFLECTED_TWICE, Outcome.MISMATCH, "unspecified"),
        (Unspecified.REFLECTED_TWICE, Outcome.NONDETERMINISTIC, "unstable"),
        (Unspecified.REPEATED_INDICES, Outcome.NONDETERMINISTIC, "unspecified"),
    ],
)
def test_where_the_standard_is_silent_no_answer_is_a_cause_but_two_of_one_engine_are(
    tmp_path: Path, reason: Unspecified, outcome: Outcome, status: str
) -> None:
    suspect = Suspect(CaseId("used-engines", 2, 3, 0), "values", unspecified=(reason,))
    result = replace(empty_result(screening_job(tmp_path)), outcome=outcome)
    assert status_of(Waiting("faulty", suspect), result) == status


@pytest.mark.heavy
def test_a_saved_engine_is_asked_again_when_it_is_loaded(tmp_path: Path) -> None:
    """The salt of its build is in the file that it saves, and in nothing before."""
    suspects, _ = _suspects(tmp_path, fault="by_build")
    assert {suspect.kind for suspect in suspects} == {Use.RELOADED}


def test_every_axis_of_one_size_gets_another_size() -> None:
    others = [(case, other) for index in range(60) if (case := UsedEngines().make(7, index)) for other in case.others]
    changed = 0
    for case, other in others:
        sizes = {
            (before, after)
            for name, array in case.inputs.items()
            for before, after in zip(array.shape, other[name].shape, strict=True)
            if before != after
        }
        assert len(sizes) <= 1
        changed += bool(sizes)
    assert changed * 2 > len(others) > 60
