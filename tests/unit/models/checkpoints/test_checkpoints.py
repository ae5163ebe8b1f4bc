"""A checkpoint becomes a graph that computes what its own library computes, and what is built otherwise is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from google.protobuf.message import EncodeError

from assay.errors import BadModel
from assay.models.checkpoints.decoder_graph import decoder_graph
from assay.models.checkpoints.decoder_shapes import graph_bytes
from assay.models.checkpoints.read_folder import read_folder
from assay.models.checkpoints.read_gguf import read_gguf
from assay.models.checkpoints.source_record import Origin, checkpoint_digest, checkpoint_of
from assay.models.checkpoints.to_graph import is_checkpoint, to_graph
from local_models import EXAMPLE, rotary_folder, rotary_gguf

IDS = np.array([[5, 6, 7, 8, 9, 10], [1, 2, 3, 4, 5, 6]])


def _run(model: bytes, ids: np.ndarray[Any, Any], past: list[Any], heads: tuple[int, int]) -> list[Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(model)
    held = past[0].shape[2] if past else 0
    names = [node_arg.name for node_arg in session.get_inputs()][3:]
    empty = [np.zeros((len(ids), heads[0], 0, heads[1]), np.float32)] * len(names)
    positions = np.tile(np.arange(held, held + ids.shape[1]), (len(ids), 1))
    fed = {
        "input_ids": ids,
        "attention_mask": np.ones((len(ids), held + ids.shape[1]), np.int64),
        "position_ids": positions,
    }
    return session.run(None, fed | dict(zip(names, past or empty, strict=True)))


@pytest.mark.heavy
@pytest.mark.parametrize("kind", ["Llama", "Mistral", "Qwen2", "Qwen3"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_folder_computes_what_transformers_does(kind: str, tied: bool, tmp_path: Path) -> None:
    """In one call, and in two on the cache. Biases (Qwen2) and norms of heads (Qwen3) are not those that a new model begins with."""
    import torch
    import transformers

    config = getattr(transformers, f"{kind}Config")(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        head_dim=8, max_position_embeddings=64, tie_word_embeddings=tied, rms_norm_eps=1e-4, sliding_window=None,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0},
    )  # fmt: skip
    torch.manual_seed(3)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3 + (1.0 if parameter.ndim == 1 else 0.0))
        expected = model(torch.tensor(IDS)).logits.numpy()
    model.save_pretrained(tmp_path)
    made = decoder_graph(read_folder(tmp_path))
    onnx.checker.check_model(made, full_check=True)
    whole = _run(made.SerializeToString(), IDS, [], (2, 8))
    first = _run(made.SerializeToString(), IDS[:, :4], [], (2, 8))
    second = _run(made.SerializeToString(), IDS[:, 4:], first[1:], (2, 8))
    assert np.abs(whole[0] - expected).max() < 2e-5 * np.abs(expected).max()
    assert np.abs(second[0] - expected[:, 4:]).max() < 2e-5 * np.abs(expected).max()


def test_files_of_llama_cpp_hold_the_numbers_that_their_weights_stand_for(tmp_path: Path) -> None:
    expected = _run((EXAMPLE / "models" / "rotary.onnx").read_bytes(), IDS, [], (2, 16))[0]

    def away(path: Path) -> float:
        made = decoder_graph(read_gguf(path) if path.suffix else read_folder(path))
        return float(np.abs(_run(made.SerializeToString(), IDS, [], (2, 16))[0] - expected).max())

    assert away(rotary_folder(tmp_path / "rotary")) < 1e-5
    assert away(rotary_gguf(tmp_path / "f32.gguf")) < 1e-5
    assert away(rotary_gguf(tmp_path / "f16.gguf", "f16")) < 1e-5  # the trained weights are float16
    assert 0.01 < away(rotary_gguf(tmp_path / "q8.gguf", "q8_0")) < 0.3
    assert 0.3 < away(rotary_gguf(tmp_path / "q4.gguf", "q4_0")) < 5


def test_a_graph_names_its_checkpoint_and_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    folder, file = rotary_folder(tmp_path / "rotary"), rotary_gguf(tmp_path / "rotary.gguf")
    assert is_checkpoint(folder)
    assert is_checkpoint(file)
    assert not is_checkpoint(tmp_path)
    (graph, digest), (other, _) = to_graph(folder), to_graph(file)
    assert checkpoint_of(graph, "folder") == Origin(folder, digest)
    assert checkpoint_of(graph, "gguf") is None
    assert checkpoint_of(other, "gguf") == Origin(file, checkpoint_digest(file))
    written = graph.stat().st_mtime_ns
    assert to_graph(folder) == (graph, digest)
    assert graph.stat().st_mtime_ns == written
    rotary_folder(folder, rms_norm_eps=1e-3)
    assert to_graph(folder)[0] != graph


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"architectures": ["BertModel"]}, "is a BertModel; checkpoints of LlamaForCausalLM"),
        ({"rope_parameters": {"rope_type": "llama3", "rope_theta": 1.0}}, "has rope_type 'llama3'"),
        ({"sliding_window": 64}, "has sliding_window 64"),
        ({"hidden_act": "gelu"}, "has hidden_act 'gelu'"),
        ({"quantization_config": {}}, "has quantized weights"),
        ({"hidden_size": "wide"}, "lacks a value, or it is none"),
        ({"num_hidden_layers": 9}, "has no weight model.layers.2."),
    ],
)
def test_what_is_built_otherwise_is_refused(changed: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    with pytest.raises(BadModel, match=sentence):
        to_graph(rotary_folder(tmp_path / "rotary", **changed))


def test_broken_files_are_refused(tmp_path: Path) -> None:
    folder = rotary_folder(tmp_path / "rotary")
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:5000])
    with pytest.raises(BadModel, match="cannot be read"):
        read_folder(folder)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"x": "../x.safetensors"}}), "utf-8")
    with pytest.raises(BadModel, match="no file of this folder"):
        read_folder(folder)
    file = rotary_gguf(tmp_path / "rotary.gguf")
    file.write_bytes(file.read_bytes()[:3000])
    with pytest.raises(BadModel, match=r"rotary\.gguf"):
        read_gguf(file)
    file.write_bytes(b"not a model")
    with pytest.raises(BadModel, match="cannot be read as GGUF"):
        read_gguf(file)


def test_a_graph_from_elsewhere_names_no_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an ONNX file says of itself is anybody's: it could name any folder."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    graph, _ = to_graph(rotary_folder(tmp_path / "rotary"))
    away = tmp_path / "away.onnx"
    away.write_bytes(graph.read_bytes())
    linked = graph.with_name("linked.onnx")
    linked.symlink_to(away)
    assert checkpoint_of(away, "folder") is None
    assert checkpoint_of(linked, "folder") is None
    graph.write_bytes(graph.read_bytes()[:-20])
    assert checkpoint_of(graph, "folder") is None


def test_the_provenance_is_read_past_the_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file has a hole of 8 GB where weights would be, which no reader of the whole takes."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    folder = rotary_folder(tmp_path / "rotary")
    graph, digest = to_graph(folder)
    length, header = 8 << 30, bytearray(b"\x3a")  # the graph is field 7
    for shift in range(0, 34, 7):
        header.append((length >> shift) & 127 | (128 if shift < 28 else 0))
    last = onnx.ModelProto(metadata_props=onnx.load(graph).metadata_props).SerializeToString()
    with graph.open("wb") as file:
        file.write(header)
        file.seek(length, 1)
        file.write(last)
    assert checkpoint_of(graph, "folder") == Origin(folder, digest)


@pytest.mark.parametrize("kind", ["folder", "gguf"])
def test_an_embedding_that_is_the_head_too_counts_twice(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the graph stores it twice, and an ONNX file has its limit."""
    source = rotary_folder(tmp_path / "rotary") if kind == "folder" else rotary_gguf(tmp_path / "rotary.gguf")
    read = read_folder if kind == "folder" else read_gguf
    weights = read(source).weights
    counted = graph_bytes({name: weight.shape for name, weight in weights.items()})
    assert counted < decoder_graph(read(source)).ByteSize() < counted + 50_000
    monkeypatch.setattr(f"assay.models.checkpoints.read_{kind}.MOST_BYTES", counted - 1)
    with pytest.raises(BadModel, match="a head that is the embedding counts twice"):
        read(source)


@pytest.mark.parametrize("fault", [EncodeError("too large"), ValueError("too large")])
def test_a_graph_that_cannot_be_written_is_refused(
    fault: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise fault

    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(onnx, "save", full)
    with pytest.raises(BadModel, match=r"does not fit into one ONNX file \(too large\)"):
        to_graph(rotary_folder(tmp_path / "rotary"))


def test_two_that_write_one_graph_do_not_share_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one is through while this one writes."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    folder, save, written = rotary_folder(tmp_path / "rotary"), onnx.save, []

    def slow(proto: onnx.ModelProto, path: Path) -> None:
        save(proto, path)
        written.append(path)
        if len(written) == 1:
            to_graph(folder)

    monkeypatch.setattr(onnx, "save", slow)
    graph, _ = to_graph(folder)
    assert len(set(written)) == 2
    assert [path.name for path in graph.parent.iterdir()] == ["rotary.onnx"]


def test_a_version_in_the_name_of_a_folder_is_no_suffix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    assert to_graph(rotary_folder(tmp_path / "tiny-v1.1"))[0].name == "tiny-v1.1.onnx"
    assert to_graph(rotary_gguf(tmp_path / "tiny-v1.1.gguf"))[0].name == "tiny-v1.1.onnx"
