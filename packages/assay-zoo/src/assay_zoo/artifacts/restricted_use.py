"""Words and licences that allow less than the licence of the model: of its data, of a notice, of a description."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from assay_zoo.artifacts.finding import Finding
from assay_zoo.artifacts.license import NONCOMMERCIAL, RESTRICTED, license_of, restricted_by, same_license
from assay_zoo.artifacts.lines_with import lines_with
from assay_zoo.license_families import families_of
from assay_zoo.zoo_files import METADATA

if TYPE_CHECKING:
    from assay_zoo.artifacts.meta import MetadataText
    from assay_zoo.metadata import Metadata

NOTICES = re.compile(r"^(notice|copyright|terms|eula|disclaimer|legal)s?([-_. ].*)?$", re.IGNORECASE)
"""Files that say what a reader may do, beside the licence."""
_FREE = ("Permissive", "Public Domain", "Copyleft", "Copyleft Limited")
"""Categories of licences under which anybody may use a thing for anything."""
_LESS = re.compile(
    NONCOMMERCIAL + r"|\b(?:evaluation|research|academic|educational|personal)(?: use| purposes?)? only\b"
    r"|\bonly for (?:evaluation|research|academic|educational|personal)\b|\b(?:no|not for|without) commercial use\b"
    r"|\bnot\b[^.;]{0,60}\bfor commercial\b|\brequires? an? (?:paid|commercial) (?:licen|subscription)"
    r"|\b(?:may|must|can|shall|do) ?not (?:be )?(?:re)?(?:distribute|sell|sold)"
    r"|\bcommercial use (?:is )?(?:prohibited|forbidden|not )|\bproprietary\b|\bconfidential\b|\ball rights reserved\b",
    re.IGNORECASE,
)
_TERMS = re.compile(r"\bcc[- ]by(?:[- ]sa)?[- ]n[cd]\b", re.IGNORECASE)
_ALL = re.compile(r"\ball rights reserved\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n\s*\n")
_CLEAR = re.compile(
    r"\bonly\b|commercial|reserved|clause|cc[- ]by|distribut|subscription|\bs(?:ell|old)\b", re.IGNORECASE
)
"""What is in words that can be of a licence alone."""
_OF_RIGHTS = re.compile(
    r"\blicen[sc](?:es?|ed|ing)\b(?! plates?| numbers?)|\bcopyright|©|\bcommercial|\bmay not be used for"
    r"|\bproprietary and confidential|\bconfidential and proprietary|\b(?:this|these) [\w ]{1,30} (?:is|are) (?:proprietary|confidential)",
    re.IGNORECASE,
)
"""In a sentence that says who may use the thing itself: "confidential" is what a model may find in others' papers, too."""
_OF_LICENSES = (
    "licen",
    "commercial",
    "proprietary",
    "confidential",
    " only",
    "redistribut",
    "copyright",
    "released under",
    "subscription",
)
_LICENSING = re.compile(r"\blicen[cs](?:es?|ed|ing)\b|\b(?:released|available|distributed) under\b", re.IGNORECASE)
_FEWEST = 3
_COMMENT = re.compile(r"^\s*#+ ?")
_UNSTATED = re.compile(
    r"\W*(?:unknown|unlicensed|unclear|not (?:stated|specified|known)|none stated|n\W?a)\W*", re.IGNORECASE
)


def less_allowed(text: str) -> str:
    """Words that keep a use to some, "" for none."""
    match = _LESS.search(" ".join(text.split()))
    return match[0].strip() if match else ""


def restricted_in_description(text: str) -> str:
    """Words of a description that keep a use to some: only where its clause speaks of a licence, "" for none."""
    is_given = bool(license_of(text))
    for part in _SENTENCE_END.split(text):
        clause = " ".join(part.split())
        if is_given:
            clause = _ALL.sub("", clause)
        less = [match[0].strip() for words in (RESTRICTED, _LESS, _TERMS) for match in words.finditer(clause)]
        if less and _OF_RIGHTS.search(clause):
            return less[0]
        if clear := next(filter(_CLEAR.search, less), ""):
            return clear
    return ""


