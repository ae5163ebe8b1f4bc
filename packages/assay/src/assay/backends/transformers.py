"""Hugging Face's transformers on the CPU: a checkpoint folder, its own generation, cache and sampler; eager or compiled by Inductor."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.backends.availability import installed
from assay.backends.checkpoint_model import (
    ATTENTION,
    CHECKPOINT,
    DTYPE,
    Checkpoint,
    checkpoint_for,
    opened,
    saved_checkpoint,
)
from assay.backends.flow_options import positive, resolve_options
from assay.backends.local_prompts import DRAWS, LOGPROBS, Decoded, DecodingEngine, Prompt, Sampling, shared
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option
from assay.ports import Availability, OptionSpec


class Transformers:
    """Its generation is judged with its own cache, padding and sampler."""

    name = "transformers"
    library = "torch"
    accepts = "onnx"
    dynamic = True
    prompted = True
    options = (
        LOGPROBS,
        DRAWS,
        CHECKPOINT,
        DTYPE,
        ATTENTION,
        OptionSpec("compiled", False, help="whether the forward pass is compiled by torch.compile"),
        OptionSpec("threads", 1, help="threads of torch"),
    )
    flows = (
        Flow(name="transformers", backend="transformers"),
        Flow(name="transformers-eager", backend="transformers", options={"attention": "eager"}),
        Flow(name="transformers-compiled", backend="transformers", options={"compiled": True}),
        Flow(name="transformers-fp16", backend="transformers", options={"dtype": "float16"}, precision="float16"),
        Flow(name="transformers-bf16", backend="transformers", options={"dtype": "bfloat16"}, precision="bfloat16"),
    )

    def availability(self) -> Availability:
        """From the package metadata."""
        return installed("transformers", "transformers", "transformers")

    def prepare(self) -> None:
        """Import torch and transformers."""
        import torch  # noqa: F401
        import transformers  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> DecodingEngine:
        """Raises Unsupported where neither the model nor the flow names a checkpoint, InvalidModel where it is not the one that the graph
        was written of."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        return _opened(checkpoint_for(model, options), options)

    def load(self, folder: Path, flow: Flow) -> DecodingEngine:
        """The same checkpoint. Raises InvalidModel where it has changed since."""
        return _opened(saved_checkpoint(folder), resolve_options(self.options, flow))


def _opened(checkpoint: Checkpoint, options: dict[str, Option]) -> DecodingEngine:
    import torch
    import transformers

    model, opened_checkpoint = opened(checkpoint, options)
    if options["compiled"]:
        model.forward = torch.compile(model.forward, dynamic=True)

    def describe() -> EngineInfo:
        described = {name: str(value) for name, value in options.items()}
        return EngineInfo(
            backend_version=str(transformers.__version__),
            precision=str(model.dtype).removeprefix("torch."),
            options=described,
        )

    return DecodingEngine(_Generation(model), options, keep=opened_checkpoint.save, describe=describe)


class _Generation:
    """`generate` of transformers: shorter prompts of a batch stand behind padding. The cache of the last prompt that stood alone is kept,
    and cropped to what the next one shares with it."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._cache: Any = None
        self._held: Prompt = ()

    def generate(self, rows: Sequence[Prompt], tokens: int, sampling: Sampling, *, keep: bool) -> list[Decoded]:
        """Raises what torch raises."""
        import torch
        from transformers import DynamicCache

        same = shared(rows[0], self._held) if keep and len(rows) == 1 else 0
        cache = self._cache if same else DynamicCache(config=self._model.config)
        if 0 < same < len(self._held):
            cache.crop(same - len(self._held))  # 5.23 takes a negative number alone: how many go
        longest = max(map(len, rows))
        ids = torch.tensor([[*[0] * (longest - len(row)), *row] for row in rows])
        mask = torch.tensor([[*[0] * (longest - len(row)), *[1] * len(row)] for row in rows])
        torch.manual_seed(sampling.seed)
        with torch.inference_mode():
            generated = self._model.generate(
                ids,
                attention_mask=mask,
                past_key_values=cache,
                generation_config=self._settings(tokens, sampling),
            )
        if len(rows) == 1:
            self._cache, self._held = cache, tuple(generated.sequences[0].tolist()[:-1])
        logits = np.stack([logit.to(torch.float64).numpy() for logit in generated.logits], axis=1)
        made = generated.sequences[:, longest:].tolist()
        return [_until_end(row, logits[number], self._ends()) for number, row in enumerate(made)]

    def _ends(self) -> list[int]:
        ends = self._model.generation_config.eos_token_id
        return [] if ends is None else [ends] if isinstance(ends, int) else list(ends)

    def _settings(self, tokens: int, sampling: Sampling) -> Any:
        """None of those that come with the checkpoint: a penalty for repetition is no probability of the model."""
        import transformers

        made: Any = transformers.GenerationConfig
        drawn = {"temperature": sampling.temperature, "top_k": 0, "top_p": 1.0} if sampling.temperature else {}
        return made(
            max_new_tokens=tokens,
            do_sample=sampling.temperature > 0,
            output_logits=True,
            return_dict_in_generate=True,
            use_cache=True,
            pad_token_id=0,
            eos_token_id=self._ends() or None,
            **drawn,
        )


def _until_end(ids: list[int], logits: Any, ends: Sequence[int]) -> Decoded:
    """The tokens of one row up to the one that ends its text."""
    count = next((at + 1 for at, token in enumerate(ids) if token in ends), len(ids))
    return Decoded(tuple(ids[:count]), logits[:count], over=any(token in ends for token in ids))
