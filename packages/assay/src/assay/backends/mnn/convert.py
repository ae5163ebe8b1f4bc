"""ONNX to MNN by the converter inside the wheel, and what the written model holds."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from assay.backends.converter import Converted, convert
from assay.backends.mnn.errors import conversion_failure

# The extension module itself. The program `mnnconvert` and `MNN.tools` (3.6) are not used: on import they install a logging
# package with pip and send metrics about the model to a server of the vendor.
_PROGRAM = "import sys, _tools; _tools.mnnconvert(['MNNConvert', *sys.argv[1:]])"

WEIGHTS = {"float32": (), "float16": ("--fp16",), "int8": ("--weightQuantBits", "8")}
"""How the weights of convolutions and matrix products are stored, and the arguments that ask for it."""

_READABLE = 64 * 2**20
"""Larger models are not read back: their text would have half a gigabyte and more."""


def to_mnn(model: Path, weights: str) -> bytes:
    """The converted model. Raises errors of `assay.errors.Lowering`, or MemoryError."""
    with tempfile.TemporaryDirectory(prefix="mnn-") as name:
        written = Path(name) / "model.mnn"
        # In the folder of the model, where its external data lies. Recurrent layers as MNN's own operator: rewritten as a loop, the
        # default, the converter dies of an LSTM and the engine has no shapes for a GRU (3.6.1).
        done = _run(
            "-f", "ONNX", "--modelFile", model.name, "--MNNModel", str(written), "--bizCode", "assay",
            "--keepInputFormat", "--useOriginRNNImpl", *WEIGHTS[weights], folder=model.parent,
        )  # fmt: skip
        # It writes a model even where it says that it failed.
        if not written.is_file() or "Converted Success" not in done.text:
            raise conversion_failure(done)
        return written.read_bytes()


def stored_weights(artifact: bytes) -> dict[str, int] | None:
    """How many layers keep their weights in which type, as the model itself tells; None for a model too large to ask."""
    layers = _layers(artifact)
    if layers is None:
        return None
    mains = [layer["main"] for layer in layers if layer.get("main_type") == "Convolution2D"]
    return dict(Counter(_stored(main.get("quanParameter")) for main in mains))


def kind_of(artifact: bytes, name: str) -> str:
    """MNN's operator of the layer of that name, "" where it is not known."""
    return next((str(layer["type"]) for layer in _layers(artifact) or () if layer.get("name") == name), "")


def _layers(artifact: bytes) -> list[dict[str, Any]] | None:
    if len(artifact) > _READABLE:
        return None
    with tempfile.TemporaryDirectory(prefix="mnn-") as name:
        folder = Path(name)
        (folder / "model.mnn").write_bytes(artifact)
        _run("-f", "MNN", "--modelFile", "model.mnn", "--JsonFile", "model.json", "--bizCode", "assay", folder=folder)
        layers: list[dict[str, Any]] = parsed((folder / "model.json").read_bytes())["oplists"]
    return layers


def parsed(text: bytes) -> dict[str, Any]:
    """MNN 3.6 writes inf and nan, which JSON has not: a mask of -inf is such a number."""
    named = re.sub(rb'"(?:[^"\\]|\\.)*"|-?\b(?:inf|nan)\b', _spelled, text)
    parsed_json: dict[str, Any] = json.loads(named)
    return parsed_json


def _spelled(matched: re.Match[bytes]) -> bytes:
    """Texts stay as they are."""
    token = matched[0]
    if token.startswith(b'"'):
        return token
    return b"NaN" if token.endswith(b"nan") else token.replace(b"inf", b"Infinity")


def _stored(quantized: dict[str, object] | None) -> str:
    """IDSTQuan of MNN's schema: type 3 is half precision, 1, 2 and 4 are integers of `aMaxOrBits`."""
    if not quantized:
        return "float32"
    if quantized["type"] == 3:
        return "float16"
    return f"int{quantized['aMaxOrBits'] or 8}"


def _run(*arguments: str, folder: Path) -> Converted:
    return convert([sys.executable, "-P", "-c", _PROGRAM, *arguments], folder)
