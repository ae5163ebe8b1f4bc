"""Text into tokens (ONNX Runtime, ContribOperators.md, `Tokenizer`) and counts of them: what vectorizers of scikit-learn become."""

# onnx.reference is untyped, and its operators take their attributes as they like.
# mypy: disable-error-code="misc,override,no-untyped-call"

from __future__ import annotations

import re
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_tfidf_vectorizer import TfIdfVectorizer as _TfIdfVectorizer

from assay.numerics.attributes import NotComputed
from assay.ports import Tensor

_START, _END = "\x02", "\x03"


class Tokenizer(OpRun):
    """All matches of `tokenexp` in each text, padded to the longest row: shape (..., tokens).

    ONNX Runtime matches with RE2, longest first; Python takes the first alternative. An expression where the two could differ, and
    `separators`, which are other rules, raise NotComputed: the model then has no evaluation in double, and says so.
    """

    op_domain = "com.microsoft"

    def _run(
        self,
        x: Tensor,
        mark: int = 0,
        mincharnum: int = 1,
        pad_value: str = "",
        separators: Any = None,
        tokenexp: str | None = None,
    ) -> tuple[Tensor]:
        if separators or not tokenexp or re.search(r"[|?]", tokenexp):
            raise NotComputed(separators=separators, tokenexp=tokenexp)
        pattern = re.compile(tokenexp, re.ASCII)  # \w and \d of RE2 are those of ASCII
        rows = []
        for text in x.reshape(-1):
            tokens = [
                match.group() for match in pattern.finditer(str(text)) if len(match.group()) >= max(mincharnum, 1)
            ]
            rows.append([_START, *tokens, _END] if mark else tokens)
        longest = max(map(len, rows), default=0)
        padded: Tensor = np.full((len(rows), longest), pad_value, object)
        for place, tokens in enumerate(rows):
            padded[place, : len(tokens)] = tokens
        return (padded.reshape(*x.shape, longest),)


class TfIdfVectorizer(_TfIdfVectorizer):
    """As onnx.reference counts, with the weights in double; of a model that was widened. The evaluator of onnx gives float32, and
    takes the weight of a column where the standard says that of an n-gram."""

    op_domain = ""
    only_one_type = True

    def output_result(self, B: int, frequencies: Any) -> Tensor:
        """`B` rows, 0 for one without an axis of its own."""
        mode: str = getattr(self, "mode")  # noqa: B009 - attributes of the node
        counts = np.asarray(frequencies, np.float64).reshape((B, self.output_size_) if B else (self.output_size_,))
        if mode == "IDF":
            counts = np.where(counts > 0, 1.0, 0.0)
        if mode != "TF" and self.weights_:
            weights = np.ones(self.output_size_)
            weights[np.asarray(self.ngram_indexes_)] = self.weights_
            counts = counts * weights
        return np.asarray(counts)
