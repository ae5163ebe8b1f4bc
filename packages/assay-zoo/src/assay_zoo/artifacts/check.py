"""Every part of a submission on one page: all that is missing or wrong is told at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import msgspec

from assay_zoo.artifacts.finding import Finding, failed, passed, undecided
from assay_zoo.artifacts.identity import check_identity
from assay_zoo.artifacts.license import license_findings
from assay_zoo.artifacts.meta import metadata_findings, read_metadata_text
from assay_zoo.artifacts.parts import parts_findings, python_files
from assay_zoo.artifacts.samples import sample_findings
from assay_zoo.artifacts.sources import SourceText, source_findings
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.index import index_trouble
from assay_zoo.limited_process import Ending, Looked, run_limited
from assay_zoo.submission import SubmissionContext, SubmissionServices

_SECONDS = 30.0


def check_artifacts(place: SubmissionContext, tools: SubmissionServices) -> list[Check]:
    """Named artifacts.parts, .metadata, .license, .name, .owner, .copy, .readme, .sources, .samples and .index."""
    del tools
    begin = time.perf_counter()
    text = read_metadata_text(place.folder)
    groups: dict[str, Callable[[], Iterator[Finding]]] = {
        "parts": lambda: parts_findings(place),
        "metadata": lambda: metadata_findings(place, text),
        "license": lambda: license_findings(place, text),
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
    "samples": "every test data set has a file for each input and each output",
    "index": "the readme of the zoo is what its manifest says",
}


def _checks(name: str, findings: list[Finding]) -> list[Check]:
    return [failed(name, one) for one in findings] or [passed(name, _HOLDS[name])]


def _opened(place: SubmissionContext) -> list[Check]:
    """README and sources are parsed in a limited process: they are untrusted, and parsers are deep."""
    readme = place.folder / "README.md"
    items: list[dict[str, object]] = []
    if readme.is_file():
        metadata = place.metadata.model_dump(mode="json") if place.metadata else None
        items.append({"kind": "readme", "copy": str(readme), "path": "README.md", "metadata": metadata})
    sources = python_files(place.folder)
    items += [{"kind": "source", "copy": str(place.folder / path), "path": path} for path in sources]
    memory = place.policy.run.memory_bytes
    answers = run_limited(
        "assay_zoo.artifacts.inspect_source:inspect_source", items, seconds=_SECONDS, memory_bytes=memory
    )
    found: dict[str, list[Finding]] = {"readme": [], "sources": []}
    checks: list[Check] = []
    read: dict[str, SourceText] = {}
    for item, answer in zip(items, answers, strict=True):
        name = "readme" if item["kind"] == "readme" else "sources"
        path = str(item["path"])
        if answer.ending is not Ending.OK:
            checks.append(_unopened(name, path, answer))
        elif name == "readme":
            found[name] += msgspec.convert(answer.value, list[Finding])
        else:
            read[path] = msgspec.convert(answer.value, SourceText)
    found["sources"] += source_findings(read, place)
    lost = {one.name for one in checks}
    for name, findings in found.items():
        if findings or (f"artifacts.{name}" not in lost and (name == "sources" or readme.is_file())):
            checks += _checks(name, findings)
    return sorted(checks, key=lambda one: (one.name, one.path, one.line))


def _unopened(name: str, path: str, answer: Looked) -> Check:
    """That it killed its reader is the file's fault; that the reader failed may be ours."""
    finding = Finding(path=path, sentence=f"{path} cannot be read: {answer.sentence}")
    if answer.ending is Ending.HARNESS:
        return Check(name=f"artifacts.{name}", outcome=CheckOutcome.INFRASTRUCTURE, sentence=answer.sentence)
    return undecided(name, finding) if answer.ending is Ending.ERROR else failed(name, finding)


def _index(place: SubmissionContext) -> list[Check]:
    """The link from the readme of the zoo is written at promotion; what a hand changed there, a person looks at."""
    trouble = index_trouble(place.root)
    if trouble:
        return [undecided("index", Finding(sentence=trouble))]
    return [passed("index", _HOLDS["index"])]
