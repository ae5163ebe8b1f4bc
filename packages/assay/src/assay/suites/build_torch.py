"""`python -m assay.suites.build_torch [FD...]`: makes authored cases, one JSON line in, one out, until the input ends. Once it has imported
what it needs, it is forked into one more such process for each socket.

Each case becomes model.pt2 (torch.export), model.onnx (torch.onnx.export of that program, where it can) and a golden: the
module itself, run by torch in float64 on the inputs and weights as rounded to the case's type. The exporter is thus under
test as well.
"""

from __future__ import annotations

import copy
import gc
import importlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

import msgspec
import numpy as np

from assay.core.dtype import numpy_dtype
from assay.core.model import Model, TensorSpec
from assay.core.model_finding_text import sentence
from assay.errors import BadModel, NotWritable
from assay.models.goldens import write_golden
from assay.models.model_precision import readable_coarse_types
from assay.models.onnx_file import open_model
from assay.models.out_of_memory import out_of_memory
from assay.models.program import save_program
from assay.models.sources import open_source
from assay.models.torch_patches import quicken
from assay.suites.exporter_registry import remember_registry
from assay.suites.random_tensors import random_tensors
from assay.suites.torch_case import MakeAnswer, MakeRequest, RandomArg, TorchCase

OPSET = 18
"""The exporter's own target; newer ones are converted from it."""
LIMIT_S = 600
"""For one case: a large model on a busy machine. Then the kernel ends the process."""


def main() -> None:
    serve(_make, prepare)


def serve(make: Callable[[MakeRequest, Path], None], prepare: Callable[[], None]) -> None:
    """`make` writes the files of a case into an empty folder: a model and its golden. `prepare` comes before everything else, once for
    this process and all that are forked from it."""
    gc.disable()
    requests: IO[bytes] = sys.stdin.buffer
    answers: IO[bytes] = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # what libraries print must not look like an answer
    signal.alarm(LIMIT_S)
    prepare()
    signal.alarm(0)
    # What was imported is never looked through for garbage.
    gc.freeze()
    if (connection := forked([int(word) for word in sys.argv[1:]])) is not None:
        # Its parent's ends would stay open here when that dies.
        requests.close()
        answers.close()
        requests, answers = connection.makefile("rb"), cast(IO[bytes], connection.makefile("wb", buffering=0))
    gc.enable()
    for line in requests:
        signal.alarm(LIMIT_S)
        answer = _answer(msgspec.json.decode(line, type=MakeRequest), make)
        signal.alarm(0)
        answers.write(msgspec.json.encode(answer) + b"\n")


def prepare() -> None:
    """Imports torch and what its exporters need: they import that when they are first used."""
    import logging

    import torch

    torch.set_num_threads(1)
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    quicken()
    remember_registry()
    with suppress(ImportError):  # of a release of the exporters without progress bars
        # Otherwise the first bar begins a thread that looks at all bars for ever, and no process with threads is forked.
        importlib.import_module("tqdm").tqdm.monitor_interval = 0
    with tempfile.TemporaryDirectory() as folder:
        _answer(
            MakeRequest(TorchCase("warm/up", "x + 1", (RandomArg("x", "float32", (2,)),)), 0, f"{folder}/case"), _make
        )


def forked(descriptors: Sequence[int]) -> socket.socket | None:
    """In a child of this process: the one of these sockets that it is to serve. None in the process itself, which keeps none of
    them; those of children that cannot be had, because of threads that would be missing there, are closed all the same."""
    connections = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for own in connections:
        pid = os.fork()
        if not pid:
            for other in connections:
                if other is not own:
                    other.close()
            return own
        # Counted afterwards: OpenBLAS ends its threads for a fork.
        if len(os.listdir("/proc/self/task")) > 1:
            os.kill(pid, signal.SIGKILL)
            break
    for connection in connections:
        connection.close()
    return None


def _answer(request: MakeRequest, make: Callable[[MakeRequest, Path], None]) -> MakeAnswer:
    final = Path(request.folder)
    final.parent.mkdir(parents=True, exist_ok=True)
    own = Path(tempfile.mkdtemp(dir=final.parent))
    try:
        make(request, own)
        try:
            own.rename(final)
        except OSError:
            if not final.exists():  # else another process made the same case meanwhile
                raise
        name = request.case.name.partition("/")[2]
        first, *rest = [msgspec.structs.replace(open_source(path), name=name) for path in sorted(final.glob("model.*"))]
        answer = MakeAnswer(first, rest[0] if rest else None)
    except Exception as error:  # noqa: BLE001  whatever the exporter raises is why this case cannot be made
        answer = MakeAnswer(reason=_said(error), final=not _is_of_the_machine(error))
    finally:
        shutil.rmtree(own, ignore_errors=True)
    return answer


