"""The config.json of a checkpoint folder: sizes and settings, and those that are read as they are.

https://huggingface.co/docs/transformers/model_doc/llama#transformers.LlamaConfig
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import msgspec

from assay.errors import BadModel

CONFIG = "config.json"
INDEX, WHOLE = "model.safetensors.index.json", "model.safetensors"
KNOWN = ("LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM")
BASE = 10000.0
"""Of rotary positions, where none is said."""
_UNSCALED = ("rope_type", "type", "rope_theta")
_Size = Annotated[int, msgspec.Meta(ge=1, le=2**24)]
_Record = TypeVar("_Record")


class FolderConfig(msgspec.Struct, frozen=True):
    """What a graph depends on; further keys are let be."""

    architectures: Annotated[list[str], msgspec.Meta(min_length=1, max_length=1)]
    hidden_size: _Size
    intermediate_size: _Size
    vocab_size: _Size
    num_hidden_layers: _Size
    num_attention_heads: _Size
    rms_norm_eps: Annotated[float, msgspec.Meta(gt=0, lt=1)]
    num_key_value_heads: _Size | None = None
    head_dim: _Size | None = None
    rope_theta: float | None = None
    rope_parameters: dict[str, Any] | None = None
    rope_scaling: dict[str, Any] | None = None
    partial_rotary_factor: float | None = None
    tie_word_embeddings: bool | None = None
    attention_bias: bool | None = None
    mlp_bias: bool | None = None
    hidden_act: str | None = "silu"
    sliding_window: int | msgspec.UnsetType | None = msgspec.UNSET
    use_sliding_window: bool | None = None
    layer_types: list[str] | None = None
    quantization_config: Any = msgspec.UNSET

    @property
    def kind(self) -> str:
        """The class of transformers that reads it."""
        return self.architectures[0]

    @property
    def key_heads(self) -> int:
        """As many as there are heads, where nothing else is said."""
        return self.num_key_value_heads or self.num_attention_heads

    @property
    def head(self) -> int:
        """Width of one."""
        return self.head_dim or self.hidden_size // self.num_attention_heads

    @property
    def base(self) -> float:
        """Up to transformers 4 it stood in config.json itself."""
        theta = (self.rope_parameters or self.rope_scaling or {}).get("rope_theta", self.rope_theta)
        return BASE if theta is None else float(theta)


class _Kind(msgspec.Struct):
    architectures: Annotated[list[str], msgspec.Meta(min_length=1, max_length=1)]


def read_config(folder: Path) -> FolderConfig:
    """Raises BadModel for what is none, and for settings that are not read as they are."""
    path = folder / CONFIG
    kind = read_json(path, _Kind).architectures[0]
    if kind not in KNOWN:
        raise BadModel(
            f"{folder} is a {kind}; checkpoints of {', '.join(KNOWN)} are read as they are: export this one to ONNX with its cache, and "
            "check that file with --option checkpoint=FOLDER"
        )
    config = read_json(path, FolderConfig)
    if odd := next(_otherwise(config), None):
        raise BadModel(
            f"{folder} has {odd[:200]}, which is not read as it is: export it to ONNX with its cache, and check that file"
        )
    if wrong := next(_contradictions(config), None):
        raise BadModel(f"{path} cannot be followed: {wrong}; give the folder as it was saved")
    return config


def read_json(path: Path, kind: type[_Record]) -> _Record:
    """Raises BadModel."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except msgspec.ValidationError as error:
        raise BadModel(f"{path} lacks a value, or it is none ({error}): give the folder as it was saved") from None
    except (OSError, ValueError, msgspec.DecodeError, RecursionError) as error:
        raise BadModel(f"{path} cannot be read ({error}): give the folder as it was saved") from None


def _otherwise(config: FolderConfig) -> Iterator[str]:
    for scaling in (config.rope_parameters, config.rope_scaling):
        yield from _scaling(scaling or {})
    if config.partial_rotary_factor not in {None, 1.0}:
        yield f"partial_rotary_factor {config.partial_rotary_factor}"
    yield from _sliding(config)
    if config.hidden_act not in {None, "silu", "swish"}:
        yield f"hidden_act {config.hidden_act!r}"
    if config.quantization_config is not msgspec.UNSET and config.quantization_config is not None:
        yield "quantized weights"


def _scaling(scaling: Mapping[str, Any]) -> Iterator[str]:
    """`type` is the older name of `rope_type`, which transformers obeys too."""
    for name in ("rope_type", "type"):
        if scaling.get(name, "default") not in {None, "default"}:
            yield f"rope_type {scaling[name]!r}"
    for name, value in scaling.items():
        if name not in _UNSCALED and not (name == "partial_rotary_factor" and value == 1):
            yield f"rotary positions with {name} {value!r}"


def _sliding(config: FolderConfig) -> Iterator[str]:
    """Qwen has a switch for it; Mistral slides by 4096 where nothing is said of it."""
    switched_off = config.kind.startswith("Qwen") and not config.use_sliding_window
    if config.sliding_window is msgspec.UNSET:
        if config.kind.startswith("Mistral") or config.use_sliding_window:
            yield "no sliding_window, which transformers takes for 4096"
    elif config.sliding_window is not None and not switched_off:
        yield f"sliding_window {config.sliding_window}"
    yield from (
        f"layers of {layer_type!r}" for layer_type in config.layer_types or () if layer_type != "full_attention"
    )


def _contradictions(config: FolderConfig) -> Iterator[str]:
    theta = (config.rope_parameters or config.rope_scaling or {}).get("rope_theta", config.rope_theta)
    if theta is not None and (
        isinstance(theta, bool) or not isinstance(theta, int | float) or not theta > 0 or not math.isfinite(theta)
    ):
        yield f"rope_theta is {theta!r}"
    if not config.head_dim and config.hidden_size % config.num_attention_heads:
        yield f"hidden_size {config.hidden_size} is no multiple of num_attention_heads {config.num_attention_heads}"
    elif config.num_attention_heads % config.key_heads:
        yield f"num_attention_heads {config.num_attention_heads} is no multiple of num_key_value_heads {config.key_heads}"
    elif config.head % 2:
        yield f"a head of odd width ({config.head}) cannot be turned by its position"
