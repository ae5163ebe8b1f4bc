"""Sequences, optionals, text, and graphs inside operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import parser

from oracle_table.case import OpCase
from oracle_table.gen import Gen, ints, one_int


def _three(g: Gen) -> list[Any]:
    return [g.x(2, 3, dtype=np.float32), g.x(1, 3, dtype=np.float32), g.x(2, 3, dtype=np.float32)]


def construct(g: Gen) -> Iterator[OpCase]:
    yield g.case(*_three(g))
    yield g.case(g.x(2, dtype=np.int64))


def at(g: Gen) -> Iterator[OpCase]:
    for place in (0, 2, -1, -3):
        yield g.case(_three(g), one_int(place))
        yield g.case(_three(g), np.array(place, np.int32))


def insert(g: Gen) -> Iterator[OpCase]:
    for place in (None, 0, 1, -1, 3):
        yield g.case(_three(g), g.x(4, dtype=np.float32), None if place is None else one_int(place))


def erase(g: Gen) -> Iterator[OpCase]:
    for place in (None, 0, 1, -1):
        yield g.case(_three(g), None if place is None else one_int(place))


def length(g: Gen) -> Iterator[OpCase]:
    yield g.case(_three(g))


def empty(g: Gen) -> Iterator[OpCase]:
    yield g.case()
    yield g.case(dtype=7)


def joined(g: Gen) -> Iterator[OpCase]:
    x = _three(g)
    for axis in (0, -2):
        yield g.case(x, axis=axis)
    for axis in (0, 1, 2, -1, -3):
        yield g.case([x[0], x[2]], axis=axis, new_axis=1)


def parted(g: Gen) -> Iterator[OpCase]:
    for axis in (None, 0, 1, -1):
        for keepdims in (None, 0):
            yield g.case(g.x(4, 4, dtype=np.float32), axis=axis, keepdims=keepdims)
        for sizes in (one_int(2), one_int(3), ints(1, 3)):
            yield g.case(g.x(4, 4, dtype=np.float32), sizes, axis=axis)


def identity(g: Gen) -> Iterator[OpCase]:
    for shape in ((), (3,), (0,), (2, 3)):
        yield g.case(g.x(*shape))
    for dtype in g.dtypes():
        yield g.case(g.x(2, 3, dtype=dtype))
    if g.version >= 14:
        yield g.case(_three(g))


def _graph(text: str) -> Any:
    return parser.parse_graph(text)


def branch(g: Gen) -> Iterator[OpCase]:
    then = _graph("t () => (float[n] a) { c = Constant <value = float[2] {1, 2}> () a = Identity (c) }")
    other = _graph("e () => (float[n] b) { b = Constant <value = float[3] {3, 4, 5}> () }")
    for condition in (np.array(True), np.array(False), np.array([True])):
        yield g.case(condition, then_branch=then, else_branch=other)


def loop(g: Gen) -> Iterator[OpCase]:
    body = _graph(
        "b (int64 i, bool on, float[2] s) => (bool go, float[2] n, float[2] scan) { go = Identity (on) n = Add (s, s) scan = Neg (n) }"
    )
    fed = g.x(2, dtype=np.float32)
    for most, condition in (
        (one_int(3), np.array(True)),
        (one_int(3), None),
        (one_int(0), np.array(True)),
        (one_int(2), np.array(False)),
        (ints(2), np.array([True])),
    ):
        yield g.case(most, condition, fed, body=body, outputs=2)
    until = _graph(
        "b (int64 i, bool on, float[2] s) => (bool go, float[2] n) { z = Constant <value = int64 {2}> () go = Less (i, z) n = Add (s, s) }"
    )
    yield g.case(None, np.array(True), fed, body=until)
    yield g.case(one_int(9), np.array(True), fed, body=until)


def scan(g: Gen) -> Iterator[OpCase]:
    body = _graph("b (float[2] s, float[2] x) => (float[2] n, float[2] y) { n = Add (s, x) y = Mul (n, n) }")
    if g.version == 8:
        yield g.case(
            None, g.x(3, 2, dtype=np.float32), g.x(3, 4, 2, dtype=np.float32), body=body, num_scan_inputs=1, outputs=2
        )
        yield g.case(
            ints(4, 2, 1),
            g.x(3, 2, dtype=np.float32),
            g.x(3, 4, 2, dtype=np.float32),
            body=body,
            num_scan_inputs=1,
            outputs=2,
        )
        return
    for inward in (None, [1]):
        for outward in (None, [1]):
            options = {"scan_input_directions": inward, "scan_output_directions": outward}
            yield g.case(
                g.x(2, dtype=np.float32),
                g.x(4, 2, dtype=np.float32),
                body=body,
                num_scan_inputs=1,
                outputs=2,
                **options,
            )
    yield g.case(
        g.x(2, dtype=np.float32),
        g.x(2, 4, dtype=np.float32),
        body=body,
        num_scan_inputs=1,
        outputs=2,
        scan_input_axes=[1],
        scan_output_axes=[1],
    )


def mapped(g: Gen) -> Iterator[OpCase]:
    yield g.case(_three(g), body=_graph("b (float[n, m] x) => (float[n, m] y) { y = Neg (x) }"))
    two = _graph("b (float[n, m] x, float[m] z) => (float[n, m] y) { y = Add (x, z) }")
    yield g.case(_three(g), g.x(3, dtype=np.float32), body=two)


def optional(g: Gen) -> Iterator[OpCase]:
    if g.schema.name == "OptionalHasElement" and not g.schema.min_input:
        yield g.case()
    yield g.case(g.x(2, 3, dtype=np.float32))
    yield g.case(_three(g))


WORDS = np.array([["ab", "Zug", ""], ["bé", "a.b", "a b"]], object)


def join(g: Gen) -> Iterator[OpCase]:
    yield g.case(WORDS, WORDS)
    yield g.case(WORDS, np.array(["x", "y", "z"], object))
    yield g.case(WORDS, np.array("q", object))


def parts(g: Gen) -> Iterator[OpCase]:
    for given in (["a b c", "d", ""], ["  a  b ", "c d"], [["a.b", "c"], ["d..e", "."]]):
        for by in (None, ".", " "):
            for most in (None, 1):
                yield g.case(np.array(given, object), delimiter=by, maxsplit=most, outputs=2)


def matching(g: Gen) -> Iterator[OpCase]:
    for pattern in ("a.*", "[a-z]+", "(ab|Zug)", ".*"):
        yield g.case(WORDS, pattern=pattern)


def normalizer(g: Gen) -> Iterator[OpCase]:
    line = np.array(["Monday", "tuesday", "Wednesday", "monday"], object)
    for case in (None, "LOWER", "UPPER", "NONE"):
        for exact in (0, 1):
            for stop in (None, ["monday"], ["Monday", "tuesday", "Wednesday", "monday"]):
                yield g.case(line, case_change_action=case, is_case_sensitive=exact, stopwords=stop)
    yield g.case(line[None], case_change_action="LOWER", stopwords=["monday"])


def vectorizer(g: Gen) -> Iterator[OpCase]:
    common = {"ngram_counts": [0, 4], "ngram_indexes": list(range(7)), "pool_int64s": [2, 3, 5, 4, 5, 6, 7, 8, 6, 7]}
    for x in (
        np.array([1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8], np.int32),
        np.array([[1, 1, 3, 3, 3, 7], [8, 6, 7, 5, 6, 8]], np.int32),
    ):
        for mode in ("TF", "IDF", "TFIDF"):
            for skips in (0, 5):
                weights = [0.5, 1.5, 2, 0.1, 3, 1, 2] if mode != "TF" else None
                yield g.case(
                    x, mode=mode, min_gram_length=1, max_gram_length=2, max_skip_count=skips, weights=weights, **common
                )


SEQUENCES: dict[str, Any] = {
    "SequenceConstruct": construct,
    "SequenceAt": at,
    "SequenceInsert": insert,
    "SequenceErase": erase,
    "SequenceLength": length,
    "SequenceEmpty": empty,
    "ConcatFromSequence": joined,
    "SplitToSequence": parted,
    "Identity": identity,
    "If": branch,
    "Loop": loop,
    "Scan": scan,
    "SequenceMap": mapped,
    "Optional": optional,
    "OptionalHasElement": optional,
    "OptionalGetElement": optional,
    "StringConcat": join,
    "StringSplit": parts,
    "RegexFullMatch": matching,
    "StringNormalizer": normalizer,
    "TfIdfVectorizer": vectorizer,
}
