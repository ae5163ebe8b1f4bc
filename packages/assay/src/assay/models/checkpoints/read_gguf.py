"""A GGUF file of llama.cpp: quantized weights become the numbers that they stand for, in float32.

https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from assay.errors import BadModel
from assay.models.checkpoints.decoder_weights import EMBEDDING, HEAD, LAST_NORM, LAYER, Decoder
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
_KNOWN = ("llama", "qwen2", "qwen3")


def is_gguf(source: Path) -> bool:
    """By its suffix."""
    return source.suffix.lower() == ".gguf"


def read_gguf(path: Path) -> Decoder:
    """Raises BadModel for what is none, or one that is built otherwise."""
    try:
        from gguf import GGUFReader
    except ImportError:
        raise BadModel(f"{path} needs the package gguf to be read: pip install 'assay[gguf]'") from None
    try:
        reader = GGUFReader(path)
        said = {name: field.contents() for name, field in reader.fields.items() if not name.startswith("tokenizer.")}
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise BadModel(f"{path} cannot be read as GGUF ({error}): give the file as it was written") from None
    kind = str(said.get("general.architecture", "?"))
    scaling = str(said.get(f"{kind}.rope.scaling.type", "none"))
    if kind not in _KNOWN or scaling != "none":
        what = f"is a {kind}" if kind not in _KNOWN else f"scales its rotary positions ({scaling})"
        raise BadModel(f"{path} {what}; {', '.join(_KNOWN)} without scaling are read as they are")
    try:
        heads, width = int(said[f"{kind}.attention.head_count"]), int(said[f"{kind}.embedding_length"])
        decoder = Decoder(
            name=path.stem,
            layers=int(said[f"{kind}.block_count"]),
            heads=heads,
            key_heads=int(said.get(f"{kind}.attention.head_count_kv", heads)),
            head=int(said.get(f"{kind}.attention.key_length", width // heads)),
            epsilon=float(said[f"{kind}.attention.layer_norm_rms_epsilon"]),
            base=float(said.get(f"{kind}.rope.freq_base", 10000.0)),
            weights=_stored(path, reader),
        )
    except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
        raise BadModel(f"{path} lacks a size, or it is none ({error}): give the file as it was written") from None
    return _named(decoder, _TURNED.get(kind, ()))


def _stored(path: Path, reader: Any) -> dict[str, Tensor]:
    from gguf.quants import dequantize

    found: dict[str, Tensor] = {}
    for one in reader.tensors:
        if int(one.n_elements) * 4 + sum(tensor.nbytes for tensor in found.values()) > MOST_BYTES:
            raise BadModel(f"{path} has more than 2 GB of weights in float32: that is more than is read as it is")
        try:
            values = dequantize(one.data, one.tensor_type)
        except NotImplementedError:
            raise BadModel(
                f"{path}: {one.name} is stored as {one.tensor_type.name}, which gguf does not read"
            ) from None
        # The shape of GGUF has the last dimension first.
        found[one.name] = np.asarray(values, np.float32).reshape([int(size) for size in reversed(one.shape)])
    return found


def _named(decoder: Decoder, turned: tuple[str, ...]) -> Decoder:
    from dataclasses import replace

    found = {ours: decoder.weights[theirs] for theirs, ours in _WHOLE.items() if theirs in decoder.weights}
    missing = [theirs for theirs, ours in _WHOLE.items() if ours not in found and ours != HEAD]
    for number in range(decoder.layers):
        for part, name in _NAMES.items():
            for kind in ("",) if name.endswith(".weight") else (".weight", ".bias"):
                theirs, ours = f"blk.{number}.{name}{kind}", f"model.layers.{number}.{LAYER[part]}{kind}"
                if theirs in decoder.weights:
                    heads = decoder.heads if part == "query" else decoder.key_heads
                    one = decoder.weights[theirs]
                    found[ours] = _halves(one, heads) if part in turned else one
                elif not (kind == ".bias" or part.endswith("_norm")):
                    missing.append(theirs)
    if missing:
        raise ValueError(f"no weight {missing[0]}")
    return replace(decoder, weights=found)


def _halves(weight: Tensor, heads: int) -> Tensor:
    """llama.cpp turns neighbours with one another, transformers the halves of a head: its rows are back in their order."""
    pairs = weight.reshape(heads, -1, 2, *weight.shape[1:])
    return np.ascontiguousarray(pairs.swapaxes(1, 2).reshape(weight.shape))
