"""Every model that is broken in one way is found, in its own place and for nothing else; what only a collection refuses passes."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from assay.core.model_finding import Severity
from assay.core.model_finding_text import SENTENCES, sentence
from assay.models.examination.steps import examine
from assay.testing.broken_models import CASES, built

OWN = [name for name, case in CASES.items() if not case.zoo]
COLLECTION = [
    name for name, case in CASES.items() if case.zoo and name not in ("opset_too_new", "domain_without_import")
]


@pytest.mark.parametrize("name", OWN)
def test_is_found_in_its_place(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    findings = [finding for finding in examine(built(name, folder)).findings if finding.severity is not Severity.REMARK]
    assert (CASES[name].area, CASES[name].code) in {(finding.area.value, finding.code) for finding in findings}
    assert {finding.area.value for finding in findings} == {CASES[name].area}
    sentences = [sentence(finding) for finding in findings]
    assert all(str(tmp_path) not in text and "\n" not in text for text in sentences)
    assert all("; " in text or text.startswith("the model contradicts itself") for text in sentences), "what to do"


@pytest.mark.parametrize("name", COLLECTION)
def test_what_a_collection_alone_refuses(name: str, tmp_path: Path) -> None:
    look = examine(built(name, tmp_path))
    assert look.of(Severity.INVALID) == []
    assert "step-failed" not in {finding.code for finding in look.findings}


def test_tied_weights_are_no_finding(tmp_path: Path) -> None:
    path = built("external_overlap_of_tied_weights", tmp_path)
    model = onnx.load(path, load_external_data=False)
    del model.graph.initializer[-1]  # the one that overlaps
    model.graph.node[0].input[0] = model.graph.initializer[-1].name
    path.write_bytes(model.SerializeToString())
    assert examine(path).findings == []


def test_every_sentence_has_a_model_that_needs_it(tmp_path: Path) -> None:
    """A row that nothing produces is a row to delete."""
    codes = {case.code for case in CASES.values()}
    rare = {
        "unused-function",
        "other-opset",
        "onnx-checker",
        "external-nowhere",
        "external-zero-byte",
        "external-irregular",
    }
    rare |= {
        "external-unreadable",
        "external-pointer",
        "newer-opset",
        "ir-version",
        "duplicate-value",
        "axis",
        "declared",
    }
    rare |= {
        "declared-kind",
        "zero-delta",
        "weight-rank",
        "kernel-shape",
        "recurrent-gates",
        "recurrent-weights",
        "hidden-size",
    }
    rare |= {"reference-unknown", "step-failed"}
    assert set(SENTENCES) - codes <= rare
