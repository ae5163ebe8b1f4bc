"""Whose a model is, and whether it is taken for another: by its name, or because it is another under a new name."""

from __future__ import annotations

from collections.abc import Iterator

from assay.errors import UsageError
from assay_zoo.artifacts.finding import Finding, failed, passed, skipped, undecided
from assay_zoo.artifacts.pages.alike import rare_word
from assay_zoo.check import Check
from assay_zoo.conflicts import confusable, copies_of, is_among, not_the_owner, one_slip_away, owners_of, same_title
from assay_zoo.facts import read_facts
from assay_zoo.manifest import Entry, read_manifest
from assay_zoo.submission import SubmissionContext
from assay_zoo.zoo_files import METADATA

_RESERVED = {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10))}


def check_identity(place: SubmissionContext) -> list[Check]:
    """artifacts.name, .author, .owner and .copy."""
    name = place.metadata.name if place.metadata else place.name
    models = read_manifest(place.root).models
    named = list(_name_findings(name, models))
    titled = [*one_slip_away(name, models), *same_title(name, place.metadata.title if place.metadata else "", models)]
    checks = [failed("name", finding) for finding in named]
    if place.metadata and (word := rare_word(place.metadata.title)):
        titled.append(
            f"{METADATA} has {word[:60]!a} in the title, in letters that few can tell from those of other words: a person looks"
        )
    checks += [undecided("name", Finding(sentence=sentence, path=METADATA)) for sentence in titled]
    checks = checks or [passed("name", "no other model has a name like it")]
    return [
        *checks,
        *_author(place, models),
        _owner(place, models.get(name)),
        *_copies(place, name, models),
    ]


def _name_findings(name: str, models: dict[str, Entry]) -> Iterator[Finding]:
    if name.partition(".")[0] in _RESERVED or name.endswith("."):
        text = f"{name!r} is a name that some file systems cannot hold: choose another"
        yield Finding(sentence=text, path=METADATA)
    if ".." in name or name.endswith((".lock", ".git")):
        text = f"{name!r} is a name that git cannot hold as a branch, or takes for a repository: choose another"
        yield Finding(sentence=text, path=METADATA)
    for sentence in confusable(name, models):
        yield Finding(sentence=sentence)


def _author(place: SubmissionContext, models: dict[str, Entry]) -> Iterator[Check]:
    """Code of somebody whom the zoo does not know yet is run after a maintainer has read it."""
    known = {version.author for entry in models.values() for version in entry.versions}
    known.update(place.policy.approved, *place.policy.owners.values())
    if not place.author:
        return  # the check of owners says so
    if is_among(place.author, known):
        yield passed("author", f"{place.author} is known to this zoo")
        return
    if place.approved:
        yield passed("author", f"{place.author} submits for the first time; approved by {place.approved}")
        return
    sentence = (
        f"{place.author} submits for the first time: a maintainer reads this commit and approves it before anything of it is run, "
        f"or lists {place.author} under approved in zoo.toml"
    )
    yield undecided("author", Finding(sentence=sentence))


def _owner(place: SubmissionContext, served: Entry | None) -> Check:
    """A model is changed by those whose it is. Others may propose it: then a person decides."""
    if served is None:
        return passed("owner", "the model is new")
    name = place.metadata.name if place.metadata else place.name
    if not place.author:
        return skipped("owner", "who submits it is not known here; the robot and the workflow know it")
    if problem := not_the_owner(name, owners_of(name, served, place.policy.owners), place.author):
        return undecided("owner", Finding(sentence=problem))
    return passed("owner", f"{place.author} is an owner of {name}")


def _copies(place: SubmissionContext, name: str, models: dict[str, Entry]) -> Iterator[Check]:
    """The weights of another model of the zoo under a new name."""
    if place.metadata is None or not (place.folder / place.metadata.model).is_file():
        return  # other checks say so
    others = {other: entry for other, entry in models.items() if other != name}
    if not any(entry.versions for entry in others.values()):
        return
    try:
        facts = read_facts(
            place.folder, place.metadata.model, memory_bytes=place.policy.run.memory_bytes, others=others
        )
    except UsageError as error:
        yield undecided("copy", Finding(sentence=f"whether it is a copy of another model is not known: {error}"))
        return
    sentences = list(copies_of(name, models, facts, place.metadata.based_on))
    yield from (undecided("copy", Finding(sentence=sentence)) for sentence in sentences)
    if not sentences:
        yield passed("copy", "no other model of the zoo has these weights")
