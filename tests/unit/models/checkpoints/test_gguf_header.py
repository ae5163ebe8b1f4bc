"""A GGUF file that claims more than it holds, or what the graph would not follow, is refused in one sentence, at once."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from safetensors.numpy import load_file

from assay.errors import BadModel
from assay.models.checkpoints.read_gguf import read_gguf
from local_models import EXAMPLE, rotary_gguf, writer

_U8, _U32, _STRING, _ARRAY = 0, 4, 8, 9


def _file(path: Path, body: bytes, tensors: int = 0, fields: int = 1) -> Path:
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, tensors, fields) + body)
    return path


def _field(kind: int, value: bytes, name: bytes = b"x") -> bytes:
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", kind) + value


def _array(kind: int, count: int, rest: bytes = b"") -> bytes:
    return _field(_ARRAY, struct.pack("<IQ", kind, count) + rest)


HOSTILE = {
    "array": (_array(_U8, 2**40), 0, 1, "an array of 1099511627776 entries"),
    "texts": (_array(_STRING, 2**40), 0, 1, "an array of 1099511627776 entries"),
    "text": (_field(_STRING, struct.pack("<Q", 2**62)), 0, 1, "a text of 4611686018427387904 bytes"),
    "name": (struct.pack("<QQ", 2**63, 0), 0, 1, "the name of a field of 9223372036854775808 bytes"),
    "nested": (_array(_ARRAY, 1, struct.pack("<IQ", _ARRAY, 1) * 5000), 0, 1, "arrays of arrays"),
    "many": (_array(_U8, 3_000_000, bytes(3_000_000)), 0, 1, "arrays of more than 2097152 entries"),
    "fields": (b"", 0, 2**50, "0 tensors and 1125899906842624 fields"),
    "tensors": (_field(_U32, bytes(4)), 2**50, 1, "1125899906842624 tensors and 1 fields"),
    "type": (_field(77, bytes(8)), 0, 1, "a value of the type 77"),
    "dimensions": (struct.pack("<QI", 0, 2**31) + bytes(16), 1, 0, "a tensor of 2147483648 dimensions"),
    "elements": (struct.pack("<QIQQIQ", 0, 2, 2**32, 2**32, 0, 0), 1, 0, "a tensor of 18446744073709551616 elements"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_length_beyond_the_file_is_refused_before_it_is_believed(name: str, tmp_path: Path) -> None:
    """In a process of its own, with 4 GB and ten seconds: a reader that believes it needs more of both."""
    body, tensors, fields, sentence = HOSTILE[name]
    path = _file(tmp_path / "hostile.gguf", body, tensors, fields)
    asked = (
        "import resource, sys; from pathlib import Path\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30)); resource.setrlimit(resource.RLIMIT_CPU, (10, 10))\n"
        "from assay.errors import BadModel; from assay.models.checkpoints.read_gguf import read_gguf\n"
        "try: read_gguf(Path(sys.argv[1]))\n"
        "except BadModel as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", asked, path], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.startswith(f"{path} cannot be read as GGUF ({sentence}"), done


def _with(monkeypatch: pytest.MonkeyPatch, path: Path, add: Callable[[gguf.GGUFWriter], Any]) -> Path:
    """The rotary model with something more in its file."""
    made = writer()
    before = made._add_tokenizer

    def also(into: gguf.GGUFWriter) -> None:
        before(into)
        add(into)

    monkeypatch.setattr(made, "_add_tokenizer", also)
    written: Path = made.write_gguf(load_file(EXAMPLE / "rotary.safetensors"), path, "f32")
    return written


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("llama.attention.sliding_window", 64, "has attention.sliding_window 64"),
        ("llama.rope.scaling.type", "linear", "has rope.scaling.type 'linear'"),
        ("llama.rope.scaling.factor", 4, "has rope.scaling.factor 4"),
        ("llama.attention.value_length", 8, "has attention.value_length 8"),
        ("llama.logit_scale", 2, "has logit_scale 2"),
        ("llama.attention.key_length", 15, r"a head of odd width \(15\)"),
        ("llama.attention.key_length", 32, "has rope.dimension_count 16"),
    ],
)
def test_a_setting_that_the_graph_would_not_follow_is_refused(
    name: str, value: Any, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def add(into: gguf.GGUFWriter) -> None:
        (into.add_string if isinstance(value, str) else into.add_uint32)(name, value)

    with pytest.raises(BadModel, match=sentence):
        read_gguf(_with(monkeypatch, tmp_path / "rotary.gguf", add))


@pytest.mark.parametrize(
    ("name", "shape", "sentence"),
    [
        ("rope_freqs.weight", (8,), r"has a weight rope_freqs\.weight, which such a model does not use"),
        ("blk.0.attn_q_norm.weight", (16,), r"has a weight model\.layers\.0\.self_attn\.q_norm\.weight, which"),
        ("blk.2.attn_norm.weight", (64,), r"has a weight model\.layers\.2\.input_layernorm\.weight, which"),
        ("blk.0.attn_q.bias", (63,), r"of \[63\] where its sizes ask for \[64\]"),
    ],
)
def test_a_weight_that_the_graph_would_not_use_is_refused(
    name: str, shape: tuple[int, ...], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _with(monkeypatch, tmp_path / "rotary.gguf", lambda into: into.add_tensor(name, np.ones(shape, np.float32)))
    with pytest.raises(BadModel, match=sentence):
        read_gguf(path)


def test_settings_without_effect_are_let_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def add(into: gguf.GGUFWriter) -> None:
        into.add_uint32("llama.attention.sliding_window", 0)
        into.add_uint32("llama.expert_count", 0)
        into.add_string("llama.rope.scaling.type", "none")
        into.add_uint32("llama.attention.value_length", 16)

    decoder = read_gguf(_with(monkeypatch, tmp_path / "rotary.gguf", add))
    assert decoder.weights.keys() == read_gguf(rotary_gguf(tmp_path / "plain.gguf")).weights.keys()
