"""What the execution of a notebook says of the model."""

from __future__ import annotations

from pathlib import Path

import msgspec
import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from assay.core.sandbox import Ending, Sandboxed, SandboxLimits
from assay_zoo.accuracy.execution import execute
from assay_zoo.accuracy.notebook import _execute, code_files
from assay_zoo.accuracy.notebook_report import REPORT, Report, Trouble, read_report
from assay_zoo.check import CheckOutcome
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


def test_code_that_a_notebook_writes_is_found_whoever_names_the_file(tmp_path: Path) -> None:
    for name in ("same.py", "other.py", "gone.py", "notes.txt"):
        (tmp_path / name).write_text("x = 1")
    before = code_files(tmp_path)
    for name in ("other.py", "notes.txt", "new.so", "more.ipynb"):
        (tmp_path / name).write_text("x = 2")
    (tmp_path / "gone.py").unlink()
    (tmp_path / "linked.py").symlink_to("notes.txt")
    after = code_files(tmp_path)
    changed = {path for path, data in after.items() if before.get(path) != data}
    assert changed == {"other.py", "new.so", "more.ipynb", "linked.py"}


def test_a_notebook_that_writes_code_is_declined_and_says_which(tmp_path: Path) -> None:
    place = SubmissionContext(folder=tmp_path, root=tmp_path, policy=ZooPolicy(name="zoo"), metadata=None)
    report = Report(written=("postprocess.py",))
    ended = execute("accuracy.validation", "v.ipynb", "", place, _Ran("", report), tmp_path / "out")  # type: ignore[arg-type]
    assert ended.check.outcome is CheckOutcome.FAILED
    assert "postprocess.py" in ended.check.sentence
