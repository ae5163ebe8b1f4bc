"""Terms in what cells of a notebook have shown, in every form; what a model answered is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assay_zoo.artifacts.notebooks.shown_notebook import rights_in_notebook

TERMS = "For non-commercial use only."


def _rights(output: dict[str, Any]) -> list[tuple[int, str, bool]]:
    cell = {"cell_type": "code", "source": "x", "outputs": [output]}
    return list(rights_in_notebook(json.dumps({"cells": [cell]})))


@pytest.mark.parametrize(
    "output",
    [
        {"text": TERMS},
        {"data": {"text/plain": TERMS}},
        {"data": {"text/html": "<p>For <b>non-</b>commercial use only.</p>"}},
        {"data": {"text/html": ["<table><tr><td>Commercial use</td>", "<td>No</td></tr></table>"]}},
        {"data": {"text/markdown": f"**{TERMS}**"}},
        {"data": {"text/latex": TERMS}},
        {"data": {"image/svg+xml": f"<svg><text>{TERMS}</text></svg>"}},
        {"data": {"application/json": {"license": "CC-BY-NC-4.0"}}},
        {"output_type": "error", "ename": "E", "evalue": TERMS, "traceback": []},
        {
            "output_type": "error",
            "ename": "E",
            "evalue": "",
            "traceback": ["\x1b[31mFor non-\x1b[0mcommercial use only"],
        },
        {"data": {"text/plain": "'The weights may be used for non-commercial purposes only.'"}},
    ],
)
def test_terms_in_an_output(output: dict[str, Any]) -> None:
    assert any(less for _, _, less in _rights(output))


@pytest.mark.parametrize(
    "text",
    [
        "label = 'all rights reserved'",
        "['commercial', 'non-commercial', 'commercial']",
        "array(['noncommercial', 'commercial'], dtype='<U13')",
        "Predicted license: GPL-3.0 (0.98)",
        "sample 3: predicted 'for internal use only' (0.93), true 'confidential'",
        "true class = non-commercial use",
    ],
)
def test_answers_of_a_model_are_no_terms(text: str) -> None:
    assert _rights({"text": f"{text}\n"}) == []
