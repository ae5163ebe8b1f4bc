"""Broken in ways that were tried later: terms in notices, outputs and further languages, what is fed to the model, data of two kinds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
from allowed import _in_readme
from case import Break, broken, replace
from onnx import numpy_helper
from unlooked import PERSON, _wrote


def _in_validation(old: str, put: str) -> Break:
    return lambda folder: replace(folder / "validation.ipynb", old, put)


def _shown(text: str) -> Break:
    """As a stored output of a notebook."""

    def breaks(folder: Path) -> None:
        file = folder / "inference.ipynb"
        content = json.loads(file.read_text(encoding="utf-8"))
        content["cells"][-1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": text}]
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")

    return breaks


def _weights_in_an_array(folder: Path) -> None:
    """The pictures of the validation are weights of the model, too."""
    file = folder / "model.onnx"
    model = onnx.load(str(file))
    tensor = next(each for each in model.graph.initializer if each.dims == [32, 128])
    size = numpy_helper.to_array(tensor).nbytes
    tensor.ClearField("raw_data")
    tensor.ClearField("float_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", "images.npy"), ("offset", "128"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)
    np.save(folder / "images.npy", np.load(folder / "images.npy"))
    onnx.save_model(model, str(file))


for name, what, check, breaks in (
    ("notice-of-another-license", "a notice that names the GPL", "artifacts.license-file",
     _wrote("NOTICE", b"Small digits\nIt contains software licensed under the GNU General Public License v3.0.\n")),
    ("strictly-internal", "a readme that keeps the model to a company in four words", "artifacts.license-file",
     _in_readme("\n## Notes\n\nStrictly for internal use.\n")),
    ("license-that-ends", "a licence that ends", "artifacts.license-file",
     _in_readme("\n## Notes\n\nThe licence expires on 31 December 2026.\n")),
    ("terms-in-turkish", "terms in Turkish", "artifacts.license-file",
     _in_readme("\n## Notlar\n\nYaln\u0131zca akademik kullan\u0131m; ticari kullan\u0131m yasakt\u0131r.\n")),
    ("terms-in-an-output", "terms that a cell has printed", "artifacts.license-file",
     _shown("These weights are for non-commercial use only.\n")),
    ("scaled-before-it-is-fed", "a notebook that scales what the script made", "artifacts.processing",
     _in_validation("preprocess(images)", "preprocess(images) * 0.5")),
    ("prepared-by-another-of-the-name", "a notebook that calls another function so", "artifacts.processing",
     _in_validation("labels = np.load", "preprocess = lambda counts: counts[:, None] / 15\\nlabels = np.load")),
    ("weights-in-an-array", "weights that are pictures of the validation, too", "artifacts.parts", _weights_in_an_array),
):  # fmt: skip
    broken(name, what, check, answer=PERSON, near=True)(breaks)
broken("token-in-an-output", "a token that a cell has printed", "files.secrets", near=True)(
    _shown("hf_" + "QmxTbWkZpLrVnYdHcJgXsFqBtRwKzMvNaE\n")
)
