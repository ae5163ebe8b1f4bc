"""What each part of `artifacts.scan` is for: the codes of its tests, with one part at a time left out.

`python benchmarks/zoo_scan.py` reads the code of `tests/unit/assay_zoo/code`: of `bad.txt`, that hides a way out, it says how many would
pass without a part that finds something; of `good.txt` how many would still pass without one that follows names.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec

from assay_zoo.artifacts import code_scan, followed_names, origins, written_names
from assay_zoo.artifacts.code_scan import _Scan
from assay_zoo.artifacts.inspect_source import NAMES, inspect_part
from assay_zoo.artifacts.partial_texts import UNKNOWN
from assay_zoo.policy import ZooPolicy

CODE = Path(__file__).parents[1] / "tests" / "unit" / "assay_zoo" / "code"
PACKAGES = (*ZooPolicy.model_fields["packages"].default, "torch", "torchvision", "cv2", "yaml", "tqdm", "IPython")
FINDING: dict[str, tuple[Any, str]] = {
    "bandit's rules": (code_scan, "dangerous_calls"),
    "imports": (_Scan, "_imported"),
    "attributes, with what they stand for": (_Scan, "_attribute"),
    "names, with what they stand for": (_Scan, "_name"),
    "values of modules and loaders": (_Scan, "_value"),
    "calls": (_Scan, "_call"),
    "... of getattr, vars, attrgetter, methodcaller": (_Scan, "_by_name"),
    "... with a path or an address": (code_scan, "outside_arguments"),
    "... that write a file of code": (code_scan, "written_code"),
    "... that unpickle, or run a text": (code_scan, "code_by_arguments"),
    "texts": (_Scan, "_constant"),
    "texts that are put together": (_Scan, "_made"),
    "texts with fields": (_Scan, "_format"),
    "variables of the environment": (_Scan, "_environment"),
    "what nobody can follow": (_Scan, "asked"),
    "... methods that are replaced": (_Scan, "_replaced"),
    "... markup that is shown": (_Scan, "_shown_by"),
}
"""What finds something: left out, it finds nothing."""
FOLLOWING: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "values to the class or the package that made them": (
        origins.Origins, "of", lambda *_: frozenset({origins.UNKNOWN}),
    ),
    "texts through tables, loops and sums": (written_names.WrittenNames, "of", lambda *_: UNKNOWN),
    "which function of another file a name is": (followed_names.FollowedNames, "is_defined", lambda *_: False),
}  # fmt: skip
"""What follows names: left out, nothing is known of them."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        bad, good = (_written(file, Path(folder) / file) for file in ("bad.txt", "good.txt"))
        print(
            f"{_passing(bad)} of {len(bad)} bad ones and {_passing(good)} of {len(good)} good ones pass with all parts"
        )
        for part, (place, name) in FINDING.items():
            with patch.object(place, name, lambda *_, **__: ()):
                print(f"{_passing(bad):4} of {len(bad)} bad ones pass without: {part}", flush=True)
        print(f"{_passing(bad, together=False):4} of {len(bad)} bad ones pass where each file is read alone")
        for part, (place, name, instead) in FOLLOWING.items():
            with patch.object(place, name, instead):
                print(f"{_passing(good):4} of {len(good)} good ones pass without: {part}", flush=True)
        print(f"{_passing(good, together=False):4} of {len(good)} good ones pass where each file is read alone")


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
    for name, items in every.items():
        names = {path: inspect_part({**item, "kind": NAMES}) for path, item in items.items()}
        table = folder / name / "names.json"
        table.write_bytes(msgspec.json.encode(names))
        for item in items.values():
            item["names"] = str(table)
    return [list(items.values()) for items in every.values()]


def _notebook(code: str) -> str:
    parts = re.split(r"(?m)^(?=%%)", code)
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "source": part, "metadata": {}, "outputs": []} for part in parts
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _passing(every: list[list[dict[str, Any]]], *, together: bool = True) -> int:
    return sum(not any(_finds(item, together) for item in items) for items in every)


def _finds(item: dict[str, Any], together: bool) -> bool:
    read = inspect_part(item if together else {key: value for key, value in item.items() if key != "names"})
    return bool(read["reaches"] or read["troubles"])


if __name__ == "__main__":
    main()
