"""Write `rotary` as other tools read it: a checkpoint folder of transformers, and GGUF files of llama.cpp.

pip install 'assay[gguf]' && python examples/language-model/checkpoints.py FOLDER
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import gguf
import numpy as np
from gguf.quants import quantize
from safetensors.numpy import load_file, save_file

HERE = Path(__file__).parent
VOCABULARY, WIDTH, LAYERS, HEADS, KEY_HEADS, INNER, MOST = 512, 64, 2, 4, 2, 192, 256
EPSILON, BASE = 1e-5, 10000.0
_PARTS = {
    "before": ("input_layernorm", "attn_norm"),
    "between": ("post_attention_layernorm", "ffn_norm"),
    "attention.query": ("self_attn.q_proj", "attn_q"),
    "attention.key": ("self_attn.k_proj", "attn_k"),
    "attention.value": ("self_attn.v_proj", "attn_v"),
    "attention.out": ("self_attn.o_proj", "attn_output"),
    "gate": ("mlp.gate_proj", "ffn_gate"),
    "up": ("mlp.up_proj", "ffn_up"),
    "down": ("mlp.down_proj", "ffn_down"),
}
KINDS = {"f32": "F32", "f16": "F16", "q8_0": "Q8_0", "q4_0": "Q4_0"}
Weights = dict[str, np.ndarray[Any, Any]]


def named(weights: Weights, which: int) -> Weights:
    """Under the names of transformers (0) or llama.cpp (1)."""
    tops = {
        "tokens.weight": ("model.embed_tokens.weight", "token_embd.weight"),
        "last.weight": ("model.norm.weight", "output_norm.weight"),
    }
    tensors = {tops[key][which]: weights[key] for key in tops}
    for layer in range(LAYERS):
        for ours, theirs in _PARTS.items():
            before = (f"model.layers.{layer}.", f"blk.{layer}.")[which]
            tensors[f"{before}{theirs[which]}.weight"] = weights[f"layers.{layer}.{ours}.weight"]
    return tensors


def write_folder(weights: Weights, folder: Path) -> Path:
    """config.json, model.safetensors, tokenizer.json; no token ends a text."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": VOCABULARY,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KEY_HEADS,
        "head_dim": WIDTH // HEADS,
        "max_position_embeddings": MOST,
        "rms_norm_eps": EPSILON,
        "rope_parameters": {"rope_type": "default", "rope_theta": BASE},
        "rope_theta": BASE,
        "tie_word_embeddings": True,
        "hidden_act": "silu",
        "bos_token_id": None,
        "eos_token_id": None,
        "torch_dtype": "float32",
    }
    (folder / "config.json").write_text(json.dumps(config, indent=1), "utf-8")
    stored = {key: np.ascontiguousarray(weight, np.float32) for key, weight in named(weights, 0).items()}
    save_file(stored, folder / "model.safetensors", {"format": "pt"})
    shutil.copy(HERE / "tokenizer.json", folder)
    return folder


def write_gguf(weights: Weights, path: Path, kind: str) -> Path:
    """Norms stay in float32; rows of query and key in the pairs that llama.cpp turns with one another."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(MOST)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KEY_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_rope_freq_base(BASE)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_vocab_size(VOCABULARY)
    _add_tokenizer(writer)
    quantized = gguf.GGMLQuantizationType[KINDS[kind]]
    for name, weight in named(weights, 1).items():
        values = np.ascontiguousarray(weight, np.float32)
        if ".attn_q." in name or ".attn_k." in name:
            heads = HEADS if ".attn_q." in name else KEY_HEADS
            values = np.ascontiguousarray(values.reshape(heads, 2, -1, WIDTH).swapaxes(1, 2).reshape(values.shape))
        stored = gguf.GGMLQuantizationType.F32 if values.ndim == 1 else quantized
        writer.add_tensor(name, quantize(values, stored), raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer: gguf.GGUFWriter) -> None:
    said = json.loads((HERE / "tokenizer.json").read_text("utf-8"))["model"]
    tokens = sorted(said["vocab"], key=said["vocab"].get)
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in said["merges"]]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * len(tokens))
    writer.add_token_merges(merges)
    writer.add_add_bos_token(value=False)


def main() -> None:
    folder = Path(sys.argv[1])
    weights = load_file(HERE / "rotary.safetensors")
    print(f"wrote {write_folder(weights, folder / 'rotary')}")
    for kind in KINDS:
        print(f"wrote {write_gguf(weights, folder / f'rotary-{kind}.gguf', kind)}")


if __name__ == "__main__":
    main()
