"""What a zoo has already that a submission may not go against: a name, an owner, a version, weights.

One rule for the check and for the promotion: between the two the zoo may have got another model.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay_zoo.facts import Facts, found_key
from assay_zoo.manifest import Entry, Sketch, Version
from assay_zoo.zoo_files import METADATA

_NOISE, _SHARE = 0.001, 0.85
_SPREAD = 0.01
"""Relative: numbers that are drawn up to the same limit are all near to it."""
_FOUND = 0.15
"""Of a served model: by chance another training of a very small one has up to a ninth of its lines, of larger ones a fiftieth."""
_WORDS, _PARTS = re.compile(r"[^\W_]+"), re.compile(r"[^\W\d_]+|\d+")
_WORD, _LONG_WORD = 4, 5
_LARGE = str.maketrans("ΥΝΗΜ", "YNHM")
"""Greek letters of which the large one looks like another than the small one."""
_OTHER_ALPHABETS = dict(zip("авгекмнорстухіјѕһԁԛԝꙇ", "abrekmhopctyxljshdqwl", strict=True)) | dict(
    zip("αβγεζηικμνορτυχωϲ", "abyeznlkuvoptuxwc", strict=True)
)
"""Cyrillic and Greek small letters; an i looks like an l where it is large."""
_ALIKE = str.maketrans(
    {"0": "o", "1": "l", "i": "l"} | dict(zip("ıɩɡɑøłđħ", "llgaoldh", strict=True)) | _OTHER_ALPHABETS
)
"""Of small letters, those of which the large ones look alike, too."""
_NUMBER = {ord("5"): "s"}
LIKE_LATIN = str.maketrans(_OTHER_ALPHABETS | {"і": "i", "ι": "i", "ꙇ": "i"})
"""The Latin letters for which those of a word are taken."""


def look(name: str) -> str:
    """What two names that are easily taken for one another have in common."""
    letters = unicodedata.normalize("NFKD", name.translate(_LARGE).lower().translate(_ALIKE)).lower()
    shown = (letter for letter in letters if unicodedata.category(letter)[0] != "P")
    plain = "".join(letter for letter in shown if unicodedata.category(letter) not in ("Cf", "Mn")).translate(_ALIKE)
    return plain.replace("rn", "m").replace("vv", "w")


def confusable(name: str, models: Mapping[str, Entry]) -> Iterator[str]:
    """One sentence for each model of the zoo that a new `name` is easily taken for."""
    if name in models:
        return
    for other in models:
        if look(other) == look(name):
            yield f"{name!r} is easily taken for {other!r}, which this zoo has: choose another name"


def one_slip_away(name: str, models: Mapping[str, Entry]) -> Iterator[str]:
    """One sentence for each model of the zoo whose name somebody types when a letter slips."""
    for other in models if name not in models else ():
        if _one_slip(name.lower(), other.lower()):
            yield f"{name!r} is {other!r}, which this zoo has, but for a letter: choose another name, or a person looks"


def _one_slip(ours: str, theirs: str) -> bool:
    """Whether a finger slips once in one word, or a number stands for a letter: numbers themselves tell models of a family apart."""
    if any(_numbers_for_letters(*pair) for pair in _only_pair(_WORDS.findall(ours), _WORDS.findall(theirs))):
        return True
    return any(_slips(*sorted(pair, key=len)) for pair in _only_pair(_PARTS.findall(ours), _PARTS.findall(theirs)))


def _only_pair(ours: list[str], theirs: list[str]) -> list[tuple[str, str]]:
    """The one word that is another here and there, none where several are."""
    apart = [pair for pair in zip(ours, theirs, strict=False) if pair[0] != pair[1]]
    return apart if len(ours) == len(theirs) and len(apart) == 1 else []


def _numbers_for_letters(ours: str, theirs: str) -> bool:
    return len(ours) >= _LONG_WORD and ours.translate(_ALIKE | _NUMBER) == theirs.translate(_ALIKE | _NUMBER)


def _slips(short: str, long: str) -> bool:
    """Whether two neighbours are swapped, or `long` has one letter more: twice, inside, or an s at its end.

    A letter before the word, another at its end, and one more consonant before its last letter tell families apart:
    kmnist, regnety, resnext.
    """
    if len(short) < _WORD or long.isdigit():
        return False
    at = next((place for place, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    if len(short) == len(long):
        return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    if short[at:] != long[at + 1 :]:
        return False
    if at and long[at] == long[at - 1]:
        return True
    inside = 0 < at < len(short) - (long[at] not in "aeiouy")
    return len(short) >= _LONG_WORD and (inside or (at == len(short) and long[at] == "s"))


def same_title(name: str, title: str, models: Mapping[str, Entry]) -> Iterator[str]:
    """One sentence for each other model that is served under the title: a reader of the table knows models by it."""
    plain = look("".join(title.split()))
    for other, entry in models.items():
        served = entry.version(entry.current) if entry.current else None
        if other != name and served is not None and plain and look("".join(served.title.split())) == plain:
            yield f"{METADATA} has a title that is easily taken for that of {other}, which this zoo has: choose another, or a person looks"


def owners_of(name: str, entry: Entry, listed: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Those of `zoo.toml`, else who submitted the first version."""
    return listed.get(name) or tuple(version.author for version in entry.versions[:1] if version.author)


