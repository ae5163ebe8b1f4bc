"""What the execution of a notebook says of the model."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from assay.core.sandbox import Ending, Sandboxed, SandboxLimits
from assay_zoo.execution import execute
from assay_zoo.notebook_report import REPORT, Report, Trouble
from assay_zoo.policy import ZooPolicy
from assay_zoo.submission import SubmissionContext


class _Ran:
    """A sandbox in which a notebook ended with an exception."""

    def __init__(self, sentence: str) -> None:
        self._report = Report(trouble=Trouble(kind="exception", cell=1, sentence=sentence))

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
