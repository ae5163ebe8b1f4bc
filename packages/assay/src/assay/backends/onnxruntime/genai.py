"""ONNX Runtime GenAI: generation around an exported graph, with its own cache, padding, search and sampler."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.backends.artifact import read_artifact
from assay.backends.availability import installed
from assay.backends.flow_options import positive, resolve_options
from assay.backends.local_prompts import (
    DRAWS,
    GENAI_NAMES,
    LOGPROBS,
    Decoded,
    DecodingEngine,
    Prompt,
    Sampling,
    shared,
)
from assay.backends.onnx_loader import Signature, load_checked, signature_of
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Unsupported
from assay.ports import Availability, OptionSpec

_MODEL, _CONFIG = "model.onnx", "genai_config.json"
_KEY = re.compile(r"past_key_values\.(\d+)\.key")


class OnnxRuntimeGenai:
    """What it generates is no tensor: `assay.worker.service` judges it prompt by prompt."""

    name = "onnxruntime-genai"
    library = "onnxruntime"
    accepts = "onnx"
    dynamic = True
    prompted = True
    options = (
        LOGPROBS,
        DRAWS,
        OptionSpec("context", 2048, help="tokens that a prompt and its answer have at most"),
        OptionSpec("threads", 1, help="threads inside one operator"),
    )
    flows = (Flow(name="onnxruntime-genai", backend="onnxruntime-genai"),)

    def availability(self) -> Availability:
        """From the package metadata."""
        return installed("onnxruntime-genai", "onnxruntime_genai", "genai")

    def prepare(self) -> None:
        """Import onnxruntime_genai."""
        import onnxruntime_genai  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> DecodingEngine:
        """Its configuration is written from the names and shapes of the graph. Raises Unsupported for a graph without the names of a
        cache that it finds."""
        import onnx

        options = resolve_options(self.options, flow)
        proto = load_checked(model)
        config = _config(signature_of(proto), options, positive(options, "threads", flow))
        return _engine(onnx.ModelProto.SerializeToString(proto), config, options)

    def load(self, folder: Path, flow: Flow) -> DecodingEngine:
        """The graph and its configuration."""
        options = resolve_options(self.options, flow)
        try:
            config = json.loads(read_artifact(folder / _CONFIG))
        except ValueError as error:
            raise InvalidModel(noted(BackendCode.ENGINE_NOT_READ, file=_CONFIG, error=str(error))) from error
        return _engine(read_artifact(folder / _MODEL), config, options)


def _config(signature: Signature, options: dict[str, Option], threads: int) -> dict[str, Any]:
    """As the tools of the library write it: https://onnxruntime.ai/docs/genai/reference/config.html"""
    inputs = {spec.name: spec for spec in signature.inputs}
    outputs = {spec.name: spec for spec in signature.outputs}
    layers = [int(match[1]) for name in inputs if (match := _KEY.fullmatch(name))]
    vocabulary = outputs["logits"].shape[-1] if "logits" in outputs and outputs["logits"].shape else None
    if "input_ids" not in inputs or not layers or not isinstance(vocabulary, int):
        raise Unsupported(
            noted(BackendCode.GRAPH_NEEDS, library="onnxruntime-genai", names=GENAI_NAMES),
            cause="other",
        )
    cache = inputs[f"past_key_values.{min(layers)}.key"].shape
    names = {name: name for name in ("input_ids", "attention_mask", "position_ids") if name in inputs}
    past = {f"past_{part}_names": f"past_key_values.%d.{part}" for part in ("key", "value")}
    present = {f"present_{part}_names": f"present.%d.{part}" for part in ("key", "value")}
    decoder = {
        "filename": _MODEL,
        "num_hidden_layers": len(layers),
        "num_attention_heads": cache[1],
        "num_key_value_heads": cache[1],
        "head_size": cache[3],
        "hidden_size": int(cache[1]) * int(cache[3]),
        "inputs": names | past,
        "outputs": {"logits": "logits"} | present,
        "session_options": {"intra_op_num_threads": threads, "provider_options": []},
    }
    return {
        "model": {
            "type": "llama",
            "context_length": options["context"],
            "vocab_size": vocabulary,
            "bos_token_id": vocabulary - 1,
            "eos_token_id": vocabulary - 1,
            "pad_token_id": vocabulary - 1,
            "decoder": decoder,
        },
        "search": {"do_sample": False, "max_length": options["context"], "past_present_share_buffer": False},
    }