def is_among(author: str, names: Iterable[str]) -> bool:
    """Forges take small and large letters of a name for one. Those beyond ASCII are compared as they are."""
    plain = author.lower() if author.isascii() else author
    return any(author == name or (name.isascii() and name.lower() == plain) for name in names)


def not_the_owner(name: str, owners: tuple[str, ...], author: str) -> str:
    """Why `author` may not change the model alone, "" where they may."""
    if is_among(author, owners):
        return ""
    whose = f"belongs to {', '.join(owners)}" if owners else "has no owner"
    return (
        f"{name} {whose}, and {author} submits it: a maintainer must agree, or list {author} under [owners] in zoo.toml"
    )


def other_contents(entry: Entry, version: str, digest: str) -> str:
    """What is served under a version never changes: "" where it would not."""
    known = entry.version(version)
    if known is None or known.digest == digest:
        return ""
    return f"version {version}, which this zoo has already with other contents: give it a higher one"


def not_newer(entry: Entry, version: str) -> str:
    """Why `version` cannot be served next, "" where it can, and for the one that is served now."""
    known = entry.version(version)
    if known is not None and known.withdrawn is not None:
        return f"version {version}, which was withdrawn ({known.withdrawn.reason}): give it a higher one"
    newest = max((known_version.version for known_version in entry.versions), key=ordered, default="")
    if not newest or (known is not None and version == entry.current):
        return ""
    if known is not None and entry.current:
        return f"version {version}, and this zoo serves {entry.current} by now: give it a higher one"
    if ordered(version) <= ordered(newest):
        return f"version {version}, and this zoo has had {newest}: give it a higher one"
    return ""


def copies_of(name: str, models: Mapping[str, Entry], own: Facts, based_on: Sequence[str] = ()) -> Iterator[str]:
    """One sentence for each other model whose weights these are, or nearly, or for the larger part: of that model, or of this one.
    What both say that they are based on, in any of its versions, both may have, but for all of its weights as they are."""
    bases = {look(base) for base in based_on}
    for other, entry in models.items():
        is_shared = not bases.isdisjoint(look(base) for version in entry.versions for base in version.based_on)
        for version in entry.versions if other != name else ():
            is_same = version.closure == own.closure or (own.weights and version.weights == own.weights)
            share = own.found.get(found_key(other, version), 0.0)
            is_near = _near(version.largest, own.largest, _NOISE) or _is_most(share, version.sketch, own.sketch)
            if is_same or (is_near and not is_shared):
                how_much = f" ({share:.0%} of that model are in this one)" if share > 0 and not is_same else ""
                yield (
                    f"its weights are those of {other} {version.version} of this zoo{how_much}: say in a new version of that model "
                    "what is new, or both say in based_on what they are based on"
                )
                break


def _is_most(share: float, served: Sketch | None, own: Sketch | None) -> bool:
    """Whether a share of the served model is most of it, or most of the own: a part of that says nothing of a larger model."""
    if served is None or own is None or share < _FOUND:
        return False
    return 2 * share * served.elements > min(served.elements, own.elements)


def _near(some: Sequence[float], others: Sequence[float], relative: float) -> bool:
    """Rounded, or with noise on them, they are still the same weights: rounding makes one of two, or a whole number of a fraction."""
    near = [number for number in some if any(math.isclose(number, other, rel_tol=relative) for other in others)]
    is_spread = len(some) > 0 and max(some) - min(some) > _SPREAD * max(some)
    return is_spread and len(near) >= _SHARE * max(len(some), len(others))


def conflicts(
    name: str, models: Mapping[str, Entry], version: Version, facts: Facts, listed: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[str, str]]:
    """Why this version cannot be served without a person: the name of a check, and the sentence in which it says the same."""
    entry = models.get(name, Entry(current=""))
    yield from (("artifacts.name", problem) for problem in (*confusable(name, models), *one_slip_away(name, models)))
    yield from (("artifacts.name", problem) for problem in same_title(name, version.title, models))
    if problem := not_newer(entry, version.version):
        yield "artifacts.metadata", f"{METADATA} says {problem}"
    yield from (("artifacts.copy", problem) for problem in copies_of(name, models, facts, version.based_on))
    owners = owners_of(name, entry, listed)
    if entry.versions and version.author and (problem := not_the_owner(name, owners, version.author)):
        yield "artifacts.owner", problem


def ordered(version: str) -> tuple[int, ...]:
    """For comparing: 1.10 is above 1.9, and 2 is 2.0."""
    numbers = [int(part) for part in version.split(".")]
    return tuple(numbers + [0] * (3 - len(numbers)))
