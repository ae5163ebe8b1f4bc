"""The small language model of the examples, served on the loopback, and what it should answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from assay.endpoints.connection import Connection
from assay.endpoints.openai import OpenAi, Vocabulary
from assay.models.onnx_file import open_model
from assay.models.own_data.prompts.signature import signature_of
from assay.testing.language_server.app import Settings
from assay.testing.language_server.running import running
from assay.worker.service.oracle import Oracle

EXAMPLE = Path(__file__).parents[1] / "examples" / "language-model"
TOKENIZER, TEMPLATE = EXAMPLE / "tokenizer.json", EXAMPLE / "chat_template.jinja"
MODEL, WEIGHTS = EXAMPLE / "models" / "rotary.onnx", EXAMPLE / "rotary.safetensors"
PROMPTS = "[260, 66, 288, 302, 309, 267]\n[51, 71, 68, 220, 309]\n"
NOISE = 1e-6
"""Of a logit, about what is derived for this model in float32."""


@contextmanager
def serving(*faults: str, **settings: Any) -> Iterator[str]:
    """Its address, .../v1."""
    settings["troubles"] = frozenset(settings.get("troubles", ()))
    with running(Settings(WEIGHTS, TOKENIZER, faults=frozenset(faults), **settings)) as address:
        yield f"{address}/v1"


def client(address: str, *, tokenizer: Path | str = TOKENIZER, model: str = "", timeout_s: float = 30.0) -> OpenAi:
    return OpenAi(Connection(address, timeout_s=timeout_s), model, Vocabulary(str(tokenizer)))


def oracle(model: Path = MODEL) -> Oracle:
    """Two prompts of a length that the caches and batches of the server have to do with."""
    prompts = [(51, 71, 68, 220, 309, 267, 300, 66, 12, 80), (51, 71, 68, 220, 65, 302, 67, 11)]
    found = Oracle(model, signature_of(open_model(model), {}), [*prompts], np.full(512, NOISE))
    found.learn(prompts)
    return found
