"""A checkpoint folder exported by torch.export with a free length, and compiled: torch itself, Inductor ahead of time, or ExecuTorch.

The program has no cache: for each token the whole text is read again."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.backends.artifact import read_artifact
from assay.backends.availability import installed
from assay.backends.checkpoint_model import ATTENTION, CHECKPOINT, DTYPE, checkpoint_for, opened
from assay.backends.executorch.errors import lowering_failure
from assay.backends.flow_options import positive, resolve_options
from assay.backends.local_prompts import LOGPROBS, Decoded, DecodingEngine, Prompt, Sampling
from assay.backends.torch.cache import clean_folder, own_folder
from assay.backends.torch.errors import torch_failure
from assay.backends.torch.warnings import without_deprecations
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import Unavailable, Unsupported
from assay.ports import Availability, OptionSpec, Tensor

_ARTIFACT, _EXAMPLE = "program.bin", 8
Logits = Callable[[list[int]], Tensor]
"""Of each place of a text: (length, vocabulary)."""


def _flow(compiler: str) -> Flow:
    return Flow(name=f"exported-{compiler}", backend="exported-decoder", options={"compiler": compiler})


class ExportedDecoder:
    """It has no sampler: the most probable token is chosen, and no draws are judged."""

    name = "exported-decoder"
    library = "torch"
    accepts = "onnx"
    dynamic = True
    prompted = True
    options = (
        LOGPROBS,
        CHECKPOINT,
        DTYPE,
        ATTENTION,
        OptionSpec("compiler", "eager", ("eager", "inductor", "executorch"), "what turns the program into kernels"),
        OptionSpec("context", 256, help="tokens of a text at most: ExecuTorch plans its memory for them"),
        OptionSpec("threads", 1, help="threads of torch"),
    )
    flows = (_flow("eager"), _flow("inductor"), _flow("executorch"))

    def availability(self) -> Availability:
        """From the package metadata."""
        return installed("transformers", "transformers", "transformers")

    def prepare(self) -> None:
        """Import torch and transformers. What Inductor compiles is kept in a folder that no other process has."""
        own_folder()
        import torch  # noqa: F401
        import transformers  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> DecodingEngine:
        """Raises Unsupported where neither the model nor the flow names a checkpoint, InvalidModel where it is not the one that the graph
        was written of, and Unavailable, with the command that installs it, where the compiler of the flow is missing."""
        options = self._options(flow)
        _check_there(str(options["compiler"]))
        exportable, _ = opened(checkpoint_for(model, options), options)
        with without_deprecations():
            exported = _exported(exportable, int(options["context"]))
            artifact = _compiled(exported, str(options["compiler"]))
        return _engine(artifact, options)

    def load(self, folder: Path, flow: Flow) -> DecodingEngine:
        """The program as it was compiled. Raises Unavailable as `lower` does."""
        options = self._options(flow)
        _check_there(str(options["compiler"]))
        return _engine(read_artifact(folder / _ARTIFACT), options)

    def _options(self, flow: Flow) -> dict[str, Option]:
        options = resolve_options(self.options, flow)
        for name in ("threads", "context"):
            positive(options, name, flow)
        return options


def _check_there(compiler: str) -> None:
    if compiler == "executorch" and not installed("executorch", "executorch", "executorch").available:
        raise Unavailable(noted(BackendCode.NOT_INSTALLED, lacking="executorch", extra="executorch"))


def _exported(model: Any, most: int) -> Any:
    import torch

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: torch.Tensor) -> Any:
            return self.model(input_ids=ids, use_cache=False).logits

    length = torch.export.Dim("length", min=2, max=most)
    example = torch.zeros(1, _EXAMPLE, dtype=torch.int64)
    return torch.export.export(Logits(), (example,), dynamic_shapes=({1: length},))


def _stored(exported: Any) -> bytes:
    import torch

    with tempfile.TemporaryDirectory(prefix="exported-") as folder:
        torch.export.save(exported, Path(folder) / "program.pt2")
        return (Path(folder) / "program.pt2").read_bytes()


def _ahead(exported: Any) -> bytes:
    from torch._inductor import aoti_compile_and_package, config

    clean_folder()
    # No pool of processes, which would outlive the job.
    with tempfile.TemporaryDirectory(prefix="exported-") as folder, config.patch({"compile_threads": 1}):
        return Path(aoti_compile_and_package(exported, package_path=str(Path(folder) / "package.pt2"))).read_bytes()


def _executable(exported: Any) -> bytes:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    return bytes(to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch().buffer)


_COMPILERS: dict[str, Callable[[Any], bytes]] = {"eager": _stored, "inductor": _ahead, "executorch": _executable}


def _compiled(exported: Any, compiler: str) -> bytes:
    """Raises what the compiler says: Unavailable where a part of it, or the C++ compiler of Inductor, is missing."""
    try:
        return _COMPILERS[compiler](exported)
    except ImportError as error:
        extra = "executorch" if compiler == "executorch" else "transformers"
        raise Unavailable(noted(BackendCode.NOT_INSTALLED, lacking=str(error), extra=extra)) from error
    except Exception as error:
        failed = lowering_failure(error, step="lowering") if compiler == "executorch" else torch_failure(error)
        raise failed from error


def _opened(artifact: bytes, compiler: str) -> Callable[[Any], Any]:
    import torch

    if compiler == "executorch":
        from executorch.runtime import Runtime

        method = Runtime.get().load_program(artifact).load_method("forward")
        return lambda ids: method.execute([ids])[0]
    with tempfile.TemporaryDirectory(prefix="exported-") as folder:
        file = Path(folder) / "package.pt2"
        file.write_bytes(artifact)
        if compiler == "eager":
            return torch.export.load(file).module()
        from torch._inductor import aoti_load_package

        run: Callable[[Any], Any] = aoti_load_package(str(file))
        return run


def _engine(artifact: bytes, options: dict[str, Option]) -> DecodingEngine:
    import torch

    torch.set_num_threads(int(options["threads"]))
    with without_deprecations():
        call, most = _opened(artifact, str(options["compiler"])), int(options["context"])

    def logits(text: list[int]) -> Tensor:
        if len(text) > most:
            raise Unsupported(
                noted(BackendCode.CONTEXT_TOO_SHORT, most=most, tokens=len(text)),
                cause="other",
            )
        # One token alone is no length that torch.export leaves free: another one behind it is not seen by it.
        ids = torch.tensor([text if len(text) > 1 else [*text, 0]])
        with torch.inference_mode():
            return np.asarray(call(ids)[0, : len(text)].to(torch.float64).numpy()).copy()

    def describe() -> EngineInfo:
        described = {name: str(value) for name, value in options.items()}
        return EngineInfo(backend_version=str(torch.__version__), precision=str(options["dtype"]), options=described)

    def keep(folder: Path) -> None:
        (folder / _ARTIFACT).write_bytes(artifact)

    return DecodingEngine(_Rereading(logits), {"draws": 0, **options}, keep=keep, describe=describe)


class _Rereading:
    """Each row for itself, and its whole text for each token."""

    def __init__(self, logits: Logits) -> None:
        self._logits = logits

    def generate(self, rows: Sequence[Prompt], tokens: int, sampling: Sampling, *, keep: bool) -> list[Decoded]:  # noqa: ARG002
        """The most probable token, whatever the sampling."""
        return [self._one(list(row), tokens) for row in rows]

    def _one(self, text: list[int], tokens: int) -> Decoded:
        start, seen = len(text), []
        for _ in range(tokens):
            seen.append(self._logits(text)[-1])
            text.append(int(seen[-1].argmax()))
        return Decoded(tuple(text[start:]), np.array(seen))
