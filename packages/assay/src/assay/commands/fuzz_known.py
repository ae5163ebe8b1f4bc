"""The cases of the suite of regressions, left where a fuzzing session compares with them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from assay import plugins
from assay.core.screening import Use
from assay.fuzz.corpus import Corpus
from assay.fuzz.known import INDEX, KnownCase
from assay.ports import Suite
from assay.triage.findings import PLACE

SUITE = "regressions"


def keep_known(corpus: Corpus) -> None:
    """Once for a corpus. Some are right until their engine is saved and loaded again."""
    if (corpus.known / INDEX).exists():
        return
    from assay.generators.case_values import attributes_of
    from assay.generators.files import keep_case, operators_of
    from assay.generators.untied import has_ties
    from assay.models.goldens import read_golden
    from assay.ports.generator import GeneratedCase

    suite: Suite = plugins.load("assay.suites", SUITE)()
    known_cases = []
    for case in suite.cases(seed=0):
        golden = read_golden(Path(case.inputs.golden))
        name = case.name.rpartition("/")[2]
        model = Path(case.model.source).read_bytes()
        keep_case(GeneratedCase(model, golden.inputs[0], uses=(Use.RELOADED,)), corpus.known, name)
        is_empty = any(not array.size for array in golden.inputs[0].values())
        are_equal = any(map(has_ties, golden.inputs[0].values()))
        kept = corpus.known / f"{name}.onnx"
        finding = PLACE + golden.lock.who
        known_cases.append(KnownCase(name, finding, operators_of(kept), is_empty, attributes_of(kept), are_equal))
    new = corpus.known / f"{INDEX}.new"
    new.write_bytes(msgspec.json.encode(known_cases))
    new.replace(corpus.known / INDEX)
