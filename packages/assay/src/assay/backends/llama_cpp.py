"""llama.cpp on the CPU, by its C interface: a GGUF file, sequences of one batch, a cache that keeps what prompts share, its samplers."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay.backends.artifact import read_record
from assay.backends.availability import installed
from assay.backends.llama_cpp_sequences import Sequences, Settings
from assay.backends.local_prompts import DRAWS, LOGPROBS, DecodingEngine
from assay.backends.options import positive, resolve_options
from assay.core.engine_info import EngineInfo
from assay.core.flow import Flow, Option
from assay.errors import Unsupported
from assay.models.checkpoints.provenance import checkpoint_of
from assay.ports import Availability, OptionSpec

_ARTIFACT = "gguf.json"


class _File(msgspec.Struct, frozen=True):
    path: str


class LlamaCpp:
    """What it generates is no tensor: `assay.worker.service` judges it prompt by prompt.

    Left alone it keeps keys and values in float16, and a cache in float32 has no effect beside flash attention (0.3.36): both are said.
    """

    name = "llama-cpp"
    accepts = "onnx"
    dynamic = True
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
        """Import llama_cpp."""
        import llama_cpp  # noqa: F401

    def lower(self, model: Path, flow: Flow) -> DecodingEngine:
        """Raises Unsupported where neither the model nor the flow names a GGUF file."""
        options = resolve_options(self.options, flow)
        positive(options, "threads", flow)
        positive(options, "context", flow)
        path = str(options["gguf"]) or checkpoint_of(model, "gguf")
        if not path:
            raise Unsupported(
                "llama.cpp runs GGUF files, and this model was read from none: check the file itself, or name it with --option gguf=FILE",
                cause="other",
            )
        return _opened(Path(path), options)

    def load(self, folder: Path, flow: Flow) -> DecodingEngine:
        """The same file."""
        return _opened(Path(read_record(folder / _ARTIFACT, _File).path), resolve_options(self.options, flow))


def _opened(path: Path, options: dict[str, Option]) -> DecodingEngine:
    import llama_cpp

    settings = Settings(
        path,
        whole_cache=options["cache"] == "float32",
        flash=bool(options["flash_attention"]),
        context=int(options["context"]),
        threads=int(options["threads"]),
    )
    sequences = Sequences(settings)

    def keep(into: Path) -> None:
        (into / _ARTIFACT).write_bytes(msgspec.json.encode(_File(str(path.resolve()))))

    def told() -> EngineInfo:
        said = {name: str(value) for name, value in options.items()}
        return EngineInfo(backend_version=str(llama_cpp.__version__), options=said | {"weights": sequences.described})

    return DecodingEngine(sequences, options, keep=keep, told=told)
