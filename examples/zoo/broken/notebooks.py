"""Broken when it runs: notebooks that fail, lie, reach out, or never end."""

from __future__ import annotations

import json
from pathlib import Path

from case import broken, first_cell, replace

SCAN = ("artifacts.scan",)
"""What reaches out is seen before it is run."""
SOON = ("[run]", "seconds = 20.0")
"""A limit that is reached while somebody waits."""


def _validation(folder: Path, source: str) -> None:
    first_cell(folder / "validation.ipynb", source)


@broken("claim-too-high", "a claim that the notebook does not reach", "accuracy.claim", costly=True)
def _(folder: Path) -> None:
    import re

    text = (folder / "metadata.toml").read_text(encoding="utf-8")
    claim = re.search(r"^value = ([0-9.]+)$", text, re.MULTILINE)
    assert claim
    for name in ("metadata.toml", "README.md"):
        replace(folder / name, claim[1], "0.9999")


@broken("notebook-counts-itself", "the labels are what the model answers", "accuracy.depends", costly=True)
def _(folder: Path) -> None:
    load, run = (
        'labels = np.load("labels.npy")',
        'labels = postprocess(session.run(None, {"image": preprocess(images)})[0])',
    )
    replace(folder / "validation.ipynb", json.dumps(load)[1:-1], json.dumps(run)[1:-1])
    _claimed(folder, "1.0")


@broken("notebook-counts-nothing", "a metric that is made of constants", "accuracy.depends", costly=True)
def _(folder: Path) -> None:
    replace(folder / "validation.ipynb", "float((found == labels).mean())", "len(labels) / 256")
    _claimed(folder, "1.0")


def _claimed(folder: Path, value: str) -> None:
    import re

    claim = re.search(r"^value = ([0-9.]+)$", (folder / "metadata.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert claim
    replace(folder / "metadata.toml", f"value = {claim[1]}", f"value = {value}")
    replace(folder / "README.md", f"= {claim[1]} (", "= 1 (")


@broken("notebook-fails", "a validation notebook that ends in an exception", "accuracy.validation", costly=True)
def _(folder: Path) -> None:
    _validation(folder, "raise ValueError('the data set has moved')")


@broken("notebook-dies", "a validation notebook that kills its kernel", "accuracy.validation", costly=True, also=SCAN)
def _(folder: Path) -> None:
    _validation(folder, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)")


@broken(
    "notebook-writes-code",
    "a notebook that writes over a script with what lies in its data",
    "accuracy.validation",
    costly=True,
)
def _(folder: Path) -> None:
    (folder / "notes.json").write_text(json.dumps({"to": "postprocess.py", "text": "# nothing of it was read"}))
    _validation(
        folder, "import json\nnotes = json.load(open('notes.json'))\nopen(notes['to'], 'a').write(notes['text'])"
    )


@broken("notebook-never-ends", "a validation notebook that never ends", "accuracy.validation", zoo=SOON, costly=True)
def _(folder: Path) -> None:
    _validation(folder, "while True:\n    pass")


@broken(
    "notebook-opens-network",
    "a notebook that fetches its data at run time",
    "accuracy.validation",
    costly=True,
    also=SCAN,
)
def _(folder: Path) -> None:
    _validation(folder, "import socket\nsocket.create_connection(('192.0.2.1', 443), timeout=3)")


@broken(
    "notebook-reads-secret",
    "a notebook that needs a secret of the machine",
    "accuracy.validation",
    costly=True,
    also=SCAN,
)
def _(folder: Path) -> None:
    _validation(folder, "import os\ntoken = os.environ['ASSAY_ZOO_TEST_SECRET']")


@broken(
    "notebook-reads-machine", "a notebook that reads the password file", "accuracy.validation", costly=True, also=SCAN
)
def _(folder: Path) -> None:
    _validation(folder, "from pathlib import Path\nPath('/etc/passwd').read_text()")


@broken(
    "notebook-writes-model",
    "a notebook that replaces the model under test",
    "accuracy.validation",
    costly=True,
    also=SCAN,
)
def _(folder: Path) -> None:
    _validation(
        folder,
        "from pathlib import Path\n"
        "for found in Path('/in').rglob('model.onnx'):\n    found.write_bytes(b'another model')",
    )


@broken("notebook-fills-memory", "a notebook that takes all memory", "accuracy.validation", costly=True,
        zoo=("[run]", "memory_bytes = 1_500_000_000"))  # fmt: skip
def _(folder: Path) -> None:
    _validation(folder, "held = []\nwhile True:\n    held.append(bytearray(b'x') * (64 << 20))")


@broken("notebook-fills-disk", "a notebook that fills the disk", "accuracy.validation", costly=True,
        zoo=("[run]", "disk_bytes = 100_000_000"))  # fmt: skip
def _(folder: Path) -> None:
    _validation(
        folder,
        "with open('filled.bin', 'wb') as file:\n    while True:\n        file.write(bytes(1 << 20)); file.flush()",
    )


@broken("notebook-forks", "a notebook that forks without end", "accuracy.validation", zoo=SOON, costly=True, also=SCAN)
def _(folder: Path) -> None:
    _validation(folder, "import os, time\nwhile True:\n    if os.fork() == 0:\n        time.sleep(60)")


@broken("no-metric", "a notebook that does not say its metric", "accuracy.claim", costly=True)
def _(folder: Path) -> None:
    content = json.loads((folder / "validation.ipynb").read_text(encoding="utf-8"))
    for cell in content["cells"]:
        if cell["cell_type"] == "code":
            source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
            cell["source"] = "\n".join(line for line in source.splitlines() if not line.startswith("print("))
    (folder / "validation.ipynb").write_text(json.dumps(content, indent=1), encoding="utf-8")
