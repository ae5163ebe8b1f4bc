"""What a notebook asks of IPython: plain words, and what runs or imports something."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay_zoo.artifacts.inspect_source import inspect_source


def _troubles(tmp_path: Path, *sources: str, **more: object) -> list[str]:
    path = tmp_path / "n.ipynb"
    cells = [{"cell_type": "code", "source": source} for source in sources]
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, **more}))
    return [
        trouble["sentence"]
        for trouble in inspect_source({"kind": "source", "copy": str(path), "path": "n.ipynb"})["troubles"]
    ]


@pytest.mark.parametrize(
    "magic",
    [
        "%config Application.log_level = __import__('os').system('id')",
        "%config Application.log_level = '{__import__(\"os\")}'",
        "%config A",
        "%load_ext evil_ext",
        "%matplotlib module://evil",
        "%matplotlib {f()}",
        "%%capture {f()}",
        "x = 1 #\u2028!id",
        "x = 1\r!id",
        "%matplotlib webagg",
        '%config InlineBackend.rc = {"text.usetex": True}',
        "sx -l;id",
        "pip",
        "x = 1\nnp.mean?",
        "%%capture\nls -d",
    ],
)
def test_a_magic_that_runs_or_imports_what_is_not_read(tmp_path: Path, magic: str) -> None:
    (trouble,) = _troubles(tmp_path, magic)
    assert "asks a shell or IPython" in trouble


@pytest.mark.parametrize(
    "magic",
    [
        "%config InlineBackend.figure_format = 'retina'",
        "%config InlineBackend.print_figure_kwargs = {'bbox_inches': None}",
        "%load_ext autoreload\n%autoreload 2\n%matplotlib inline\n%precision %.3f\n%pprint",
        "%%capture out --no-stderr\nx = 1",
        "x = 1\ry = 2\r\nz = 3",
        "",
        'print("""\n%d items\n! all\n""" % 3)',
        "\n\nprint (3)",
        "sx = 3",
    ],
)
def test_a_magic_with_plain_words(tmp_path: Path, magic: str) -> None:
    assert _troubles(tmp_path, magic) == []


def test_a_cell_of_one_line_means_what_a_cell_before_binds(tmp_path: Path) -> None:
    assert _troubles(tmp_path, "rm = 3\nd = 1", "rm -d") == []
    assert len(_troubles(tmp_path, "for rm in []: pass", "rm -d")) == 1
    assert len(_troubles(tmp_path, "rm = d = 1\ndel rm", "rm -d")) == 1


@pytest.mark.parametrize("more", [{"nbformat": 3}, {"worksheets": []}, {"metadata": {"kernelspec": {"name": "bash"}}}])
def test_a_notebook_whose_cells_may_be_run_as_something_else(tmp_path: Path, more: dict[str, object]) -> None:
    (trouble,) = _troubles(tmp_path, "x = 1", **more)
    assert "another format" in trouble or "is run by 'bash'" in trouble
