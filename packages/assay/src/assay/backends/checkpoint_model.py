"""A checkpoint folder opened by Hugging Face's transformers, and which folder a flow means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from assay.backends.artifact import read_record
from assay.core.flow import Option
from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import InvalidModel, Unsupported
from assay.models.checkpoints.source_record import checkpoint_digest, checkpoint_of
from assay.ports import OptionSpec

_ARTIFACT = "checkpoint.json"
CHECKPOINT = OptionSpec(
    "checkpoint", "", help="folder of the checkpoint, where the model itself is an ONNX file", path=True
)
DTYPE = OptionSpec("dtype", "float32", ("float32", "float16", "bfloat16"), "what it computes in")
ATTENTION = OptionSpec("attention", "sdpa", ("sdpa", "eager"), "which of its attentions it runs")


class Checkpoint(msgspec.Struct, frozen=True):
    """`digest` is that of the checkpoint when it was lowered, None where any will do."""

    folder: str
    digest: str | None

    def save(self, into: Path) -> None:
        """Where it lies, and what it was."""
        (into / _ARTIFACT).write_bytes(msgspec.json.encode(self))


def saved_checkpoint(folder: Path) -> Checkpoint:
    """That of `Checkpoint.save`."""
    return read_record(folder / _ARTIFACT, Checkpoint)


def checkpoint_for(model: Path, options: dict[str, Option]) -> Checkpoint:
    """Raises Unsupported where neither the model nor the flow names a checkpoint."""
    if named := str(options["checkpoint"]):
        return Checkpoint(named, None)
    origin = checkpoint_of(model, "folder")
    if origin is None:
        raise Unsupported(
            noted(BackendCode.NO_CHECKPOINT, library="transformers", option="checkpoint=FOLDER"),
            cause="other",
        )
    return Checkpoint(str(origin.place), origin.digest)


def opened(checkpoint: Checkpoint, options: dict[str, Option]) -> tuple[Any, Checkpoint]:
    """The model, ready to be run, and what it was read from. Weights are read from safetensors alone, and no code of the checkpoint
    is run. Raises InvalidModel where it is not what it was, or not whole."""
    import torch
    import transformers

    torch.set_num_threads(int(options["threads"]))
    folder = Path(checkpoint.folder)
    try:
        digest = checkpoint_digest(folder)
        if checkpoint.digest is not None and digest != checkpoint.digest:
            raise InvalidModel(noted(BackendCode.CHECKPOINT_CHANGED, place=str(folder)))
        read: Any = transformers.AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=getattr(torch, str(options["dtype"])),
            attn_implementation=str(options["attention"]),
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            output_loading_info=True,
        )
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split())[:300]
        raise InvalidModel(
            noted(BackendCode.CHECKPOINT_NOT_OPENED, library="transformers", place=str(folder), error=why)
        ) from error
    model, loading = read
    if missing := sorted(loading["missing_keys"]):
        raise InvalidModel(noted(BackendCode.WEIGHT_MISSING, place=str(folder), weight=missing[0]))
    model.eval()
    return model, Checkpoint(str(folder.resolve()), digest)
