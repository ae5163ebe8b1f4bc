"""Which licences a zoo takes."""

from __future__ import annotations

import pytest

from assay_zoo.artifacts.rights.license import license_trouble

ALLOWED = ("Apache-2.0", "MIT", "BSD-3-Clause", "GPL-2.0-only WITH Classpath-exception-2.0")


@pytest.mark.parametrize(
    ("expression", "taken"),
    [
        ("MIT", True),
        ("mit", True),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT AND (Apache-2.0 OR GPL-3.0-only)", True),
        ("GPL-3.0-only", False),
        ("GPL-2.0-only WITH Classpath-exception-2.0", True),
        ("GPL-2.0-only", False),
        ("Apache License, second edition", False),
        ("", False),
        ("LicenseRef-mine", False),
        ("(" * 200 + "MIT" + ")" * 200, False),
        ("(" * 100 + "MIT" + ")" * 100, True),
    ],
)
def test_an_expression_is_evaluated(expression: str, taken: bool) -> None:
    assert (license_trouble(expression, ALLOWED) == "") is taken


def test_the_sentence_says_what_is_taken() -> None:
    assert license_trouble("GPL-3.0-only", ("MIT",)) == (
        "says license = 'GPL-3.0-only', which this zoo does not take; this zoo takes MIT"
    )
    assert "no SPDX expression" in license_trouble("my own", ("MIT",))
