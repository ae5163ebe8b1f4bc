"""What metadata.toml may not claim, whatever else is right."""

from __future__ import annotations

import tomllib

import pytest
from pydantic import ValidationError

from assay_zoo.metadata import Metadata
from zoo_submission import METADATA


@pytest.mark.parametrize(
    ("right", "wrong", "where"),
    [
        ("value = 1.0", "value = nan", "accuracy.value"),
        ("value = 1.0", "value = inf", "accuracy.value"),
        ("value = 1.0", "value = 1.0\ntolerance = inf", "accuracy.tolerance"),
        ('tags = ["sum"]', f"tags = {['sum'] * 51}", "tags"),
        ('"Adds a number to itself."', f'"{"x" * 20_001}"', "description"),
        ('title = "Adds"', f'title = "{"x" * 201}"', "title"),
        ('contributors = ["', f'contributors = ["{"x" * 201}", "', "contributors.0"),
        ("opset = 17", 'opset = 17\nmodel = "a\\u0000b"', "model"),
        ("opset = 17", 'opset = 17\nvalidation = "a\\nb"', "validation"),
    ],
)
def test_what_no_claim_can_be(right: str, wrong: str, where: str) -> None:
    Metadata.model_validate(tomllib.loads(METADATA))
    with pytest.raises(ValidationError) as caught:
        Metadata.model_validate(tomllib.loads(METADATA.replace(right, wrong)))
    (problem,) = caught.value.errors()
    assert ".".join(map(str, problem["loc"])) == where


def test_a_description_may_be_long_and_tags_may_be_many() -> None:
    long = METADATA.replace("Adds a number to itself.", "x" * 20_000).replace('["sum"]', str(["sum"] * 50))
    assert len(Metadata.model_validate(tomllib.loads(long)).description) == 20_000
