"""Attributes as a node states them: an operator's default stands for what is absent, and never for what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.core.constraint import ConstraintCode
from assay.numerics.shapes.constraints import Conflict


class NotComputed(NotImplementedError):
    """A form of an operator that the evaluator does not compute: `stated` are the attributes and counts that make it one, as NAME=VALUE."""

    def __init__(self, **stated: object) -> None:
        self.stated = tuple(f"{name}={value}" for name, value in stated.items())
        super().__init__(*self.stated)


AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def auto_pad_of(attributes: Mapping[str, Any]) -> str:
    """How a window is padded. Raises Conflict for a word that there is not: each of the others would be another answer."""
    word = str(stated(attributes, "auto_pad", "NOTSET"))
    if word not in AUTO_PADS:
        raise Conflict(ConstraintCode.ATTRIBUTE_VALUE, attribute="auto_pad", value=word, known=AUTO_PADS)
    return word


def stated(attributes: Mapping[str, Any], name: str, default: Any) -> Any:
    """The value of an attribute, whatever it is; the default only where the node does not state it."""
    value = attributes.get(name)
    return default if value is None else value
