"""Pairs are learned past a case that ends the worker, and a case is made again from what its session draws from."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import ScreenJob
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.core.screening import CaseId, Suspect
from assay.fuzz.corpus import Arm, Corpus, Session, Waiting
from assay.fuzz.learn import PAIRS, learn
from assay.fuzz.made_again import made_again
from assay.generators.near_misses import NearMisses
from assay.pipeline.adapters import Services

ENDS = 500


def test_a_crash_loses_one_pair_alone(tmp_path: Path) -> None:
    arm = Arm(PAIRS, 1, "faulty")
    asked: list[tuple[int, int]] = []

    def run(job: ScreenJob) -> Result:
        asked.append((job.first, job.count))
        if job.first <= ENDS < job.first + job.count:
            Path(job.progress).write_text(str(ENDS))
            return empty_result(job, Outcome.CRASH)
        rewritten = (("Neg", f"from {job.first}"),)
        return replace(empty_result(job), done=job.first + job.count, rewritten=rewritten)

    services = cast(Services, SimpleNamespace(jobs=SimpleNamespace(run=run, complete=lambda result: result)))
    session = Session(seed=7, arms={arm.name: arm})
    flow = Flow(name="faulty", backend="faulty")
    assert learn([flow], Corpus(tmp_path), session, services, 3.0) == 2
    assert [first for first, _ in asked] == [0, 0, ENDS + 1]
    assert asked[1] == (0, ENDS)


def test_a_file_of_pairs_that_the_session_does_not_draw_from_changes_no_case(tmp_path: Path) -> None:
    corpus, generator = Corpus(tmp_path), NearMisses()
    corpus.learned.write_text('{"Relu": ["Neg"], "Neg": ["Relu"]}')
    for index in range(12):
        due = generator.make(7, index)
        case = CaseId("near-misses", generator.version, 7, index)
        assert made_again(Waiting("flow", Suspect(case, "crash")), corpus, Session(seed=7)) is (due is not None)
        if due is not None:
            assert (corpus.suspects("flow") / f"{case}.onnx").read_bytes() == due.model
            assert not (corpus.suspects("another") / f"{case}.onnx").exists()
