"""Operators on texts."""

from __future__ import annotations

from assay.numerics.operators.record import MICROSOFT, OnnxOperator, alike
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.shapes.needed_values import known_texts
from assay.numerics.tolerance.arithmetic import Arithmetic
from assay.numerics.tolerance.rules.rounding_rules import EXACT, RuleSite, Variance, rounding, text_of


def weighted_counts(site: RuleSite, unit: Arithmetic) -> Variance:
    """How often words are there, which is exact, or their stored weights; only both together round."""
    return rounding(site, unit) if text_of(site.call.attributes.get("mode")) == "TFIDF" else EXACT


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("StringNormalizer", shape=same_shape),
    *alike("TfIdfVectorizer", rounding=weighted_counts, reference="contrib.text_tokens", ranges=known_texts),
    *alike("Tokenizer", domain=MICROSOFT, reference="contrib.text_tokens"),
)
