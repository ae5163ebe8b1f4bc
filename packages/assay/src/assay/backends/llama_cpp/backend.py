"""llama.cpp on the CPU, by its C interface: a GGUF file, sequences of one batch, a cache that keeps what prompts share, its samplers."""

from __future__ import annotations

import os
from pathlib import Path

from assay.backends.availability import installed
from assay.backends.checkpoint_model import Checkpoint, saved_checkpoint
from assay.backends.flow_options import positive, resolve_options
from assay.backends.llama_cpp.sequences import Sequences, Settings
from assay.backends.local_prompts import DRAWS, LOGPROBS, DecodingEngine
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Unsupported
from assay.models.checkpoints.source_record import checkpoint_digest, checkpoint_of
from assay.ports import Availability, OptionSpec

_PATHS = "LD_LIBRARY_PATH"


class LlamaCpp:
    """What it generates is no tensor: `assay.worker.service` judges it prompt by prompt.

    Left alone it keeps keys and values in float16, and a cache in float32 has no effect beside flash attention (0.3.36): both are said.
    """

    name = "llama-cpp"
    accepts = "onnx"
    dynamic = True
    prompted = True
    requires = ("llama-cpp-python==0.3.36", "scipy>=1.15")
    """Built from source: some 15 minutes on one core, with a C++ compiler and cmake."""
    options = (
        LOGPROBS,
        DRAWS,
        OptionSpec("gguf", "", help="the file, where the model itself is an ONNX file"),
        OptionSpec("cache", "float32", ("float32", "float16"), "what keys and values are kept in"),
        OptionSpec("flash_attention", False, help="whether attention is computed in one pass"),
        OptionSpec("context", 2048, help="tokens that all prompts of a batch and their answers have at most"),
        OptionSpec("threads", 1, help="threads of one step"),
    )
    flows = (
        Flow(name="llama-cpp", backend="llama-cpp", environment="llama-cpp"),
        Flow(
            name="llama-cpp-fp16",
            backend="llama-cpp",
            environment="llama-cpp",
            options={"cache": "float16", "flash_attention": True},
            precision="float16",
        ),
    )

    def availability(self) -> Availability:
        """From the package metadata."""
        return installed("llama-cpp-python", "llama_cpp", "llama-cpp")

    def prepare(self) -> None:
        """Import llama_cpp, which puts its folder into a variable of the process (0.3.36): it finds its libraries without."""
        before = os.environ.get(_PATHS)
        import llama_cpp  # noqa: F401

        os.environ.pop(_PATHS, None)
        os.environ.update({_PATHS: before} if before is not None else {})

    def lower(self, model: Path, flow: Flow) -> DecodingEngine:
        """Raises Unsupported where neither the model nor the flow names a GGUF file."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        positive(options, "context", flow)
        origin = None if options["gguf"] else checkpoint_of(model, "gguf")
        if not options["gguf"] and origin is None:
            raise Unsupported(
                noted(BackendCode.NO_CHECKPOINT, library="llama.cpp", option="gguf=FILE"),
                cause="other",
            )
        named = (
            Checkpoint(str(origin.place), origin.digest)
            if origin is not None
            else Checkpoint(str(options["gguf"]), None)
        )
        return _opened(named, options)

    def load(self, folder: Path, flow: Flow) -> DecodingEngine:
        """The same file."""
        return _opened(saved_checkpoint(folder), resolve_options(self.options, flow))


def _opened(checkpoint: Checkpoint, options: dict[str, Option]) -> DecodingEngine:
    import llama_cpp

    path = Path(checkpoint.folder)
    try:
        digest = checkpoint_digest(path)
    except OSError as error:
        note = noted(BackendCode.CHECKPOINT_NOT_OPENED, library="llama.cpp", place=str(path), error=str(error.strerror))
        raise InvalidModel(note) from None
    if checkpoint.digest is not None and digest != checkpoint.digest:
        raise InvalidModel(noted(BackendCode.CHECKPOINT_CHANGED, place=str(path)))
    settings = Settings(
        path,
        whole_cache=options["cache"] == "float32",
        flash=bool(options["flash_attention"]),
        context=int(options["context"]),
        threads=int(options["threads"]),
    )
    sequences = Sequences(settings)
    kept = Checkpoint(str(path.resolve()), digest)

    def describe() -> EngineInfo:
        described = {name: str(value) for name, value in options.items()}
        return EngineInfo(
            backend_version=str(llama_cpp.__version__), options=described | {"weights": sequences.described}
        )

    return DecodingEngine(sequences, options, keep=kept.save, describe=describe)
