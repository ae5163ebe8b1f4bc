"""The order of suspects that wait: those that look new first."""

from __future__ import annotations

from assay.core.screening import CaseId, Suspect
from assay.fuzz.corpus import Bucket, Waiting
from assay.fuzz.next_suspects import new_looking_first


def _waiting(*operators: str, flow: str = "f") -> Waiting:
    return Waiting(flow, Suspect(CaseId("sweep", 1, 7, len(operators)), "values", operators=operators))


def _bucket(*operators: str, status: str = "wrong") -> Bucket:
    return Bucket(key="+".join(operators), flow="f", backend="b", kind="values", status=status, operators=operators)


def test_what_has_the_operators_of_a_cause_comes_after_what_has_not() -> None:
    held, new = _waiting("Not@1", "Where@16", "Pow@15"), _waiting("DepthToSpace@13")
    elsewhere = _waiting("Not@1", "Where@16", flow="other")
    ordered = new_looking_first([held, new, elsewhere], [_bucket("Not", "Where")])
    assert ordered == [new, elsewhere, held]


def test_a_bucket_of_which_nothing_is_proven_changes_no_order() -> None:
    entries = [_waiting("Not@1", "Where@16"), _waiting("Abs@13")]
    assert new_looking_first(entries, [_bucket("Not", "Where", status="unspecified"), _bucket()]) == entries
