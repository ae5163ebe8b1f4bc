"""Broken in what is published: code that reaches out, words that act, texts that contradict."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

from case import Break, broken, first_cell, replace

GPL = "GNU GENERAL PUBLIC LICENSE\nVersion 3, 29 June 2007\n"


def _appended(file: str, text: str) -> Break:
    def breaks(folder: Path) -> None:
        path = folder / file
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(before + text, encoding="utf-8")

    return breaks


def _cells(notebook: str, change: Callable[[list[dict[str, object]]], None]) -> Break:
    def breaks(folder: Path) -> None:
        content = json.loads((folder / notebook).read_text(encoding="utf-8"))
        change([cell for cell in content["cells"] if cell["cell_type"] == "code"])
        (folder / notebook).write_text(json.dumps(content, indent=1), encoding="utf-8")

    return breaks


def _output(kind: str, text: str) -> Break:
    """The first cell of the inference notebook shows this to its readers."""
    made = {"output_type": "display_data", "data": {kind: text}, "metadata": {}}
    return _cells("inference.ipynb", lambda cells: cells[0].update(outputs=[made]))


for name, code in {
    "script-starts-process": "import subprocess\n",
    "script-opens-network": "from urllib.request import urlopen\n",
    "script-reads-environment": "import os\nTOKEN = os.environ.get('TOKEN')\n",
    "script-reads-home": "KEYS = open('/root/.ssh/id_rsa')\n",
    "script-evaluates": "VALUE = eval('1 + 1')\n",
    "script-executes-encoded": "import base64\nexec(base64.b64decode('cGFzcw=='))\n",
    "script-unpickles": "import pickle\n",
    "script-loads-native": "import ctypes\n",
    "script-loads-pickled-array": "import numpy as np\nDATA = lambda: np.load('images.npy', allow_pickle=True)\n",
}.items():
    broken(
        name, f"preprocess.py says {code.splitlines()[-1]!r}", "artifacts.scan", near=name != "script-starts-process"
    )(_appended("preprocess.py", f"\n\n{code}"))

for name, text in {
    "readme-with-script": "<script>alert(1)</script>",
    "readme-with-javascript-link": "[results](javascript:alert(1))",
    "readme-with-frame": '<iframe src="https://example.com"></iframe>',
    "readme-with-handler": '<img src="figure.png" onerror="alert(1)">',
}.items():
    broken(name, f"the readme holds {text}", "artifacts.markup", near=True, also=("artifacts.readme",))(
        _appended("README.md", f"\n{text}\n")
    )

broken("output-with-script", "a stored output holds a script", "artifacts.markup", near=True)(
    _output("text/html", "<b>top1</b><script>alert(1)</script>")
)
broken("output-in-javascript", "a stored output is a program for the browser", "artifacts.markup", near=True)(
    _output("application/javascript", "alert(1)")
)
broken(
    "license-file-of-another", "LICENSE is the GPL and the metadata say Apache-2.0", "artifacts.license-file", near=True
)(_appended("LICENSE", GPL))
broken("script-of-another-license", "a script says that it is GPL-3.0-only", "artifacts.license-file", near=True)(
    _appended("postprocess.py", "\n# SPDX-License-Identifier: GPL-3.0-only\n")
)
broken(
    "readme-with-dead-link", "the readme shows a picture that was not sent", "artifacts.links", near=True, also=("artifacts.readme",)
)(_appended("README.md", "\n![figure](figure.png)\n"))  # fmt: skip
for name, line in {
    "requirements-nearly": "nunpy==2.0",
    "requirements-from-elsewhere": "--index-url https://packages.example.com/simple",
    "requirements-by-address": "numpy @ https://packages.example.com/numpy.whl",
    "requirements-unknown": "left-pad",
}.items():
    broken(name, f"requirements.txt says {line!r}", "artifacts.requirements", near=True)(
        _appended("requirements.txt", f"{line}\n")
    )


def _description(folder: Path, text: str) -> None:
    description = re.search(
        r'^description = "(.*)"$', (folder / "metadata.toml").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert description
    for name in ("metadata.toml", "README.md"):
        replace(folder / name, description[1], text)


@broken("description-to-do", "the description is still to be written", "artifacts.template", near=True)
def _(folder: Path) -> None:
    _description(folder, "TODO: describe the model")


@broken("description-filler", "the description is filler", "artifacts.template", near=True)
def _(folder: Path) -> None:
    _description(folder, "Lorem ipsum dolor sit amet")


@broken(
    "notebook-without-model", "a validation notebook that prints a number and opens no model", "artifacts.notebooks"
)
def _(folder: Path) -> None:
    _cells(
        "validation.ipynb",
        lambda cells: [
            cell.update(source="from preprocess import preprocess\nprint('top1', '=', 1)") for cell in cells
        ],
    )(folder)  # type: ignore[func-returns-value]


@broken("notebook-holds-nothing", "an inference notebook whose cells are empty", "artifacts.notebooks", near=True)
def _(folder: Path) -> None:
    _cells("inference.ipynb", lambda cells: [cell.update(source="") for cell in cells])(folder)  # type: ignore[func-returns-value]


@broken(
    "notebook-prints-its-claim",
    "a validation notebook whose metric stands in its code",
    "artifacts.notebooks",
    near=True,
    also=("artifacts.processing",),
)
def _(folder: Path) -> None:
    _cells("validation.ipynb", lambda cells: cells[-1].update(source="print('top1 = 0.99')"))(folder)


@broken("notebook-prepares-otherwise", "a notebook with a preprocess of its own", "artifacts.processing", near=True)
def _(folder: Path) -> None:
    own = "import numpy as np\ndef preprocess(counts):\n    return (counts[:, None] / 255).astype(np.float32)\n"
    first_cell(folder / "validation.ipynb", own)


@broken(
    "notebook-shows-other-accuracy", "a stored output that the notebook does not give", "accuracy.outputs", costly=True
)
def _(folder: Path) -> None:
    made = {"output_type": "stream", "name": "stdout", "text": "top1 = 0.9999\n"}
    _cells("validation.ipynb", lambda cells: cells[-1].update(outputs=[made]))(folder)
