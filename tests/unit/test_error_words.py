"""What an error says is its sentence in the driver, and its code with facts in a worker's process."""

from __future__ import annotations

import subprocess
import sys

from assay.core.note import NoteCode, noted
from assay.errors import BadModel, UsageError

RAISED = BadModel(noted(NoteCode.FAILED_IN, place="m.onnx", error=noted(NoteCode.NO_NUMBERS)))


def test_a_driver_has_the_sentence() -> None:
    assert str(RAISED) == f"{RAISED}" == "m.onnx: nothing here is a number"
    assert str(UsageError("words of {nobody}")) == UsageError("words of {nobody}").reason == "words of {nobody}"


def test_a_worker_has_none() -> None:
    """Whoever makes a text of an error there would send a sentence."""
    script = (
        "import sys; from assay.worker import __main__ as worker; sys.argv = ['worker', '-1', '0']\n"
        "worker.die_with_parent = lambda driver: sys.exit(str(raised))\n"
        "from assay.core.note import NoteCode, noted; from assay.errors import BadModel\n"
        "raised = BadModel(noted(NoteCode.NO_NUMBERS))\n"
        "worker.main()"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert ended.stderr.split() == ["no_numbers", "{}"]
