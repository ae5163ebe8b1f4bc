"""What a notebook feeds to the model is what the script that readers are given makes, as it makes it."""

from __future__ import annotations

import ast
import time

import pytest

from assay_zoo.artifacts.notebooks.fed_values import fed_values

LOAD = "import numpy as np\nfrom preprocess import preprocess\nx = np.load('x.npy')\n"


@pytest.mark.parametrize(
    ("code", "rebound", "computed"),
    [
        ("y = s.run(None, {'x': preprocess(x)})", False, False),
        ("y = s.run(None, {'x': np.roll(preprocess(x), 1)})", False, True),
        ("y = s.run(None, {'x': np.sqrt(preprocess(x))})", False, True),
        ("p = preprocess(x)\ny = s.run(None, {'x': p[..., ::-1].copy()})", False, True),
        ("y = s.run(None, {'x': preprocess(x)[:, ::2]})", False, False),
        ("def half(v):\n    w = v * 0.5\n    return w\ny = s.run(None, {'x': half(preprocess(x))})", False, True),
        ("def same(v):\n    return np.ascontiguousarray(v)\ny = s.run(None, {'x': same(preprocess(x))})", False, False),
        ("def upto(v, n):\n    return v[: n + 1]\ny = s.run(None, {'x': upto(preprocess(x), 3)})", False, False),
        ("b = preprocess(x)[None]\nfeeds = {'x': b.astype('f4')}\ny = s.run(None, feeds)", False, False),
        (
            "for i in range(9):\n    b = np.stack([preprocess(each) for each in x])\n    s.run(None, {'x': b, 'n': i})",
            False,
            False,
        ),
        ("p = preprocess(x)\nshown = p * 255\ns.run(None, {'x': p})", False, False),
        ("rows = []\nfor e in x:\n    rows.append(preprocess(e))\ns.run(None, {'x': np.stack(rows)})", False, False),
        ("with open_batch(preprocess(x)) as b:\n    s.run(None, {'x': b})", False, False),
        ("ids = preprocess(x)\nids = ids + [0] * (16 - len(ids))\ns.run(None, {'x': ids})", False, False),
        ("p = preprocess(x)\nfor i in range(9):\n    e = s.run(None, {'x': p})\n    p = p - 0.1 * e[0]", False, False),
        ("p = preprocess(x)\nd = p[1:] - p[:-1]\ns.run(None, {'x': p, 'motion': d})", False, False),
        ("try: pass\nexcept ImportError: preprocess = abs\ns.run(None, {'x': preprocess(x)})", False, False),
        ("if lost: preprocess = None\ns.run(None, {'x': preprocess(x)})", False, False),
        ("s.run(None, {'x': np.zeros(3)})\ns.run(None, table(preprocess(x)))", False, False),
        ("p = preprocess(x)\ns.run(None, {'x': p})\np = p * 255\nshow(p)", False, False),
        ("p = preprocess(x)\nq = p * 0.5\ns.run(None, {'x': np.concatenate([p, q])})", False, False),
        ("s.run(None, {'x': np.stack([preprocess(x), 1 - preprocess(x)])})", False, False),
        ("s.run(None, {'x': preprocess(x) * 0.5})", False, True),
        ("s.run(None, {'x': (preprocess(x)[None] * 0.5).astype('f4')})", False, True),
        ("s.run(None, {'x': np.multiply(preprocess(x), 0.5)})", False, True),
        ("p = preprocess(x)\np[...] *= 0.5\ns.run(None, {'x': p})", False, True),
        ("f = {}\nf['x'] = preprocess(x) * 0.5\ns.run(None, f)", False, True),
        ("def prepare(v):\n    return preprocess(v) * 0.5\ns.run(None, {'x': prepare(x)})", False, True),
        ("f = {'x': x}\nf['x'] = preprocess(x)\ns.run(None, f)", False, False),
        ("class preprocess: pass\ns.run(None, {'x': preprocess(x)})", True, False),
        ("import preprocess as pp\npp.preprocess = abs\ns.run(None, {'x': pp.preprocess(x)})", True, False),
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
    assert ("preprocess.preprocess" in fed.rebound) is rebound
    assert ("preprocess" in fed.computed) is computed


@pytest.mark.parametrize(
    ("code", "given"),
    [
        ("preprocess(x / 15)", True),
        ("preprocess(x / 15 * 16)", True),
        ("preprocess(np.clip(x, 0, 12))", True),
        ("x = np.flip(x, 2)\ns.run(None, {'x': preprocess(x)})", True),
        ("def scaled(v):\n    return (v - v.mean()) / v.std()\nx = scaled(x)\ns.run(None, {'x': preprocess(x)})", True),
        (
            "def tone(f):\n    return np.sin(f * 2)\nfor f in (3, 4):\n    s.run(None, {'x': preprocess(tone(f))})",
            False,
        ),
        ("def part(v, n):\n    return v[n * 4 : n * 4 + 4]\ns.run(None, {'x': preprocess(part(x, 1))})", False),
        ("preprocess(np.pad(x, 2))", False),
        ("x = x * 2.0\np = preprocess(x)[None]\ns.run(None, {'x': p})", True),
        ("import preprocess as pp\ns.run(None, {'x': pp.preprocess(x * 2)})", True),
        ("preprocess(x[: 2 * 8])", False),
        ("preprocess(x, 2 * 8)", False),
        ("preprocess('images/' + name)", False),
        ("preprocess(first + second)", False),
        ("preprocess('a_%d.png' % 3)", False),
        ("preprocess('a_%d.png' % (number + 1))", False),
        ("preprocess(f'{number}' * 3)", False),
        ("preprocess([0] * 4)", False),
        ("preprocess((0,) * len(x) * 2)", False),
        ("n = 4\ns.run(None, {'x': preprocess(n + 1)})", False),
        ("for n in range(4):\n    s.run(None, {'x': preprocess(n + 1)})", False),
        ("x = 0\nx = load()\ns.run(None, {'x': preprocess(x + 1)})", True),
        ("shown = x / 16\ns.run(None, {'x': preprocess(x)})", False),
    ],
)
def test_what_the_script_is_given_was_not_computed_on(code: str, given: bool) -> None:
    code = code if ".run" in code else f"s.run(None, {{'x': {code}}})"
    assert ("preprocess" in fed_values(ast.parse(LOAD + code)).given) is given


@pytest.mark.parametrize(
    ("code", "feeds"),
    [
        ("shown = preprocess(x)\ns.run(None, {'x': x / 16})", True),
        ("def ask(values):\n    return s.run(None, {'x': values})\nask(preprocess(x))", False),
        (
            "s.run(None, {'x': np.zeros(3)})\ndef ask(values):\n    return s.run(None, {'x': values})\nask(preprocess(x))",
            False,
        ),
        ("f = {}\nf['x'] = x / 16\ns.run(None, f)", True),
        ("s.run(None, dict(x=x))", True),
        ("f = {'x': preprocess(x)}\nf['x'] = x / 15\ns.run(None, f)", True),
        ("f = {}\nf['x'] = preprocess(x)\nf['x'] = x / 15\ns.run(None, f)", True),
    ],
)
def test_what_is_fed_and_made_otherwise(code: str, feeds: bool) -> None:
    fed = fed_values(ast.parse(LOAD + code))
    assert "preprocess" not in fed.made_by
    assert fed.feeds is feeds


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("from preprocess import preprocess as prepare\ns.run(None, {'x': prepare(x)})", "preprocess"),
        ("from preprocess import Maker\nmaker = Maker()\ns.run(None, {'x': maker(x)})", "Maker"),
        ("import preprocess as p\ns.run(None, {'x': (x - p.MEAN) / 2})", "MEAN"),
        ("import preprocess as p\npreprocess = p.preprocess\ns.run(None, {'x': preprocess(x)})", "preprocess"),
    ],
)
def test_what_is_fed_was_made_by_the_script_however_it_is_called(code: str, name: str) -> None:
    fed = fed_values(ast.parse(code))
    assert name in fed.made_by
    assert not fed.rebound
    assert not fed.computed


