"""Broken in what nobody looked at before: words about rights in any page, kinds of files that nothing opens, bytes behind what is read."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from allowed import _in_readme, _metadata
from case import Break, broken, replace
from onnx import helper, numpy_helper

PERSON = "needs a person"


def _wrote(name: str, content: bytes) -> Break:
    return lambda folder: (folder / name).write_bytes(content) and None


def _above(text: str) -> Break:
    """In front of a script."""

    def breaks(folder: Path) -> None:
        script = folder / "preprocess.py"
        script.write_text(text + script.read_text(encoding="utf-8"), encoding="utf-8")

    return breaks


def _with(code: str) -> Break:
    return lambda folder: replace(folder / "preprocess.py", "import numpy as np\n", f"import numpy as np\n\n{code}\n")


def _saved(save: Callable[..., None], *values: object, **named: object) -> bytes:
    file = io.BytesIO()
    save(file, *values, **named)
    return file.getvalue()


def _zipped(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


NUMBERS = _saved(np.save, np.ones(3))
PNG = b"\x89PNG\r\n\x1a\n" + bytes(40)
for name, what, check, answer, breaks in (
    ("readme-noncommercial", "a readme that allows no trade", "artifacts.license-file", PERSON,
     _in_readme("\n## Terms\n\nThis model may be used for non-commercial purposes only.\n")),
    ("readme-other-license", "a readme that puts the weights under another licence", "artifacts.license-file", PERSON,
     _in_readme("\n## Terms\n\nThe weights are licensed under the AGPL-3.0.\n")),
    ("terms-in-a-page", "a page of terms that forbids to hand the model on", "artifacts.license-file", PERSON,
     _wrote("USAGE.md", b"# Use\n\nYou must not redistribute the weights.\n")),
    ("script-under-gpl", "a script whose header names another licence in words", "artifacts.license-file", PERSON,
     _above("# This program is distributed under the terms of\n# the GNU General Public License, version 3.\n")),
    ("script-is-confidential", "a script whose header says that it is confidential", "artifacts.license-file", PERSON,
     _above("# Copyright 2026 Example Ltd. Confidential and proprietary.\n")),
    ("file-of-no-known-kind", "a program for a printer, as a figure", "artifacts.parts", PERSON,
     _wrote("figure.eps", b"%!PS-Adobe-3.0 EPSF-3.0\n(%pipe%id) (r) file\n")),
    ("script-under-another-name", "a copy of a script as an editor leaves it", "artifacts.parts", PERSON,
     _wrote("preprocess.py~", b"import os\nos.system('id')\n")),
    ("archive-behind-a-picture", "a picture with an archive behind it", "files.archives", "decline",
     _wrote("figure.png", PNG + _zipped("run.py", b"import os\n"))),
    ("text-behind-an-array", "a script behind the numbers of an array", "files.readable", "decline",
     _wrote("mean.npy", NUMBERS + b"#!/bin/sh\nid\n")),
    ("array-outside", "an array that would be unpacked outside of its folder", "files.archives", "decline",
     _wrote("mean.npz", _zipped("../mean.npy", NUMBERS))),
    ("text-that-a-terminal-runs-back", "a text that writes over itself on a terminal", "files.text", "decline",
     _wrote("notes.txt", b"All is well.\x1b[2K\r\n")),
    ("description-with-script", "a description that is a program for the browser", "artifacts.markup", "decline",
     _metadata("^description = .*$", 'description = "Reads a digit. <script>alert(1)</script>"')),
    ("title-in-rare-letters", "a title whose first letter is one of Lisu", "artifacts.metadata", "decline",
     _metadata("^title = .*$", 'title = "\ua4e2mall digits"')),
    ("readme-runs-container", "a readme that tells to run what somebody packed", "artifacts.requirements", "decline",
     _in_readme("\n## Use\n\n```\ndocker run --rm someone/digits\n```\n")),
    ("readme-installs-from-elsewhere", "a variable that says where packages come from", "artifacts.requirements", "decline",
     _in_readme("\n## Use\n\n```\nPIP_INDEX_URL=https://example.com pip install numpy\n```\n")),
    ("readme-with-code-in-a-command", "a command whose code starts a process", "artifacts.requirements", PERSON,
     _in_readme("\n## Use\n\n```\npython -c \"import os; os.system('id')\"\n```\n")),
    ("script-removes-all", "a script that removes what it can", "artifacts.scan", "decline",
     _with("import shutil\n\nCLEAN = lambda: shutil.rmtree('/', ignore_errors=True)")),
    ("script-serves-pages", "a script whose plots are a server", "artifacts.scan", "decline",
     _with("import matplotlib\n\nmatplotlib.use('WebAgg')")),
    ("script-names-machine", "a script that asks who runs it", "artifacts.scan", PERSON,
     _with("import platform\n\nWHERE = platform.node()")),
    ("class-in-a-table", "a class of a runtime in a table that a class is made of", "artifacts.scan", PERSON,
     _with("import onnxruntime\n\n\nclass Made(type):\n    def __new__(cls, name, bases, names, of):\n"
           "        return type.__new__(cls, name, (of['base'],), names)\n\n\n"
           "class Session(metaclass=Made, of={'base': onnxruntime.InferenceSession}):\n    pass")),
):  # fmt: skip
    broken(
        name, what, check, answer=answer, near=True, also=("artifacts.name",) if name == "title-in-rare-letters" else ()
    )(breaks)


def _model(change: Callable[[onnx.ModelProto], None]) -> Break:
    def breaks(folder: Path) -> None:
        file = folder / "model.onnx"
        model = onnx.load(str(file))
        change(model)
        onnx.save(model, str(file))

    return breaks


def _payload(model: onnx.ModelProto) -> None:
    program = np.frombuffer(b"\x7fELF" + bytes(4092), np.uint8)
    model.graph.initializer.append(numpy_helper.from_array(program, "extra"))


def _trigger(model: onnx.ModelProto) -> None:
    """Where a pixel is much brighter than any of the data, the answer is another."""
    logits = model.graph.output[0].name
    for node in model.graph.node:
        node.output[:] = ["before" if name == logits else name for name in node.output]
    model.graph.initializer.append(numpy_helper.from_array(np.array(1e3, np.float32), "trigger"))
    branches = {
        f"{name}_branch": helper.make_graph(
            [helper.make_node(operator, ["before"], [name])], name, [], [helper.make_tensor_value_info(name, 1, None)]
        )
        for name, operator in (("then", "Neg"), ("else", "Identity"))
    }
    model.graph.node.extend([
        helper.make_node("ReduceMax", [model.graph.input[0].name], ["brightest"], keepdims=0),
        helper.make_node("Greater", ["brightest", "trigger"], ["is_met"]),
        helper.make_node("If", ["is_met"], [logits], **branches),
    ])  # fmt: skip


for name, what, change in (
    ("program-among-weights", "a program as a tensor that nothing reads", _payload),
    ("answer-behind-a-trigger", "an answer that is another where a value is met", _trigger),
):
    broken(name, what, "compliance.graph", answer=PERSON, near=True)(_model(change))