def _is_of_the_machine(error: BaseException | None) -> bool:
    """Whether a full disk or too little memory had a part in it: another time, or elsewhere, the case can be made."""
    while error is not None:
        if isinstance(error, OSError | NotWritable) or out_of_memory(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _said(error: BaseException) -> str:
    """The first cause: the exporter wraps it in pages of advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines)[:300]}"


def _make(request: MakeRequest, folder: Path) -> None:
    import torch

    case = request.case
    arrays = {
        random_arg.name: random_tensors(random_arg, seed=request.seed, case=case.name) for random_arg in case.inputs
    }
    torch.manual_seed(number_of(f"{request.seed}/{case.name}"))
    module = build(case).eval().to(_torch_dtype(case.dtype))
    inputs = tuple(as_tensor(array) for array in arrays.values())
    with torch.no_grad():
        double = copy.deepcopy(module).double()
        expected = flat(double(*(tensor.double() if tensor.is_floating_point() else tensor for tensor in inputs)))
        program = torch.export.export(module, inputs, dynamic_shapes=_dynamic(case), strict=False)
        names = [f"out{place}" for place in range(len(expected))]
        models = save_models(program, folder, list(arrays), names)
    write_golden(
        folder / "golden",
        model=models,
        inputs=[{spec.name: arrays[spec.name] for spec in models.inputs}],
        outputs=[{name: tensor.numpy() for name, tensor in zip(names, expected, strict=True)}],
        seed=request.seed,
        producer="torch float64",
        producer_version=str(torch.__version__),
        who="assay",
        reason="the module itself in float64",
        created_at="",
        coarse=readable_coarse_types(Path(models.source)),
    )


def save_models(program: Any, folder: Path, inputs: list[str], outputs: list[str]) -> Model:
    """The program, and the ONNX file that it becomes: this is the case's model, or the program where the exporter cannot."""
    import torch
    from torch.onnx.errors import OnnxExporterError

    saved_model, file = None, folder / "model.onnx"
    try:
        exported = torch.onnx.export(
            program, (), dynamo=True, verbose=False, verify=False, external_data=False, opset_version=OPSET,
            input_names=inputs, output_names=outputs,
        )  # fmt: skip
        assert exported is not None
        exported.save(str(file))
        saved_model = _sound(open_model(file))
    except (OnnxExporterError, BadModel):
        # A flow that reads ONNX meets it again, and says it. Anything else is no refusal, and why the case cannot be made: an
        # error of what is patched here among them, by which every case would lack its file.
        file.unlink(missing_ok=True)
    specs = saved_model.inputs if saved_model is not None else _specs(program, inputs)
    path = save_program(program, folder / "model.pt2", specs, outputs)
    return saved_model or open_source(path)


def _sound(model: Model) -> Model:
    """What an exporter wrote and declares otherwise is its defect. Raises BadModel."""
    if model.contradictions:
        raise BadModel("; ".join(map(sentence, model.contradictions)))
    return model


def _specs(program: Any, names: list[str]) -> list[TensorSpec]:
    """Of the inputs as the program has them; a size that it leaves open has the symbol that torch gave it."""
    nodes = {node.name: node.meta["val"] for node in program.graph.nodes if node.op == "placeholder"}
    values = [nodes[name] for name in program.graph_signature.user_inputs]
    return [
        TensorSpec(name, str(value.dtype).removeprefix("torch."), tuple(_size(size) for size in value.shape))
        for name, value in zip(names, values, strict=True)
    ]


def _size(dim: Any) -> int | str:
    return dim if isinstance(dim, int) else str(dim)


def build(case: TorchCase) -> Any:
    """The module of a case: its expressions see torch, nn, F, the attributes, and in `call` the inputs and `m`."""
    import torch

    room: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, **case.attributes}
    inner = None
    if ":" in case.module and "(" not in case.module:
        module, _, name = case.module.partition(":")
        inner = getattr(importlib.import_module(module), name)(**case.attributes)
    elif case.module:
        inner = eval(case.module, room)  # our own tables, not a user's text
    names = ", ".join(random_arg.name for random_arg in case.inputs)

    class Authored(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.m = inner if inner is not None else torch.nn.Identity()

        def forward(self, *inputs: Any) -> Any:
            return called(self.m, *inputs)

    called: Any = eval(f"lambda m, {names}: {case.call}", room)
    return Authored()


def _dynamic(case: TorchCase) -> Any:
    import torch

    if not case.dynamic:
        return None
    # One more level: the authored module takes its inputs as *inputs.
    return (tuple({0: torch.export.Dim.DYNAMIC} for _ in case.inputs),)


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in flat(part)]
    return [value] if value is not None else []


def as_tensor(array: np.ndarray[Any, Any]) -> Any:
    import torch

    if array.dtype == numpy_dtype("bfloat16"):
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(np.ascontiguousarray(array)).reshape(array.shape)


def _torch_dtype(name: str) -> Any:
    import torch

    return getattr(torch, name)


def number_of(text: str) -> int:
    import hashlib

    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big")


if __name__ == "__main__":
    main()
