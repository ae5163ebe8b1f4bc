"""Engines that answer the same question otherwise, each seen and called what it is; and steady ones, which are not blamed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

from assay.core.case import Case
from assay.core.flow import Flow, Option
from assay.core.job import VerifyJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome, Stage
from assay.core.repeats import ENOUGH_CALLS, Pattern
from assay.core.result import VerifyResult
from assay.judge.chosen_tolerance import by_choice
from assay.judge.job_outcome import with_outcome
from assay.judge.words.repeats_text import asked_again, within_tolerance
from assay.judge.words.warnings_text import warnings_of
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model
from assay.testing.instabilities import SEEN_AS, UNSTEADY
from assay.worker.dispatch import execute
from assay.worker.stages import Stages
from small_models import linear_model

LIMITS = Limits(repeat_share=100.0)
"""However busy the machine is, all calls are made, and a second engine is built."""
QUICKLY: dict[str, Option] = {"every": 10}
WORDS = {
    Pattern.FIRST_CALL: "first answer",
    Pattern.CALLS: "from call",
    Pattern.TIME: "have passed since the engine was loaded",
    Pattern.DRIFT: "drift",
    Pattern.PREVIOUS_SAMPLE: "the sample that was run before",
    Pattern.HISTORY: "what ran before",
    Pattern.RARE: "a few answers",
    Pattern.EVERY_CALL: "from call to call",
    Pattern.ALIGNMENT: "where in memory the inputs begin",
    Pattern.BATCH_MATES: "the other rows of its batch",
    Pattern.THREADS: "the number of threads",
    Pattern.SECOND_BUILD: "a second engine",
    Pattern.REUSED_BUFFER: "it uses the buffer again",
    Pattern.WRITTEN_INPUT: "writes into its input 'x'",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Path]:
    """A model and a golden of four samples, three rows each."""
    import onnx
    from onnx import numpy_helper

    folder = tmp_path_factory.mktemp("linear")
    path = linear_model(folder / "linear.onnx")
    model = open_model(path)
    weight, bias = (numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer)
    generator = np.random.default_rng(3)
    inputs = [{"x": generator.normal(size=(3, 4)).astype(np.float32)} for _ in range(4)]
    outputs = [{"y": np.maximum(sample["x"] @ weight + bias, 0).astype(np.float32)} for sample in inputs]
    write_golden(
        folder / "golden", model=model, inputs=inputs, outputs=outputs, seed=1, producer="numpy",
        producer_version="1", who="tests", reason="a test", created_at="",
    )  # fmt: skip
    return model, folder / "golden"


def _job(made: tuple[Model, Path], scratch: Path, *, limits: Limits = LIMITS, **options: Option) -> VerifyJob:
    model, golden = made
    flow = Flow("faulty", "faulty", {**QUICKLY, **options})
    return VerifyJob(Case("linear", model), flow, limits=limits, scratch=str(scratch), reference_dir=str(golden))


def _verified(job: VerifyJob) -> VerifyResult:
    result = with_outcome(execute(job, Stages(lambda stage: None)), job)
    assert isinstance(result, VerifyResult)
    return result


@pytest.mark.parametrize("fault", sorted(SEEN_AS))
def test_every_kind_is_seen_and_called_what_it_is(fault: str, made: tuple[Model, Path], tmp_path: Path) -> None:
    waiting = {"wait_s": 0.002} if fault == "late_moment" else {}
    result = _verified(_job(made, tmp_path, fault=fault, **waiting))
    assert result.outcome is Outcome.NONDETERMINISTIC, result.detail
    pattern = SEEN_AS[fault]
    assert pattern in {instance.pattern for instance in result.repeats.found}, result.repeats.found
    assert WORDS[pattern] in result.detail
    assert result.stage is Stage.COMPARE


def test_every_kind_has_words_and_a_planted_fault() -> None:
    assert set(WORDS) == set(SEEN_AS.values()) == set(Pattern) - {Pattern.UNNAMED}
    assert set(UNSTEADY) - set(SEEN_AS) == {"last_bits"}


@pytest.mark.parametrize("every", [20, 50])
def test_one_call_in_many_is_seen(every: int, made: tuple[Model, Path], tmp_path: Path) -> None:
    result = _verified(_job(made, tmp_path, fault="nth_call", every=every))
    (instability,) = result.repeats.found
    assert (result.outcome, instability.pattern) == (Outcome.NONDETERMINISTIC, Pattern.RARE)
    assert instability.differing >= ENOUGH_CALLS // every
    assert f"({instability.differing} of {instability.calls} repeated calls)" in result.detail


def test_so_many_calls_see_one_in_fifty() -> None:
    assert 1 - 0.98**ENOUGH_CALLS >= 0.95 > 1 - 0.98 ** (ENOUGH_CALLS - 1)


def test_a_steady_engine_is_not_blamed(made: tuple[Model, Path], tmp_path: Path) -> None:
    result = _verified(_job(made, tmp_path, fault="none"))
    assert (result.outcome, result.repeats.found, within_tolerance(result)) == (Outcome.OK, (), ())
    assert (result.repeats.calls, result.repeats.builds, result.repeats.mates) == (ENOUGH_CALLS + 1, 1, 1)
    assert "one bad call in 50 would have been seen (95 %)" in asked_again(result.repeats)


def test_a_wrong_engine_that_is_steady_is_a_mismatch(made: tuple[Model, Path], tmp_path: Path) -> None:
    result = _verified(_job(made, tmp_path, fault="lie"))
    assert (result.outcome, result.repeats.found) == (Outcome.MISMATCH, ())


def test_last_bits_are_told_with_their_size_and_are_no_fault(made: tuple[Model, Path], tmp_path: Path) -> None:
    job = _job(made, tmp_path, fault="last_bits")
    result = _verified(job)
    assert result.outcome is Outcome.OK, result.detail
    (sentence,) = within_tolerance(result)
    assert sentence in warnings_of(result)
    assert "in their last digits" in sentence
    assert "times the tolerance" in sentence
    by_bits = by_choice(result, job, "fixed:0,0")
    assert by_bits.outcome is Outcome.NONDETERMINISTIC, "another choice of tolerance is judged by what was recorded"


def test_where_calls_are_dear_few_are_made_and_that_is_said(made: tuple[Model, Path], tmp_path: Path) -> None:
    job = _job(made, tmp_path, limits=Limits(repeat_share=0.25), wait_s=0.2)
    result = _verified(job)
    assert 2 <= result.repeats.calls < 20, "the call that is late, and those that fit a quarter of the time"
    assert f"up to one bad call in {1 / result.repeats.unseen_rate:.2g} may have been missed" in asked_again(
        result.repeats
    )
    none = _verified(msgspec.structs.replace(job, limits=Limits(repeat_share=0.0)))
    assert (none.repeats.calls, none.repeats.builds) == (1, 0)


def test_an_engine_without_a_reference_is_asked_again_too(made: tuple[Model, Path], tmp_path: Path) -> None:
    job = msgspec.structs.replace(
        _job(made, tmp_path, fault="late_call"), no_reference_reason="nobody can", reference_dir=""
    )
    result = _verified(job)
    assert result.outcome is Outcome.NONDETERMINISTIC
    assert "from call" in result.detail
