"""Notebooks of a submission in the real sandbox: what they say is executed, and what they only pretend is not believed."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from safetensors.numpy import load_file, save_file
from zoo_place import DATASETS, metadata_says, place, validation

from assay.core.sandbox import Ending, Sandboxed, SandboxLimits
from assay.launch.sandbox.bubblewrap import Bubblewrap
from assay.ports import Availability
from assay_zoo.accuracy.check_accuracy import check_accuracy
from assay_zoo.accuracy.execution import execute
from assay_zoo.accuracy.metric import file_wanted, read_metric
from assay_zoo.accuracy.notebook_report import REPORT, Report, Trouble
from assay_zoo.accuracy.recompute import recompute
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.decision import Answer, decide
from assay_zoo.policy import Rules
from assay_zoo.services import open_tools
from assay_zoo.submission import SubmissionContext, SubmissionServices


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SubmissionServices]:
    with open_tools(tmp_path_factory.mktemp("zoo")) as opened:
        yield opened


@pytest.fixture(scope="module")
def sandbox() -> Bubblewrap:
    made = Bubblewrap()
    if not made.available().available:
        if os.environ.get("ASSAY_REQUIRE_SANDBOX"):
            pytest.fail(made.available().reason)
        pytest.skip(made.available().reason)
    return made


def check_and_value(here: SubmissionContext, sandbox: Bubblewrap, output: Path) -> tuple[Check, float | str]:
    """The validation notebook executed, and the metric that it gives, or why it gives none."""
    assert here.metadata is not None
    read = here.metadata.accuracy.read
    done = execute("accuracy.validation", "validation.ipynb", file_wanted(read), here, sandbox, output)
    if done.report is None:
        return done.check, ""
    reading = read_metric(read, done.report, output)
    return done.check, reading.sentence if reading.value is None else reading.value


def told(checks: list[Check]) -> dict[str, CheckOutcome]:
    return {check.name: check.outcome for check in checks}


def test_an_honest_submission_passes_and_its_accuracy_is_computed_again(
    tools: SubmissionServices, sandbox: Bubblewrap, tmp_path: Path
) -> None:
    here = place(tmp_path, minimum=0.95, dataset="datasets/digits")
    (tmp_path / "datasets").symlink_to(DATASETS)
    checks = check_accuracy(here, replace(tools, sandbox=sandbox, scratch=tmp_path / "scratch"))
    names = ("inference", "validation", "outputs", "claim", "minimum", "recomputed")
    outcomes = {f"accuracy.{name}": CheckOutcome.PASSED for name in names}
    assert told(checks) == {**outcomes, "accuracy.outputs": CheckOutcome.SKIPPED}
    assert checks[3].figures["measured"] == pytest.approx(0.984375)
    assert checks[5].executed == 450
    assert checks[5].figures["top1_accuracy"] == pytest.approx(0.988889, abs=1e-6)


def test_a_metric_that_is_only_written_there_is_none(sandbox: Bubblewrap, tmp_path: Path) -> None:
    """In Markdown, in a stored output, in a source: nothing printed it."""
    here = place(tmp_path, validation("x = 'top1 = 0.984375'", stored="top1 = 0.984375\n"))
    check, value = check_and_value(here, sandbox, tmp_path / "out")
    assert check.outcome is CheckOutcome.PASSED, check.sentence
    assert value == "no cell printed a line 'top1 = NUMBER' while it was executed"


def test_a_file_that_was_handed_in_is_not_what_the_notebook_wrote(sandbox: Bubblewrap, tmp_path: Path) -> None:
    def change(folder: Path) -> None:
        validation("import os\nprint(os.path.exists('out/metrics.json'))")(folder)
        metadata_says('read = "output:top1"', 'read = "file:out/metrics.json#top1"')(folder)
        (folder / "out").mkdir()
        (folder / "out" / "metrics.json").write_text('{"top1": 0.984375}')

    _, value = check_and_value(place(tmp_path, change), sandbox, tmp_path / "out")
    assert value == "the notebook wrote no out/metrics.json (a regular file of at most 1048576 bytes)"


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        pytest.param(
            ("a = 1", "\nprint(1 / (a - 1))"), "cell 2 of {}: ZeroDivisionError: division by zero", id="exception"
        ),
        pytest.param(("import os\nos.abort()",), "cell 1 of {}: the kernel died (SIGABRT)", id="crash"),
        pytest.param(
            ("import os\nos.kill(os.getppid(), 9)\nwhile True: pass",),
            "cell 1 of {} did not end: it crashed: SIGKILL; it left 1 process behind ({python!r}), which was ended",
            id="kills its master",
            marks=pytest.mark.slow,
        ),
        pytest.param((), "{}: it has no cell of code", id="empty", marks=pytest.mark.slow),
    ],
)
def test_what_went_wrong_is_named_with_its_cell(
    cells: tuple[str, ...], words: str, sandbox: Bubblewrap, tmp_path: Path
) -> None:
    here = place(tmp_path, validation(*cells))
    check, _ = check_and_value(here, sandbox, tmp_path / "out")
    assert (check.outcome, check.sentence) == (
        CheckOutcome.FAILED,
        words.format("validation.ipynb", python=Path(sys.executable).name),
    )
    lines = (here.folder / "validation.ipynb").read_text().splitlines()
    assert not cells or cells[-1].split()[0] in lines[check.line - 1]


@pytest.mark.slow
def test_it_never_ends_and_its_cell_is_named(sandbox: Bubblewrap, tmp_path: Path) -> None:
    here = place(tmp_path, validation("print('soon')", "while True:\n    pass"))
    soon = here.policy.model_copy(update={"run": here.policy.run.model_copy(update={"seconds": 8.0})})
    check, _ = check_and_value(replace(here, policy=soon), sandbox, tmp_path / "out")
    assert check.outcome is CheckOutcome.FAILED
    assert check.sentence == "cell 2 of validation.ipynb did not end: not done within 8 s"


@pytest.mark.slow
def test_no_notebook_at_all_where_a_notebook_should_be(sandbox: Bubblewrap, tmp_path: Path) -> None:
    here = place(tmp_path, lambda folder: (folder / "validation.ipynb").write_text("{}") and None)
    check, _ = check_and_value(here, sandbox, tmp_path / "out")
    assert check.outcome is CheckOutcome.FAILED
    assert check.sentence.startswith("validation.ipynb: it cannot be read as a notebook")


def test_a_claim_that_the_model_does_not_reach_is_caught_whatever_a_notebook_says(
    tools: SubmissionServices, tmp_path: Path
) -> None:
    here = place(tmp_path, metadata_says("value = 0.984375", "value = 0.9999"), dataset="datasets/digits")
    (tmp_path / "datasets").symlink_to(DATASETS)
    (check,) = recompute(here, replace(tools, scratch=tmp_path / "scratch"))
    assert check.outcome is CheckOutcome.FAILED
    assert "top1_accuracy is 0.988889 on 450 samples of datasets/digits, claimed is 0.9999" in check.sentence


def test_a_minimum_that_the_model_does_not_reach_on_the_data_of_the_zoo(
    tools: SubmissionServices, tmp_path: Path
) -> None:
    (tmp_path / "datasets").symlink_to(DATASETS)
    here = place(tmp_path, minimum=0.99, dataset="datasets/digits")
    (check,) = recompute(here, replace(tools, scratch=tmp_path / "scratch"))
    assert check.outcome is CheckOutcome.FAILED
    assert check.sentence.endswith("scenario 'image-classification' asks for at least 0.99")


def test_a_data_set_may_be_one_array_of_rows_and_each_counts(tools: SubmissionServices, tmp_path: Path) -> None:
    """As its author has them: the model leaves its batch free."""
    folder = tmp_path / "datasets" / "rows"
    folder.mkdir(parents=True)
    whole = load_file(DATASETS / "digits" / "inputs.safetensors")
    save_file({name: array[:, 0].copy() for name, array in whole.items()}, folder / "inputs.safetensors")
    shutil.copyfile(DATASETS / "digits" / "labels.safetensors", folder / "labels.safetensors")
    here = place(tmp_path, minimum=0.95, dataset="datasets/rows")
    (check,) = recompute(here, replace(tools, scratch=tmp_path / "scratch"))
    assert (check.outcome, check.executed) == (CheckOutcome.PASSED, 450), check.sentence
    assert check.figures["top1_accuracy"] == pytest.approx(0.988889, abs=1e-6)


@pytest.mark.parametrize(
    ("more", "outcome", "words"),
    [
        ({}, CheckOutcome.SKIPPED, "has no data set with labels: the metric is the notebook's word"),
        ({"task": ""}, CheckOutcome.SKIPPED, "names no task by which Assay could compute it again"),
        ({"dataset": "datasets/none"}, CheckOutcome.UNDECIDED, "lacks inputs.safetensors and labels.safetensors"),
        ({"dataset": "datasets/digits", "metric": "f1"}, CheckOutcome.UNDECIDED, "has no metric 'f1'"),
        ({"dataset": "datasets/scenes"}, CheckOutcome.FAILED, "onnxruntime did not answer"),
    ],
)
def test_what_keeps_it_from_being_computed_again_is_told(
    more: dict[str, object], outcome: CheckOutcome, words: str, tools: SubmissionServices, tmp_path: Path
) -> None:
    (tmp_path / "datasets").symlink_to(DATASETS)
    (check,) = recompute(place(tmp_path, **more), replace(tools, scratch=tmp_path / "scratch"))
    assert check.outcome is outcome
    assert words in check.sentence


class Nowhere:
    """A machine without a sandbox."""

    def available(self) -> Availability:
        return Availability(False, reason="user namespaces are closed here", install="sysctl x=1")

    def run(self, *command: object, **more: object) -> Sandboxed:
        raise AssertionError("code of a submission was run without a sandbox")


@pytest.mark.parametrize("there", [Nowhere(), None])
def test_without_a_sandbox_nothing_is_run_and_a_person_decides(
    there: Nowhere | None, tools: SubmissionServices, tmp_path: Path
) -> None:
    here = place(tmp_path)
    checks = check_accuracy(here, replace(tools, sandbox=there, scratch=tmp_path / "scratch"))
    assert told(checks)["accuracy.validation"] is CheckOutcome.UNDECIDED
    assert decide(checks, Rules(required=("accuracy",))).answer is Answer.PERSON
    why = "user namespaces are closed here; to install it: sysctl x=1" if there else "there is no sandbox here"
    assert why in checks[0].sentence
    free = replace(here, policy=here.policy.model_copy(update={"demand_sandbox": False}))
    checks = check_accuracy(free, replace(tools, sandbox=there, scratch=tmp_path / "again"))
    assert told(checks)["accuracy.validation"] is CheckOutcome.SKIPPED
    unseen = decide(checks, Rules(required=("accuracy",)))
    assert (unseen.answer, unseen.reasons) == (Answer.PERSON, ("accuracy: nothing was executed",))


@pytest.mark.parametrize("there", [Nowhere(), None])
def test_without_a_sandbox_a_data_set_decides_where_the_policy_lets_it(
    there: Nowhere | None, tools: SubmissionServices, tmp_path: Path
) -> None:
    """Assay computes the metric itself: that is execution enough."""
    (tmp_path / "datasets").symlink_to(DATASETS)
    here = place(tmp_path, minimum=0.95, dataset="datasets/digits")
    free = replace(here, policy=here.policy.model_copy(update={"demand_sandbox": False}))
    checks = check_accuracy(free, replace(tools, sandbox=there, scratch=tmp_path / "scratch"))
    assert told(checks)["accuracy.validation"] is CheckOutcome.SKIPPED
    assert told(checks)["accuracy.recomputed"] is CheckOutcome.PASSED
    assert decide(checks, Rules(required=("accuracy",))).answer is Answer.PROMOTE


@pytest.mark.parametrize(
    ("message", "outcome", "words"),
    [
        ("No module named 'helpers_of_mine.more'", CheckOutcome.FAILED, "'helpers_of_mine', which is neither in the submission nor"),
        ("No module named 'numpy.nothing'", CheckOutcome.FAILED, "cell 1 of validation.ipynb: ModuleNotFoundError: No module"),
        ("I made this up", CheckOutcome.FAILED, "cell 1 of validation.ipynb: ModuleNotFoundError: I made this up"),
        ("No module named 'allowed_here'", CheckOutcome.INFRASTRUCTURE, "the Python of this machine does not have"),
    ],
)  # fmt: skip
def test_a_missing_module_is_the_submissions_fault_unless_the_zoo_allows_it(
    message: str, outcome: CheckOutcome, words: str, tmp_path: Path
) -> None:
    class Importing(Nowhere):
        def run(self, *command: object, **more: object) -> Sandboxed:
            output = Path(str(more["output"]))
            output.mkdir()
            trouble = Trouble(kind="exception", cell=1, sentence=f"ModuleNotFoundError: {message}")
            (output / REPORT).write_bytes(msgspec.json.encode(Report(trouble=trouble)))
            return Sandboxed(ending=Ending.ERROR, sentence="exit code 3", exit_code=3)

    here = place(tmp_path)
    here = replace(here, policy=here.policy.model_copy(update={"packages": ("numpy", "allowed_here")}))
    check = execute("accuracy.validation", "validation.ipynb", "", here, Importing(), tmp_path / "out").check
    assert check.outcome is outcome
    assert words in check.sentence


def test_the_limits_of_the_policy_are_those_of_the_sandbox(tmp_path: Path) -> None:
    asked: list[SandboxLimits] = []

    class Listening(Nowhere):
        def run(self, *command: object, **more: object) -> Sandboxed:
            limits = more["limits"]
            assert isinstance(limits, SandboxLimits)
            asked.append(limits)
            return Sandboxed(ending=Ending.INFRASTRUCTURE, sentence="no")

    here = place(tmp_path)
    done = execute("accuracy.validation", "validation.ipynb", "", here, Listening(), tmp_path / "out")
    assert done.check.outcome is CheckOutcome.INFRASTRUCTURE
    run = here.policy.run
    assert asked == [
        SandboxLimits(
            seconds=run.seconds, memory_bytes=run.memory_bytes, disk_bytes=run.disk_bytes, processes=run.processes
        )
    ]
