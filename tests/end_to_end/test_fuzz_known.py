"""Known defects are screened on a backend before a session; one that could not start is asked again by the next call."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from onnx import parser

from assay.commands.composition import open_services
from assay.core.flow import Flow
from assay.fuzz.corpus import Corpus, Session
from assay.fuzz.known import INDEX, KnownCase, refer
from assay.generators.files import keep_case
from assay.ports.generator import GeneratedCase

GRAPH = '<ir_version: 8, opset_import: ["" : 17]> g (float[2] x) => (float[2] y) { y = Neg(x) }'
FLOW = Flow(name="faulty", backend="faulty")


def test_a_backend_that_could_not_start_has_no_known_defects_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, session = Corpus(tmp_path / "corpus"), Session(seed=7)
    cases = [KnownCase(name, "finding") for name in ("one", "two")]
    for one in cases:
        case = GeneratedCase(parser.parse_model(GRAPH).SerializeToString(), {"x": np.ones(2, np.float32)})
        keep_case(case, corpus.known, one.name)
    (corpus.known / INDEX).write_bytes(msgspec.json.encode(cases))
    before = corpus.known / FLOW.name / "progress"
    before.parent.mkdir()
    before.write_text("7")  # of an earlier session, with more cases
    with monkeypatch.context() as broken:
        broken.setenv("ASSAY_FAULTY_IMPORT", "exit")
        with open_services(str(tmp_path / "history"), workers=1) as services:
            assert refer(FLOW, corpus, session, services) == 0
    assert (session.referred, session.buckets) == ([], {})
    with open_services(str(tmp_path / "history"), workers=1) as services:
        assert refer(FLOW, corpus, session, services) == 0
        assert session.referred == ["faulty"]


def test_each_release_of_a_backend_has_known_defects_of_its_own(tmp_path: Path) -> None:
    corpus, session = Corpus(tmp_path / "corpus"), Session(seed=7)
    model = parser.parse_model(GRAPH).SerializeToString()
    keep_case(GeneratedCase(model, {"x": np.ones(2, np.float32)}), corpus.known, "one")
    (corpus.known / INDEX).write_bytes(msgspec.json.encode([KnownCase("one", "finding")]))
    bad = {"fault": "zeros"}
    with open_services(str(tmp_path / "history"), workers=1) as services:
        assert refer(FLOW, corpus, session, services) == 0
        assert refer(Flow(name="faulty@old", backend="faulty", options=bad), corpus, session, services) == 1
    assert session.referred == ["faulty", "faulty@old"]
    assert [one.flow for one in session.buckets.values()] == ["faulty@old"]
    assert session.absent == {"faulty": ["finding"], "faulty@old": []}
