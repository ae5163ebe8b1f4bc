"""onnx.checker's own words, put in their place."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from assay_zoo.compliance.finding import Area, Finding

if TYPE_CHECKING:
    from onnx import ModelProto

_AREAS = (
    (re.compile(r"[Uu]nrecognized attribute|[Rr]equired attribute|[Aa]ttribute '"), Area.ATTRIBUTE),
    (re.compile(r"external|should be stored in|escapes|outside the directory|symlink|hard link", re.I), Area.MODEL),
    (re.compile(r"[Ff]unction"), Area.FUNCTION),
    (re.compile(r"Bad node spec|No Op registered|No opset import|deprecated"), Area.NODE),
    (re.compile(r"ir_version|opset_import|metadata|model with IR|training", re.I), Area.MODEL),
)
_ERROR = re.compile(r"\(op_type:(?P<op>[^,)]*)(?:, node name: (?P<node>.*?))?\): (?P<text>.*?)(?=\(op_type:|\Z)", re.S)
_DECLARED = re.compile(r"[Ii]nferred (shape|elem type|type).*(existing|differ)")
_TAG = re.compile(r"\[\w+Error\]")
_LONGEST = 600


def check_with_onnx(path: Path, respelled: ModelProto | None) -> Iterator[Finding]:
    """By path: external data are followed, and large models are not copied. It stops at the first thing it sees. A model
    that had to be respelled is given as it is now, and its external data are found from its folder."""
    from onnx import checker

    try:
        with contextlib.chdir(path.parent):
            checker.check_model(respelled if respelled is not None else str(path.absolute()))
    except checker.ValidationError as error:
        yield placed(str(error), path)


def full_check(path: Path, respelled: ModelProto | None) -> Iterator[Finding]:
    """The checker together with its own strict inference."""
    from onnx import checker, shape_inference

    try:
        checker.check_model(respelled if respelled is not None else str(path), full_check=True)
    except checker.ValidationError as error:
        yield placed(str(error), path)
    except shape_inference.InferenceError as error:
        yield from inference_findings(str(error))


def placed(text: str, path: Path) -> Finding:
    """A sentence of the checker as a finding of the part that it speaks of."""
    area = next((area for pattern, area in _AREAS if pattern.search(text)), Area.GRAPH)
    said, _, context = text.partition("\n\n==> Context: ")
    where = f" ({_flat(context)})" if context else ""
    told = f"onnx.checker: {_flat(said)}{where}".replace(f"{path.parent}/", "")
    return Finding(area, "onnx-checker", told[:_LONGEST])


def inference_findings(text: str) -> Iterator[Finding]:
    """The errors of one inference: of nodes, or of what the graph declares."""
    matches = list(_ERROR.finditer(text))
    for match in matches:
        said = _flat(_TAG.sub("", match["text"]))
        if said in ("", "Inference error(s):"):
            continue  # the node of a function that the next one is in
        name = f"{match['node']!r} " if match["node"] else ""
        area, kind = (Area.GRAPH, "declared") if _DECLARED.search(said) else (Area.NODE, "inference")
        yield Finding(area, kind, f"node {name}({match['op']}): {said}"[:_LONGEST])
    if not matches:
        area = Area.GRAPH if _DECLARED.search(text) else Area.NODE
        yield Finding(area, "inference", f"shape inference: {_flat(_TAG.sub('', text))}"[:_LONGEST])


def _flat(text: str) -> str:
    return " ".join("".join(one if one.isprintable() else " " for one in text).split()).rstrip(".")
