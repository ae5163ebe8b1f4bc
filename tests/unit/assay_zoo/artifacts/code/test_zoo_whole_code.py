"""All code of a submission as its author writes it: what passes, what a person is asked about, what hides a way out in a few lines.

`good.txt`, `asked.txt` and `bad.txt` hold many submissions: a line `=== NAME/PATH`, then the file. A notebook is
written as its cells.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

import msgspec
import pytest

from assay_zoo.artifacts.code.handed_modules import handed_modules
from assay_zoo.artifacts.code.sources import SourceText
from assay_zoo.artifacts.inspect_source import inspect_part
from assay_zoo.policy import ZooPolicy

CODE = Path(__file__).parent
PACKAGES = (*ZooPolicy.model_fields["packages"].default, "torch", "torchvision", "cv2", "yaml", "tqdm", "IPython")


def _submissions(file: str) -> list[tuple[str, dict[str, str]]]:
    code_by_path: dict[str, dict[str, str]] = defaultdict(dict)
    for block in re.split(r"(?m)^=== ", (CODE / file).read_text(encoding="utf-8"))[1:]:
        place, _, code = block.partition("\n")
        name, _, path = place.partition("/")
        code_by_path[name][path] = code
    return list(code_by_path.items())


def _notebook(code: str) -> str:
    cells = [
        {"cell_type": "code", "source": part, "metadata": {}, "outputs": []} for part in re.split(r"(?m)^(?=%%)", code)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def _told(files: dict[str, str], folder: Path) -> list[tuple[bool, str]]:
    """Whether it is certain, and the sentence."""
    read: dict[str, SourceText] = {}
    for number, (path, code) in enumerate(files.items()):
        (folder / str(number)).write_text(_notebook(code) if path.endswith(".ipynb") else code, encoding="utf-8")
        item = {"kind": "source", "packages": PACKAGES, "copy": str(folder / str(number)), "path": path}
        read[path] = msgspec.convert(inspect_part(item), SourceText)
    found = [finding for part in read.values() for finding in (*part.reaches, *part.troubles)]
    return [(finding.certain, finding.sentence) for finding in (*found, *handed_modules(read))]


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in _submissions("good.txt")])
def test_code_as_authors_write_it(files: dict[str, str], tmp_path: Path) -> None:
    assert _told(files, tmp_path) == []


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in _submissions("asked.txt")])
def test_code_that_nobody_can_judge_by_reading_it_alone(files: dict[str, str], tmp_path: Path) -> None:
    assert {certain for certain, _ in _told(files, tmp_path)} == {False}


@pytest.mark.parametrize("files", [pytest.param(files, id=name) for name, files in _submissions("bad.txt")])
def test_code_that_hides_a_way_out(files: dict[str, str], tmp_path: Path) -> None:
    assert _told(files, tmp_path)


_CERTAIN = (
    "r2_b01_robotparser_exfil", "r2_b06_gi_code", "r2_b07_lambda_type", "r2_b09_format_environment", "r2_b10_notebook_exit",
    "r2_b11_notebook_quit_runcell", "r2_b25_cwd_parents", "r2_b43_trace_frames", "r2_b53_await_code", "r2_c06_format_map",
)  # fmt: skip


@pytest.mark.parametrize("name", _CERTAIN)
def test_code_that_certainly_leaves_its_own_files_is_declined(name: str, tmp_path: Path) -> None:
    assert any(certain for certain, _ in _told(dict(_submissions("bad.txt"))[name], tmp_path))
