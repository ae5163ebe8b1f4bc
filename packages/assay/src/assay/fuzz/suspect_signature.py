"""By what suspects and causes are told apart."""

from __future__ import annotations

import re

from assay.core.digest import value_digest
from assay.core.screening import Suspect, is_of_use

SIGNED = 120
"""Of either end of the words."""


def signature(flow: str, suspect: Suspect) -> str:
    """Of a suspect before anybody looked into it: operators without their opsets, and the attributes that matter."""
    if suspect.kind == "failed":  # the words of the backend tell them apart, whatever stands around the node
        return "|".join((flow, suspect.kind, _plain(suspect.detail)))
    if is_of_use(suspect.ablated):
        return "|".join((flow, suspect.kind))
    names = "+".join(operator.partition("@")[0] for operator in suspect.operators) or str(suspect.case)
    return "|".join((flow, suspect.kind, names, ",".join(suspect.attributes), ",".join(suspect.unspecified)))


def bucket_key(
    backend: str,
    kind: str,
    operators: tuple[str, ...],
    attributes: tuple[str, ...],
    brought: tuple[str, ...],
    status: str,
) -> str:
    """Of a cause: the reduced pattern up to constants, and what brought it."""
    return value_digest((backend, kind, operators, attributes, brought, status))[:16]


def _plain(text: str) -> str:
    """Without names and numbers, which differ from case to case. Engines begin with where they are, and end with what is wrong."""
    words = re.sub(r"'[^']*'|\"[^\"]*\"|\S*\d\S*", "", text)
    plain = " ".join(words.split())
    return plain if len(plain) <= 2 * SIGNED else f"{plain[:SIGNED]} ... {plain[-SIGNED:]}"
