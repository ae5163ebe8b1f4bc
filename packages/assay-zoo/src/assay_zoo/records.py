"""Inspections as files, `.assay/zoo/NAME-DIGEST.json`: what was decided can be audited, and judged again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.errors import NotWritable, UsageError
from assay_zoo.check import Check
from assay_zoo.decision import decide
from assay_zoo.inspect import Inspection
from assay_zoo.manifest import replace_file
from assay_zoo.policy import ZooPolicy
from assay_zoo.waivers import apply_waivers, expired

FOLDER = Path(".assay") / "zoo"
_DIGITS = 16


def record_path(root: Path, inspection: Inspection) -> Path:
    """Where an inspection of these files is kept: the newest one of the same files replaces the one before, unless that one is of
    these groups of checks and of others: a promotion asks for it, so the new one is put beside it."""
    path = path_for(root, inspection.name, inspection.digest)
    return path.with_name(f"{path.stem}-part.json") if _groups_kept(path) > _groups(inspection) else path


def path_for(root: Path, name: str, digest: str) -> Path:
    """Where the record of a submission with these contents is kept."""
    return root / FOLDER / f"{name}-{digest[:_DIGITS]}.json"


def write_record(path: Path, inspection: Inspection) -> Path:
    """Raises NotWritable."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, msgspec.json.format(msgspec.json.encode(inspection), indent=2) + b"\n")
    except OSError as error:
        raise NotWritable(f"{path} cannot be written ({error.strerror})") from None
    return path


def read_record(path: Path) -> Inspection:
    """Raises UsageError for what is no record."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Inspection)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}); give a file of .assay/zoo") from None
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is no record of an inspection ({error}); give a file of .assay/zoo") from None


def _groups(inspection: Inspection) -> set[str]:
    return {check.group for check in inspection.checks}


def _groups_kept(path: Path) -> set[str]:
    """Empty where there is no record that can be read: what is there may be replaced."""
    try:
        return _groups(read_record(path))
    except UsageError:
        return set()


def decide_again(record: Inspection, policy: ZooPolicy) -> Inspection:
    """The same checks under the policy and on the day of now: nothing is run. New waivers count, old ones may be over."""
    today = datetime.now(UTC).date()
    checks: list[Check] = []
    for group in dict.fromkeys(check.group for check in record.checks):
        own = [expired(check, today) for check in record.checks if check.group == group]
        checks += apply_waivers(own, policy.waivers, record.name, group, today)[: len(own)]
    return msgspec.structs.replace(record, checks=tuple(checks), decision=decide(checks, policy.decision))
