"""What a file says, evaluated without an engine and without Assay: `onnx.reference` as onnx ships it, in the types of the file.

It lacks three operators of converters, or has one of them wrong. They are written here by hand, straight from the standard:
`TfIdfVectorizer` (every n-gram of the pool is looked for at every place), `Tokenizer` of ONNX Runtime (all matches of the
pattern, padded) and `ZipMap` (which gives scores names: the scores stay as they are).
"""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="misc,override,no-untyped-call"

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

Array = np.ndarray[Any, Any]


class Tokenizer(OpRun):
    op_domain = "com.microsoft"

    def _run(self, x: Array, mark: int = 0, mincharnum: int = 1, pad_value: str = "", **others: Any) -> tuple[Array]:
        assert not mark, "no marks are among these models"
        assert not others.get("separators"), "no separators are among these models"
        assert mincharnum == 1, "no smallest length is among these models"
        rows = [re.findall(others["tokenexp"], text, re.ASCII) for text in x.reshape(-1)]
        longest = max(map(len, rows))
        padded = [row + [pad_value] * (longest - len(row)) for row in rows]
        return (np.array(padded, object).reshape(*x.shape, longest),)


class TfIdfVectorizer(OpRun):
    op_domain = ""

    def _run(self, x: Array, **about: Any) -> tuple[Array]:
        """Counts of n-grams of words that stand together."""
        assert (about["mode"], about["max_skip_count"]) == ("TF", 0), "no other form is among these models"
        starts = [*about["ngram_counts"], len(about["pool_strings"])]
        pool: list[tuple[str, ...]] = []
        for size, (first, end) in enumerate(pairwise(starts), 1):
            pool += [tuple(about["pool_strings"][at : at + size]) for at in range(first, end, size)]
        counts = np.zeros((len(x), max(about["ngram_indexes"]) + 1), np.float32)
        for row, words in enumerate(x):
            for gram, column in zip(pool, about["ngram_indexes"], strict=True):
                if about["min_gram_length"] <= len(gram) <= about["max_gram_length"]:
                    places = range(len(words) - len(gram) + 1)
                    counts[row, column] += sum(tuple(words[at : at + len(gram)]) == gram for at in places)
        return (counts,)


class ZipMap(OpRun):
    op_domain = "ai.onnx.ml"

    def _run(self, x: Array, **_: Any) -> tuple[Array]:
        return (x,)


def by_reference(path: Path, feed: dict[str, Array]) -> list[Array]:
    """The outputs in the order of the file."""
    model = onnx.load(path)
    types = {
        value.name: onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type)
        for value in model.graph.input
    }
    inside = {tensor.name for tensor in model.graph.initializer}
    fed = {}
    for name in (value.name for value in model.graph.input if value.name not in inside):
        given = feed[name] if name in feed else next(iter(feed.values()))
        fed[name] = given.astype(object) if types[name].kind in "OU" else given.astype(types[name])
    return list(ReferenceEvaluator(model, new_ops=[Tokenizer, TfIdfVectorizer, ZipMap]).run(None, fed))
