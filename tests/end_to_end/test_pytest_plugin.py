"""The plug-in seen by pytest itself: cases as tests, selection, reports, flows for people's own tests."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

import pytest

from assay.pytest_plugin.suite_items import BATCH, LEAST, batch_size
from command_line import run_assay
from small_models import linear_model

PLAIN = ("-p", "no:cacheprovider", "-p", "no:randomly", "-rA")


@pytest.fixture
def here(tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "zoo").mkdir()
    for name in ("one", "two", "other"):
        linear_model(tmp_path / "zoo" / f"{name}.onnx")
    return tmp_path


def run_pytest(*arguments: str, code: int) -> str:
    """In this process, without the plug-ins of other packages: a process imports for seconds what is here already."""
    output = io.StringIO()
    with (
        patch.dict(os.environ, {"PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        ended = pytest.main(["-p", "assay.pytest_plugin.plugin", "-p", "no:faulthandler", *PLAIN, *arguments])
    assert ended == code, output.getvalue()
    return output.getvalue()


def start_pytest(*arguments: str, code: int) -> str:
    """As a user starts it, with every plug-in that is installed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *PLAIN, *arguments],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "PYTEST_ADDOPTS": ""},
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_cases_are_tests_chosen_by_k_stopped_by_x_and_written_to_junit(here: Path) -> None:
    suite = ("--assay-suite", "./zoo", "--assay-flow", "onnxruntime", "--assay-flow", "faulty-lie")
    output = run_pytest(*suite, "-k", "two or one", "--junitxml", "out.xml", code=1)
    assert "2 failed, 2 passed, 2 deselected" in output
    assert "zoo/two[onnxruntime]" in output
    line = next(text_line for text_line in output.splitlines() if text_line.startswith("to repeat it: assay run"))
    again = shlex.split(line.removeprefix("to repeat it: assay"))
    done = run_assay(*again)
    assert done.returncode == 1, done.stderr
    assert "1 fail; 1 of 1 jobs recorded" in done.stdout
    testcases = ElementTree.parse("out.xml").getroot().iter("testcase")
    assert sorted(testcase.get("name", "") for testcase in testcases) == [
        "zoo/one[faulty-lie]", "zoo/one[onnxruntime]", "zoo/two[faulty-lie]", "zoo/two[onnxruntime]",
    ]  # fmt: skip
    output = run_pytest(*suite, "-m", "flow_faulty_lie", "-x", code=1)
    assert "1 failed, 3 deselected" in output
    assert "stopping after 1 failures" in output
    run_pytest(*suite, "--assay-filter", "nothing", code=4)
    assert "--assay-shard '3/2' is no share" in run_pytest(*suite, "--assay-shard", "3/2", code=4)
    assert "give --assay-flow" in run_pytest(*suite[:2], code=4)


def test_under_xdist_a_process_runs_what_it_is_handed_and_little_more() -> None:
    assert batch_size(5000, 1) == BATCH
    assert batch_size(5000, 4) == BATCH
    assert batch_size(320, 4) == 20
    assert batch_size(5, 4) == LEAST


@pytest.mark.slow  # it takes all of its 15 s; in CI tests/unit/suites/test_suites_edge.py and tests/ports/launch/test_launch_pool.py
def test_a_case_that_never_ends_is_stopped_as_it_asks_and_that_is_no_failure(here: Path) -> None:
    output = run_pytest(
        "--assay-suite", "edge", "--assay-flow", "onnxruntime", "--assay-filter", "Loop-endless", code=0
    )
    assert "1 xfailed" in output
    assert "within 15 s" in output


def test_flows_of_peoples_own_tests(here: Path) -> None:
    Path("pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    Path("test_own.py").write_text(
        "import assay, numpy as np\n"
        "@assay.parametrize_flows('onnxruntime', 'faulty-lie')\n"
        "def test_seeded(flow):\n"
        "    assert flow.check('zoo/one.onnx').judgement.exit_code == 0\n"
        "@assay.parametrize_flows('onnxruntime', 'faulty-lie')\n"
        "def test_given(flow):\n"
        "    flow.check('zoo/one.onnx', {'x': np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)})\n"
    )
    output = start_pytest("test_own.py", code=1)
    assert "PASSED test_own.py::test_seeded[onnxruntime]" in output
    assert "FAILED test_own.py::test_seeded[faulty-lie]" in output
    assert "PASSED test_own.py::test_given[onnxruntime]" in output, output
    assert "FAILED test_own.py::test_given[faulty-lie]" in output
