"""What the forms of two operators, or of one, have in common, for those who compare suspects."""

from __future__ import annotations


def are_kin(first: str, other: str) -> bool:
    """Whether cases of both are made by one form: GRU and LSTM, Add and Mul."""
    from assay.generators.operators import forms

    known = forms()
    return first in known and other in known and known[first] is known[other]


def is_input(operator: str, name: str) -> bool:
    """Whether it is an input in the newest form of the operator: then what a case states of it is not among its attributes."""
    from assay.generators.schemas import LATEST, NotMade, schema_at

    try:
        return name in {formal.name for formal in schema_at(operator, LATEST).inputs}
    except NotMade:
        return False
