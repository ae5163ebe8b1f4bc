"""A checkpoint folder as transformers writes it: config.json and safetensors. No code in it is run, and no pickle is read.

https://huggingface.co/docs/transformers/main_classes/model#transformers.PreTrainedModel.save_pretrained
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np

from assay.errors import BadModel
from assay.models.checkpoints.decoder_shapes import ATTENTION, GATED, Parts, Shape, graph_bytes, misfit, without_effect
from assay.models.checkpoints.decoder_weights import EMBEDDING, HEAD, Decoder
from assay.models.checkpoints.folder_config import INDEX, WHOLE, FolderConfig, read_config, read_json
from assay.ports import Tensor

_FLOATING = ("F16", "BF16", "F32", "F64")
MOST_BYTES = 2**31 - 2**24
"""Of an ONNX file without external data."""


class _Index(msgspec.Struct):
    weight_map: dict[str, str]


def read_folder(folder: Path) -> Decoder:
    """Raises BadModel for what is none, or one that is built otherwise."""
    config = read_config(folder)
    decoder = Decoder(
        name=folder.resolve().name,
        layers=config.num_hidden_layers,
        heads=config.num_attention_heads,
        key_heads=config.key_heads,
        head=config.head,
        epsilon=config.rms_norm_eps,
        base=config.base,
        weights={},
    )
    files = _files(folder)
    shapes: dict[str, Shape] = {}
    for file in files:
        read = _shapes(folder, file)
        if twice := next((name for name in read if name in shapes), ""):
            raise BadModel(f"{folder / file} stores {twice}, as another file does: give the folder as it was saved")
        shapes |= read
    tied = bool(config.tie_word_embeddings)
    parts = Parts(_biased(config), (), norms=config.kind == "Qwen3ForCausalLM", tied=tied and HEAD not in shapes)
    wrong = misfit(shapes, decoder, config.hidden_size, config.intermediate_size, config.vocab_size, parts)
    if wrong:
        raise BadModel(f"{folder} {wrong}; give the folder as it was saved")
    if graph_bytes({name: shape for name, shape in shapes.items() if not (tied and name == HEAD)}) > MOST_BYTES:
        raise BadModel(
            f"{folder} has more than 2 GB of weights in float32 (a head that is the embedding counts twice): "
            "export it to ONNX, and check that file"
        )
    weights = _weights(folder, files)
    if tied and HEAD in weights and not np.array_equal(weights.pop(HEAD), weights[EMBEDDING]):
        raise BadModel(
            f"{folder} says tie_word_embeddings, and has a weight {HEAD} that differs from {EMBEDDING}: give the folder as it was saved"
        )
    return replace(decoder, weights=weights)


def _biased(config: FolderConfig) -> Collection[str]:
    """As the classes of transformers have it: Qwen2 always, Mistral never."""
    if config.kind == "Qwen2ForCausalLM":
        return ATTENTION[:3]
    if config.kind == "MistralForCausalLM":
        return ()
    mlp = config.mlp_bias and config.kind == "LlamaForCausalLM"
    return (*(ATTENTION if config.attention_bias else ()), *(GATED if mlp else ()))


def _files(folder: Path) -> list[str]:
    if (folder / WHOLE).is_file():
        return [WHOLE]
    files = sorted(set(read_json(folder / INDEX, _Index).weight_map.values()))
    for name in files:
        if Path(name).name != name:
            raise BadModel(f"{folder / INDEX} names {name!r}, which is no file of this folder")
        if not (folder / name).is_file():
            raise BadModel(f"{folder / INDEX} names {name!r}, which is not there: give the folder as it was saved")
    return files


def _shapes(folder: Path, file: str) -> dict[str, Shape]:
    """Of those weights that have an effect, without reading them."""
    from safetensors import SafetensorError, safe_open

    shapes: dict[str, Shape] = {}
    try:
        with safe_open(folder / file, "np") as stored:
            for name in stored.keys():  # noqa: SIM118  (safe_open is no mapping)
                if without_effect(name):
                    continue
                stored_slice = stored.get_slice(name)
                if (kind := stored_slice.get_dtype()) not in _FLOATING:
                    raise BadModel(
                        f"{folder / file} stores {name} as {kind}: only {', '.join(_FLOATING)} are read as they are"
                    )
                shapes[name] = tuple(stored_slice.get_shape())
    except (OSError, SafetensorError) as error:
        raise BadModel(f"{folder / file} cannot be read ({error}): give the folder as it was saved") from None
    return shapes


def _weights(folder: Path, files: list[str]) -> dict[str, Tensor]:
    import ml_dtypes  # noqa: F401  (numpy knows bfloat16 by it)
    from safetensors import SafetensorError, safe_open

    weights: dict[str, Tensor] = {}
    for file in files:
        try:
            with safe_open(folder / file, "np") as stored:
                for name in stored.keys():  # noqa: SIM118  (safe_open is no mapping)
                    if not without_effect(name):
                        weights[name] = np.asarray(stored.get_tensor(name)).astype(np.float32)
        except (OSError, SafetensorError) as error:
            raise BadModel(f"{folder / file} cannot be read ({error}): give the folder as it was saved") from None
    return weights
