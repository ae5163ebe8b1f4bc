"""Addresses, names, titles and licences that say something else than they are; golden answers that never change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest

from assay_zoo.artifacts.pages.addresses import deceiving
from assay_zoo.artifacts.published import inspect_published
from assay_zoo.artifacts.rights.license import license_of, other_license_of, stated_in
from assay_zoo.conflicts import look
from assay_zoo.files.names import name_problems
from assay_zoo.functionality.golden import _same


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        ("https://arxiv.org/abs/1512.03385", ""),
        ("https://m\u00fcnchen.example.de/x", ""),
        ("https://github.com/o/r/blob/main/@x", ""),
        ("https://8.8.8.8/x", ""),
        ("https://\u0430rxiv.org/abs/1", "declines"),
        ("https://xn--rxiv-43d.org/abs/1", "declines"),
        ("https://arxiv.org@evil.example/abs/1", "declines"),
        ("http://[::1/x", "asks"),
        ("http://localhost:8000/paper.pdf", "asks"),
        ("http://192.168.0.7/paper", "asks"),
        ("http://build.internal/paper", "asks"),
    ],
)
def test_an_address_that_misleads(page: str, answer: str) -> None:
    trouble = deceiving(page)
    assert ("asks" if trouble.startswith("?") else "declines" if trouble else "") == answer


@pytest.mark.parametrize(
    ("name", "is_taken"),
    [
        ("R&D notes.txt", True),
        ("a-b_c (1).txt", True),
        ("cost$.txt", True),
        ("--checkpoint-action=exec=sh x.txt", False),
        ("data/-r.txt", False),
        ("$(id).txt", False),
        ("`id`.txt", False),
        ("~root.txt", False),
    ],
)
def test_a_name_that_a_shell_runs(name: str, is_taken: bool) -> None:
    assert (not list(name_problems([name]))) is is_taken


def test_letters_that_together_look_like_one() -> None:
    assert look("rnodel-vvide") == look("model-wide")
    assert look("learn") != look("lean")


APACHE = "Apache License\nVersion 2.0, January 2004\n"
AGPL = "GNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3\n"


def test_a_second_licence_behind_the_first() -> None:
    assert other_license_of(APACHE + AGPL, license_of(APACHE + AGPL)) == "AGPL-3.0"
    assert not other_license_of(APACHE, license_of(APACHE))


@pytest.mark.parametrize(
    ("text", "license"),
    [
        ("cff-version: 1.2.0\nlicense: GPL-3.0-only\n", "GPL-3.0-only"),
        ('{\n  "license": "https://spdx.org/licenses/MIT",\n  "name": "x"\n}', "MIT"),
        ("title: a license: MIT is free\n", ""),
    ],
)
def test_what_a_file_for_machines_says(text: str, license: str) -> None:
    assert stated_in(text) == license


@pytest.mark.parametrize(
    ("key", "value", "doc", "stated", "restricted"),
    [
        ("license", "GPL-3.0-only", "", "GPL-3.0-only", False),
        ("model_license", "apache-2.0", "", "Apache-2.0", False),
        ("License", "The Apache License, Version 2.0", "", "Apache-2.0", False),
        ("license", "proprietary", "", "", True),
        ("author", "GPL-3.0-only", "Exported by somebody", "", False),
        ("license", "see LICENSE", "", "", False),
        ("x", "y", "For research use only", "", True),
        ("license", "Apache 2.0 or MIT", "", "", False),
        ("license", "GNU GPL version 3 or the Apache License 2.0", "", "", False),
        ("license", "GNU General Public License (GPL), version 3", "", "GPL-3.0", False),
        ("license", "MIT OR Apache-2.0", "", "MIT OR Apache-2.0", False),
        ("license", "free for commercial and non-commercial use", "", "", True),
        ("license", "for non-commercial use", "", "", True),
        ("x", "y", "Classifies documents: public, internal, confidential.", "", False),
        ("x", "y", "Detects proprietary formats", "", False),
        ("x", "y", "Reads license plates, proprietary fonts too.", "", False),
        ("x", "y", "This model should not be used for medical diagnosis.", "", False),
        (
            "x",
            "y",
            "Copyright 2026 Example Ltd. All rights reserved.\nLicensed under the Apache License 2.0.",
            "",
            False,
        ),
        ("x", "y", "Copyright 2026 Example Ltd. All rights reserved.", "", True),
        ("x", "y", "Detects cats. Must not be used for commercial\npurposes.", "", True),
        ("x", "y", "Detects cats; the licence is proprietary.", "", True),
        ("x", "y", "Finds confidential papers, for research use only.", "", True),
        ("x", "y", "These weights are confidential.", "", True),
        ("x", "y", "Non-commercial use", "", True),
    ],
)
def test_the_licence_that_a_model_says_of_itself(
    tmp_path: Path, key: str, value: str, doc: str, stated: str, restricted: bool
) -> None:
    model = onnx.ModelProto(doc_string=doc)
    onnx.helper.set_model_props(model, {key: value})
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    facts = inspect_published({"kind": "model", "copy": str(tmp_path / "m.onnx"), "path": "m.onnx"})
    assert (facts["stated"], bool(facts["restricted"])) == (stated, restricted)


@pytest.mark.parametrize(
    ("notes", "is_restricted"),
    [
        (("For internal", "use only."), True),
        (("The weights may not", "be redistributed"), True),
        (("Reads digits", "of all kinds"), False),
        (("The first block: for internal use by the decoder", "the second"), False),
    ],
)
@pytest.mark.parametrize("place", ["node", "metadata", "node's metadata"])
def test_a_note_in_parts(tmp_path: Path, notes: tuple[str, ...], is_restricted: bool, place: str) -> None:
    model = onnx.ModelProto()
    for at, note in enumerate(notes):
        node = model.graph.node.add(op_type="Relu", doc_string=note if place == "node" else "")
        if place != "node":
            (model if place == "metadata" else node).metadata_props.add(key=f"part {at}", value=note)
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    facts = inspect_published({"kind": "model", "copy": str(tmp_path / "m.onnx"), "path": "m.onnx"})
    assert bool(facts["restricted"]) is is_restricted


def test_answers_that_differ_by_a_rounding_are_one() -> None:
    row = np.array([0.5, -2.0, 1.0])
    assert _same([{"y": np.stack([row, row + 1e-12])}])
    assert not _same([{"y": np.stack([row, row + 1e-3])}])
