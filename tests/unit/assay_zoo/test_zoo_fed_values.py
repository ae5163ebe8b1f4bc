"""What a notebook feeds to the model is what the script that readers are given makes, as it makes it."""

from __future__ import annotations

import ast

import pytest

from assay_zoo.artifacts.fed_values import fed_values

LOAD = "import numpy as np\nfrom preprocess import preprocess\nx = np.load('x.npy')\n"


@pytest.mark.parametrize(
    ("code", "rebound", "computed"),
    [
        ("y = s.run(None, {'x': preprocess(x)})", False, False),
        ("b = preprocess(x)[None]\nfeeds = {'x': b.astype('f4')}\ny = s.run(None, feeds)", False, False),
        (
            "for i in range(9):\n    b = np.stack([preprocess(each) for each in x])\n    s.run(None, {'x': b, 'n': i})",
            False,
            False,
        ),
        ("p = preprocess(x)\nshown = p * 255\ns.run(None, {'x': p})", False, False),
        ("s.run(None, {'x': preprocess(x) * 0.5})", False, True),
        ("p = preprocess(x)\np -= 1\ns.run(None, {'x': p})", False, True),
        ("p = preprocess(x)\nq = p / 2\ns.run(None, {'x': q})", False, True),
        ("preprocess = lambda c: c / 15\ns.run(None, {'x': preprocess(x)})", True, False),
        ("for preprocess in [abs]: pass\ns.run(None, {'x': preprocess(x)})", True, False),
    ],
)
def test_what_becomes_of_an_answer_before_it_is_fed(code: str, rebound: bool, computed: bool) -> None:
    fed = fed_values(ast.parse(LOAD + code))
    assert fed.feeds
    assert "preprocess" in fed.made_by
    assert ("preprocess" in fed.rebound) is rebound
    assert ("preprocess" in fed.computed) is computed


@pytest.mark.parametrize(
    ("code", "feeds"),
    [
        ("shown = preprocess(x)\ns.run(None, {'x': x / 16})", True),
        ("def ask(values):\n    return s.run(None, {'x': values})\nask(preprocess(x))", False),
        ("s.run(None, dict(x=x))", False),
    ],
)
def test_what_is_fed_and_made_otherwise(code: str, feeds: bool) -> None:
    fed = fed_values(ast.parse(LOAD + code))
    assert "preprocess" not in fed.made_by
    assert fed.feeds is feeds
