"""The good submission from which all broken ones are made: the digit classifier with 256 held-out digits."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import numpy as np

DIGITS = Path(__file__).parents[2] / "digits"
NAME = "small-digits"
SAMPLES = 256
"""Held-out digits that the validation notebook counts."""

METADATA = """\
name = "small-digits"
version = "1.0"
title = "Small digits"
description = "A small convolutional network that reads one handwritten digit."
license = "Apache-2.0"
scenario = "image-classification"
use_cases = ["Read a digit that a person wrote into a form"]
source = "Trained from scratch by examples/digits/train_classifier.py"
references = ["E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, 1998"]
contributors = ["The authors of Assay"]
tags = ["digits", "image"]
model = "model.onnx"
opset = 17

[[inputs]]
name = "image"
dtype = "float32"
shape = ["batch", 1, 8, 8]
description = "grey values from 0 (paper) to 1 (ink)"

[[outputs]]
name = "logits"
dtype = "float32"
shape = ["batch", 10]
description = "one logit for each digit"

[dataset]
name = "Optical Recognition of Handwritten Digits"
source = "scikit-learn, load_digits"
license = "CC-BY-4.0"
preparation = "The last quarter is held out; images.npy and labels.npy hold 256 of it."

[accuracy]
metric = "top1_accuracy"
value = {value}
tolerance = 0.001
read = "output:top1"
"""

PREPROCESS = '''"""From counts of ink to what the model reads."""

import numpy as np


def preprocess(counts: np.ndarray) -> np.ndarray:
    """(n, 8, 8) counts from 0 to 16 to (n, 1, 8, 8) float32 from 0 to 1."""
    return (counts[:, None] / 16).astype(np.float32)
'''

POSTPROCESS = '''"""From logits to a digit."""

import numpy as np


def postprocess(logits: np.ndarray) -> np.ndarray:
    """(n, 10) logits to (n,) digits."""
    return logits.argmax(axis=1)
'''

LOAD = """\
import numpy as np
import onnxruntime
from postprocess import postprocess
from preprocess import preprocess

session = onnxruntime.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
images = np.load("images.npy")"""
INFER = """\
print(postprocess(session.run(None, {"image": preprocess(images[:8])})[0]))"""
VALIDATE = """\
labels = np.load("labels.npy")
found = postprocess(session.run(None, {"image": preprocess(images)})[0])
print("top1 =", float((found == labels).mean()))"""


def write(folder: Path) -> None:
    """A whole submission in `folder`, which must not exist. The claim is what ONNX Runtime makes of the samples."""
    import onnx
    from safetensors.numpy import load_file

    folder.mkdir(parents=True)
    shutil.copyfile(DIGITS / "models" / "classifier.onnx", folder / "model.onnx")
    golden = DIGITS / "goldens" / "classifier"
    images = load_file(golden / "inputs.safetensors")["image"][:SAMPLES, 0]
    logits = load_file(golden / "outputs.safetensors")["logits"][:SAMPLES, 0]
    labels = load_file(golden / "labels.safetensors")["label"][:SAMPLES]
    value = float(np.mean(logits.argmax(1) == labels))
    (folder / "metadata.toml").write_text(METADATA.format(value=value), encoding="utf-8")
    np.save(folder / "images.npy", np.rint(images[:, 0] * 16).astype(np.uint8))
    np.save(folder / "labels.npy", labels)
    for number, (first, last) in enumerate(((0, 1), (1, 4))):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for name, values, kind in (("image", images, "input"), ("logits", logits, "output")):
            tensor = onnx.numpy_helper.from_array(values[first:last], name)
            (data / f"{kind}_0.pb").write_bytes(tensor.SerializeToString())
    (folder / "preprocess.py").write_text(PREPROCESS, encoding="utf-8")
    (folder / "postprocess.py").write_text(POSTPROCESS, encoding="utf-8")
    _notebook(folder / "inference.ipynb", "# What it reads", LOAD, INFER)
    _notebook(folder / "validation.ipynb", "# How often it is right", LOAD, VALIDATE)
    write_readme(folder)


def _notebook(path: Path, title: str, *cells: str) -> None:
    import nbformat
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    content = new_notebook(cells=[new_markdown_cell(title), *(new_code_cell(cell) for cell in cells)])
    for number, cell in enumerate(content.cells):
        cell.id = f"cell-{number}"
    content.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(content, path)


def write_readme(folder: Path) -> None:
    """As `assay zoo readme` does."""
    from assay_zoo.metadata import Metadata
    from assay_zoo.readme import readme_text

    metadata = Metadata.model_validate(tomllib.loads((folder / "metadata.toml").read_text(encoding="utf-8")))
    (folder / "README.md").write_text(readme_text(metadata), encoding="utf-8")
