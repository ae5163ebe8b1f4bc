"""Files of prompts, good and bad: one sentence each."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.core.model import Model, TensorSpec
from assay.errors import BadGolden
from assay.models.own_data.prompts.read_prompts import read_prompts
from assay.models.own_data.prompts.signature import signature_of

TOKENIZER = "examples/language-model/tokenizer.json"


def test_numbers_and_text(tmp_path: Path) -> None:
    numbers = tmp_path / "p.jsonl"
    numbers.write_text('[1, 2, 3]\n\n{"ids": [4, 5]}\n', "utf-8")
    assert read_prompts(numbers, "", 6) == [[1, 2, 3], [4, 5]]
    text = tmp_path / "p.txt"
    text.write_text("The class\n", "utf-8")
    ids = read_prompts(text, TOKENIZER, 512)
    (tmp_path / "q.jsonl").write_text('{"text": "The class"}\n', "utf-8")
    assert ids == read_prompts(tmp_path / "q.jsonl", TOKENIZER, 512)
    assert len(ids[0]) >= 2


@pytest.mark.parametrize(
    ("name", "text", "tokenizer", "says"),
    [
        ("p.jsonl", "", "", "holds no prompt"),
        ("p.jsonl", "[1, 2", "", "line 1 is not JSON"),
        ("p.jsonl", "[1, 2]\n[true, 1]", "", "line 2 is neither token numbers nor a text"),
        ("p.jsonl", "[5]", "", "line 1: the prompt has 1 tokens; give 2 and more"),
        ("p.jsonl", "[5, 6]\n[1, 99]", "", "line 2 has a token 99, and the model knows 0 to 9"),
        ("p.txt", "some words", "", "add --tokenizer tokenizer.json"),
        ("p.txt", "some words", "nowhere.json", "the tokenizer nowhere.json is no file"),
        ("p.txt", "some words", "pyproject.toml", "is no tokenizer"),
    ],
)
def test_bad_files(tmp_path: Path, name: str, text: str, tokenizer: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    with pytest.raises(BadGolden, match=says):
        read_prompts(path, tokenizer, 10)


def test_what_is_no_language_model() -> None:
    ids = TensorSpec("input_ids", "int64", ("batch", "length"))
    logits = TensorSpec("logits", "float32", ("batch", "length", 10))
    other = TensorSpec("x", "float32", (1, 3))

    def sentence(*inputs: TensorSpec) -> str:
        with pytest.raises(BadGolden) as raised:
            signature_of(Model("lm", "lm.onnx", "", inputs=inputs, outputs=(logits,)), {})
        return str(raised.value)

    assert "prompts are fed to a causal language model" in sentence(other)
    assert "takes 'x', and prompts do not say what it is" in sentence(ids, other)
    assert "export the model with a free length" in sentence(TensorSpec("input_ids", "int64", (1, 8)))
