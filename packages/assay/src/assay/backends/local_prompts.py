"""Libraries that generate tokens in this process, asked as a service is: prompts go in as numbers, logits and tokens come out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from assay.core.engine_info import EngineInfo
from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import UsageError
from assay.ports import OptionSpec, Tensor, Tensors
from assay.ports.prompts import Completion, Top

Prompt = tuple[int, ...]
LOGPROBS = OptionSpec("logprobs", 64, help="most probable tokens that are judged at each place")
DRAWS = OptionSpec("draws", 400, help="tokens that are drawn to see whether sampling is right; 0: none")

GENAI_NAMES = ("input_ids", "past_key_values.N.key", "present.N.key", "logits")
"""What the libraries for generated texts ask of a graph."""


@dataclass(frozen=True)
class Decoded:
    """The tokens behind one prompt, and the logits that each was chosen by (tokens, vocabulary); `tops` where a library tells
    log-probabilities of some tokens alone. `over`: the library says that the text ends here."""

    ids: Prompt
    logits: Tensor | None = None
    over: bool = False
    tops: tuple[Top, ...] = ()


@dataclass(frozen=True)
class Sampling:
    """`temperature` 0 is the most probable token."""

    temperature: float = 0.0
    seed: int = 0


class Decoder(Protocol):
    """One library with one model. It is asked by one thread at a time."""

    def generate(self, rows: Sequence[Prompt], tokens: int, sampling: Sampling, *, keep: bool) -> list[Decoded]:
        """`tokens` at most behind each row, all rows in one batch. Where it is to `keep`, what its cache holds of the only row is not
        read again: the prefix cache of the library."""
        ...


class LocalService:
    """A decoder as `assay.ports.prompts.DecodesPrompts`. `most` log-probabilities are given for each token."""

    def __init__(self, decoder: Decoder, most: int) -> None:
        self.decoder, self._most = decoder, most
        self._lock = threading.Lock()
        self._fresh = False

    def complete(
        self,
        prompt: str | Sequence[int],
        tokens: int,
        *,
        temperature: float = 0.0,
        seed: int | None = None,
        stop: Sequence[str] = (),
        stream: bool = False,
        shown: bool = True,
    ) -> Completion:
        """Raises UsageError for text, stop strings and streams, which are none of the library's numbers."""
        if isinstance(prompt, str) or stop or stream:
            raise UsageError(noted(BackendCode.NUMBERS_ALONE))
        with self._lock:
            keep, self._fresh = not self._fresh and not temperature, False
            (decoded,) = self.decoder.generate(
                [tuple(prompt)], tokens, Sampling(temperature, 0 if seed is None else seed), keep=keep
            )
        return self._completion(decoded, len(prompt), shown=shown)

    def complete_together(self, prompts: Sequence[Sequence[int]], tokens: int) -> list[Completion]:
        """As one batch."""
        with self._lock:
            decoded_rows = self.decoder.generate([tuple(prompt) for prompt in prompts], tokens, Sampling(), keep=False)
        return [
            self._completion(decoded, len(row), shown=True) for decoded, row in zip(decoded_rows, prompts, strict=True)
        ]

    def forget(self) -> None:
        """The next prompt is read whole."""
        self._fresh = True

    def chat(self, messages: Sequence[Mapping[str, str]], tokens: int) -> Completion:
        """Raises UsageError: it is given numbers."""
        del messages, tokens
        raise UsageError(noted(BackendCode.NUMBERS_ALONE))

    def _completion(self, decoded: Decoded, length: int, *, shown: bool) -> Completion:
        rows_of_tops = decoded.tops if decoded.logits is None else (_top(row, self._most) for row in decoded.logits)
        tops = tuple(rows_of_tops) if shown else ()
        text = " ".join(map(str, decoded.ids))
        finish = "stop" if decoded.over else "length"
        return Completion(text, decoded.ids, tops, finish, length, len(decoded.ids))


def _top(logits: Tensor, most: int) -> Top:
    """Log-probabilities in double. What is no number stays so: it is beyond every limit."""
    row = np.asarray(logits, np.float64)
    with np.errstate(all="ignore"):
        logs = row - row.max()
        logs = logs - np.log(np.exp(logs).sum())
    best = np.argsort(-logs, kind="stable")[:most]
    return {int(token): float(logs[token]) for token in best}


def shared(row: Prompt, held: Prompt) -> int:
    """How many of the first tokens are held, less than all of the row: the last one is always read, as its logits are needed."""
    same = 0
    for token, other in zip(row[:-1], held, strict=False):
        if token != other:
            break
        same += 1
    return same


class DecodingEngine:
    """What `assay.worker.service` asks of a library: `keep` writes the artifact into a folder, `describe` says what the engine is."""

    def __init__(
        self,
        decoder: Decoder,
        settings: Mapping[str, Option],
        *,
        keep: Callable[[Path], None],
        describe: Callable[[], EngineInfo],
    ) -> None:
        self.settings = {"chat_template": "", **settings}
        self.tokenizer: Any = None
        self.service = LocalService(decoder, int(settings["logprobs"]))
        self._keep, self._describe = keep, describe

    def run(self, tensors: Tensors) -> dict[str, Tensor]:
        """The token behind each row of `input_ids`, all rows as one batch: what is timed. Raises UsageError without that input."""
        if "input_ids" not in tensors:
            raise UsageError(noted(BackendCode.NO_INPUT_IDS))
        rows = np.asarray(tensors["input_ids"]).tolist()
        self.service.forget()
        completions = self.service.complete_together(rows, 1)
        return {"next_token": np.array([completion.ids[0] if completion.ids else -1 for completion in completions])}

    def chat_text(self, messages: Sequence[Mapping[str, str]]) -> str:
        """Raises UsageError: it is given numbers."""
        del messages
        raise UsageError(noted(BackendCode.NUMBERS_ALONE))

    def save(self, folder: Path) -> None:
        """The artifact."""
        self._keep(folder)

    def facts(self) -> EngineInfo:
        """What it says of itself."""
        return self._describe()
