"""A checkpoint folder as transformers writes it: config.json and safetensors. No code in it is run, and no pickle is read.

https://huggingface.co/docs/transformers/main_classes/model#transformers.PreTrainedModel.save_pretrained
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import BadModel
from assay.models.checkpoints.decoder_weights import EMBEDDING, HEAD, Decoder
from assay.ports import Tensor

CONFIG, INDEX, WHOLE = "config.json", "model.safetensors.index.json", "model.safetensors"
_KNOWN = ("LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM")
MOST_BYTES = 2**31 - 2**24
"""Of an ONNX file without external data."""


def is_folder(source: Path) -> bool:
    """Whether it is a checkpoint of transformers."""
    return (source / CONFIG).is_file() and any((source / one).is_file() for one in (INDEX, WHOLE))


def read_folder(folder: Path) -> Decoder:
    """Raises BadModel for what is none, or one that is built otherwise."""
    said = _json(folder / CONFIG)
    kind = (said.get("architectures") or ["?"])[0]
    if kind not in _KNOWN:
        raise BadModel(
            f"{folder} is a {kind}; checkpoints of {', '.join(_KNOWN)} are read as they are: export this one to ONNX with its cache, and "
            "check that file with --option checkpoint=FOLDER"
        )
    _refuse(folder, said)
    try:
        heads, width = int(said["num_attention_heads"]), int(said["hidden_size"])
        return Decoder(
            name=folder.resolve().name,
            layers=int(said["num_hidden_layers"]),
            heads=heads,
            key_heads=int(said.get("num_key_value_heads") or heads),
            head=int(said.get("head_dim") or width // heads),
            epsilon=float(said["rms_norm_eps"]),
            base=float(_rope(said).get("rope_theta", 10000.0)),
            weights=_weights(folder, tied=bool(said.get("tie_word_embeddings"))),
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise BadModel(
            f"{folder / CONFIG} lacks a size, or it is none ({error}): give the folder as it was saved"
        ) from None


def _rope(said: Mapping[str, Any]) -> dict[str, Any]:
    """Up to transformers 4 the base stood in config.json itself."""
    return {
        "rope_theta": said.get("rope_theta", 10000.0),
        **(said.get("rope_parameters") or said.get("rope_scaling") or {}),
    }


def _refuse(folder: Path, said: Mapping[str, Any]) -> None:
    scaling = str(_rope(said).get("rope_type") or "default")
    sliding = said.get("sliding_window") if said.get("use_sliding_window", True) else None
    others = {
        f"rope_type {scaling!r}": scaling != "default",
        f"sliding_window {sliding}": sliding is not None,
        f"hidden_act {said.get('hidden_act')!r}": said.get("hidden_act", "silu") != "silu",
        "quantized weights": "quantization_config" in said,
    }
    if odd := next((what for what, there in others.items() if there), None):
        raise BadModel(
            f"{folder} has {odd}, which is not read as it is: export it to ONNX with its cache, and check that file"
        )


def _json(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise BadModel(f"{path} cannot be read ({error}): give the folder as it was saved") from None


def _weights(folder: Path, *, tied: bool) -> dict[str, Tensor]:
    import ml_dtypes  # noqa: F401  (numpy knows bfloat16 by it)
    from safetensors import SafetensorError, safe_open

    files = [WHOLE]
    if not (folder / WHOLE).is_file():
        files = sorted(set(dict(_json(folder / INDEX).get("weight_map") or {}).values()))
    found: dict[str, Tensor] = {}
    bytes_read = 0
    for name in files:
        if Path(name).name != name:
            raise BadModel(f"{folder / INDEX} names {name!r}, which is no file of this folder")
        try:
            with safe_open(folder / name, "np") as stored:
                for key in stored.keys():  # noqa: SIM118  (safe_open is no mapping)
                    found[key] = np.asarray(stored.get_tensor(key)).astype(np.float32)
                    bytes_read += found[key].nbytes
                    if bytes_read > MOST_BYTES:
                        raise BadModel(
                            f"{folder} has more than 2 GB of weights in float32: export it to ONNX, and check that file"
                        )
        except (OSError, SafetensorError) as error:
            raise BadModel(f"{folder / name} cannot be read ({error}): give the folder as it was saved") from None
    if tied:
        found.pop(HEAD, None)
    if EMBEDDING not in found:
        raise BadModel(f"{folder} has no weight {EMBEDDING}: it is no decoder, or it was cut short")
    return found
