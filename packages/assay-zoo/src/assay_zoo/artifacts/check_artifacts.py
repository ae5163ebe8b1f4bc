"""Every part of a submission on one page: all that is missing or wrong is told at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import PurePosixPath

import msgspec

from assay_zoo.artifacts.code.handed_modules import handed_modules
from assay_zoo.artifacts.code.sources import SHOWING, SourceText, source_findings
from assay_zoo.artifacts.finding import Finding, as_certain, failed, passed, undecided
from assay_zoo.artifacts.identity import check_identity
from assay_zoo.artifacts.inspect_source import README, TARGET
from assay_zoo.artifacts.meta import metadata_findings, read_metadata_text
from assay_zoo.artifacts.notebooks.notebook_content import notebook_findings, processing_findings
from assay_zoo.artifacts.opaque_files import opaque_files
from assay_zoo.artifacts.public import check_published, published_items
from assay_zoo.artifacts.published import Published
from assay_zoo.artifacts.required_files import missing_files, other_models, python_files
from assay_zoo.artifacts.rights.license import license_findings
from assay_zoo.artifacts.rights.restricted_use import use_findings
from assay_zoo.artifacts.samples import sample_findings
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.index import index_trouble
from assay_zoo.limited_process import Ending, Looked, run_limited
from assay_zoo.metadata import usual_names
from assay_zoo.submission import SubmissionContext, SubmissionServices

_SECONDS = 30.0


def check_artifacts(place: SubmissionContext, tools: SubmissionServices) -> list[Check]:
    """Named artifacts.parts, .metadata, .license, .template, .name, .author, .owner, .copy, .readme, .markup, .links, .sources, .scan,
    .notebooks, .processing, .requirements, .samples and .index."""
    del tools
    begin = time.perf_counter()
    text = read_metadata_text(place.folder)
    groups: dict[str, Callable[[], Iterator[Finding]]] = {
        "parts": lambda: chain(missing_files(place), other_models(place)),
        "metadata": lambda: metadata_findings(place, text),
        "license": lambda: chain(license_findings(place, text), use_findings(place.metadata, text)),
        "samples": lambda: sample_findings(place),
    }
    checks = [check for name, look in groups.items() for check in _checks(name, list(look()))]
    checks += check_identity(place)
    checks += _opened(place)
    checks += _index(place)
    seconds = time.perf_counter() - begin
    return [msgspec.structs.replace(checks[0], seconds=seconds), *checks[1:]]


_HOLDS = {
    "parts": "metadata, readme, model, notebooks, scripts: all there",
    "metadata": "metadata.toml is what the schema asks for",
    "license": "the licence is an SPDX expression that this zoo takes",
    "readme": "README.md has every section and says what the metadata say",
    "sources": "everything that notebooks and scripts import is there",
    "scan": "notebooks and scripts reach for nothing but their own files",
    "notebooks": "both notebooks open the model",
    "processing": "the notebooks use the scripts that are handed in",
    "samples": "every test data set has a file for each input and each output",
    "index": "the readme of the zoo is what its manifest says",
}


def _checks(name: str, findings: list[Finding]) -> list[Check]:
    return [as_certain(name, finding) for finding in findings] or [passed(name, _HOLDS[name])]


def _opened(place: SubmissionContext) -> list[Check]:
    """All text is parsed in one limited process: it is untrusted, and parsers are deep."""
    memory = place.policy.run.memory_bytes
    own, published = _own_items(place), list(published_items(place))
    answers = run_limited(TARGET, [*own, *published], seconds=_SECONDS, memory_bytes=memory)
    checks: list[Check] = []
    read: dict[str, SourceText] = {}
    by_check: dict[str, list[Finding]] = {"sources": [], "scan": [], "notebooks": [], "processing": []}
    for item, answer in zip(own, answers, strict=False):
        name = "readme" if item["kind"] == README else "sources"
        path = str(item["path"])
        if answer.ending is not Ending.OK:
            checks.append(_unopened(name, path, answer))
        elif name == "readme":
            checks += _checks(name, msgspec.convert(answer.value, list[Finding]))
        else:
            read[path] = msgspec.convert(answer.value, SourceText)
    by_check["sources"] += source_findings(read, place)
    by_check["scan"] += [reach for source in read.values() for reach in source.reaches]
    by_check["scan"] += handed_modules(read)
    named = place.metadata or usual_names()
    by_check["notebooks"] += notebook_findings(read, named)
    by_check["processing"] += processing_findings(read, named)
    lost = any(check.name == "artifacts.sources" for check in checks)
    for name, findings in by_check.items():
        if findings or not lost:
            checks += _checks(name, findings)
    shown = list(zip(published, answers[len(own) :], strict=True))
    checks += check_published(place, read, shown)
    checks += [as_certain("parts", finding) for finding in _of_other_kinds(place, read, shown)]
    return sorted(checks, key=lambda check: (check.name, check.path, check.line))


def _of_other_kinds(
    place: SubmissionContext, read: dict[str, SourceText], answers: list[tuple[dict[str, object], Looked]]
) -> Iterator[Finding]:
    """What no other check opens, and data of the model that are something else, too: a change of the one changes the other."""
    published = {
        str(item["path"]): msgspec.convert(answer.value, Published) if answer.ending is Ending.OK else Published()
        for item, answer in answers
    }
    opened = {path for path, part in published.items() if not part.instructs}
    opened |= {finding.path for finding in other_models(place)} | {each.model for each in [place.metadata] if each}
    external = {path for part in published.values() for path in part.external}
    yield from opaque_files(place.folder, opened, external, read)
    handed = {PurePosixPath(text).as_posix() for source in read.values() for text in source.handed}
    for path in sorted(external & (handed | published.keys())):
        sentence = f"{path} holds data of the model, and is read as something else, too: give the data their own file, or a person looks"
        yield Finding(sentence=sentence, path=path, certain=False)


def _own_items(place: SubmissionContext) -> list[dict[str, object]]:
    """The readme and the sources."""
    items: list[dict[str, object]] = []
    readme = place.folder / "README.md"
    if readme.is_file():
        metadata = place.metadata.model_dump(mode="json") if place.metadata else None
        items.append({"kind": README, "copy": str(readme), "path": "README.md", "metadata": metadata})
    packages = [*place.policy.packages, SHOWING.partition(".")[0]]
    for path in python_files(place.folder):
        items.append({"kind": "source", "copy": str(place.folder / path), "path": path, "packages": packages})
    return items


def _unopened(name: str, path: str, answer: Looked) -> Check:
    """That it killed its reader is the file's fault; that the reader failed may be ours."""
    finding = Finding(path=path, sentence=f"{path} cannot be read: {answer.sentence}")
    if answer.ending is Ending.HARNESS:
        return Check(f"artifacts.{name}", CheckOutcome.INFRASTRUCTURE, answer.sentence)
    return undecided(name, finding) if answer.ending is Ending.ERROR else failed(name, finding)


def _index(place: SubmissionContext) -> list[Check]:
    """The link from the readme of the zoo is written at promotion; what a hand changed there, a person looks at."""
    trouble = index_trouble(place.root)
    if trouble:
        return [undecided("index", Finding(sentence=trouble))]
    return [passed("index", _HOLDS["index"])]
