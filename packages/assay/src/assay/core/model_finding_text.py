"""The sentence of every finding: what, where, what to do. One row for each code; nothing else makes words of a finding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay.core.model_finding import Fact, ModelFinding
from assay.core.model_part import ModelPart, part_text
from assay.core.recorded_facts import OTHER_FACTS, of_another_version

_EXPORT = "export the model again"
_KEEP = "keep external data in a regular file of their own beside the model, and export or copy both again"
_UPGRADE = "upgrade onnx or export the model for an older version"

_AGAIN = "export or copy the model again"

UNREADABLE: dict[str, str] = {
    "file-missing": "does not exist; give the path of an ONNX file",
    "file-misspelt": "does not exist; perhaps you mean {0}",
    "file-closed": "cannot be read ({0}); give the path of a readable ONNX file",
    "directory": "is a directory; give the ONNX file inside it",
    "irregular": "is not a regular file; copy the model into one",
    "empty": f"is empty (0 bytes); {_AGAIN}",
    "lfs-pointer": "is a Git LFS pointer, not the model itself; run git lfs pull",
    "too-large": "has {0} bytes, more than the 2 GiB of an ONNX file; save its weights as external data",
    "no-protobuf": f"is not an ONNX model, or damaged: it is no protobuf at byte {{0}} of {{1}}; {_AGAIN}",
    "truncated": f"is truncated or not ONNX: what begins at byte {{0}} goes on after its end ({{1}} bytes); {_AGAIN}",
    "no-graph": f"has no graph ({{1}} bytes); {_AGAIN}",
    "too-many-fields": (
        "has more than a million parts before byte {0}, more than any model; split it, or export it again with fewer nodes"
    ),
    "nested": f"nests graphs deeper than protobuf reads (100 messages) ({{0}} bytes); {_AGAIN}",
    "damaged": f"is damaged inside a node or tensor ({{0}} bytes); {_AGAIN}",
    "too-many-parts": (
        "has more than {0} nodes, inputs, attributes and weights, more than any model; split it, or export it again with fewer nodes"
    ),
    "not-utf8": f"holds a name that is not UTF-8; {_AGAIN}",
    # As earlier versions recorded each of these: with the predicate as its only value.
    "unreadable": "{0}",
}
"""What makes a file none of which anything can be said, as the predicate of a sentence about it."""
SENTENCES: dict[str, str] = {
    # what the model says of itself
    "newer-ir": f"IR version {{0}} is newer than {{1}}, the newest that onnx {{2}} knows; {_UPGRADE}",
    "newer-opset": f"{{about}} is imported at opset {{0}}, newer than {{1}}, the newest that onnx {{2}} knows; {_UPGRADE}",
    "opset-import": "{about} is imported at opset {0}, and the first is 1; import the opset that the nodes follow",
    "duplicate-import": "{about} is imported {0} times (opset {1}); import it once",
    "no-imports": "the model imports no operator set; import the opset that its nodes follow",
    "ir-version": "the model has no IR version; save it with the onnx package",
    "duplicate-metadata": "a key of the metadata is given twice; keep one of them",
    "no-output": "the graph has no output: there is nothing to compare; export the model with its outputs",
    "empty-graph": f"the graph has no node: it computes nothing; {_EXPORT}",
    "initializer-no-input": "{about} is no input, which IR version {0} demands; save the model as IR version {1} or newer",
    # names and order
    "duplicate-value": "{about} has two {0}s called {1}; give each its own name",
    "defined-twice": "{about} defines the value {0} twice: by {1} and by {2}; give each value its own name",
    "defined-over": "{about} defines the value {0} twice: by an input or initializer and by {1}; give each value its own name",
    "shadowed-value": "the value {0} is defined twice, in a subgraph and around it or in one graph; give each value its own name",
    "undefined-value": (
        "{about} uses a value that nobody defines: {0} in {1}; make it an input, an initializer or the output of a node"
    ),
    "missing-output": "{about} has an output that nobody computes: {0}; remove it or add the node that computes it",
    "cycle": f"{{about}} has a cyclic graph: {{chain}}; cut the loop and {_EXPORT}",
    "unsorted": "{about} has an unsorted graph: {0} comes before {1}, which computes its input {2}; sort the nodes topologically",
    "duplicate-node": "{about} is there {0} times; give each node its own name",
    # nodes and functions
    "unknown-operator": "{about}: opset {0} has no operator {1}; correct its name, its domain or the imported opset",
    "later-operator": (
        "{about}: opset {0} has no operator {1}; it came with opset {2}: import that one, or export the model for it"
    ),
    "missing-import": "{about}: no opset is imported for its domain {0}; import it",
    "deprecated": "{about}: {0} is deprecated in opset {1}; use the operator that replaced it",
    "arity": "{about} has {0} {1}, and the operator takes {2}; connect as many as it takes",
    "call-arity": "{about} has {0} {1}, and the function it calls has {2}; connect as many as it has",
    "missing-operand": "{about} leaves out its {0}, which is not optional; connect it",
    "hidden-operator": "{about} has the name of an operator of {0}: each runtime decides for itself which is run; rename it",
    "function-import": "{about} imports domain {0} {1} times; import it once",
    "duplicate-function": "{0} is defined by several functions; keep one of them",
    "recursion": "functions call themselves, directly or through others: {chain}; expand them",
    "expansion": "the functions expand to {0} nodes, more than {1}; let them call fewer others",
    "call-depth": "functions call each other more than {0} deep; expand some of them",
    "other-opset": "{about} goes by opset {0} of {1}, the model by {2}: some runtimes use the model's for both",
    "unused-function": "{about} is called by nobody",
    # attributes
    "unknown-attribute": "{about} has an attribute {0}, which the operator does not have in this opset; remove it",
    "missing-attribute": "{about} lacks its attribute {0}, which is not optional; add it",
    "duplicate-attribute": "{about} has several attributes called {0}; keep one of them",
    "attribute-type": "attribute {0} of {about} is of type {1}, and the operator takes {2}; correct it",
    "attribute-value": "attribute {0} of {about} holds another value than its type says, or several; keep the one of its type",
    "attribute-word": "{about} is {0}, and the operator takes {1}; correct it",
    "attribute-size": "{about} is {0}, and the operator takes 1 and more; correct it",
    "no-value": "{about} holds no value; add it or remove the attribute",
    "reference-outside": "{about} refers to an attribute of a function, and there is none around it; give it a value",
    "reference-unknown": "{about} refers to {0}, which the function does not declare; declare it",
    "call-unknown": "{about} has an attribute {0}, which the function it calls does not declare; remove it",
    "call-missing": "{about} lacks the attribute {0} of the function it calls; add it",
    # stored data
    "no-type": "{about} is of element type {0}, and there is no such type; give the number of an element type of ONNX",
    "negative-dimension": "{about} has shape {0}: a size is 0 or more, and a name where any is taken; correct the shape",
    "overflow": f"{{about}} has shape {{0}}: more elements than an int64 counts; correct the shape or {_EXPORT}",
    "default-type": "{about} is declared {0}, and its initializer is {1}; give both the same type and shape",
    "data-length": f"the data of {{about}} are {{0}} {{1}}, and {{2}} {{3}} needs {{4}}; {_EXPORT}",
    "data-storage": f"{{about}} stores its data in no field, in several or in one of another type ({{0}}); {_EXPORT}",
    "data-segments": f"{{about}} is stored in segments, which no runtime reads; {_EXPORT}",
    "data-undecided": f"{{about}} names external data, but says that its data are in the model; {_EXPORT}",
    "data-range": f"{{about}} holds the {{0}} {{1}}, which is no {{2}}: each runtime makes another of it; {_EXPORT}",
    "sparse": f"a sparse tensor is broken: {{0}}; {_EXPORT}",
    "external-nowhere": f"the external data of {{about}} name no file; {_KEEP}",
    "external-zero-byte": f"the external data of {{about}} have a zero byte in their location; {_KEEP}",
    "external-absolute": f"the external data of {{about}} lie at the absolute path {{0}}; {_KEEP}",
    "external-outside": f"the external data of {{about}} lie at {{0}}, outside the model's folder; {_KEEP}",
    "external-way": f'the external data of {{about}} lie at {{0}}, whose way leads through ".."; {_KEEP}',
    "external-symlink": f"the external data of {{about}} lie at {{0}}, which is a symlink or behind one; {_KEEP}",
    "external-missing": f"the external data of {{about}} are missing: {{0}} ({{1}}); {_KEEP}",
    "external-irregular": f"the external data of {{about}} lie at {{0}}, which is not a regular file; {_KEEP}",
    "external-hard-link": f"the external data of {{about}} lie at {{0}}, a hard link that other paths share; {_KEEP}",
    "external-self": f"the external data of {{about}} lie at {{0}}, the model file itself; {_KEEP}",
    "external-unreadable": "the external data of {about} cannot be read: {0} ({1}); make the file readable",
    "external-pointer": "the external data of {about} lie at {0}, which is a Git LFS pointer; run git lfs pull",
    "external-number": f"the external data of {{about}} have the {{0}} {{1}}, which is no whole number; {_EXPORT}",
    "external-negative": f"the external data of {{about}} have the {{0}} {{1}}, which is negative; {_EXPORT}",
    "external-length": f"the external data of {{about}} are said to have {{0}} bytes, but its type and shape need {{1}}; {_EXPORT}",
    "external-short": "the external data of {about} are truncated: {0} has {1} bytes, {2} are needed; copy or export the file again",
    "external-entries": f"the external data of {{about}} are described by two entries of one name; {_EXPORT}",
    "external-checksum": (
        "the external data of {about} in {0} are not those that were exported: their SHA-1 is stated as {1} and is {2}; "
        "copy or export the file again"
    ),
    "external-overlap": f"{{about}} and {{0}} overlap in {{1}} (from byte {{2}}); {_EXPORT}",
    # what nodes are given
    "inference": "{about} does not take what it is given: {0}{inputs}; correct the types, shapes or attributes named here",
    "index": "{about} has the constant index {0} for axis {1} of an input of shape {2}; correct the constant",
    "axis": "{about} has axis {0} for an input of shape {1}; correct the constant",
    "zero-delta": "{about} has a delta of 0 and would never end; correct the constant",
    "zero-divisor": "{about} divides whole numbers by 0; correct the constant",
    "no-room": "{about} makes {0} of shape {1}: a window is larger than what it slides over, or a size is negative; correct the sizes",
    "resize-scale": "{about} scales by {0}; a scale is more than 0; correct it",
    "weight-rank": "{about} has weights of shape {0} for an input of shape {1}: not of one rank; correct one of them",
    "weight-channels": "{about} has weights of shape {0} in {1} groups, and its input has {2} channels; correct one of them",
    "group": "{about} has {0} groups, which do not divide the {1} channels of its weights; correct the attribute",
    "kernel-shape": "{about} says kernel_shape {0}, and its weights are of shape {1}; correct the attribute",
    "recurrent-input": "{about} has weights of shape {0} for an input of shape {1}: their last sizes differ; correct one of them",
    "recurrent-gates": "{about} has recurrence weights of shape {0}, and {1} gates of {2} values; correct the weights",
    "recurrent-weights": "{about} has weights of shape {0} and recurrence weights of shape {1}; correct one of them",
    "hidden-size": "{about} says hidden_size {0}, and its weights have {1}; correct the attribute",
    "reshape": "{about} reshapes {0}, {1} values, to {2}; correct the target shape",
    "variance": "{about} has a variance of {0}: its square root is NaN; export the model again from sound weights",
    "channel-values": "{about} has a {0} of {1} values, and its input has {2} channels; give one value for each channel",
    "blocks": "{about} splits a size of {0} into parts of {1} (input {2}), which is not even; correct the blocksize",
    "broadcast": "{about} has as input {0} a tensor of shape {1}, which does not broadcast to {2}; correct its shape",
    "bound": "{about} has as input {0} a tensor of shape {1}, and takes a scalar there; correct its shape",
    "scale": "{about} has a scale of {0}; calibrate or export the model again",
    "zero-scale": "{about} has a scale of 0, by which it divides; calibrate or export the model again",
    "zero-points": "{about} has zero points of shape {0} for scales of shape {1}; give one for each scale",
    "scale-count": "{about} has {0} scales for axis {1} of an input of shape {2}; give one scale for each place of that axis",
    # what is declared
    "declared-kind": "the model contradicts itself: {about} is declared to be a {0}, and its nodes give a {1}",
    "declared-type": "the model contradicts itself: {about} is declared {0}, and its nodes give {1}",
    "declared-shape": "the model contradicts itself: {about} is declared as {0}, and its nodes give {1}",
    "declared": "the model contradicts itself: what {about} gives is declared otherwise than its nodes give it: {0}",
    # the rest of what onnx.checker knows
    "missing-field": f"{{about}}: the field {{0}} of {{1}} is missing or empty; {_EXPORT}",
    "step-failed": "the step {0} of the examination does not know what to make of the model ({1}: {2})",
    "onnx-checker": f"onnx.checker refuses {{about}}: {{0}}; {_EXPORT}",
}


def sentence(finding: ModelFinding, more: Mapping[str, str] | None = None) -> str:
    """`more` are rows of a collection's own."""
    written = [_written(value) for value in finding.values]
    chain, inputs = " -> ".join(map(str, written)), ", ".join(map(str, written[1:]))
    given = f" (its inputs are {inputs})" if inputs else ""
    about = part_text(finding.about)
    try:
        row = {**SENTENCES, **UNREADABLE, **(more or {})}[finding.code]
        return row.format(*written, about=about, chain=chain, inputs=given)
    except OTHER_FACTS:
        return of_another_version(finding.code, {"about": about, **{str(at): text for at, text in enumerate(written)}})


def _written(value: Fact) -> int | str:
    return part_text(value) if isinstance(value, ModelPart) else value


def refusal(path: Path, findings: Sequence[ModelFinding], most: int = 1) -> str:
    """Why a file is refused: a line for each of its first findings, and how many there are beside them."""
    lines = [f"{path}{' ' if finding.code in UNREADABLE else ': '}{sentence(finding)}" for finding in findings[:most]]
    more = len(findings) - len(lines)
    return "\n".join(lines) + (f" (and {more} more finding{'s' if more > 1 else ''})" if more else "")
