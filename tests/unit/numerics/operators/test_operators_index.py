"""Every operator of the standard has one record, in one file."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pkgutil import iter_modules

import pytest
from onnx import defs

from assay.numerics import operators as room
from assay.numerics.operators.index import by_name, names_where, onnx_operators
from assay.numerics.operators.record import LEARNING, MICROSOFT, OnnxOperator, alike

NOTHING_KNOWN = {
    "ImageDecoder": "which numbers an encoded picture holds is the decoder's affair; there is no oracle",
    "RegexFullMatch": "of texts nothing is rounded, and every engine has the same answer or none",
    "StringConcat": "as RegexFullMatch",
    "StringSplit": "as RegexFullMatch",
    "SequenceMap": "the operators of its body have records of their own",
}
"""Operators that need no record, and why."""
ROUNDS = ("rounding", "moves", "kernel", "expanded")
"""What says how the result of an operator rounds."""
BODIES = {"If": "its branches round", "Loop": "its body rounds", "Scan": "its body rounds"}
TEXTS = {"StringNormalizer": "of texts nothing is rounded"}


def _of_the_standard(domain: str) -> set[str]:
    """Of its current opset: those that it has taken back are not."""
    return {one.name for one in defs.get_all_schemas() if one.domain == domain and not one.deprecated}


@pytest.mark.parametrize("domain", ["", LEARNING])
def test_every_operator_of_the_current_opset_has_a_record(domain: str) -> None:
    recorded = {
        name for (of, name), one in onnx_operators().items() if of == domain and one != OnnxOperator(name, domain=of)
    }
    missing = sorted(_of_the_standard(domain) - recorded - set(NOTHING_KNOWN))
    assert missing == [], (
        f"write a record of {', '.join(missing)} in a file of numerics/operators, as grid_sample.py is one"
    )


def test_what_needs_no_record_has_none() -> None:
    assert not [name for name in NOTHING_KNOWN if ("", name) in onnx_operators()]
    assert set(NOTHING_KNOWN) <= _of_the_standard("")


@pytest.mark.parametrize("domain", ["", LEARNING])
def test_every_record_of_the_standard_says_how_results_round(domain: str) -> None:
    silent = {
        name
        for (of, name), record in onnx_operators().items()
        if of == domain and name in _of_the_standard(domain) and not any(getattr(record, one) for one in ROUNDS)
    }
    assert silent == ({*BODIES, *TEXTS} if domain == "" else set())


def test_each_operator_is_in_one_file() -> None:
    listed = Counter(
        (one.domain, one.name)
        for module in iter_modules(room.__path__)
        for one in getattr(import_module(f"{room.__name__}.{module.name}"), "OPERATORS", ())
    )
    assert [operator for operator, count in listed.items() if count > 1] == []
    assert len(listed) == len(onnx_operators())


def test_two_records_of_one_operator_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = import_module("assay.numerics.operators.clip")
    monkeypatch.setattr(clip, "OPERATORS", alike("Add", moves=True))
    onnx_operators.cache_clear()
    with pytest.raises(ValueError, match=r"two records of the operator 'Add' of the domain '': one is in clip\.py"):
        onnx_operators()
    onnx_operators.cache_clear()


def test_of_two_domains_the_name_means_the_operator_of_the_standard() -> None:
    assert onnx_operators()[MICROSOFT, "Attention"].shape is not onnx_operators()["", "Attention"].shape
    assert by_name(lambda one: one.shape)["Attention"] is onnx_operators()["", "Attention"].shape


def test_what_is_false_or_empty_is_not_known() -> None:
    assert "Relu" in names_where(lambda one: one.moves)
    assert "Exp" not in names_where(lambda one: one.moves)
    assert by_name(lambda one: one.steers)["Pad"] == (1, 3)
    assert "Relu" not in by_name(lambda one: one.steers)
