"""The lock of an environment, and the names around it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from assay.core.environment import Interpreter, split_flow
from assay.environments.installer import reason
from assay.environments.lock import Lock, read_lock, write_lock
from assay.environments.worker_requirements import WORKER_NEEDS, worker_requirements
from assay.errors import EnvironmentFailed

PINS = "numpy==2.4.6 \\\n    --hash=sha256:aa\nTyping_Extensions==4.1\n"
LOCK = Lock(("a==1", "b"), "3.12", PINS, "3.12")


def test_a_lock_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "below" / "one.lock"
    assert read_lock(path) is None
    write_lock(path, LOCK)
    assert read_lock(path) == LOCK
    assert LOCK.versions == {"numpy": "2.4.6", "typing-extensions": "4.1"}


@pytest.mark.parametrize("text", ["", "numpy==1\n", "# assay environment: {}\n", "# assay environment: {\n", "\0\xff"])
def test_a_file_that_is_no_lock_is_refused_with_its_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "one.lock"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(EnvironmentFailed, match=r"one\.lock"):
        read_lock(path)


@pytest.mark.parametrize("line", ["-r robot.toml", "  --requirement x", "--index-url https://x", "./x.whl"])
def test_a_lock_holds_versions_and_hashes_and_no_option(tmp_path: Path, line: str) -> None:
    path = tmp_path / "one.lock"
    write_lock(path, msgspec.structs.replace(LOCK, pins=f"{PINS}# a comment\n\n{line}\n"))
    with pytest.raises(EnvironmentFailed, match="neither a version nor a hash"):
        read_lock(path)


def test_environments_are_the_same_where_versions_and_python_are() -> None:
    replace = msgspec.structs.replace
    assert replace(LOCK, requires=("other",)).digest == LOCK.digest
    assert replace(LOCK, python="3.13").digest != LOCK.digest
    assert replace(LOCK, pins=PINS.replace("4.1", "4.2")).digest != LOCK.digest


@pytest.mark.parametrize(
    ("name", "flow", "environment"),
    [("onnxruntime", "onnxruntime", ""), ("onnxruntime@ort130", "onnxruntime", "ort130"), ("a@b@c", "a@b", "c")],
)
def test_the_environment_of_a_flow_follows_the_last_at_sign(name: str, flow: str, environment: str) -> None:
    assert split_flow(name) == (flow, environment)


def test_variables_of_an_interpreter_are_set_and_taken_away() -> None:
    interpreter = Interpreter("python", {"A": "1", "B": None})
    assert interpreter.environ({"A": "0", "B": "2", "C": "3"}) == {"A": "1", "C": "3"}


def test_a_worker_requires_what_assay_declares_of_it() -> None:
    asked = worker_requirements()
    assert len(asked) == len(WORKER_NEEDS)
    assert all(line.startswith(name) and ">=" in line for name, line in zip(WORKER_NEEDS, asked, strict=True))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "error: No solution found when resolving dependencies\n  cause: Because x==9 is not there and you require"
            " x==9,\n         we can conclude that your requirements are unsatisfiable.\n",
            "Because x==9 is not there and you require x==9, we can conclude that your requirements are unsatisfiable",
        ),
        ("warning: a shim\nerror: Couldn't connect.\n", "Couldn't connect"),
        ("", "no reason was given"),
    ],
)
def test_the_reason_of_a_resolver_is_one_sentence(text: str, message: str) -> None:
    assert reason(text) == message


def test_a_long_reason_is_cut() -> None:
    assert len(reason("error: " + "x" * 5000)) == 700
