"""Words and licences that allow less than the licence of the model: of its data, of a notice, of a description."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from assay_zoo.artifacts.finding import Finding
from assay_zoo.artifacts.pages.lines_with import lines_with
from assay_zoo.artifacts.pages.shown_text import shown_text
from assay_zoo.artifacts.pages.table_rows import table_rows
from assay_zoo.artifacts.rights.license import NONCOMMERCIAL, license_of, restricted_by, same_license
from assay_zoo.artifacts.rights.rights_words import KEPT, NAMED, WORDS, is_said_without_spaces
from assay_zoo.license_families import FAMILY, families_of
from assay_zoo.zoo_files import METADATA

if TYPE_CHECKING:
    from assay_zoo.artifacts.meta import MetadataText
    from assay_zoo.metadata import Metadata

NOTICES = re.compile(r"^(notice|copyright|terms|eula|disclaimer|legal)s?([-_. ].*)?$", re.IGNORECASE)
"""Files that say what a reader may do, beside the licence."""
_FREE = ("Permissive", "Public Domain", "Copyleft", "Copyleft Limited")
"""Categories of licences under which anybody may use a thing for anything."""
_TERMS = re.compile(NAMED, re.IGNORECASE)
_ALL = re.compile(
    r"\ball rights reserved\b|alle rechte vorbehalten|tous droits réservés|todos (?:los derechos|os direitos) reservados"
    r"|tutti i diritti riservati|alle rechten voorbehouden|все права защищены|保留所有权利|版权所有|版權所有|無断転載を禁ず",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n\s*\n")
_OF_CODE = re.compile(r"\bintern(?:al|[eo]\w*)?\b|внутренн|[内內]部|社内|내부", re.IGNORECASE)
"""Of a function, in code."""
_IN_CODE = re.compile(
    r"\b(?:weights?|models?|software|licen\w*|gewichte\w*|modell\w*|lizenz\w*|poids|modèles?|pesos|modelos?|pesi)\b|\bвес|модел|лиценз"
    r"|权重|權重|模型|许可|許可|重み|モデル|ライセンス|가중치|모델|라이선스",
    re.IGNORECASE,
)
"""What a comment for which a use is kept speaks of."""
_UNCLEAR = re.compile(r"(?:only )?(?:for )?evaluation(?: only)?|proprietary|confidential", re.IGNORECASE)
"""A set of samples is for evaluation only, and a model may find what is confidential, in good submissions, too."""
_OF_THE_THING = re.compile(
    r"\b(?:weights?|models?|software|files?|this|use|licen\w*|copyright)\b(?! plates?)|©|^\W*(?:for )?evaluation only\W*$"
    r"|\bconfidential and proprietary\b|\bproprietary and confidential\b|^\W*(?:strictly )?(?:confidential|proprietary)\W*$",
    re.IGNORECASE,
)
_LICENSING = re.compile(r"\blicen[cs](?:es?|ed|ing)\b|\b(?:released|available|distributed) under\b", re.IGNORECASE)
_THING = r"\b(?:weights?|models?|networks?|checkpoints?|parameters|files?|data(?:sets?)?|software|code|copies|work|it|them|they|these)\b"
_NAMED = re.compile(
    rf"(?:{_THING}|\b(?:this|everything|all)\b)(?: [\w-]+){{0,3}} (?:is|are)(?: under)?(?: (?:the|a|an))?(?: gnu)? [*_`]*"
    r"(?:[al]?gpl|cc[- ]by|cc0|unlicense|apache[- ]2|bsd-|mit[*_`]*(?=[.,;(]|$))",
    re.IGNORECASE,
)
"""A thing is said to be a licence, without that word."""
_HELD = re.compile(
    rf"\b(?:contain|includ|incorporat|embed|bundl|us)(?:s|es|ed|ing|e)? (?:(?!no |not |without )[\w-]+ ){{0,3}}?{FAMILY}"
    rf"(?:[- ]licensed|['’]d)? (?:code|software|parts?|components?|files?|modules?|librar\w+|works?)\b|\bunder (?:the |an? )?{FAMILY}"
    rf"|\b(?:is|are) {FAMILY}['’]d\b|\bcopyright\b[^\n]{{0,60}}\W{FAMILY}",
    re.IGNORECASE,
)
"""Something in it has that licence."""
_OF_ITS_OWN = re.compile(
    r"\b(?:licen[cs]\w+|released|distributed|available|subject|governed|provided|used)\b[^.;]{0,30}?\b(?:under|by|to)"
    r" (?:the terms of )?(?:the |an? )?((?:[A-Z0-9][\w.-]* ){1,5}(?:Licen[cs]e|Agreement|EULA|Terms of Use)\b|\w*Rail\w*|\w*RAIL\w*)"
)
"""A licence by a name that is none of a family."""
_OF_LICENSES = (
    *WORDS, "released under", "available under", "distributed under", "gpl", "cc0", "apache", "bsd-", " mit", "*mit", "`mit", "agreement",
    "openrail",
)  # fmt: skip
_FEWEST, _MOST = 3, 100
_SENTENCE = re.compile(r"\w\W+\w.*[.!]\W*$|\w only$", re.IGNORECASE)
_SAYS_MORE = re.compile(r"[:=#]|[.!?。]\s*$|\blicen", re.IGNORECASE)
_COMMENT = re.compile(r"^\s*#+ ?")
_UNSTATED = re.compile(
    r"\W*(?:unknown|unlicensed|unclear|not (?:stated|specified|known)|none stated|n\W?a)\W*", re.IGNORECASE
)


def less_allowed(text: str) -> str:
    """Words that keep a use to some, or may; "" for none."""
    matches = (match[0].strip() for match in KEPT.finditer(" ".join(shown_text(text).split())))
    return next((words for words in matches if not _TERMS.fullmatch(words)), "")


def restricted_in_description(text: str) -> str:
    """The first such words of a description; "" for none."""
    return next(_restrictions(shown_text(text)), "")


def _restrictions(text: str) -> Iterator[str]:
    """All of each clause; that rights are reserved says nothing where a licence gives them."""
    is_given = _ALL.search(text) is not None and bool(license_of(text))
    for part in _SENTENCE_END.split(text):
        clause = " ".join(part.split())
        for words in _less_in(_ALL.sub("", clause) if is_given else clause):
            if not _UNCLEAR.fullmatch(words) or _OF_THE_THING.search(clause):
                yield words


@lru_cache(maxsize=64)
def _less_in(clause: str) -> tuple[str, ...]:
    """Lines that follow each other have the same clauses about them."""
    return tuple(match[0].strip() for match in KEPT.finditer(clause))


def rights_in_page(text: str, *, code: bool = False) -> Iterator[tuple[int, str, bool]]:
    """(line, words, whether they keep a use to some) of a page, or of `code`: words that do, each once, and each clause that names a
    licence. That all rights are reserved is written above much code that is free."""
    rows = list(table_rows(text))
    text = shown_text(text)
    lines = [_COMMENT.sub("", line) for line in text.splitlines()] if code else text.splitlines()
    kept: set[str] = set()
    seen: set[str] = set()
    for number, line in lines_with(text, _OF_LICENSES):
        if len(line.split()) < _FEWEST and (
            _is_listed(lines, number - 1) or not _is_said(line, alone=_stands_alone(lines, number - 1))
        ):
            continue  # of a list of words
        window = "\n".join(lines[max(number - 2, 0) : number + 1])
        for less in _restrictions(_ALL.sub("", window) if code else window):
            if code and _OF_CODE.search(less) and not _IN_CODE.search(window):
                continue
            if less not in kept and len(kept) < _MOST:
                kept.add(less)
                yield number, less, True
        for part in _SENTENCE_END.split(window):
            clause = " ".join(part.split())
            own = _OF_ITS_OWN.search(clause)
            if own and _IN_CODE.search(clause) and not families_of(own[0]) and own[1] not in kept and len(kept) < _MOST:
                kept.add(own[1])
                yield number, own[1], True
            if (
                clause not in seen
                and families_of(clause)
                and any(names.search(clause) for names in (_LICENSING, _NAMED, _HELD))
            ):
                seen.add(clause)
                yield number, clause, False
    for number, sentence in rows:
        plain = " ".join(shown_text(sentence).split())
        if plain not in seen and families_of(plain) and (_LICENSING.search(plain) or _HELD.search(plain)):
            yield number, plain, False


def _stands_alone(lines: Sequence[str], at: int) -> bool:
    """Whether no words are above a line, but for a title, and none below."""
    above, below = "".join(lines[max(at - 1, 0) : at]).strip(), "".join(lines[at + 1 : at + 2]).strip()
    return (not above or above[0] == "#") and not below


def _is_listed(lines: Sequence[str], at: int) -> bool:
    """Whether a line and three beside it have a few words each, and no sign of a sentence or of a name and its value, as labels have."""

    def is_label(line: str) -> bool:
        return 0 < len(line.split()) < _FEWEST and not _SAYS_MORE.search(line)

    return is_label(lines[at]) and sum(map(is_label, [*lines[max(at - 3, 0) : at], *lines[at + 1 : at + 4]])) >= _FEWEST


def _is_said(line: str, *, alone: bool) -> bool:
    """Whether a line of few words says something: a licence by its name, or a sentence."""
    named = _TERMS.search(line) or (_LICENSING.search(line) and families_of(line))
    return bool(named or _SENTENCE.search(line.strip()) or is_said_without_spaces(line, alone=alone))


def is_of_license(words: str, license: str) -> bool:
    """Whether words that keep a use to some are what the licence itself says."""
    terms = "-".join(words.upper().split())
    return bool(
        re.search(r"-NC\b", license)
        and (
            re.fullmatch(NONCOMMERCIAL, words, re.IGNORECASE) or terms.startswith("CC-BY-NC") or terms == "CC-BY-SA-NC"
        )
    ) or (_TERMS.fullmatch(words) is not None and terms in license.upper())


def notice_restriction(text: str) -> str:
    """What a notice takes away. That all rights are reserved says nothing where a licence is named that gives them."""
    plain = " ".join(shown_text(text).split())
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
