"""Into which suspects the fuzzer looks again: those like which none could be judged so far."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.commands.composition import open_services
from assay.core.flow import Flow
from assay.core.screening import CaseId, Suspect
from assay.fuzz.corpus import Arm, Bucket, Corpus, Session, Waiting
from assay.fuzz.session import LOOKS, MOST_LOOKS, Fuzzing
from assay.fuzz.suspect_signature import signature
from assay.pipeline.adapters import Services

FLOW = Flow(name="faulty", backend="faulty")
SUSPECT = Suspect(CaseId("sweep", 3, 7, 9), "values", ("Neg@13",), ablated={"inputs": True})
ARM = Arm("sweep", 3, FLOW.name)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with open_services(str(tmp_path / "history"), workers=1) as opened:
        yield opened


def _fuzzing(services: Services, folder: Path, status: str, dtypes: tuple[str, ...] = ()) -> Fuzzing:
    """With a bucket "a"."""
    bucket = Bucket("a", FLOW.name, FLOW.backend, "values", status, ("Neg",), ablated={"inputs": True}, dtypes=dtypes)
    session = Session(seed=7, arms={ARM.name: ARM}, buckets={"a": bucket})
    return Fuzzing(Corpus(folder), session, [FLOW], services, print, {ARM.name}, lambda: 9.0)


def test_another_type_is_looked_into_where_no_witness_could_answer_in_the_first(
    services: Services, tmp_path: Path
) -> None:
    """Most engines compute float64 in float32, and can say nothing of it."""
    wide, plain = replace(SUSPECT, dtypes=("float64",)), replace(SUSPECT, dtypes=("float32",))
    fuzzing = _fuzzing(services, tmp_path, "one_witness", wide.dtypes)
    asked = fuzzing.look.asked_before(Waiting(FLOW.name, wide), FLOW, fuzzing.session)
    assert asked == fuzzing.session.buckets["a"]
    assert fuzzing.look.asked_before(Waiting(FLOW.name, plain), FLOW, fuzzing.session) is None

    looked = fuzzing.session.looked
    looked[signature(FLOW.name, SUSPECT)] = ["a"] * LOOKS
    for suspect in (wide, plain):
        fuzzing._meet(FLOW.name, suspect)
    assert fuzzing.session.waiting == [Waiting(FLOW.name, plain)]
    assert fuzzing.session.buckets["a"].count == 2
    looked[signature(FLOW.name, SUSPECT)] = ["a"] * MOST_LOOKS
    fuzzing._meet(FLOW.name, plain)
    assert len(fuzzing.session.waiting) == 1


@pytest.mark.parametrize(("status", "waits"), [("not_judged", 1), ("not_repeated", 0), ("wrong", 0)])
def test_what_no_check_could_judge_is_looked_into_again(
    services: Services, tmp_path: Path, status: str, waits: int
) -> None:
    fuzzing = _fuzzing(services, tmp_path, status)
    fuzzing.session.looked[signature(FLOW.name, SUSPECT)] = ["a"] * LOOKS
    fuzzing._meet(FLOW.name, SUSPECT)
    assert len(fuzzing.session.waiting) == waits
