"""The server's protocols: completions and chat completions as OpenAI has them, and the Open Inference Protocol, version 2."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.testing.language_server.batcher import Batcher, Token
from assay.testing.language_server.generation import Answer, Piece, Refused
from assay.testing.language_server.network import Network
from assay.testing.language_server.planted_faults import DRAFT, checked
from assay.testing.language_server.small_tokenizer import Words
from assay.testing.language_server.tensor_protocol import infer, metadata

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

TROUBLES = ("busy", "unavailable", "no-logprobs", "endless", "truncated", "dies", "slow", "no-ids")
"""What a server may do to its clients: every fifth answer is 429 or 503, no log-probabilities, no end, a stream that breaks off, a
process that ends in the middle, an answer that takes too long, tokens by their text alone."""


@dataclass(frozen=True)
class Settings:
    """What is served, and what is wrong with it."""

    weights: Path
    tokenizer: Path
    name: str = "tiny"
    faults: frozenset[str] = frozenset()
    troubles: frozenset[str] = frozenset()
    batch: int = 8
    delay_s: float = 0.0
    step_s: float = 0.0
    slow_s: float = 30.0
    extra: float = 0.0
    drafted: int = 0
    prefixes: bool = True
    leak_bytes: int = 0
    held_bytes: int = 0


@dataclass
class Service:
    """The routes' state."""

    settings: Settings
    words: Words
    network: Network
    batcher: Batcher
    asked: int = 0
    held: bytearray = field(default_factory=bytearray)
    leaked: list[bytes] = field(default_factory=list)

    @property
    def faults(self) -> frozenset[str]:
        """Planted in all of it."""
        return self.settings.faults

    def troubled(self, name: str) -> bool:
        """Whether it does this to its clients."""
        return name in self.settings.troubles


def application(settings: Settings) -> Starlette:
    """The server as an ASGI application. Raises UnknownName for a fault that is none."""
    from starlette.applications import Starlette
    from starlette.routing import Route

    faults = checked(settings.faults)
    network = Network(settings.weights, faults)
    batcher = Batcher(
        network,
        most=settings.batch,
        delay_s=settings.delay_s,
        step_s=settings.step_s,
        extra=settings.extra,
        prefixes=settings.prefixes,
        drafted=settings.drafted or (4 if faults & DRAFT.keys() else 0),
    )
    service = Service(settings, Words(settings.tokenizer, faults), network, batcher)
    service.held = bytearray(b"\1") * settings.held_bytes
    routes = _Routes(service)
    return Starlette(
        routes=[
            Route("/health", routes.health),
            Route("/metrics", routes.metrics),
            Route("/v2", routes.health),
            Route("/v2/health/ready", routes.health),
            Route("/v1/models", routes.models),
            Route("/v1/completions", routes.completions, methods=["POST"]),
            Route("/v1/chat/completions", routes.chat, methods=["POST"]),
            Route("/v2/models/{name}", routes.metadata),
            Route("/v2/models/{name}/infer", routes.infer, methods=["POST"]),
        ]
    )


