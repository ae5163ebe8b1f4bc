"""Engines that misbehave before a golden of sketches: seen as they are before one that is whole."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from assay.core.case import Case, Inputs, Original
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option
from assay.core.job import VerifyJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.repeats import Pattern
from assay.core.result import VerifyResult
from assay.errors import UsageError
from assay.judge.job_outcome import with_outcome
from assay.judge.words.note_text import note_text
from assay.models.onnx_file import open_model
from assay.ports import Engine
from assay.worker.dispatch import execute
from assay.worker.engine.lower import load, lower
from assay.worker.stages import Stages
from assay.worker.verify.sketched import verify_sketched
from command_line import run_assay
from language_model import write


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Path]:
    folder = tmp_path_factory.mktemp("sketched")
    (folder / "prompts.jsonl").write_text("[1, 2, 3, 4, 5, 6, 7]\n[3, 1, 4, 1, 5]\n[2, 7, 1]\n", "utf-8")
    model = open_model(write(folder / "lm.onnx"))
    record = ("golden", "record", "lm.onnx", "golden", "--inputs", "prompts.jsonl", "--form", "sketch", "--reason", "t")
    done = run_assay(*record, cwd=folder)
    assert done.returncode == 0, done.stderr
    return model, folder / "golden"


def _job(made: tuple[Model, Path], scratch: Path, **options: Option) -> VerifyJob:
    model, golden = made
    case = Case("lm", model, Inputs(golden=str(golden)))
    return VerifyJob(case, Flow("faulty", "faulty", options), limits=Limits(repeat_share=100.0), scratch=str(scratch))


def _verified(job: VerifyJob) -> VerifyResult:
    result = with_outcome(execute(job, Stages(lambda stage: None)), job)
    assert isinstance(result, VerifyResult)
    return result


def test_a_right_engine_is_asked_again(made: tuple[Model, Path], tmp_path: Path) -> None:
    result = _verified(_job(made, tmp_path))
    assert result.outcome is Outcome.OK, result.detail
    assert result.repeats.calls >= 100
    assert not result.repeats.found


@pytest.mark.parametrize(
    ("fault", "kind"), [("wrong_dtype", "dtype"), ("extra_output", "extra_output"), ("reorder_outputs", "output_order")]
)
def test_what_it_gives_is_what_the_model_declares(
    fault: str, kind: str, made: tuple[Model, Path], tmp_path: Path
) -> None:
    result = _verified(_job(made, tmp_path, fault=fault))
    assert result.outcome is Outcome.MISMATCH, result.detail
    assert kind in {finding.kind for finding in result.findings}


@pytest.mark.parametrize(
    ("fault", "pattern"),
    [
        ("every_call", Pattern.EVERY_CALL),
        ("reused_buffer", Pattern.REUSED_BUFFER),
        ("written_input", Pattern.WRITTEN_INPUT),
        ("by_build", Pattern.SECOND_BUILD),
    ],
)
def test_answers_that_do_not_repeat(fault: str, pattern: Pattern, made: tuple[Model, Path], tmp_path: Path) -> None:
    """What is added to all logits alike changes no probability, so that the sketches alone see nothing."""
    result = _verified(_job(made, tmp_path, fault=fault))
    assert result.outcome is Outcome.NONDETERMINISTIC, result.detail
    assert pattern in {instance.pattern for instance in result.repeats.found}


def _said(result: VerifyResult) -> str:
    assert result.ended is not None
    return note_text(result.ended)


class Coarse:
    """A right engine whose weights are halves."""

    def __init__(self, inner: Engine) -> None:
        self.run, self.save, self._inner = inner.run, inner.save, inner

    def facts(self) -> EngineInfo:
        return msgspec.structs.replace(self._inner.facts(), weights={"float16": 5})


class Serving(Coarse):
    """It continues prompts, by its attributes."""

    service: object = ()
    tokenizer: object = ()
    settings: dict[str, Option] = {}
    chat_text: object = ()


def _sketched(job: VerifyJob, kind: type[Coarse]) -> VerifyResult:
    stages = Stages(lambda stage: None)
    lowered = lower(job, stages)
    return verify_sketched(job, lowered, kind(load(lowered, job, stages)), stages)


def test_a_coarser_type_than_promised_is_found(made: tuple[Model, Path], tmp_path: Path) -> None:
    result = _sketched(_job(made, tmp_path), Coarse)
    assert [finding.kind for finding in result.findings] == ["precision"]


def test_a_service_is_told_how_to_use_the_prompts(made: tuple[Model, Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        _sketched(_job(made, tmp_path), Serving)
    assert caught.value.note is not None
    assert f"give its prompts with --inputs {made[1]}" in note_text(caught.value.note)


def test_a_cache_that_is_lost_is_named(made: tuple[Model, Path], tmp_path: Path) -> None:
    result = _verified(_job(made, tmp_path, fault="lose_output"))
    assert "Engine.run gave no output 'present_value', which the next call is fed: fix the backend" in _said(result)


def test_what_takes_whole_answers_is_refused(made: tuple[Model, Path], tmp_path: Path) -> None:
    job = _job(made, tmp_path)
    changed = msgspec.structs.replace(job.case, original=Original(made[0], golden=str(made[1])))
    for wanted, option in (
        (msgspec.structs.replace(job, save_outputs=str(tmp_path / "out.npz")), "--save-outputs"),
        (msgspec.structs.replace(job, save_inputs=str(tmp_path / "in.npz")), "--save-inputs"),
        (msgspec.structs.replace(job, case=changed), "original"),
    ):
        assert f"'{option}' needs whole answers" in _said(_verified(wanted))
