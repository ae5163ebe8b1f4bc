"""What each part of `artifacts.scan` is for: the codes of its tests, with one part at a time left out.

`python benchmarks/zoo_scan.py` reads the code of `tests/unit/assay_zoo/artifacts/code`: of `bad.txt`, that hides a way out, it says
how many would pass without a part.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from assay_zoo.artifacts.code import code_scan
from assay_zoo.artifacts.code.code_scan import _Scan
from assay_zoo.artifacts.code.handed_modules import handed_modules
from assay_zoo.artifacts.code.sources import SourceText
from assay_zoo.artifacts.inspect_source import inspect_part
from assay_zoo.policy import ZooPolicy

CODE = Path(__file__).parents[1] / "tests" / "unit" / "assay_zoo" / "artifacts" / "code"
PACKAGES = (*ZooPolicy.model_fields["packages"].default, "torch", "torchvision", "cv2", "yaml", "tqdm", "IPython")
FINDING: dict[str, tuple[Any, str]] = {
    "imports": (_Scan, "_imported"),
    "attributes": (_Scan, "_attribute"),
    "names": (_Scan, "_name"),
    "modules and loaders as values": (_Scan, "_value"),
    "calls": (_Scan, "_call"),
    "... of getattr, vars, attrgetter, methodcaller": (_Scan, "_by_name"),
    "... that unpickle, or run a text": (code_scan, "code_by_arguments"),
    "names with two underscores": (_Scan, "_words_of"),
    "texts": (code_scan, "reached_by_text"),
    "texts that are put together": (code_scan, "made_texts"),
    "paths": (code_scan, "opened_paths"),
    "variables of the environment": (code_scan, "environment"),
    "what is changed of others": (code_scan, "changed_values"),
    "classes of others": (code_scan, "derived_class"),
    "markup that is shown": (code_scan, "shown_markup"),
}
"""What finds something: left out, it finds nothing."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        bad, good = (_written(file, Path(folder) / file) for file in ("bad.txt", "good.txt"))
        print(
            f"{_passing(bad)} of {len(bad)} bad ones and {_passing(good)} of {len(good)} good ones pass with all parts"
        )
        for part, (place, name) in FINDING.items():
            with patch.object(place, name, lambda *_, **__: ()):
                print(f"{_passing(bad):4} of {len(bad)} bad ones pass without: {part}", flush=True)


def _written(file: str, folder: Path) -> list[list[dict[str, Any]]]:
    """Of each submission what the scan is asked, file by file; notebooks are written as their cells."""
    every: dict[str, dict[str, Any]] = defaultdict(dict)
    for number, block in enumerate(re.split(r"(?m)^=== ", (CODE / file).read_text(encoding="utf-8"))[1:]):
        place, _, code = block.partition("\n")
        name, _, path = place.partition("/")
        copy = folder / name / str(number)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(_notebook(code) if path.endswith(".ipynb") else code, encoding="utf-8")
        every[name][path] = {"kind": "source", "copy": str(copy), "path": path, "packages": PACKAGES}
    return [list(items.values()) for items in every.values()]


def _notebook(code: str) -> str:
    parts = re.split(r"(?m)^(?=%%)", code)
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "source": part, "metadata": {}, "outputs": []} for part in parts
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _passing(every: list[list[dict[str, Any]]]) -> int:
    return sum(not _finds(items) for items in every)


def _finds(items: list[dict[str, Any]]) -> bool:
    read = {item["path"]: msgspec.convert(inspect_part(item), SourceText) for item in items}
    return any(source.reaches or source.troubles for source in read.values()) or any(handed_modules(read))


if __name__ == "__main__":
    main()
