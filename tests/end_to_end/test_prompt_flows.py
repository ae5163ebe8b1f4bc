"""What a flow that continues prompts cannot be asked is one sentence before anything starts: no worker, no run, exit code 2."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from assay.plugins import catalogue
from assay.ports import Backend, is_prompted
from command_line import run_assay
from language_model import write

SERVED = ("--endpoint", "http://127.0.0.1:9/v1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("prompt-flows")
    (root / "prompts.jsonl").write_text("[1, 2, 3, 4, 5, 6, 7]\n[3, 1, 4, 1, 5]\n", "utf-8")
    write(root / "lm.onnx")
    record = ("golden", "record", "lm.onnx", "golden", "--inputs", "prompts.jsonl", "--form", "sketch")
    done = run_assay(*record, "--reason", "a test", cwd=root)
    assert done.returncode == 0, done.stderr
    return root


REFUSED = {
    "a golden of sketches": (
        ("check", "lm.onnx", "--golden", "golden", *SERVED),
        "flow openai continues prompts, which a golden of sketches cannot judge: give its prompts with --inputs golden",
    ),
    "a library by a golden of sketches": (
        ("check", "lm.onnx", "--golden", "golden", "--flow", "onnxruntime", "--flow", "onnxruntime-genai"),
        "flow onnxruntime-genai continues prompts, which a golden of sketches cannot judge: give its prompts with --inputs golden",
    ),
    "outputs": (
        ("check", "lm.onnx", "--inputs", "prompts.jsonl", "--save-outputs", "out.npz", *SERVED),
        "flow openai continues prompts, and gives no tensors for --save-outputs: choose a flow that does, or leave that out",
    ),
    "no prompts": (
        ("check", "lm.onnx", *SERVED),
        "flow openai continues prompts, and the inputs of lm are none: give them with --inputs FILE",
    ),
    "a golden of its answers": (
        ("golden", "record", "lm.onnx", "new", "--flow", "onnxruntime-genai", "--reason", "a test"),
        "flow onnxruntime-genai continues prompts, and gives no tensors for a golden: choose a flow that does, or leave that out",
    ),
    "a golden by its answers": (
        ("golden", "update", "golden", "lm.onnx", "--flow", "onnxruntime-genai", "--reason", "a test", "--yes"),
        "flow onnxruntime-genai continues prompts, and gives no tensors for a golden: choose a flow that does, or leave that out",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_it_is_refused_before_anything_starts(what: str, folder: Path) -> None:
    words, sentence = REFUSED[what]
    done = run_assay(*words, cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1] == f"assay: {sentence}"
    assert not list(folder.glob(".assay/journal/*"))
    assert not (folder / "out.npz").exists()


def test_a_backend_says_whether_it_continues_prompts() -> None:
    """By the engine that its `lower` is written to give: some of the libraries are in environments of their own."""
    by_return = {name for name, backend in catalogue().backends.items() if _gives_prompt_engines(backend)}
    assert by_return == {name for name, backend in catalogue().backends.items() if is_prompted(backend)}
    assert len(by_return) >= 6


def _gives_prompt_engines(backend: Backend) -> bool:
    module = importlib.import_module(type(backend).__module__)
    engine = getattr(module, str(inspect.signature(backend.lower).return_annotation), None)
    abilities = {"service", "tokenizer", "settings", "chat_text"}  # of assay.ports.prompts.ContinuesPrompts
    # What an instance has as attributes is made in its __init__.
    made = set(engine.__init__.__code__.co_names) if inspect.isclass(engine) else set()
    return inspect.isclass(engine) and abilities <= {*dir(engine), *made}
