"""What makes a suspect right, by the names of the experiments."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from assay.core.screening import EXECUTED, INPUT, NO_CURES
from assay.fuzz.corpus import Bucket
from assay.triage.findings import PLACE, findings


def cures(bucket: Bucket) -> set[str]:
    """Names of what makes it right, a pass among them."""
    return cures_of(bucket.ablated) | {f"pass {name}" for name in bucket.brought}


def passes(bucket: Bucket) -> set[str]:
    """Those without which it is right, as triage saw or as the finding says whose case it is: nobody triages a known case."""
    return {*bucket.brought} | {known.cure for known in findings() if known.cure and PLACE + known.file == bucket.known}


def cures_of(ablated: Mapping[str, bool]) -> set[str]:
    """Of what was tried of one case."""
    return {unsigned(name) for name, right in ablated.items() if right and not name.startswith(NO_CURES)}


def unsigned(name: str) -> str:
    """With or without a sign, a quantizer has so many bits; an attribute that became an input is the same one ("ReduceSum input axes")."""
    return name.replace("type uint", "type int").replace(INPUT, ".")


def agree(first: Bucket, other: Bucket, but: Collection[str] = ()) -> bool:
    """Whether what was tried of both came to the same; nothing is said of `but`."""
    mine, theirs = ({unsigned(name): right for name, right in bucket.ablated.items()} for bucket in (first, other))
    return all(mine[name] == theirs[name] for name in mine.keys() & theirs.keys() - {*but})


def executed(bucket: Bucket) -> set[str]:
    """Kernels that it is wrong with, and that none of its operators alone becomes."""
    return {name for name in bucket.ablated if name.startswith(EXECUTED)}
