"""What readers of the zoo will see or follow: active content, texts of the template, links, licences, requirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay_zoo.artifacts.finding import Finding, failed, passed, skipped, undecided
from assay_zoo.artifacts.install_commands import NAMES as REQUIREMENTS
from assay_zoo.artifacts.license import NAMES as LICENSES
from assay_zoo.artifacts.license import same_license
from assay_zoo.artifacts.links import check_links
from assay_zoo.artifacts.published import Published
from assay_zoo.artifacts.requirements_file import INSTALLERS
from assay_zoo.artifacts.sources import SourceText
from assay_zoo.artifacts.template_text import left_in_metadata
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.limited_process import Ending, Looked
from assay_zoo.repository import METADATA
from assay_zoo.submission import SubmissionContext

_HOLDS = {
    "markup": "nothing in readme, notebooks and pictures is active",
    "template": "no words of the template are left",
    "license-file": "licences in files are that of the metadata",
    "requirements": "what is asked of others to install are packages of this zoo",
}


def check_published(
    place: SubmissionContext, read: Mapping[str, SourceText], answers: Sequence[tuple[dict[str, Any], Looked]]
) -> list[Check]:
    """artifacts.markup, .template, .license-file, .requirements and .links. `read` are the scripts and notebooks, `answers` what became
    of `published_items`."""
    found: dict[str, list[Finding]] = {name: [] for name in _HOLDS}
    left = list(_left(place))
    found["template"] += [finding for _, finding in left]
    known = {words for words, _ in left}  # a readme that is made of the metadata repeats them
    found["license-file"] += [header for path, source in read.items() for header in _headers(place, path, source)]
    checks: list[Check] = []
    links: tuple[tuple[int, str], ...] = ()
    for item, answer in answers:
        path = str(item["path"])
        if answer.ending is Ending.OK:
            one = msgspec.convert(answer.value, Published)
            if one.too_long:
                checks.append(undecided("markup", Finding(path=path, sentence=f"{path}: {one.too_long}")))
                continue
            one = msgspec.structs.replace(one, left=tuple(each for each in one.left if each[1] not in known))
            for name, finding in _findings(place, path, one):
                found[name].append(finding)
            links = one.links if path == "README.md" else links
        elif answer.ending is Ending.HARNESS:
            checks.append(Check(name="artifacts.markup", outcome=CheckOutcome.INFRASTRUCTURE, sentence=answer.sentence))
        else:
            checks.append(undecided("markup", Finding(path=path, sentence=f"{path} cannot be read: {answer.sentence}")))
    for name, sentence in _HOLDS.items():
        lost = any(check.name == f"artifacts.{name}" for check in checks)
        checks += [failed(name, one) for one in found[name]] or ([] if lost else [passed(name, sentence)])
    if not (place.folder / "README.md").is_file():
        return [*checks, skipped("links", "there is no README.md")]
    return [*checks, *check_links(place.folder, links, place.metadata, network=place.policy.network)]


def published_items(place: SubmissionContext) -> Iterator[dict[str, Any]]:
    """What is read and never run, for `inspect_published`."""
    for file in sorted(place.folder.rglob("*")):
        path = file.relative_to(place.folder).as_posix()
        kind = _kind(Path(path))
        if kind and file.is_file():
            yield {
                "kind": kind, "copy": str(file), "path": path, "root": str(place.root), "packages": list(place.policy.packages)
            }  # fmt: skip


def _kind(path: Path) -> str:
    if LICENSES.match(path.name) and len(path.parts) == 1 and path.suffix.lower() in ("", ".txt", ".rst", ".md"):
        return "license"  # of data and of others' code, a folder below has its own
    if path.suffix.lower() in (".md", ".markdown"):
        return "readme"
    if path.suffix.lower() == ".ipynb":
        return "notebook"
    if path.suffix.lower() in (".svg", ".html", ".htm", ".xhtml"):
        return "markup"
    return "requirements" if REQUIREMENTS.match(path.name) or INSTALLERS.match(path.name) else ""


def _findings(place: SubmissionContext, path: str, published: Published) -> Iterator[tuple[str, Finding]]:
    def at(line: int, sentence: str) -> Finding:
        return Finding(sentence=f"{path} {sentence}", path=path, line=line)

    for line, what in published.active:
        yield (
            "markup",
            at(line, f"has {what}: it would do something in a reader's browser; words, tables and pictures are enough"),
        )
    for line, words in published.left:
        yield "template", at(line, f"still says {words[:80]!r}: say what is true of this model")
    for line, what in published.requirements:
        yield "requirements", at(line, what)
    wanted = place.metadata.license if place.metadata else ""
    if published.license and wanted and not same_license(published.license, wanted):
        yield (
            "license-file",
            at(0, f"is the text of {published.license}, and {METADATA} says {wanted}: both must be one"),
        )


def _headers(place: SubmissionContext, path: str, source: SourceText) -> Iterator[Finding]:
    wanted = place.metadata.license if place.metadata else ""
    for line, said in source.license:
        allowed = (wanted, *place.policy.licenses)  # code of others may lie in a submission
        if wanted and not any(same_license(said, one) for one in allowed):
            sentence = f"{path} says that its licence is {said}, and {METADATA} says {wanted}: both must be one"
            yield Finding(sentence=sentence, path=path, line=line)


def _left(place: SubmissionContext) -> Iterator[tuple[str, Finding]]:
    """The words, and what is to be told of them."""
    if place.metadata is not None:
        for key, text in left_in_metadata(place.root, place.metadata.model_dump()):
            sentence = f"{METADATA} still says {text[:80]!r} in {key}: say what is true of this model"
            yield text, Finding(sentence=sentence, path=METADATA)
