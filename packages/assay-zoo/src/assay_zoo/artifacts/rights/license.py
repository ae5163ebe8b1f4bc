"""The licence: an SPDX expression that the zoo takes, and the same in every text that says one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from assay_zoo.artifacts.finding import Finding
from assay_zoo.artifacts.pages.shown_text import shown_text
from assay_zoo.license_families import families_of
from assay_zoo.zoo_files import METADATA

if TYPE_CHECKING:
    from assay_zoo.artifacts.meta import MetadataText
    from assay_zoo.submission import SubmissionContext

_LONGEST = 300
_SAYS = re.compile(r"SPDX-License-Identifier:\s*([A-Za-z0-9.+() -]+)")
_PHRASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("AGPL-3.0", ("gnu affero general public license", "version 3")),
    ("LGPL-3.0", ("gnu lesser general public license", "version 3")),
    ("LGPL-2.1", ("gnu lesser general public license", "version 2.1")),
    ("LGPL-2.0", ("gnu library general public license", "version 2")),
    ("GPL-3.0", ("gnu general public license", "version 3")),
    ("GPL-2.0", ("gnu general public license", "version 2")),
    ("Apache-2.0", ("apache license", "version 2.0")),
    ("MPL-2.0", ("mozilla public license", "2.0")),
    ("EPL-2.0", ("eclipse public license", "2.0")),
    ("BSD-3-Clause", ("redistribution and use in source and binary forms", "neither the name")),
    ("BSD-2-Clause", ("redistribution and use in source and binary forms",)),
    ("MIT", ("permission is hereby granted, free of charge", "the software is provided \"as is\"")),
    ("ISC", ("permission to use, copy, modify, and/or distribute this software",)),
    ("Unlicense", ("this is free and unencumbered software released into the public domain",)),
    ("CC-BY-NC-4.0", ("attribution-noncommercial 4.0",)),
    ("CC-BY-SA-4.0", ("attribution-sharealike 4.0",)),
    ("CC-BY-ND-4.0", ("attribution-noderivatives 4.0",)),
    ("CC-BY-4.0", ("attribution 4.0 international",)),
    ("CC0-1.0", ("cc0 1.0 universal",)),
    ("LicenseRef-all-rights-reserved", ("all rights reserved", "no part of")),
)  # fmt: skip
"""Of those that fit the one whose first words stand first in the text, for a licence may name others further on; of two at one place,
the first of these."""
_SHORT = re.compile(
    r"(apache)[- ](?:software )?(?:license,? )?(?:version )?2\.0|\b(mit)[- ]license|(bsd)[- ]3-clause|3-clause (bsd)",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"\beither (?:of|the)\b|\bat your (?:option|choice)\b|\bdual[- ]licen|\b(?:any|one) of (?:these|the following)\b"
)
_OF_PARTS = re.compile(
    r"(?:[-*\u2022] )?(?:(?:some )?(?:parts|portions)|some (?:code|files)|third[- ]party)\b"
    r"(?!.*\b(?:weights?|models?|all(?! rights)|every\w*|whole)\b)"
)
"""A sentence that says under which licence others gave what is in it, and does not speak of the model."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_NOTICE_LETTERS = 2000
"""Longer ones are texts of licences, with notices of others behind them."""
_SHORT_NAMES = {"apache": "Apache-2.0", "mit": "MIT", "bsd": "BSD-3-Clause"}
_USES = (
    r"(?:use[ds]?|usage|users?|purposes?|ends|gain|exploitation|only|licen\w+|terms|basis|research|academic|education\w*|scientific"
    r"|personal|private|applications?|projects?|settings?|contexts?|parties|organi[sz]ations?|entities)"
)
NONCOMMERCIAL = (
    r"(?<!commercial or )(?<!commercial and )(?<!commercial and/or )(?<!commercial from )\bnon[- ]?commercial\b"
    rf"(?! (?:and|or|and/or) commercial)(?=\W*$|\W*[^\w\s-]| (?:and|or|but)\b|[- ](?:\w+[- ])?{_USES}\b)"
)
"""Not of what a model separates, as non-commercial vehicles."""
RESTRICTED = re.compile(
    rf"commons clause|{NONCOMMERCIAL}(?! distribution)|not be used for"
    r"|(?:for )?(?:evaluation|research|academic)(?: use| purposes?)? only|confidential",
    re.IGNORECASE,
)
"""Words that no licence says which a zoo takes as free. The Unlicense has "commercial or non-commercial", the GPL a way to give a program
on that is for "noncommercial distribution"."""
_STATED = re.compile(
    r"""^\s*["']?(?:license|schema:license)["']?\s*:\s*["']?(?:https?://spdx\.org/licenses/)?([A-Za-z0-9.+-]+)["']?,?\s*$""",
    re.MULTILINE | re.IGNORECASE,
)
NAMES = re.compile(r"^(licen[cs]e|copying|unlicense)([.-].*)?$", re.IGNORECASE)


def license_findings(place: SubmissionContext, text: MetadataText) -> Iterator[Finding]:
    """Also where something else in the metadata is wrong; that there is none is told by another check."""
    license = text.text.data.get("license") if text.text else None
    if isinstance(license, str) and license and (trouble := license_trouble(license, place.policy.licenses)):
        yield Finding(sentence=f"{METADATA} {trouble}", path=METADATA, line=text.line_of("license"))


