"""LiteRT in the environment that its backend ships: real, 1.8 GB, so not in CI. What needs no LiteRT is."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import assay
from assay.backends.litert.backend import LiteRt
from assay.backends.litert.convert import failure, first_number
from assay.commands.known_environments import open_environments, shipped_environments
from assay.core.environment import Interpreter
from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.errors import Lowering, Unsupported, UsageError


def test_its_flows_run_in_an_environment_that_it_ships() -> None:
    spec = shipped_environments()["litert"]
    assert spec.shipped_by == "litert"
    assert spec.requires == LiteRt.requires
    assert {flow.environment for flow in LiteRt.flows} == {"litert"}


def test_wrong_options_are_refused_first(tmp_path: Path) -> None:
    for options in ({"weights": "int4"}, {"threads": 0}):
        with pytest.raises(UsageError, match=next(iter(options))):
            LiteRt().lower(tmp_path / "none.pt2", Flow("x", "litert", options))


@pytest.mark.parametrize(
    ("text", "kind", "node"),
    [
        ("Lowering not found: aten.digamma.default", Unsupported, "digamma"),
        ("op aten::nonzero is not supported", Unsupported, "nonzero"),
        ("something else broke", Lowering, ""),
    ],
)
def test_the_converters_words_become_an_outcome(text: str, kind: type[Exception], node: str) -> None:
    error = failure(RuntimeError(text))
    assert type(error) is kind
    assert error.node == node
    assert text in str(error)


def test_arguments_are_put_in_the_order_of_their_numbers() -> None:
    assert sorted(["args_10", "args_9", "args_0"], key=first_number) == ["args_0", "args_9", "args_10"]


@pytest.fixture(scope="session")
def litert(tmp_path_factory: pytest.TempPathFactory) -> Interpreter:
    environments = open_environments(tmp_path_factory.mktemp("history"))
    environments.build("litert")
    return environments.interpreter("litert")


@pytest.mark.slow
def test_it_conforms_inside_its_environment(litert: Interpreter) -> None:
    program = """
from assay.backends.litert.backend import LiteRt
from assay.testing import check_backend
check_backend(LiteRt())
print("conforms")
"""
    command = [litert.program, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=litert.environ(os.environ), check=False)
    assert "conforms" in done.stdout, done.stderr[-3000:]


@pytest.mark.slow
def test_an_onnx_file_goes_all_the_way(litert: Interpreter, linear: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(linear.parent)
    checked = assay.check("linear.onnx", flows=["litert-f32", "litert-int8"], measure=False)
    exact, coarse = checked.results
    assert (exact.outcome, coarse.outcome) == (Outcome.OK, Outcome.OK), (exact.detail, coarse.detail)
    assert (exact.facts.precision, coarse.facts.precision) == ("float32", "int8")
    assert exact.versions["litert"] == "2.3.0"
