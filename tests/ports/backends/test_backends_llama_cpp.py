"""llama.cpp in the environment that its backend ships: built from source, so not in CI. What needs no llama.cpp is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import assay
from assay.backends.llama_cpp.backend import LlamaCpp
from assay.commands.known_environments import open_environments, shipped_environments
from assay.core.flow import Flow
from assay.core.outcome import Outcome
from assay.errors import Unsupported
from local_models import EXAMPLE, rotary_gguf


def test_its_flows_run_in_an_environment_that_it_ships() -> None:
    assert shipped_environments()["llama-cpp"].requires == LlamaCpp.requires
    assert {flow.environment for flow in LlamaCpp.flows} == {"llama-cpp"}


def test_a_model_without_its_file_is_refused() -> None:
    with pytest.raises(Unsupported, match="or name one with --option gguf=FILE"):
        LlamaCpp().lower(EXAMPLE / "models" / "rotary.onnx", Flow("x", "llama-cpp"))


@pytest.mark.slow
def test_a_right_file_passes_and_a_coarser_one_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_environments(tmp_path / "history").build("llama-cpp")
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text(json.dumps([260, 66, 288, 302, 309]) + "\n" + json.dumps([51, 71, 68, 220]) + "\n", "utf-8")
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))

    def outcome(kind: str) -> Outcome:
        file = rotary_gguf(tmp_path / f"{kind}.gguf", kind)
        checked = assay.check(file, flows=["llama-cpp"], inputs=prompts, measure=False, history=tmp_path / ".assay")
        return checked.results[0].outcome

    assert [outcome("f32"), outcome("q8_0")] == [Outcome.OK, Outcome.MISMATCH]
