"""Settings of config.json that are not read as they are, and weights that contradict it, are refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from assay.errors import BadModel
from assay.models.checkpoints.read_folder import read_folder
from local_models import rotary_folder


def _with_weights(folder: Path, **changed: Any) -> Path:
    """None takes one away; names have "__" for a dot."""
    file = folder / "model.safetensors"
    weights = load_file(file) | {name.replace("__", "."): array for name, array in changed.items()}
    save_file({name: weight for name, weight in weights.items() if weight is not None}, file, {"format": "pt"})
    return folder


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"rope_scaling": {"type": "linear", "factor": 4.0}, "rope_parameters": None}, "has rope_type 'linear'"),
        ({"rope_scaling": {"type": "yarn", "factor": 4.0}}, "has rope_type 'yarn'"),
        ({"rope_scaling": {"factor": 4.0}, "rope_parameters": None}, "has rotary positions with factor 4.0"),
        ({"rope_parameters": {"rope_type": "default", "factor": 2}}, "has rotary positions with factor 2"),
        ({"partial_rotary_factor": 0.5}, "has partial_rotary_factor 0.5"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "has layers of 'sliding_attention'"),
        ({"architectures": ["MistralForCausalLM"]}, "has no sliding_window, which transformers takes for 4096"),
        (
            {"architectures": ["MistralForCausalLM"], "sliding_window": 9, "use_sliding_window": False},
            "has sliding_window 9",
        ),
        ({"architectures": ["Qwen2ForCausalLM"], "use_sliding_window": True}, "has no sliding_window"),
        ({"architectures": 5}, r"config\.json lacks a value, or it is none \(Expected `array`"),
        ({"architectures": {}}, r"config\.json lacks a value, or it is none \(Expected `array`"),
        ({"architectures": []}, r"config\.json lacks a value, or it is none"),
        ({"rope_scaling": "linear"}, r"Expected `object \| null`, got `str`"),
        ({"rope_scaling": ["linear"]}, r"Expected `object \| null`, got `array`"),
        ({"num_hidden_layers": -1}, "num_hidden_layers"),
        ({"num_hidden_layers": 2**24}, r"has no weight model\.layers\.2\."),
        ({"num_attention_heads": 8}, r"has a weight model\.layers\.0\.self_attn\.q_proj\.weight of \[64, 64\]"),
        ({"num_key_value_heads": 3}, "num_attention_heads 4 is no multiple of num_key_value_heads 3"),
        ({"head_dim": 32}, "where its sizes ask for"),
        ({"head_dim": 15}, r"a head of odd width \(15\)"),
        ({"head_dim": None, "num_attention_heads": 7}, "is no multiple of num_attention_heads 7"),
        ({"vocab_size": 511}, r"model\.embed_tokens\.weight of \[512, 64\] where its sizes ask for \[511, 64\]"),
        ({"rope_theta": 0, "rope_parameters": None}, "rope_theta is 0"),
        ({"rope_parameters": {"rope_theta": "wide"}}, "rope_theta is 'wide'"),
        ({"rms_norm_eps": float("inf")}, r"config\.json cannot be read"),
        ({"rms_norm_eps": 0}, "rms_norm_eps"),
        ({"attention_bias": True}, r"has no weight model\.layers\.0\.self_attn\.q_proj\.bias"),
        ({"tie_word_embeddings": False}, r"has no weight lm_head\.weight"),
    ],
)
def test_a_setting_that_the_graph_would_not_follow_is_refused(
    changed: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(BadModel, match=sentence):
        read_folder(rotary_folder(tmp_path / "rotary", **changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"rope_scaling": {"type": "default", "rope_theta": 10000.0}},
        {"architectures": ["MistralForCausalLM"], "sliding_window": None},
        {"layer_types": ["full_attention", "full_attention"], "partial_rotary_factor": 1.0},
        {"num_key_value_heads": 2, "quantization_config": None},
    ],
)
def test_a_setting_without_effect_is_let_be(changed: dict[str, Any], tmp_path: Path) -> None:
    assert read_folder(rotary_folder(tmp_path / "rotary", **changed)).layers == 2


def test_a_config_that_is_nested_without_end_is_refused(tmp_path: Path) -> None:
    folder = rotary_folder(tmp_path / "rotary")
    (folder / "config.json").write_text('{"architectures": ' + "[" * 100_000, "utf-8")
    with pytest.raises(BadModel, match=r"config\.json"):
        read_folder(folder)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"model__norm__bias": np.zeros(64, np.float32)}, r"has a weight model\.norm\.bias, which such a model"),
        ({"model__layers__0__self_attn__q_norm__weight": np.ones(16, np.float32)}, "which such a model does not use"),
        ({"model__layers__2__input_layernorm__weight": np.ones(64, np.float32)}, "which such a model does not use"),
        ({"model__norm__weight": np.zeros(64, np.int8)}, r"stores model\.norm\.weight as I8"),
        ({"model__norm__weight": np.zeros(64, np.complex64)}, r"stores model\.norm\.weight as C64"),
        ({"model__norm__weight": np.zeros(64, ml_dtypes.float8_e4m3fn)}, r"stores model\.norm\.weight as F8_E4M3"),
        ({"model__embed_tokens__weight": np.ones((), np.float32)}, r"model\.embed_tokens\.weight of \[\]"),
        ({"model__norm__weight": None}, r"has no weight model\.norm\.weight: it was cut short"),
        ({"lm_head__weight": np.zeros((512, 64), np.float32)}, r"lm_head\.weight that differs from"),
    ],
)
def test_a_weight_that_the_graph_would_not_use_is_refused(
    changed: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    with pytest.raises(BadModel, match=sentence):
        read_folder(_with_weights(rotary_folder(tmp_path / "rotary"), **changed))


def test_buffers_that_are_computed_anew_and_a_head_stored_twice_are_let_be(tmp_path: Path) -> None:
    folder = rotary_folder(tmp_path / "rotary")
    embedding = load_file(folder / "model.safetensors")["model.embed_tokens.weight"]
    _with_weights(
        folder, lm_head__weight=embedding, model__layers__0__self_attn__rotary_emb__inv_freq=np.ones(8, np.float32)
    )
    assert "lm_head.weight" not in read_folder(folder).weights


@pytest.mark.parametrize(
    ("index", "sentence"),
    [
        ({"weight_map": 5}, r"index\.json lacks a value"),
        ({"weight_map": {"x": 5}}, r"index\.json lacks a value"),
        ([], r"index\.json lacks a value"),
        ({"weight_map": {"x": "away.safetensors"}}, r"index\.json names 'away\.safetensors', which is not there"),
        ({"weight_map": {"x": "one.safetensors", "y": "two.safetensors"}}, "as another file does"),
    ],
)
def test_a_fault_of_the_index_is_told_as_one(index: Any, sentence: str, tmp_path: Path) -> None:
    folder = rotary_folder(tmp_path / "rotary")
    for name in ("one", "two"):
        (folder / f"{name}.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")
    with pytest.raises(BadModel, match=sentence):
        read_folder(folder)
