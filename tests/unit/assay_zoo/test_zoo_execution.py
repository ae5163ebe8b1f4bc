"""What the execution of a notebook says of the model."""

from __future__ import annotations

from pathlib import Path

import msgspec
import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from assay.core.sandbox import Ending, Sandboxed, SandboxLimits
from assay_zoo.check import CheckOutcome
from assay_zoo.execution import execute
from assay_zoo.notebook import _execute
from assay_zoo.notebook_report import REPORT, Report, Trouble, read_report
from assay_zoo.policy import ZooPolicy
from assay_zoo.submission import SubmissionContext


class _Ran:
    """A sandbox in which a notebook ended with an exception."""

    def __init__(self, sentence: str, report: Report | None = None) -> None:
        self._report = report or Report(trouble=Trouble(kind="exception", cell=1, sentence=sentence))

    def run(self, command: list[str], inputs: dict[str, Path], output: Path, limits: SandboxLimits) -> Sandboxed:
        output.mkdir(parents=True)
        (output / REPORT).write_bytes(msgspec.json.encode(self._report))
        return Sandboxed(ending=Ending.ERROR, sentence="it ended with exit code 1")


@pytest.mark.parametrize(
    ("sentence", "of_runtime"),
    [
        ("InvalidGraph: [ONNXRuntimeError] : 10 : INVALID_GRAPH : Load model failed", True),
        ("ValueError: the data have moved", False),
    ],
)
def test_an_exception_of_the_runtime_is_one_of_the_model(sentence: str, of_runtime: bool, tmp_path: Path) -> None:
    place = SubmissionContext(folder=tmp_path, root=tmp_path, policy=ZooPolicy(name="zoo"), metadata=None)
    ended = execute("accuracy.validation", "v.ipynb", "", place, _Ran(sentence), tmp_path / "out")  # type: ignore[arg-type]
    assert ended.check.of_runtime == of_runtime
    assert sentence in ended.check.sentence


def test_a_kernel_that_comes_too_late_asks_a_person_and_blames_no_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As nbclient says it on a busy machine."""

    def late(_: NotebookClient) -> None:
        raise RuntimeError("Kernel didn't respond in 120 seconds")

    monkeypatch.setattr(NotebookClient, "setup_kernel", late)
    nbformat.write(new_notebook(cells=[new_code_cell("1")]), tmp_path / "v.ipynb")
    report = _execute(tmp_path / "v.ipynb", tmp_path)
    assert report.trouble is not None
    assert report.trouble.kind == "start"
    place = SubmissionContext(folder=tmp_path, root=tmp_path, policy=ZooPolicy(name="zoo"), metadata=None)
    ended = execute("accuracy.validation", "v.ipynb", "", place, _Ran("", report), tmp_path / "out")  # type: ignore[arg-type]
    assert ended.check.outcome is CheckOutcome.UNDECIDED


def test_a_kernel_that_the_sandbox_ends_before_it_is_up_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_: NotebookClient) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(NotebookClient, "setup_kernel", killed)
    nbformat.write(new_notebook(cells=[new_code_cell("1")]), tmp_path / "v.ipynb")
    with pytest.raises(KeyboardInterrupt):
        _execute(tmp_path / "v.ipynb", tmp_path)
    report = read_report(tmp_path)
    assert report is not None
    assert report.trouble is not None
    assert report.trouble.kind == "start"
