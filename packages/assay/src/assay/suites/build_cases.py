"""Making authored cases in processes of their own, and finding those that were made before."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path

import msgspec

from assay.core.case import Case
from assay.core.model import Model
from assay.errors import UsageError
from assay.models.cache_eviction import used_now
from assay.models.code_digest import code_digest
from assay.models.input_plan.symbols import symbols
from assay.suites.cache import DONE, cache_folder
from assay.suites.maker_pool import Maker, start_makers
from assay.suites.torch_case import MakeAnswer, MakeRequest, TorchCase, key_of, listed

SUFFIX = {"onnx": ".onnx", "torch": ".pt2"}
SIZES = (2, 2, 8)
"""Least, usual and most of a batch that is left open: torch.export takes a dimension of 0 or 1 for a constant."""
MAKER = "assay.suites.build_torch"
"""The module that makes a case, unless a suite has one of its own: it answers an `MakeRequest` a line."""


def build_cases(
    suite: str, authored: Sequence[TorchCase], *, seed: int, workers: int, maker: str = MAKER
) -> Iterator[tuple[Case, str]]:
    """Each case with its files on disk, or with the reason why it has none; in the order given.

    Raises UsageError where torch is missing.
    """
    versions = _versions() | {"made": code_digest(maker)}
    root = cache_folder(suite)
    request = [MakeRequest(case, seed, str(_folder(root, key_of(case, seed, versions)))) for case in authored]
    answers = {
        make_request.case.name: make_answer
        for make_request in request
        if (make_answer := _known(make_request)) is not None
    }
    todo = [make_request for make_request in request if make_request.case.name not in answers]
    for make_request, answer in _made(todo, workers or os.cpu_count() or 1, maker) if todo else ():
        if answer.final:
            _keep(make_request, answer)
        answers[make_request.case.name] = answer
    for make_request in request:
        yield _case(make_request, answers[make_request.case.name])


def _versions() -> dict[str, str]:
    try:
        return {name: metadata.version(name) for name in ("torch", "onnxscript")}
    except metadata.PackageNotFoundError as error:
        raise UsageError(
            f"this suite is authored in torch, and {error.name} is not installed; run pip install torch onnxscript"
        ) from None


def _folder(root: Path, key: str) -> Path:
    return root / key[:2] / key[2:34]


def _known(request: MakeRequest) -> MakeAnswer | None:
    path = Path(f"{request.folder}{DONE}")
    used_now(path)
    try:
        return msgspec.msgpack.decode(path.read_bytes(), type=MakeAnswer)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _keep(request: MakeRequest, answer: MakeAnswer) -> None:
    """Where there is room: else the next run asks again."""
    path = Path(f"{request.folder}{DONE}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.msgpack.encode(answer))


def _case(request: MakeRequest, answer: MakeAnswer) -> tuple[Case, str]:
    case = listed(request.case, request.seed)
    if answer.model is None:
        return case, answer.reason or "no reason was given"
    model, program = (_placed(data, request.folder) if data else None for data in (answer.model, answer.program))
    inputs = msgspec.structs.replace(case.inputs, golden=f"{request.folder}/golden", **_dims(answer.model))
    return msgspec.structs.replace(case, model=model, program=program, inputs=inputs), ""


def _placed(model: Model, folder: str) -> Model:
    """Where it was made its files had other places."""
    files = {f"{folder}/{os.path.basename(file)}": digest for file, digest in model.files.items()}
    return msgspec.structs.replace(model, source=f"{folder}/model{SUFFIX[model.format]}", files=files)


def _dims(model: Model) -> dict[str, dict[str, tuple[int, ...]]]:
    """What is left open is tried at its least, an odd size between and its most."""
    least, _, most = SIZES
    names = symbols({spec.name: spec.shape for spec in model.inputs if spec.shape != ("...",)})
    middle = (least + most) // 2 | 1
    return {"dims": dict.fromkeys(names, SIZES), "sizes": dict.fromkeys(names, (least, middle, most))}


def _made(todo: Sequence[MakeRequest], workers: int, module: str) -> Iterator[tuple[MakeRequest, MakeAnswer]]:
    """In the order they end. A process that dies takes one case with it."""
    waiting: queue.SimpleQueue[MakeRequest | None] = queue.SimpleQueue()
    ended: queue.SimpleQueue[tuple[MakeRequest, MakeAnswer]] = queue.SimpleQueue()
    for make_request in todo:
        waiting.put(make_request)
    makers = start_makers(module, min(workers, len(todo)))
    threads = [threading.Thread(target=_serve, args=(waiting, ended, module, maker), daemon=True) for maker in makers]
    for thread in threads:
        waiting.put(None)
        thread.start()
    for _ in todo:
        yield ended.get()
    for thread in threads:
        thread.join()


def _serve(
    waiting: queue.SimpleQueue[MakeRequest | None],
    ended: queue.SimpleQueue[tuple[MakeRequest, MakeAnswer]],
    module: str,
    maker: Maker | None,
) -> None:
    while (request := waiting.get()) is not None:
        maker = maker or start_makers(module, 1)[0]
        answer = maker.make(request)
        if answer is None and maker.forked:
            # Of a process that owes nothing to another it is known how it ended.
            maker.end()
            maker = start_makers(module, 1)[0]
            answer = maker.make(request)
        if answer is None:
            died = f"the process that exports it died ({maker.end()})"
            answer = MakeAnswer(reason=died, final=False)
            if not maker.served:
                _give_up(died, request, waiting, ended, module)
            maker = None
        ended.put((request, answer))
    if maker:
        maker.end()


def _give_up(
    died: str,
    make_request: MakeRequest,
    waiting: queue.SimpleQueue[MakeRequest | None],
    ended: queue.SimpleQueue[tuple[MakeRequest, MakeAnswer]],
    module: str,
) -> None:
    """A process that dies on its first case in a row twice would die on all: the rest is answered without one."""
    (maker,) = start_makers(module, 1)
    died_again = maker.make(make_request) is None
    maker.end()
    if not died_again:
        return
    while (other := waiting.get()) is not None:
        ended.put((other, MakeAnswer(reason=died, final=False)))
    waiting.put(None)