def test_two_imports_of_one_name() -> None:
    fed = fed_values(ast.parse(LOAD + "from numpy import sqrt as preprocess\ns.run(None, {'x': preprocess(x)})"))
    assert "preprocess.preprocess" in fed.rebound
    assert not fed_values(ast.parse(LOAD + LOAD)).rebound


def test_a_name_is_followed_once() -> None:
    again = 600
    code = LOAD + "p = preprocess(x)\n" + "p = [p]\n" * again + "s.run(None, {'x': p})\n" * again
    started = time.process_time()
    assert fed_values(ast.parse(code)).made_by
    assert time.process_time() - started < 1  # 2 s and more where each call follows each of them


def test_what_many_names_stand_for_is_followed_in_little_time() -> None:
    chain = "x0 = prepare(a)\n" + "".join(f"x{i} = x{i - 1} + x{i - 1}\n" for i in range(1, 800))
    table = ", ".join(f"'k{i}': x{i}" for i in range(800))
    functions = "".join(f"def f{i}(): return f{i + 1}() + f{i + 1}()\n" for i in range(800))
    own = "def g():\n" + "".join(f"    if a: return g() * {i}\n" for i in range(800)) + "    return prepare(a)\n"
    begin = time.process_time()
    fed = fed_values(ast.parse(f"{chain}s.run(None, {{{table}}})"))
    fed_values(ast.parse(f"{functions}def f800(): return prepare(a)\ns.run(None, {{'x': f0()}})"))
    fed_values(ast.parse(f"{own}s.run(None, {{'x': g()}})"))
    assert time.process_time() - begin < 6
    assert fed.made_by == ("a", "prepare")
