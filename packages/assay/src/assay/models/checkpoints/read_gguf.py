"""A GGUF file of llama.cpp: quantized weights become the numbers that they stand for, in float32.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import BadModel
from assay.models.checkpoints.decoder_shapes import ATTENTION, GATED, Parts, graph_bytes, misfit
from assay.models.checkpoints.decoder_weights import EMBEDDING, HEAD, LAST_NORM, LAYER, Decoder
from assay.models.checkpoints.gguf_header import check_header
from assay.models.checkpoints.gguf_settings import KNOWN, GgufSettings, otherwise, read_settings
from assay.models.checkpoints.read_folder import MOST_BYTES
from assay.ports import Tensor

_NAMES = {
    "before": "attn_norm.weight",
    "query": "attn_q",
    "key": "attn_k",
    "value": "attn_v",
    "out": "attn_output",
    "query_norm": "attn_q_norm.weight",
    "key_norm": "attn_k_norm.weight",
    "between": "ffn_norm.weight",
    "gate": "ffn_gate",
    "up": "ffn_up",
    "down": "ffn_down",
}
_WHOLE = {"token_embd.weight": EMBEDDING, "output.weight": HEAD, "output_norm.weight": LAST_NORM}
_TURNED = {"llama": ("query", "key")}
"""Whose rows the converter of llama.cpp puts in pairs, by architecture."""
_PARTS = {
    f"{theirs}{end}": f"{LAYER[part]}{end}"
    for part, theirs in _NAMES.items()
    for end in (("",) if theirs.endswith(".weight") else (".weight", ".bias"))
}


def read_gguf(path: Path) -> Decoder:
    """Raises BadModel for what is none, or one that is built otherwise."""
    try:
        from gguf import GGUFReader
    except ImportError:
        raise BadModel(f"{path} needs the package gguf to be read: pip install 'assay[gguf]'") from None
    try:
        check_header(path)
        reader = GGUFReader(path)
        metadata = {
            name: field.contents() for name, field in reader.fields.items() if not name.startswith("tokenizer.")
        }
    except (OSError, ValueError, IndexError, KeyError, TypeError, OverflowError, RecursionError) as error:
        raise BadModel(f"{path} cannot be read as GGUF ({error}): give the file as it was written") from None
    kind = str(metadata.get("general.architecture", "?"))
    if kind not in KNOWN:
        raise BadModel(f"{path} is a {kind}; {', '.join(KNOWN)} are read as they are")
    try:
        settings = read_settings(kind, metadata)
    except ValueError as error:
        raise BadModel(f"{path} lacks a setting, or it is none ({error}): give the file as it was written") from None
    if odd := next(otherwise(kind, metadata, settings.head), None):
        raise BadModel(f"{path} has {odd[:200]}, which is not read as it is: export the model to ONNX with its cache")
    decoder = Decoder(
        path.stem,
        settings.layers,
        settings.heads,
        settings.key_heads,
        settings.head,
        settings.epsilon,
        settings.base,
        {},
    )
    _check_weights(path, reader, decoder, kind, settings)
    return _named(replace(decoder, weights=_stored(path, reader)), _TURNED.get(kind, ()))


def _check_weights(path: Path, reader: Any, decoder: Decoder, kind: str, settings: GgufSettings) -> None:
    """Names and shapes, before a weight is read. The shape of GGUF has the last dimension first."""
    stored = {tensor.name: tuple(int(size) for size in reversed(tensor.shape)) for tensor in reader.tensors}
    ours = {_ours(name): shape for name, shape in stored.items()}
    vocabulary = settings.vocabulary or (*ours.get(EMBEDDING, ()), 0)[0]
    biased = ATTENTION[:3] if kind == "qwen2" else ()
    parts = Parts(biased, (*ATTENTION, *GATED), norms=kind == "qwen3", tied=HEAD not in ours)
    if wrong := misfit(ours, decoder, settings.width, settings.inner, vocabulary, parts):
        raise BadModel(f"{path} {wrong}; give the file as it was written (names are those of transformers)")
    if graph_bytes(ours) > MOST_BYTES:
        raise BadModel(
            f"{path} has more than 2 GB of weights in float32 (a head that is the embedding counts twice): "
            "that is more than is read as it is"
        )


def _ours(name: str) -> str:
    """The name by which transformers has it; what is unknown keeps its own."""
    if name in _WHOLE:
        return _WHOLE[name]
    where, _, rest = name.removeprefix("blk.").partition(".")
    part = _PARTS.get(rest)
    return f"model.layers.{where}.{part}" if part and where.isdecimal() and name.startswith("blk.") else name


def _stored(path: Path, reader: Any) -> dict[str, Tensor]:
    from gguf.quants import dequantize

    tensors: dict[str, Tensor] = {}
    for tensor in reader.tensors:
        try:
            values = dequantize(tensor.data, tensor.tensor_type)
        except NotImplementedError:
            raise BadModel(
                f"{path}: {tensor.name} is stored as {tensor.tensor_type.name}, which gguf does not read"
            ) from None
        # The shape of GGUF has the last dimension first.
        tensors[tensor.name] = np.asarray(values, np.float32).reshape([int(size) for size in reversed(tensor.shape)])
    return tensors


def _named(decoder: Decoder, turned: tuple[str, ...]) -> Decoder:
    weights: dict[str, Tensor] = {}
    heads = {"query": decoder.heads, "key": decoder.key_heads}
    names = {f".{LAYER[part]}{end}": heads[part] for part in turned for end in (".weight", ".bias")}
    for theirs, weight in decoder.weights.items():
        ours = _ours(theirs)
        count = next((count for end, count in names.items() if ours.endswith(end)), 0)
        weights[ours] = _halves(weight, count) if count else weight
    return replace(decoder, weights=weights)


def _halves(weight: Tensor, heads: int) -> Tensor:
    """llama.cpp turns neighbours with one another, transformers the halves of a head: its rows are back in their order."""
    pairs = weight.reshape(heads, -1, 2, *weight.shape[1:])
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(weight.shape))
