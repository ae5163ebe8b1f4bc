"""All records, and what they state by field and name. The files of this room are loaded with the first question."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from assay.numerics import operators as room
from assay.numerics.operators.record import MICROSOFT, OnnxOperator


class TwoRecords(ValueError):
    """Two files of this room have a record of one operator: its domain and name, and the second file."""


@cache
def onnx_operators() -> dict[tuple[str, str], OnnxOperator]:
    """By domain and name. Raises TwoRecords."""
    records: dict[tuple[str, str], OnnxOperator] = {}
    for module in sorted(entry.name for entry in iter_modules(room.__path__)):
        for record in getattr(import_module(f"{room.__name__}.{module}"), "OPERATORS", ()):
            if (record.domain, record.name) in records:
                raise TwoRecords(record.domain, record.name, module)
            records[record.domain, record.name] = record
    return records


def by_name(fact: Callable[[OnnxOperator], Any]) -> dict[str, Any]:
    """What a fact is of each operator where there is one (no None, False or empty one), by the name alone: of two domains that have
    an operator of one name, that of the standard counts."""
    return {onnx_operator.name: known for onnx_operator in _standard_last() if (known := fact(onnx_operator))}


def in_domain(domain: str, fact: Callable[[OnnxOperator], Any]) -> dict[str, Any]:
    """The same of the operators of one domain."""
    return {
        name: known for (of, name), operator in onnx_operators().items() if of == domain and (known := fact(operator))
    }


def names_where(fact: Callable[[OnnxOperator], Any]) -> frozenset[str]:
    """The operators of which a fact is true."""
    return frozenset(by_name(fact))


@cache
def operators_by_name() -> dict[str, OnnxOperator]:
    """All records, by the name alone."""
    return by_name(lambda record: record)


def record_of(name: str) -> OnnxOperator:
    """By the name alone; an empty one where nothing is known."""
    return operators_by_name().get(name) or OnnxOperator(name)


@cache
def open_to(mutation: str) -> frozenset[str]:
    """The operators at which this mutation may be made."""
    return names_where(lambda record: mutation in record.mutations)


def _standard_last() -> Iterator[OnnxOperator]:
    every = onnx_operators().values()
    standard = {onnx_operator.name for onnx_operator in every if onnx_operator.domain != MICROSOFT}
    return (
        onnx_operator
        for onnx_operator in every
        if onnx_operator.domain != MICROSOFT or onnx_operator.name not in standard
    )
