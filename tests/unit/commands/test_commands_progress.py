"""What a person who waits sees: by a clock that stands still between the events."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from assay.commands.progress import Lines, activity
from assay.core.case import Case
from assay.core.comparison import Comparison
from assay.core.flow import Flow
from assay.core.job import DeriveToleranceJob, VerifyJob
from assay.core.job_base import Job, JobKind
from assay.core.model import Model
from assay.core.outcome import Outcome, Stage
from assay.core.result import VerifyResult
from assay.core.step import UNKNOWN, Step
from assay.testing.builders import make_job

JOB = VerifyJob(Case("net", Model("net", "", "")), Flow("onnxruntime", "onnxruntime"))


class _Told:
    """Lines and a clock that is moved by hand."""

    def __init__(self) -> None:
        self.now, self.texts = 0.0, list[str]()
        self.lines = Lines(self.texts.append, lambda: self.now)

    def ticks(self, seconds: float) -> None:
        for _ in range(int(seconds * 4)):
            self.now += 0.25
            self.lines.tick()


def _derivation(case: str = "net") -> Job:
    return DeriveToleranceJob(Case(case, JOB.case.model), tolerance_dir="", precision="float32")


def test_something_is_shown_within_two_seconds_whatever_happens() -> None:
    shown = _Told()
    shown.ticks(2.0)
    assert shown.texts == ["[  1.0 s] starting"]


def test_a_command_that_lasts_hours_writes_a_line_each_minute_whatever_it_does() -> None:
    shown = _Told()
    shown.lines = Lines(shown.texts.append, lambda: shown.now, rest_s=60.0)
    shown.lines.start()
    for number in range(40):
        shown.lines.doing(f"{number} cases")
        shown.ticks(4.0)
    assert shown.texts == ["[  0.0 s] starting", "[ 60.0 s] 14 cases", "[120.0 s] 29 cases"]


def test_a_pipe_has_a_first_line_before_anything_that_takes_time_to_import() -> None:
    script = (
        "import sys\n"
        "from assay.cli.common import progress_bar\n"
        "with progress_bar():\n"
        "    print({'numpy', 'onnx', 'sqlalchemy', 'rich'}.intersection(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == ["[  0.0 s] starting", "set()"]


def test_what_lasts_has_a_line_every_two_seconds_for_half_a_minute_and_every_ten_later() -> None:
    shown = _Told()
    shown.lines.at(_derivation(), Stage.RUN, 0, 1, UNKNOWN)
    shown.ticks(55.0)
    assert shown.texts == [
        f"[{seconds:5.1f} s] deriving the tolerance of net for float32{lasts}"
        for seconds, lasts in (
            (1, ""),
            *((at, f", for {at} s") for at in (*range(3, 30, 2), 39, 49)),
        )
    ]


def test_a_sign_of_life_says_how_far_it_is_and_a_step_is_no_new_activity() -> None:
    shown = _Told()
    shown.lines.at(_derivation(), Stage.RUN, 0, 1, UNKNOWN)
    shown.ticks(1.0)
    shown.lines.at(_derivation(), Stage.RUN, 0, 1, Step(2, 4, 3, 8))
    shown.ticks(2.0)
    shown.lines.at(_derivation(), Stage.RUN, 0, 1, Step(1, 1, 5, 8))
    shown.ticks(2.0)
    assert [text[10:] for text in shown.texts] == [
        "deriving the tolerance of net for float32",
        "deriving the tolerance of net for float32, sample 2 of 4, draw 3 of 8, for 3 s",
        "deriving the tolerance of net for float32, draw 5 of 8, for 5 s",
    ]


def test_stages_that_are_over_at_once_have_no_lines_of_their_own() -> None:
    shown = _Told()
    for stage in (Stage.IMPORT, Stage.LOWER, Stage.RUN, Stage.COMPARE, None):
        shown.lines.at(JOB, stage, 0, 1, UNKNOWN)
        shown.ticks(0.25)
    assert shown.texts == []


def test_many_short_stages_are_still_a_line_every_two_seconds() -> None:
    shown = _Told()
    for number in range(16):
        shown.lines.at(_derivation(f"net{number}"), Stage.RUN, number, 16, UNKNOWN)
        shown.ticks(0.5)
        shown.lines.at(_derivation(f"net{number}"), None, number + 1, 16, UNKNOWN)
    assert shown.texts == [
        "[  2.0 s] deriving the tolerance of net3 for float32, 3 of 16 done",
        "[  4.0 s] deriving the tolerance of net7 for float32, 7 of 16 done",
        "[  6.0 s] deriving the tolerance of net11 for float32, 11 of 16 done",
        "[  8.0 s] deriving the tolerance of net15 for float32, 15 of 16 done",
    ]


def test_a_verdict_is_shown_at_once_while_others_are_still_to_come() -> None:
    shown = _Told()
    compared = Comparison("y", "float32", (4,), 1, 4, metrics={"budget_used": 0.25})
    result = VerifyResult("net|onnxruntime|verify", "net", "onnxruntime", "", Outcome.OK, Stage.COMPARE)
    shown.lines.recorded(1, 2, msgspec.structs.replace(result, comparisons=(compared,)), "pass")
    assert shown.texts == ["[  0.0 s] pass: net on onnxruntime (verify, budget used 0.25)"]
    shown.lines.recorded(2, 2, result, "pass")
    shown.lines.recorded(1, 3000, result, "fail")
    assert len(shown.texts) == 1


def test_of_jobs_side_by_side_the_one_that_still_runs_is_shown() -> None:
    shown = _Told()
    shown.lines.at(_derivation("first"), Stage.RUN, 0, 2, UNKNOWN)
    shown.lines.at(_derivation("second"), Stage.RUN, 0, 2, UNKNOWN)
    shown.lines.at(_derivation("second"), None, 1, 2, UNKNOWN)
    assert shown.lines.current.text == "deriving the tolerance of first for float32"


def test_the_count_is_that_of_the_run_and_never_falls() -> None:
    shown = _Told()
    result = VerifyResult("net|onnxruntime|verify", "net", "onnxruntime", "", Outcome.OK, Stage.COMPARE)
    shown.lines.begun(0, 2)
    shown.lines.at(_derivation(), Stage.RUN, 3, 5, UNKNOWN)
    shown.ticks(1.0)
    shown.lines.recorded(1, 2, result, "")
    shown.ticks(2.0)
    shown.lines.at(JOB, Stage.RUN, 0, 1, UNKNOWN)
    shown.ticks(1.0)
    assert [text.rpartition(", ")[2] for text in shown.texts] == ["0 of 2 done", "1 of 2 done", "1 of 2 done"]


def test_outside_a_run_the_count_is_the_newest_of_the_launch() -> None:
    shown = _Told()
    shown.lines.at(_derivation("first"), Stage.RUN, 3, 12, UNKNOWN)
    shown.lines.at(_derivation("second"), Stage.RUN, 3, 12, UNKNOWN)
    shown.ticks(1.0)
    shown.lines.at(_derivation("second"), None, 4, 12, UNKNOWN)
    shown.ticks(2.0)
    assert [text.rpartition(", ")[2] for text in shown.texts] == ["3 of 12 done", "4 of 12 done"]


@pytest.mark.parametrize("kind", list(JobKind))
@pytest.mark.parametrize("stage", list(Stage))
def test_every_activity_names_its_model(kind: JobKind, stage: Stage) -> None:
    assert "net" in activity(make_job("net", kind=kind), stage)


def test_what_lies_between_two_steps_is_no_news_unless_it_lasts() -> None:
    shown = _Told()
    shown.lines.at(_derivation(), Stage.RUN, 0, 1, UNKNOWN)
    shown.ticks(2.5)
    shown.lines.at(_derivation(), None, 1, 1, UNKNOWN)
    shown.ticks(1.75)
    assert shown.texts == ["[  1.0 s] deriving the tolerance of net for float32"]
    shown.ticks(0.25)
    assert shown.texts[1:] == ["[  4.5 s] starting the next job"]
