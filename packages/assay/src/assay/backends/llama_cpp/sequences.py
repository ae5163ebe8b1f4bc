"""Sequences in a context of llama.cpp. https://github.com/ggml-org/llama.cpp/blob/master/include/llama.h"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.backends.local_prompts import Decoded, Prompt, Sampling, shared
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Lowering
from assay.ports import Tensor

_ROWS = 16
"""Sequences of one batch, at most."""
_CHUNK = 512
"""Tokens of one step."""
_FLOAT32, _FLOAT16 = 0, 1
"""Types of ggml."""


@dataclass(frozen=True)
class Settings:
    """`whole_cache`: keys and values in float32."""

    path: Path
    whole_cache: bool
    flash: bool
    context: int
    threads: int


@dataclass
class _Row:
    """A sequence under way: the tokens that it is to read, how many it has read, and what it made of them."""

    left: list[int]
    past: int
    sampler: Any
    logits: list[Tensor]
    made: list[int]
    over: bool = False


class Sequences:
    """Sequence 0 keeps the last prompt that stood alone. Raises InvalidModel for a file that llama.cpp does not open."""

    def __init__(self, settings: Settings) -> None:
        import llama_cpp

        self._library: Any = llama_cpp
        llama_cpp.llama_log_set(_SILENT, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        parameters = llama_cpp.llama_model_default_params()
        parameters.n_gpu_layers = 0
        self._model = llama_cpp.llama_model_load_from_file(str(settings.path).encode(), parameters)
        if not self._model:
            raise InvalidModel(noted(BackendCode.GGUF_NOT_OPENED, file=str(settings.path)))
        self._context = self._opened(settings)
        self._vocabulary = llama_cpp.llama_model_get_vocab(self._model)
        self._count = int(llama_cpp.llama_vocab_n_tokens(self._vocabulary))
        self._memory = llama_cpp.llama_get_memory(self._context)
        self._held: Prompt = ()

    def _opened(self, settings: Settings) -> Any:
        library = self._library
        parameters = library.llama_context_default_params()
        parameters.n_ctx = settings.context
        parameters.n_batch = parameters.n_ubatch = _CHUNK
        parameters.n_seq_max = _ROWS
        parameters.n_threads = parameters.n_threads_batch = settings.threads
        parameters.type_k = parameters.type_v = _FLOAT32 if settings.whole_cache else _FLOAT16
        parameters.kv_unified = True
        parameters.flash_attn_type = 1 if settings.flash else 0
        context = library.llama_init_from_model(self._model, parameters)
        if not context:
            raise InvalidModel(noted(BackendCode.NO_CONTEXT, file=str(settings.path)))
        return context

    @property
    def described(self) -> str:
        """What the file says of itself: architecture, size, types of its weights."""
        buffer = ctypes.create_string_buffer(256)
        self._library.llama_model_desc(self._model, buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace")

    def generate(self, rows: Sequence[Prompt], tokens: int, sampling: Sampling, *, keep: bool) -> list[Decoded]:
        """All sequences are stepped together, each behind its own tokens: nothing is padded."""
        same = shared(rows[0], self._held) if keep and len(rows) == 1 else 0
        for number in range(_ROWS):
            self._library.llama_memory_seq_rm(self._memory, number, same if number == 0 else 0, -1)
        self._held = ()
        going = [_Row([*row[same:]], same, self._sampler(sampling), [], []) for row in rows]
        try:
            while any(row.left for row in going):
                self._step(going, tokens)
        finally:
            for row in going:
                self._library.llama_sampler_free(row.sampler)
        if len(rows) == 1:
            self._held = (*rows[0], *going[0].made[:-1])
        return [Decoded(tuple(row.made), np.array(row.logits), over=row.over) for row in going]

    def _step(self, going: Sequence[_Row], tokens: int) -> None:
        """Reads as many tokens as one step takes; each sequence that has read all chooses its next."""
        fed = [
            (number, place, token) for number, row in enumerate(going) for place, token in enumerate(row.left, row.past)
        ]
        fed = fed[:_CHUNK]
        ends = {}
        batch = self._library.llama_batch_init(len(fed), 0, 1)
        try:
            batch.n_tokens = len(fed)
            for at, (number, place, token) in enumerate(fed):
                sequence = going[number]
                batch.token[at], batch.pos[at] = token, place
                batch.n_seq_id[at], batch.seq_id[at][0] = 1, number
                batch.logits[at] = last = place == sequence.past + len(sequence.left) - 1
                if last:
                    ends[number] = at
            if code := self._library.llama_decode(self._context, batch):
                raise Lowering(noted(BackendCode.DECODE_GAVE, code=int(code)))
        finally:
            self._library.llama_batch_free(batch)
        for number, sequence in enumerate(going):
            count = sum(other == number for other, _, _ in fed)
            sequence.left, sequence.past = sequence.left[count:], sequence.past + count
        for number, at in ends.items():
            self._choose(going[number], at, tokens)

    def _choose(self, chosen_row: _Row, at: int, tokens: int) -> None:
        logits = self._library.llama_get_logits_ith(self._context, at)
        chosen_row.logits.append(np.ctypeslib.as_array(logits, shape=(self._count,)).astype(np.float64))
        token = int(self._library.llama_sampler_sample(chosen_row.sampler, self._context, at))
        chosen_row.made.append(token)
        chosen_row.over = bool(self._library.llama_vocab_is_eog(self._vocabulary, token))
        chosen_row.left = [] if chosen_row.over or len(chosen_row.made) >= tokens else [token]

    def _sampler(self, sampling: Sampling) -> Any:
        library = self._library
        chain = library.llama_sampler_chain_init(library.llama_sampler_chain_default_params())
        if sampling.temperature:
            library.llama_sampler_chain_add(chain, library.llama_sampler_init_temp(sampling.temperature))
            library.llama_sampler_chain_add(chain, library.llama_sampler_init_dist(sampling.seed % 2**32))
        else:
            library.llama_sampler_chain_add(chain, library.llama_sampler_init_greedy())
        return chain


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)  # type: ignore[untyped-decorator]
def _SILENT(level: int, text: bytes, data: object) -> None:
    """What it prints of each tensor is not kept."""
