"""A submission becomes a version of a model that the zoo serves, and a version can be taken back. Only files are touched.

Each step can be cut off by a kill: what was served before is served until the manifest is replaced, what is new from then
on, and the same call again finishes what was begun. Nothing is ever removed from models/.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from assay.config.toml_errors import nearest, read
from assay.errors import UsageError
from assay.models.files import flush_to_disk
from assay_zoo.conflicts import conflicts, other_contents
from assay_zoo.decision import Answer
from assay_zoo.facts import Facts, read_facts
from assay_zoo.index import write_index
from assay_zoo.inspect import Inspection
from assay_zoo.intake import take_in
from assay_zoo.manifest import (
    Accuracy,
    Entry,
    Manifest,
    Port,
    Version,
    Withdrawal,
    fresh_name,
    read_manifest,
    write_manifest,
)
from assay_zoo.metadata import Metadata
from assay_zoo.repository import read_policy
from assay_zoo.waivers import waives
from assay_zoo.zoo_files import INDEX, MANIFEST, METADATA, MODELS, SUBMISSIONS


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """`current` is what is served now, `before` what was ("": nothing), `sentence` says it to a person."""

    name: str
    current: str
    before: str
    sentence: str


def promote(root: Path, name: str, inspection: Inspection, by: str, *, reason: str = "") -> Change:
    """Move submissions/`name` to models/`name`/VERSION, and serve it from now on.

    An inspection that did not end in promote needs a `reason`: it is recorded with `by`. Raises UsageError where that is
    missing, where the files are no longer those that were inspected, where the version is taken and, without a `reason`,
    where the zoo has something by now that it goes against; OSError where the zoo cannot be written. Called again, it
    finishes or changes nothing.
    """
    _allowed(name, inspection, by, reason)
    with _locked(root):
        _swept(root, name)
        manifest = read_manifest(root)
        source = root / SUBMISSIONS / name
        entry = manifest.models.get(name, Entry(current=""))
        if not source.is_dir() and entry.current:
            return _finished(root, name, manifest, entry, inspection)
        staged = _staged(root, name, source, inspection)
        others = {} if reason else {other: entry for other, entry in manifest.models.items() if other != name}
        facts = _facts(root, staged, others)
        version = _version(staged, facts, inspection, by, reason)
        if trouble := _refusal(root, name, manifest, version, facts, reason):
            shutil.rmtree(staged)
            raise UsageError(trouble)
        known = entry.version(version.version)
        if known is not None:
            version = msgspec.structs.replace(version, earlier_withdrawals=_withdrawals(known))
        _placed(staged, root / MODELS / name / version.version, named=known is not None)
        served = _serving(manifest, root, name, known if known and entry.current == known.version else version)
        write_manifest(root, served)
        write_index(root, served)
        _removed(source)
    before = entry.current if entry.current != version.version else ""
    sentence = f"{name} {version.version} is served" + (f"; it was {before}" if before else "")
    return Change(name=name, current=version.version, before=before, sentence=sentence)


def rollback(root: Path, name: str, by: str, *, reason: str) -> Change:
    """Serve the version that was served before the current one, and mark the current one as withdrawn.

    Raises UsageError where there is no model or no earlier version, or where `by` or `reason` is empty.
    """
    if not by or not reason:
        raise UsageError("a rollback says who asks for it and why: give --by and --reason")
    with _locked(root):
        _swept(root, name)
        manifest = read_manifest(root)
        if name not in manifest.models:
            raise UsageError(f"the zoo has no model {name!r}{nearest(name, manifest.models)}")
        entry = manifest.models[name]
        earlier = _earlier(entry)
        if earlier is None:
            sentence = (
                f"{name} has no version before {entry.current or 'the withdrawn ones'} that could be served instead: submit a "
                "corrected version and promote it"
            )
            raise UsageError(sentence)
        withdrawal = Withdrawal(at=_now(), by=by, reason=reason)
        versions = tuple(
            msgspec.structs.replace(version, withdrawn=withdrawal) if version.version == entry.current else version
            for version in entry.versions
        )
        back = Entry(current=earlier.version, versions=versions)
        served = msgspec.structs.replace(manifest, models={**manifest.models, name: back})
        write_manifest(root, served)
        write_index(root, served)
    sentence = f"{name} {earlier.version} is served again; {entry.current} is withdrawn: {reason}"
    return Change(name=name, current=earlier.version, before=entry.current, sentence=sentence)


def _allowed(name: str, inspection: Inspection, by: str, reason: str) -> None:
    if not by:
        raise UsageError("a promotion says who promotes: give --by")
    if inspection.name != name:
        raise UsageError(f"the inspection is of {inspection.name!r}, not of {name!r}")
    answer = inspection.decision.answer
    if answer is not Answer.PROMOTE and not reason:
        why = "; ".join(inspection.decision.reasons[:3])
        text = f"{name} was decided {answer.value!r} ({why}): a person may promote it for a reason, give --reason"
        raise UsageError(text)


def _staged(root: Path, name: str, source: Path, inspection: Inspection) -> Path:
    """A copy of our own beside the place where it shall lie, its files on the disk."""
    if not source.is_dir():
        raise UsageError(f"{source} is not there: nothing to promote")
    staged = root / MODELS / name / ".new"
    shutil.rmtree(staged, ignore_errors=True)
    taken = take_in(source, staged, read_policy(root).files)
    if refused := [entry for entry in taken.entries if entry.problem]:
        shutil.rmtree(staged)
        raise UsageError(f"{refused[0].path} of {name} {refused[0].detail}: such a file is never promoted")
    if taken.digest != inspection.digest:
        shutil.rmtree(staged)
        raise UsageError(f"the files of {name} are not those that were inspected: check the submission again")
    for path in staged.rglob("*"):
        flush_to_disk(path)
    return staged


def _facts(root: Path, staged: Path, others: Mapping[str, Entry]) -> Facts:
    """A person who has a reason waits for no comparison with `others`."""
    model = read(staged / METADATA).validate(Metadata).model
    return read_facts(staged, model, memory_bytes=read_policy(root).run.memory_bytes, others=others)


def _version(staged: Path, facts: Facts, inspection: Inspection, by: str, reason: str) -> Version:
    metadata = read(staged / METADATA).validate(Metadata)
    claim = metadata.accuracy
    return Version(
        version=metadata.version, digest=inspection.digest, closure=facts.closure, files=facts.files, opset=facts.opset,
        inputs=tuple(Port(name=port.name, dtype=port.dtype, shape=port.shape) for port in metadata.inputs),
        outputs=tuple(Port(name=output.name, dtype=output.dtype, shape=output.shape) for output in metadata.outputs),
        tags=metadata.tags, title=metadata.title, license=metadata.license, scenario=metadata.scenario,
        accuracy=Accuracy(metric=claim.metric, claimed=claim.value, measured=_accuracy_of(inspection, claim.metric)),
        performance=_performance_of(inspection), promoted_at=_now(), by=by,
        reason=reason or "; ".join(inspection.decision.reasons), decision=inspection.decision.answer.value,
        author=inspection.author, weights=facts.weights, largest=facts.largest, sketch=facts.sketch,
        based_on=metadata.based_on,
    )  # fmt: skip


def _accuracy_of(inspection: Inspection, metric: str) -> float | None:
    """The metric as a check of accuracy saw it; None where none did."""
    for check in inspection.checks:
        value = check.figures.get(metric, check.figures.get("measured"))
        if check.group == "accuracy" and isinstance(value, float | int):
            return float(value)
    return None


def _performance_of(inspection: Inspection) -> dict[str, dict[str, float]]:
    """By kind of machine, then by metric; metrics of another flow than the first have its name in front."""
    metrics: dict[str, dict[str, float]] = {}
    first = ""
    for check in inspection.checks:
        numbers = {name: float(value) for name, value in check.figures.items() if isinstance(value, float | int)}
        if check.group != "performance" or not numbers or "machine" not in check.figures:
            continue
        machine = str(check.figures["machine"])
        flow = str(check.figures.get("flow", ""))
        first = first or flow
        prefix = f"{flow}:" if flow and flow != first else ""
        figures = metrics.setdefault(machine, {})
        figures |= {f"{prefix}{name}": value for name, value in numbers.items()}
    return metrics


def _refusal(root: Path, name: str, manifest: Manifest, version: Version, facts: Facts, reason: str) -> str:
    """Why this one cannot come after what the zoo has by now, "" where it can. The checks asked the same, of the zoo as it was
    then. What a waiver of zoo.toml says of this very sentence is waived here, too."""
    entry = manifest.models.get(name, Entry(current=""))
    if problem := other_contents(entry, version.version, version.digest):
        return f"{name} is {problem}"
    if reason:
        return ""
    policy, today = read_policy(root), datetime.now(UTC).date()
    problem = "; ".join(
        f"{check}: {sentence}"
        for check, sentence in conflicts(name, manifest.models, version, facts, policy.owners)
        if not waives(policy.waivers, name, check, sentence, today)
    )
    if not problem:
        return ""
    return f"{name} {version.version} needs a person, who says with --reason why it is served: {problem}"


def _withdrawals(known: Version) -> tuple[Withdrawal, ...]:
    return (*known.earlier_withdrawals, *([known.withdrawn] if known.withdrawn else []))


def _placed(staged: Path, place: Path, *, named: bool) -> None:
    """A folder that the manifest does not name yet is left of a promotion that was cut off; one that it names is whole,
    has the same files, and is not touched: it may be served at this moment."""
    if named and place.is_dir():
        shutil.rmtree(staged)
        return
    if place.exists():
        shutil.rmtree(place)
    staged.replace(place)
    flush_to_disk(place.parent)


def _serving(manifest: Manifest, root: Path, name: str, version: Version) -> Manifest:
    entry = manifest.models.get(name, Entry(current=""))
    others = tuple(other for other in entry.versions if other.version != version.version)
    models = {**manifest.models, name: Entry(current=version.version, versions=(*others, version))}
    return msgspec.structs.replace(manifest, zoo=read_policy(root).name, models=dict(sorted(models.items())))


def _finished(root: Path, name: str, manifest: Manifest, entry: Entry, inspection: Inspection) -> Change:
    """The submission is gone: either this very promotion was done, or there is nothing to promote."""
    served = entry.version(entry.current)
    if served is None or served.digest != inspection.digest:
        raise UsageError(f"{root / SUBMISSIONS / name} is not there, and what is served is another: nothing to promote")
    write_index(root, manifest)
    return Change(name=name, current=entry.current, before="", sentence=f"{name} {entry.current} is served already")


def _earlier(entry: Entry) -> Version | None:
    names = [version.version for version in entry.versions]
    before = entry.versions[: names.index(entry.current)] if entry.current in names else entry.versions
    return next((version for version in reversed(before) if version.withdrawn is None), None)


def _removed(source: Path) -> None:
    """Out of sight in one step, then gone."""
    gone = _gone(source)
    shutil.rmtree(gone, ignore_errors=True)
    source.replace(gone)
    flush_to_disk(source.parent)
    shutil.rmtree(gone)


def _gone(source: Path) -> Path:
    return source.with_name(f".{source.name}.gone")


def _swept(root: Path, name: str) -> None:
    """What a killed promotion left lying about."""
    shutil.rmtree(_gone(root / SUBMISSIONS / name), ignore_errors=True)
    shutil.rmtree(root / MODELS / name / ".new", ignore_errors=True)
    for half_written in (fresh_name(root / MANIFEST), fresh_name(root / INDEX)):
        half_written.unlink(missing_ok=True)


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    """One change of a zoo at a time; a second one waits."""
    folder = root / ".assay"
    folder.mkdir(exist_ok=True)
    descriptor = os.open(folder / "zoo.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
