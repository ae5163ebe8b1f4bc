"""What readers of the zoo will see or follow: active content, texts of the template, links, licences, requirements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay_zoo.artifacts.code.sources import SourceText
from assay_zoo.artifacts.finding import Finding, as_certain, passed, skipped, undecided
from assay_zoo.artifacts.installs.install_commands import NAMES as REQUIREMENTS
from assay_zoo.artifacts.installs.requirements_file import INSTALLERS
from assay_zoo.artifacts.installs.settings_files import SUFFIXES as SETTINGS
from assay_zoo.artifacts.pages.links import check_links
from assay_zoo.artifacts.pages.template_text import left_in_metadata
from assay_zoo.artifacts.published import Published
from assay_zoo.artifacts.rights.license import NAMES as LICENSES
from assay_zoo.artifacts.rights.license import same_license
from assay_zoo.artifacts.rights.restricted_use import is_of_license
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.license_families import families_of
from assay_zoo.limited_process import Ending, Looked
from assay_zoo.submission import SubmissionContext
from assay_zoo.zoo_files import METADATA

_HOLDS = {
    "markup": "nothing in readme, notebooks and pictures is active",
    "template": "no words of the template are left",
    "license-file": "licences in files are that of the metadata",
    "requirements": "what is asked of others to install are packages of this zoo",
}


_ACTIVE = {
    **dict.fromkeys((".svg", ".html", ".htm", ".xhtml", ".xht", ".shtml"), "markup"),
    **dict.fromkeys((".xml", ".xsl", ".xslt", ".rss", ".atom"), "xml"),
    **dict.fromkeys((".csv", ".tsv"), "table"),
    ".pdf": "pdf",
}
"""Files that a browser, a reader of documents or a table calculation opens."""
_STATING = (
    "citation.cff", "codemeta.json", ".zenodo.json", "zenodo.json", "package.json", "datapackage.json", "croissant.json",
)  # fmt: skip
"""What machines read of a work, its licence among it."""
_OF_THE_MODEL = re.compile(r"\b(?:weights?|models?|networks?|checkpoints?)\b", re.IGNORECASE)
_PAGES = (
    "", ".txt", ".text", ".adoc", ".org", ".tex", ".py", ".cff", ".license", ".bib", ".log", ".jsonl", ".ndjson", ".names", ".labels",
    ".vocab", ".merges", ".bpe", ".tokens", ".pbtxt", ".prototxt",
)  # fmt: skip
"""What a person reads as words, and lists that may say some."""


def check_published(
    place: SubmissionContext, read: Mapping[str, SourceText], answers: Sequence[tuple[dict[str, Any], Looked]]
) -> list[Check]:
    """artifacts.markup, .template, .license-file, .requirements and .links. `read` are the scripts and notebooks, `answers` what became
    of `published_items`."""
    findings: dict[str, list[Finding]] = {name: [] for name in _HOLDS}
    left = list(_left(place))
    findings["template"] += [finding for _, finding in left]
    known = {words for words, _ in left}  # a readme that is made of the metadata repeats them
    findings["license-file"] += [header for path, source in read.items() for header in _headers(place, path, source)]
    checks: list[Check] = []
    links: tuple[tuple[int, str], ...] = ()
    for item, answer in answers:
        path = str(item["path"])
        if answer.ending is Ending.OK:
            published = msgspec.convert(answer.value, Published)
            if published.too_long:
                checks.append(undecided("markup", Finding(path=path, sentence=f"{path}: {published.too_long}")))
                continue
            published = msgspec.structs.replace(
                published, left=tuple(each for each in published.left if each[1] not in known)
            )
            for name, finding in (
                *_findings(path, published),
                *(
                    _of_license(place, path, published)
                    if item["kind"] == "license"
                    else _of_notice(place, path, published)
                ),
            ):
                findings[name].append(finding)
            links = published.links if path == "README.md" else links
        elif answer.ending is Ending.HARNESS:
            checks.append(Check("artifacts.markup", CheckOutcome.INFRASTRUCTURE, answer.sentence))
        else:
            checks.append(undecided("markup", Finding(path=path, sentence=f"{path} cannot be read: {answer.sentence}")))
    for name, sentence in _HOLDS.items():
        lost = any(check.name == f"artifacts.{name}" for check in checks)
        checks += [as_certain(name, finding) for finding in findings[name]] or (
            [] if lost else [passed(name, sentence)]
        )
    if not (place.folder / "README.md").is_file():
        return [*checks, skipped("links", "there is no README.md")]
    return [*checks, *check_links(place.folder, links, place.metadata, network=place.policy.network)]


def published_items(place: SubmissionContext) -> Iterator[dict[str, Any]]:
    """What is read and never run, for `inspect_published`."""
    model = place.metadata.model if place.metadata else ""
    if model and (place.folder / model).is_file():
        yield {"kind": "model", "copy": str(place.folder / model), "path": model}
    for file in sorted(place.folder.rglob("*")):
        path = file.relative_to(place.folder).as_posix()
        kind = _kind(Path(path))
        if kind and file.is_file():
            yield {
                "kind": kind, "copy": str(file), "path": path, "root": str(place.root), "packages": list(place.policy.packages)
            }  # fmt: skip


def _kind(path: Path) -> str:
    if path.as_posix() == METADATA:
        return "metadata"
    if path.parts[0] == "LICENSES" and len(path.parts) == 2:
        return "license"  # https://reuse.software
    if LICENSES.match(path.name) and len(path.parts) == 1 and path.suffix.lower() in ("", ".txt", ".rst", ".md"):
        return "license"  # of data and of others' code, a folder below has its own
    if path.suffix.lower() in (".md", ".markdown", ".rst"):
        return "readme"
    if path.suffix.lower() == ".ipynb":
        return "notebook"
    if kind := _ACTIVE.get(path.suffix.lower()):
        return kind
    if path.name.lower() in _STATING:
        return "stated"
    folder = f"{path.parent.name}{path.suffix}"  # requirements/base.txt
    if any(map(REQUIREMENTS.match, (path.name, folder))) or INSTALLERS.match(path.name):
        return "requirements"
    if path.suffix.lower() in SETTINGS:
        return "settings"
    return "page" if path.suffix.lower() in _PAGES else ""


def _findings(path: str, published: Published) -> Iterator[tuple[str, Finding]]:
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
    for line, what in published.perhaps:
        yield (
            "requirements",
            msgspec.structs.replace(at(line, f"{what}; a person has to see what it is"), certain=False),
        )


def _of_license(place: SubmissionContext, path: str, published: Published) -> Iterator[tuple[str, Finding]]:
    """A text that contradicts the metadata; of one that is not known, or allows less than its name, a person is asked."""
    wanted = place.metadata.license if place.metadata else ""
    listed = any(same_license(published.license, license) for license in place.policy.licenses)
    taken = path.startswith("LICENSES/") and listed  # of a part
    parts = published.license.split(" AND ")
    if wanted and len(parts) > 1 and not all(same_license(part, wanted) for part in parts):
        sentence = f"{path} names {' and '.join(parts)}, and {METADATA} says {wanted}: which of them holds a person has to read"
        yield "license-file", Finding(sentence=sentence, path=path, certain=False)
    elif published.license and wanted and not taken and not same_license(published.license, wanted):
        sentence = f"{path} is the text of {published.license}, and {METADATA} says {wanted}: both must be one"
        yield "license-file", Finding(sentence=sentence, path=path)
    elif not published.license:
        sentence = (
            f"{path} is the text of no licence that is known: whether it is {wanted or 'free'} a person has to read"
        )
        yield "license-file", Finding(sentence=sentence, path=path, certain=False)
    elif published.another and not same_license(published.another, wanted):
        sentence = f"{path} is the text of {published.license} and of {published.another}: a person has to read it"
        yield "license-file", Finding(sentence=sentence, path=path, certain=False)
    elif published.restricted and listed and "-NC" not in published.license:
        sentence = f"{path} says {published.restricted!r}, which {published.license} does not: a person has to read it"
        yield "license-file", Finding(sentence=sentence, path=path, certain=False)


def _of_notice(place: SubmissionContext, path: str, published: Published) -> Iterator[tuple[str, Finding]]:
    wanted = place.metadata.license if place.metadata else "free"
    if published.stated and place.metadata and not same_license(published.stated, wanted):
        sentence = f"{path} says that the licence is {published.stated}, and {METADATA} says {wanted}: both must be one"
        yield "license-file", Finding(sentence=sentence, path=path)
    yield from (("license-file", finding) for finding in _of_rights(place, path, published))
    if published.restricted:
        sentence = f"{path} says {published.restricted!r}, and the model is to be {wanted}: a person has to read it"
        yield "license-file", Finding(sentence=sentence, path=path, certain=False)


def _of_rights(place: SubmissionContext, path: str, published: Published) -> Iterator[Finding]:
    """Words of a page that keep a use to some, or name another licence than the metadata: of the data it may be, and of others' code."""
    if place.metadata is None:
        return
    wanted = place.metadata.license
    own = families_of(wanted) | families_of(place.metadata.dataset.license)
    taken = own | {family for license in place.policy.licenses for family in families_of(license)}
    for line, words, less in published.rights:
        known = own if _OF_THE_MODEL.search(words) else taken
        if (less and not is_of_license(words, wanted)) or families_of(words) - known:
            sentence = (
                f"{path} says {words[:100]!r}, and {METADATA} that the licence is {wanted}: a person has to read it"
            )
            yield Finding(sentence=sentence, path=path, line=line, certain=False)


def _headers(place: SubmissionContext, path: str, source: SourceText) -> Iterator[Finding]:
    wanted = place.metadata.license if place.metadata else ""
    for line, stated in source.license:
        allowed = (wanted, *place.policy.licenses)  # code of others may lie in a submission
        if wanted and not any(same_license(stated, allowed_license) for allowed_license in allowed):
            sentence = f"{path} says that its licence is {stated}, and {METADATA} says {wanted}: both must be one"
            yield Finding(sentence=sentence, path=path, line=line)


def _left(place: SubmissionContext) -> Iterator[tuple[str, Finding]]:
    """The words, and what is to be told of them."""
    if place.metadata is not None:
        for key, text in left_in_metadata(place.root, place.metadata.model_dump()):
            sentence = f"{METADATA} still says {text[:80]!r} in {key}: say what is true of this model"
            yield text, Finding(sentence=sentence, path=METADATA)