def _engine(model: bytes, config: dict[str, Any], options: dict[str, Option]) -> DecodingEngine:
    def keep(folder: Path) -> None:
        (folder / _MODEL).write_bytes(model)
        (folder / _CONFIG).write_text(json.dumps(config, indent=1), "utf-8")

    def describe() -> EngineInfo:
        import onnxruntime_genai

        described = {name: str(value) for name, value in options.items()}
        return EngineInfo(backend_version=str(onnxruntime_genai.__version__), options=described)

    return DecodingEngine(_Generators(model, config), options, keep=keep, describe=describe)


class _Generators:
    """One generator that keeps its cache for the next prompt, and new ones. A row must not end with the token that pads: 0.18.0 takes it
    for padding even in a prompt that stands alone. For a row that does, the model is opened with another."""

    def __init__(self, model: bytes, config: dict[str, Any]) -> None:
        self._model, self._config = model, config
        self._opened: dict[int, Any] = {}
        self._kept: Any = None
        self._held: Prompt = ()

    def generate(self, rows: Sequence[Prompt], tokens: int, sampling: Sampling, *, keep: bool) -> list[Decoded]:
        """One step at a time: logits, then its own search chooses."""
        ends = {row[-1] for row in rows}
        last = int(self._config["model"]["vocab_size"]) - 1
        pad = next(token for token in range(last, -1, -1) if token not in ends)
        same = shared(rows[0], self._held) if keep and self._kept is not None and len(rows) == 1 and pad == last else 0
        if same:
            generator = self._kept
            generator.rewind_to(same)
        else:
            generator = self._new(pad, len(rows), sampling)
        longest = max(map(len, rows))
        fed = np.array([[*row[same:], *[pad] * (longest - len(row))] for row in rows], np.int32)
        generator.append_tokens(fed)
        steps: list[Any] = []
        chosen: list[list[int]] = []
        while len(chosen) < tokens and not generator.is_done():
            steps.append(np.asarray(generator.get_logits(), np.float64)[:, -1])
            generator.generate_next_token()
            chosen.append([int(token) for token in generator.get_next_tokens()])
        if len(rows) == 1 and pad == last and not sampling.temperature:
            self._kept, self._held = generator, (*rows[0], *(step[0] for step in chosen[:-1]))
        return [
            _until_end([step[row] for step in chosen], [step[row] for step in steps], pad) for row in range(len(rows))
        ]

    def _new(self, pad: int, rows: int, sampling: Sampling) -> Any:
        import onnxruntime_genai

        if pad not in self._opened:
            self._opened[pad] = self._open(pad)
        params = onnxruntime_genai.GeneratorParams(self._opened[pad])
        longest = int(self._config["model"]["context_length"])
        params.set_search_options(batch_size=rows, max_length=longest, do_sample=sampling.temperature > 0)
        if sampling.temperature:
            params.set_search_options(
                temperature=sampling.temperature, top_k=0, top_p=1.0, random_seed=sampling.seed % 2**31
            )
        return onnxruntime_genai.Generator(self._opened[pad], params)

    def _open(self, pad: int) -> Any:
        import tempfile

        import onnxruntime_genai

        model = self._config["model"] | {"pad_token_id": pad, "eos_token_id": pad, "bos_token_id": pad}
        with tempfile.TemporaryDirectory(prefix="genai-") as folder:
            (Path(folder) / _MODEL).write_bytes(self._model)
            (Path(folder) / _CONFIG).write_text(json.dumps(self._config | {"model": model}), "utf-8")
            return onnxruntime_genai.Model(folder)


def _until_end(ids: Sequence[int], logits: Sequence[Any], end: int) -> Decoded:
    """The tokens of one row up to the one that ends its text."""
    count = ids.index(end) + 1 if end in ids else len(ids)
    return Decoded(tuple(ids[:count]), np.array(logits[:count]), over=end in ids)