def rights_in_page(text: str, *, code: bool = False) -> Iterator[tuple[int, str, bool]]:
    """(line, words, whether they keep a use to some) of a page, or of the comments of `code`: the first words that do, and each clause that
    names a licence. That all rights are reserved is written above much code that is free."""
    lines = [_COMMENT.sub("", line) for line in text.splitlines()] if code else text.splitlines()
    seen: set[str] = set()
    restricted = False
    for number, line in lines_with(text, _OF_LICENSES):
        if len(line.split()) < _FEWEST:
            continue  # of a list of words
        window = "\n".join(lines[max(number - 2, 0) : number + 1])
        if less := "" if restricted else restricted_in_description(_ALL.sub("", window) if code else window):
            restricted = True
            yield number, less, True
        for part in _SENTENCE_END.split(window):
            clause = " ".join(part.split())
            if clause not in seen and _LICENSING.search(clause) and families_of(clause):
                seen.add(clause)
                yield number, clause, False


def notice_restriction(text: str) -> str:
    """What a notice takes away. That all rights are reserved says nothing where a licence is named that gives them."""
    plain = " ".join(text.split())
    left = _ALL.sub("", plain) if license_of(text) else plain
    return restricted_by(left) or less_allowed(left)


def use_findings(metadata: Metadata | None, text: MetadataText) -> Iterator[Finding]:
    """Of metadata.toml: data that not everybody may use, and words beside the licence. A person has to read them."""
    if metadata is None:
        return
    wanted, data = metadata.license, metadata.dataset
    if (why := data_restriction(data.license)) and not same_license(data.license, wanted):
        sentence = (
            f"{METADATA} says that the data have the licence {data.license[:80]!r}, {why}, and the model {wanted}: "
            "whether the model may be given under that, a person has to say"
        )
        yield Finding(sentence=sentence, path=METADATA, line=text.line_of("dataset", "license"), certain=False)
    texts: tuple[tuple[tuple[str | int, ...], str], ...] = (
        (("title",), restricted_in_description(metadata.title)),
        (("description",), restricted_in_description(metadata.description)),
        (("use_cases",), restricted_in_description("\n\n".join(metadata.use_cases))),
        (("source",), less_allowed(metadata.source)),
        (("dataset", "source"), less_allowed(data.source)),
        (("dataset", "preparation"), less_allowed(data.preparation)),
    )
    for key, less in texts:
        if less:
            sentence = f"{METADATA} says {less!r} in {'.'.join(map(str, key))}, and the licence is {wanted}: a person has to read it"
            yield Finding(sentence=sentence, path=METADATA, line=text.line_of(*key), certain=False)


def data_restriction(license: str) -> str:
    """Why data under a licence may not be used by all, "" where they may, or where nobody can tell by its name."""
    if less := less_allowed(license):
        return f"which says {less!r}"
    if _UNSTATED.fullmatch(license):
        return "which nobody knows"
    trees = (_parsed(name) for name in (license, "-".join(license.split())))
    tree = next((tree for tree in trees if tree is not None), None)
    return "" if tree is None or _is_free(tree) else "which does not let everybody use them"


def _parsed(license: str) -> Any:
    from license_expression import ExpressionError, get_spdx_licensing  # type: ignore[import-untyped]

    try:
        return get_spdx_licensing().parse(license[:300], validate=True)
    except (ExpressionError, RecursionError):
        return None


def _is_free(tree: Any) -> bool:
    parts = getattr(tree, "args", ())
    if not parts:
        return _categories().get(str(tree).lower(), _FREE[0]) in _FREE
    return (any if getattr(tree, "operator", "").strip() == "OR" else all)(map(_is_free, parts))


@cache
def _categories() -> dict[str, str]:
    from license_expression import get_license_index

    return {
        name.lower(): record["category"]
        for record in get_license_index()
        for name in (record.get("spdx_license_key"), *record.get("other_spdx_license_keys", ()))
        if name
    }
