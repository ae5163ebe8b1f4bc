"""Services by their address: nothing is lowered, the artifact is the address."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from assay.backends.artifact import read_record
from assay.backends.availability import installed
from assay.backends.flow_options import resolve_options
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.endpoints.chat_template import rendered
from assay.endpoints.connection import Connection, endpoint_key
from assay.endpoints.open_inference import TensorService
from assay.endpoints.openai import OpenAi, Vocabulary
from assay.errors import UsageError
from assay.ports import Availability, OptionSpec, Tensor, Tensors

_ARTIFACT = "address.json"
_URL = OptionSpec("url", "", help="where the service is, for example http://127.0.0.1:8000/v1")
_MODEL = OptionSpec("model", "", help="which of the service's models is meant")
_TIMEOUT = OptionSpec("timeout_s", 30.0, help="how long one answer may take, in seconds")


class _Address(msgspec.Struct, frozen=True):
    options: dict[str, Option]


def _connection(options: dict[str, Option]) -> Connection:
    if not options["url"]:
        raise UsageError(noted(BackendCode.NO_ADDRESS))
    return Connection(str(options["url"]), timeout_s=float(options["timeout_s"]), key=endpoint_key())


class TensorEndpoint:
    """Conformance: `assay.testing.check_backend`. Open Inference Protocol, version 2."""

    name = "oip"
    accepts = "onnx"
    dynamic = True
    options = (_URL, _MODEL, _TIMEOUT)
    flows = (Flow(name="oip", backend="oip"),)

    def availability(self) -> Availability:
        """It needs nothing but numpy."""
        return installed("numpy", "numpy", "numpy")

    def prepare(self) -> None:
        """Nothing is imported."""

    def lower(self, model: Path, flow: Flow) -> TensorEngine:
        """The service is asked whether it has the model."""
        options = resolve_options(self.options, flow)
        return TensorEngine(options | {"model": options["model"] or model.stem})

    def load(self, folder: Path, flow: Flow) -> TensorEngine:
        """The same address."""
        del flow
        return TensorEngine(read_record(folder / _ARTIFACT, _Address).options)


class TensorEngine:
    """A model that takes tensors by name."""

    def __init__(self, options: dict[str, Option]) -> None:
        self._options = options
        self._service = TensorService(_connection(options), str(options["model"]))

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """One request."""
        return self._service.infer(tensors)

    def save(self, folder: Path) -> None:
        """The address."""
        (folder / _ARTIFACT).write_bytes(msgspec.json.encode(_Address(self._options)))

    def facts(self) -> EngineInfo:
        """What the service says of itself."""
        options_by_name = {name: str(value) for name, value in self._options.items()}
        options_by_name["platform"] = self._service.metadata.platform or ""
        return EngineInfo(
            backend_version=",".join(map(str, self._service.metadata.versions or ())), options=options_by_name
        )


class PromptEndpoint:
    """Completions by OpenAI's protocol. What it gives is no tensor: `assay.worker.service` judges it prompt by prompt."""

    name = "openai"
    accepts = "onnx"
    dynamic = True
    prompted = True
    options = (
        _URL,
        _MODEL,
        _TIMEOUT,
        OptionSpec("logprobs", 5, help="log-probabilities that are asked for at each place"),
        OptionSpec("tokenizer", "", help="tokenizer.json of the model"),
        OptionSpec("chat_template", "", help="file with the chat template of the model; chat is not asked without it"),
        OptionSpec("draws", 400, help="tokens that are drawn to see whether sampling is right; 0: none"),
    )
    flows = (Flow(name="openai", backend="openai"),)

    def availability(self) -> Availability:
        """It needs nothing but numpy."""
        return installed("numpy", "numpy", "numpy")

    def prepare(self) -> None:
        """Nothing is imported."""

    def lower(self, model: Path, flow: Flow) -> PromptEngine:
        """The service is asked whether it has the model."""
        del model
        return PromptEngine(resolve_options(self.options, flow))

    def load(self, folder: Path, flow: Flow) -> PromptEngine:
        """The same address."""
        del flow
        return PromptEngine(read_record(folder / _ARTIFACT, _Address).options)


class PromptEngine:
    """A model that continues prompts."""

    def __init__(self, options: dict[str, Option]) -> None:
        self.settings = options
        vocabulary = Vocabulary(str(options["tokenizer"]))
        self.tokenizer = vocabulary.tokenizer
        model, most = str(options["model"]), int(options["logprobs"])
        self.service = OpenAi(_connection(options), model, vocabulary, most)

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """One request for each row of `input_ids`, for the token behind it: what is timed. Raises UsageError without that input."""
        if "input_ids" not in tensors:
            raise UsageError(noted(BackendCode.SERVICE_NO_INPUT_IDS))
        rows = [self.service.complete(row.tolist(), 1) for row in np.asarray(tensors["input_ids"])]
        return {"next_token": np.array([completion.ids[0] if completion.ids else -1 for completion in rows])}

    def chat_text(self, messages: Sequence[Mapping[str, str]]) -> str:
        """By the file that `chat_template` names. Raises UsageError where it cannot be read."""
        path = Path(str(self.settings["chat_template"]))
        if not path.is_file():
            raise UsageError(noted(BackendCode.TEMPLATE_NO_FILE, file=str(path)))
        return rendered(path, messages, Path(str(self.settings["tokenizer"])))

    def save(self, folder: Path) -> None:
        """The address."""
        (folder / _ARTIFACT).write_bytes(msgspec.json.encode(_Address(self.settings)))

    def facts(self) -> EngineInfo:
        """Where it is, and what it is called there."""
        return EngineInfo(
            options={name: str(value) for name, value in self.settings.items()} | {"model": self.service.model}
        )
