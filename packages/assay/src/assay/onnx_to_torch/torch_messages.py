"""What torch says of a program that it cannot trace: a code, or its own words on one short line."""

from __future__ import annotations

import re

from assay.core.note import Note, noted
from assay.core.refusals.conversion_codes import ConversionCode

_ON_DATA = re.compile(
    r"Could not (?P<how>guard on|extract specialized integer from) data-dependent expression (?P<expression>.+?) \(unhinted"
)
"""`torch.fx.experimental.symbolic_shapes` of 2.13. What follows is advice on torch's own code."""
_FAKE_TENSOR = re.compile(
    r"failed to run FX node with fake tensors: .*?: got (?P<error>\w+)\((?P<quote>['\"])(?P<text>.*?)(?P=quote)\)"
)
"""Dynamo of 2.13, after the address of the function and its arguments."""
_LONGEST_EXPRESSION = 40
_SYMBOLIC = re.compile(r"\[[^\[\]]*\b[su]\d+\b[^\[\]]*\]")
"""A shape whose sizes are expressions of torch's symbols."""
_ADVICE = re.compile(
    r"\n\s*(?:Set TORCHDYNAMO|You can suppress|Exception raised from|While executing|Original traceback)"
)


def torch_message(error: BaseException, limit: int = 400) -> str | Note:
    """What torch says itself, or what is known of it; the name of the exception where it says nothing."""
    text = " ".join(_ADVICE.split(str(error))[0].split())
    if match := _ON_DATA.search(text):
        condition, expression = match["how"] == "guard on", match["expression"]
        if len(expression) > _LONGEST_EXPRESSION:
            return noted(ConversionCode.CONDITION_OF_VALUES if condition else ConversionCode.SIZE_OF_VALUES)
        return noted(
            ConversionCode.NAMED_CONDITION_OF_VALUES if condition else ConversionCode.NAMED_SIZE_OF_VALUES,
            expression=expression,
        )
    if match := _FAKE_TENSOR.search(text):
        return noted(ConversionCode.TRACER_REFUSES_SIZES, error=match["text"])
    text = _SYMBOLIC.sub(lambda shape: shape[0] if len(shape[0]) <= _LONGEST_EXPRESSION else "[…]", text)
    if len(text) > limit:
        text = text[:limit].rsplit(" ", 1)[0] + " …"
    return text or type(error).__name__
