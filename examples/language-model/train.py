"""Train both models on the help texts of Python itself, in a few minutes on one core; the same seed gives nearly the same weights.

python examples/language-model/train.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from pydoc_data.topics import topics

import torch
from model import SHAPES, LanguageModel
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from torch.nn import functional

HERE = Path(__file__).parent
LENGTH, BATCH = 96, 24


def make_tokenizer(texts: list[str]) -> Tokenizer:
    """Pairs of bytes that are frequent together (byte-level BPE), 512 tokens."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        texts, trainers.BpeTrainer(vocab_size=512, initial_alphabet=alphabet, show_progress=False)
    )
    return tokenizer


def rows(ids: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Half of the rows repeat a span of theirs, so that attention learns to look back."""
    starts = torch.randint(len(ids) - LENGTH - 1, (BATCH,), generator=generator)
    some = torch.stack([ids[start : start + LENGTH + 1] for start in starts])
    for row in some[: BATCH // 2]:
        length = int(torch.randint(8, LENGTH // 2, (1,), generator=generator))
        row[length : 2 * length] = row[:length].clone()
    return some


def train(name: str, ids: torch.Tensor, steps: int) -> LanguageModel:
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(7)
    model = LanguageModel(SHAPES[name])
    for weight in model.parameters():
        if weight.ndim == 2:
            torch.nn.init.normal_(weight, std=0.05)
    matrices = [weight for weight in model.layers.parameters() if weight.ndim == 2]
    others = [weight for weight in model.parameters() if not any(weight is matrix for matrix in matrices)]
    optimizers = [torch.optim.Muon(matrices, lr=0.02), torch.optim.AdamW(others, lr=3e-3, weight_decay=0.01)]
    mask, positions = torch.ones(BATCH, LENGTH), torch.arange(LENGTH).expand(BATCH, -1)
    began = time.monotonic()
    for step in range(steps):
        some = rows(ids, generator)
        logits = model(some[:, :-1], mask, positions, *model.empty(BATCH))[0]
        loss = functional.cross_entropy(logits.flatten(0, 1), some[:, 1:].flatten())
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        for optimizer in optimizers:
            for group in optimizer.param_groups:
                group["lr"] = group.setdefault("first", group["lr"]) * min(1.0, 1.2 * (1 - step / steps))
            optimizer.step()
        if step % 50 == 0:
            print(f"{name} step {step} loss {loss.item():.3f} {time.monotonic() - began:.0f} s", flush=True)
    return model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    steps = parser.parse_args().steps
    torch.set_num_threads(1)
    texts = [topics[name] for name in sorted(topics)]
    tokenizer = make_tokenizer(texts)
    tokenizer.save(str(HERE / "tokenizer.json"), pretty=False)
    ids = torch.tensor(tokenizer.encode("\n\n".join(texts)).ids)
    for name in SHAPES:
        model = train(name, ids, steps)
        weights = {key: value.half().contiguous() for key, value in model.state_dict().items()}
        save_file(weights, HERE / f"{name}.safetensors")


if __name__ == "__main__":
    main()
