"""A decoder as its weights and sizes, however they were stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.ports import Tensor

EMBEDDING, HEAD, LAST_NORM = "model.embed_tokens.weight", "lm_head.weight", "model.norm.weight"
"""As transformers names them; those of layers are `model.layers.N.` and a name of LAYER."""
LAYER = {
    "before": "input_layernorm.weight",
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "out": "self_attn.o_proj",
    "query_norm": "self_attn.q_norm.weight",
    "key_norm": "self_attn.k_norm.weight",
    "between": "post_attention_layernorm.weight",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}


@dataclass(frozen=True)
class Decoder:
    """Rotary positions with `base`, grouped queries, RMS norms with `epsilon`, a gated SiLU. `weights` are float32, (out, in)."""

    name: str
    layers: int
    heads: int
    key_heads: int
    head: int
    epsilon: float
    base: float
    weights: Mapping[str, Tensor]

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return int(self.weights[EMBEDDING].shape[0])
