"""`assay` as a user calls it, but in this process: starting one takes more than a second of processor time, and few tests are about it."""

from __future__ import annotations

import contextlib
import gc
import io
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from assay.cli.main import main


def run_assay(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What `assay ARGUMENTS` ends with and prints, in the folder `cwd`. Its workers are processes as ever."""
    output, errors = io.StringIO(), io.StringIO()
    threshold = gc.get_threshold()
    try:
        with (
            contextlib.chdir(cwd or Path.cwd()),
            contextlib.redirect_stdout(output),
            contextlib.redirect_stderr(errors),
            patch.object(sys, "argv", ["assay", *arguments]),  # which a run records, and repro lines are made of
            pytest.raises(SystemExit) as ended,
        ):
            main(arguments)
    finally:
        gc.set_threshold(*threshold)
    code = ended.value.code
    assert code is None or isinstance(code, int), code
    return subprocess.CompletedProcess(["assay", *arguments], code or 0, output.getvalue(), errors.getvalue())