def license_trouble(expression: str, allowed: Sequence[str]) -> str:
    """Why a licence is not taken, "" where it is. `A OR B` needs one of both, `A AND B` both."""
    from license_expression import ExpressionError, get_spdx_licensing  # type: ignore[import-untyped]

    takes = f"this zoo takes {', '.join(allowed)}"
    if len(expression) > _LONGEST:
        return f"says a licence of {len(expression)} characters, which is no SPDX expression; {takes}"
    licensing = get_spdx_licensing()
    try:
        tree: Any = licensing.parse(expression, validate=True)
    except (ExpressionError, RecursionError):
        return f"says license = {expression!r}, which is no SPDX expression; {takes}"
    if _taken(tree, frozenset(allowed), licensing):
        return ""
    return f"says license = {expression!r}, which this zoo does not take; {takes}"


def _taken(tree: Any, allowed: frozenset[str], licensing: Any) -> bool:
    if isinstance(tree, licensing.OR):
        return any(_taken(arg, allowed, licensing) for arg in tree.args)
    if isinstance(tree, licensing.AND):
        return all(_taken(arg, allowed, licensing) for arg in tree.args)
    return str(tree) in allowed


def license_of(text: str) -> str:
    """The SPDX identifier of a licence's text, "" for one that is not known; of a notice that names several an expression of all."""
    words = " ".join(text.split()).casefold().replace("“", '"').replace("”", '"')
    if match := _SAYS.search(text):
        return match[1].strip()
    phrases = dict(_PHRASES)
    fit = [(words.index(phrases[name][0]), name) for name in _whole_names(words)]
    sentences = _SENTENCE_END.split(words)
    short = _short_names(" ".join(part for part in sentences if not (fit and _OF_PARTS.match(part))))
    first = min(fit, key=lambda license_fit: license_fit[0], default=(0, next(iter(short), "")))[1]
    named = sorted({first, *short}) if len(words) < _NOTICE_LETTERS else [first]
    is_choice = any(_CHOICE.search(part) and _all_in(named, part) for part in sentences)
    return (" OR " if is_choice else " AND ").join(named)


def _whole_names(words: str) -> list[str]:
    return [name for name, phrases in _PHRASES if all(phrase in words for phrase in phrases)]


def _short_names(words: str) -> list[str]:
    return [_SHORT_NAMES[next(filter(None, match.groups()))] for match in _SHORT.finditer(words)]


def _all_in(names: Sequence[str], sentence: str) -> bool:
    return set(names) <= {*_whole_names(sentence), *_short_names(sentence)}


def license_named(words: str) -> str:
    """The SPDX identifier of a few words or of a text, "" for none that is known: `apache-2.0`, `Apache License 2.0`. Few words that
    name two licences state none: nobody knows which is meant."""
    from license_expression import ExpressionError, get_spdx_licensing

    try:
        expression = get_spdx_licensing().parse(words.strip()[:_LONGEST], validate=True)
        return "" if expression is None else str(expression)  # one with OR is neither true nor false
    except (ExpressionError, RecursionError):
        several = len(words) <= _LONGEST and not _SAYS.search(words) and _names_several(words)
        return "" if several else license_of(words)


def _names_several(words: str) -> bool:
    plain = " ".join(words.split()).casefold()
    families = families_of(plain)
    return len(families) > 1 or len(_whole_names(plain)) > 1


def other_license_of(text: str, license: str) -> str:
    """Another licence whose whole words stand behind those of a short one, which names no other; "" for none."""
    words = " ".join(text.split()).casefold()
    kin = ("Apache-2.0", "MIT", "ISC", "BSD-3-Clause", "BSD-2-Clause")
    return next((name for name in _whole_names(words) if name not in kin), "") if license in kin else ""


def stated_in(text: str) -> str:
    """The licence that a file for machines says (CITATION.cff, codemeta.json), "" for none."""
    match = _STATED.search(text)
    return match[1] if match else ""


def restricted_by(text: str) -> str:
    """Words in the text of a licence that take away what it gives, "" for none."""
    match = RESTRICTED.search(" ".join(shown_text(text).split()))
    return match[0] if match else ""


def says_license(text: str) -> list[tuple[int, str]]:
    """(line, expression) for each SPDX-License-Identifier in a script."""
    matches = ((number, _SAYS.search(line)) for number, line in enumerate(text.splitlines(), 1))
    return [(number, match[1].strip()) for number, match in matches if match]


def same_license(stated: str, expression: str) -> bool:
    """Whether a licence is among those of an SPDX expression; GPL-3.0 is GPL-3.0-only and GPL-3.0-or-later, too."""
    parts = {re.sub(r"-(only|or-later)$|\+$", "", part) for part in re.split(r"[\s()]+", expression) if part}
    wanted = {re.sub(r"-(only|or-later)$|\+$", "", part) for part in re.split(r"[\s()]+", stated) if part}
    return bool((parts & wanted) - {"AND", "OR", "WITH"})