class _Routes:
    """What each address answers."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def health(self, _: Request) -> Response:
        return _json({"live": True, "ready": True})

    async def metrics(self, _: Request) -> Response:
        from starlette.responses import PlainTextResponse

        use = self._service.batcher.use
        live = use.bytes + self._service.network.bytes + len(self._service.held)
        return PlainTextResponse(
            f"assay_requests_running {use.running}\nassay_requests_waiting {use.waiting}\n"
            f"assay_cache_used {use.cache_used}\nassay_memory_live_bytes {live}\n"
        )

    async def models(self, _: Request) -> Response:
        name, longest = self._service.settings.name, self._service.network.context
        return _json({"object": "list", "data": [{"id": name, "object": "model", "max_model_len": longest}]})

    async def completions(self, request: Request) -> Response:
        return await _answer(self._service, request, chat=False)

    async def chat(self, request: Request) -> Response:
        return await _answer(self._service, request, chat=True)

    async def metadata(self, request: Request) -> Response:
        if (name := request.path_params["name"]) != self._service.settings.name:
            return _json({"error": f"no model {name}"}, 404)
        return _json(metadata(name, self._service.network))

    async def infer(self, request: Request) -> Response:
        if (name := request.path_params["name"]) != self._service.settings.name:
            return _json({"error": f"no model {name}"}, 404)
        try:
            return _json(infer(self._service.network, await request.json()) | {"model_name": name})
        except (KeyError, ValueError) as error:
            return _json({"error": f"wrong inputs: {error}"}, 400)


def _json(content: dict[str, Any], status: int = 200) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse(content, status)


async def _answer(service: Service, request: Request, *, chat: bool) -> Response:
    from starlette.responses import JSONResponse, StreamingResponse

    try:
        body = await request.json()
        service.asked += 1
        service.leaked += [bytes(service.settings.leak_bytes)] if service.settings.leak_bytes else []
        await _trouble(service)
        answer = _accepted(service, body, chat=chat)
    except Refused as error:
        message = {"error": {"message": str(error), "type": "invalid_request_error", "code": error.status}}
        return JSONResponse(message, error.status, headers={"Retry-After": "0"} if error.status in (429, 503) else None)
    form = _Form(service, body, chat=chat)
    if body.get("stream"):
        return StreamingResponse(_events(service, answer, form), media_type="text/event-stream")
    pieces = [piece async for piece in answer.run(service.batcher)]
    if service.troubled("dies") and service.asked > 3:
        os._exit(9)
    text = answer.pieces.text
    return JSONResponse(form.body(text, pieces, answer.reason) | {"usage": answer.usage})


async def _trouble(service: Service) -> None:
    if service.asked % 5 == 0 and service.troubled("busy"):
        raise Refused(429, "too many requests")
    if service.troubled("unavailable"):
        raise Refused(503, "the model is being loaded")
    if service.troubled("slow"):
        await asyncio.sleep(service.settings.slow_s)


def _accepted(service: Service, body: dict[str, Any], *, chat: bool) -> Answer:
    if body.get("model", service.settings.name) != service.settings.name:
        raise Refused(404, f"The model `{body.get('model')}` does not exist.")
    prompt = service.words.chat(body.get("messages", ())) if chat else body.get("prompt", "")
    ids = service.words.ids(prompt)
    odd = next((token_id for token_id in ids if not 0 <= token_id < service.network.vocabulary), None)
    if odd is not None:
        raise Refused(400, f"Token id {odd} is out of vocabulary")
    if service.troubled("endless"):
        body = body | {"max_tokens": service.network.context - len(ids)}
    return Answer(service.words, service.faults, body, ids, service.network.context)


async def _events(service: Service, answer: Answer, form: _Form) -> AsyncIterator[str]:
    pieces = answer.run(service.batcher)
    held: Piece | None = None
    async for piece in pieces:
        if held is not None:
            yield _event(form.body(held.text, [held], None))
        held = piece
        if service.troubled("truncated") and answer.made > 2:
            raise ConnectionResetError("planted")
        if service.troubled("dies") and service.asked > 3:
            os._exit(9)
    if held is not None and "stream-last" not in service.faults:
        yield _event(form.body(held.text, [held], answer.reason))
    elif held is not None:
        yield _event(form.body("", [], answer.reason))
    if form.said.get("stream_options", {}).get("include_usage"):
        yield _event(form.body("", [], None) | {"choices": [], "usage": answer.usage})
    yield "data: [DONE]\n\n"


def _event(body: dict[str, Any]) -> str:
    return f"data: {json.dumps(body)}\n\n"


class _Form:
    """The body of an answer, or of one piece of a stream."""

    def __init__(self, service: Service, body: dict[str, Any], *, chat: bool) -> None:
        self._service, self.said, self._chat = service, body, chat
        wanted = body.get("top_logprobs") if chat else body.get("logprobs")
        shown = bool(body.get("logprobs")) if chat else wanted is not None
        self._most = None if not shown or service.troubled("no-logprobs") else int(wanted or 0)
        self._by_ids = bool(body.get("return_tokens_as_token_ids")) and not service.troubled("no-ids")

    def body(self, text: str, pieces: list[Piece], reason: str | None) -> dict[str, Any]:
        stream = bool(self.said.get("stream"))
        choice: dict[str, Any] = {"index": 0, "finish_reason": reason, "logprobs": self._logprobs(pieces)}
        if self._chat:
            choice["delta" if stream else "message"] = {"role": "assistant", "content": text}
        else:
            choice["text"] = text
        if self.said.get("return_token_ids") and not self._service.troubled("no-ids"):
            choice["token_ids"] = [piece.token.number for piece in pieces]
        kind = (
            "chat.completion.chunk" if stream and self._chat else "chat.completion" if self._chat else "text_completion"
        )
        return {
            "id": f"request-{self._service.asked}",
            "object": kind,
            "model": self._service.settings.name,
            "choices": [choice],
        }

    def _logprobs(self, pieces: list[Piece]) -> dict[str, Any] | None:
        if self._most is None or not pieces:
            return None
        if self._chat:
            return {"content": [self._entry(piece.token) for piece in pieces]}
        tops = [self._top(piece.token) for piece in pieces]
        return {
            "tokens": [self._name(piece.token.number) for piece in pieces],
            "token_logprobs": [float(piece.token.logs[piece.token.number]) for piece in pieces],
            "top_logprobs": [dict(top) for top in tops],
        }

    def _entry(self, token: Token) -> dict[str, Any]:
        top = [{"token": name, "logprob": value} for name, value in self._top(token)]
        return {"token": self._name(token.number), "logprob": float(token.logs[token.number]), "top_logprobs": top}

    def _top(self, token: Token) -> list[tuple[str, float]]:
        order = np.argsort(-token.logs, kind="stable")[: self._most]
        return [(self._name(int(token_id)), float(token.logs[token_id])) for token_id in order]

    def _name(self, number: int) -> str:
        return f"token_id:{number}" if self._by_ids else self._service.words.token(number)
