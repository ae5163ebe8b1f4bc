"""A readme is written from the metadata; what its author adds stands below, in sections of its own."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay_zoo.metadata import Claim, Dataset, Metadata, Port
from assay_zoo.readme import TITLES, differences, line_above_sections, missing_sections, readme_text

METADATA = Metadata(
    name="digits", version="1.0", title="Digits", description="Reads a digit.", license="Apache-2.0", scenario="s",
    use_cases=("forms",), source="trained here", references=("A paper, 1998",), contributors=("A person",), opset=17,
    inputs=(Port(name="image", dtype="float32", shape=("batch", 1, 8, 8)),),
    outputs=(Port(name="logits", dtype="float32", shape=("batch", 10)),),
    dataset=Dataset(name="UCI digits", source="a link", license="CC-BY-4.0", preparation="a quarter is held out"),
    accuracy=Claim(metric="top1_accuracy", value=0.9532, read="output:top1"),
)  # fmt: skip
TEXT = readme_text(METADATA)


def told(text: str) -> list[str]:
    return [difference.sentence for difference in differences(text, METADATA)]


def test_what_is_written_from_the_metadata_says_what_they_say() -> None:
    assert told(TEXT) == []
    assert told(TEXT.replace("\n", "\r\n")) == []


WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=20).filter(
    lambda text: text.strip() != ""
)


@pytest.mark.heavy
@settings(deadline=None, max_examples=60)
@given(WORDS, WORDS, WORDS)
def test_so_does_one_of_any_words(first: str, second: str, third: str) -> None:
    metadata = METADATA.model_copy(
        update={"description": first, "title": second, "references": (third,), "contributors": (first, third)}
    )
    text = readme_text(metadata)
    assert differences(text, metadata) == []
    assert line_above_sections(text, metadata) == 0
    assert readme_text(metadata, text) == text


def test_every_section_is_missed_by_name() -> None:
    (difference,) = missing_sections("# Digits\n")
    assert all(repr(name) in difference.sentence for name in TITLES)
    for name in TITLES:
        without = TEXT.replace(f"## {name}\n", "## Something else\n")
        assert without != TEXT
        assert told(without) == [f"has no section {name!r}: `assay zoo readme` writes it from metadata.toml"]


@pytest.mark.parametrize(
    ("original", "put", "section"),
    [
        ("Apache-2.0", "MIT", "License"),
        ("0.9532", "0.95321", "Accuracy"),
        ("top1_accuracy", "top5_accuracy", "Accuracy"),
        ("(batch, 1, 8, 8)", "(batch, 1, 8)", "Inputs and outputs"),
        ("- A person", "- Another", "Contributors"),
        ("- A person", "- A person\n- Another", "Contributors"),
        ("`postprocess.py`", "`post.py`", "Pre- and post-processing"),
        ("Reads a digit.", "Reads a digit. Its accuracy is 0.99.", "Description"),
    ],
)
def test_a_section_that_says_anything_else_is_named_with_its_line(original: str, put: str, section: str) -> None:
    text = TEXT.replace(original, put)
    assert text != TEXT
    (difference,) = differences(text, METADATA)
    assert repr(section) in difference.sentence
    assert text.splitlines()[difference.line - 1] == f"## {section}"


def test_the_title_stands_first_and_alone() -> None:
    assert [difference.line for difference in differences(TEXT.replace("# Digits", "# Letters"), METADATA)] == [1]
    assert [
        difference.line for difference in differences(TEXT.replace("# Digits", "# Digits\n\n99 % right!"), METADATA)
    ] == [1]


@pytest.mark.parametrize(
    ("badges", "count"),
    [
        (
            "[![License](https://img.shields.io/badge/License-Apache_2.0-blue.svg)](LICENSE)\n![opset](https://img.shields.io/badge/opset-17-blue)",
            0,
        ),
        (
            '<p align="center">\n  <a href="https://arxiv.org/abs/1"><img src="https://img.shields.io/badge/arXiv-1-red"></a>\n</p>',
            0,
        ),
        ("![License](https://img.shields.io/badge/License-MIT-blue.svg)", 1),
        ("![Accuracy](https://img.shields.io/badge/accuracy-99.9-green)", 1),
        ("![](https://img.shields.io/badge/right-99%25-green)", 1),
        ("![](https://img.shields.io/badge/License-GPL_v3-blue)", 1),
        ("![](https://img.shields.io/badge/License-CC_BY--NC_4.0-blue)", 1),
        ("![](https://img.shields.io/badge/License-Proprietary-red)", 1),
        ("![](https://img.shields.io/badge/License-Apache_1.1-red)", 1),
        ("![License: proprietary](a.png)", 1),
        ("![](https://img.shields.io/badge/AUC-0.99-green)", 1),
        ("![](https://img.shields.io/badge/BLEU-45.2-green)", 1),
        ("![](https://img.shields.io/badge/onnx_WER-2.1-green)", 1),
        ("![](https://img.shields.io/static/v1?label=Acc&message=99.1)", 1),
        ('<img src="https://img.shields.io/badge/m_AUC-0.99-green">', 1),
        ("[![m](https://img.shields.io/badge/model-page-blue)](https://huggingface.co/isc-lab/model)", 0),
        ("![License](https://img.shields.io/github/license/a/b)", 0),
        ("![](https://img.shields.io/badge/python-3.11-blue) ![](https://img.shields.io/badge/onnx_opset-17-blue)", 0),
        ("![zoo](https://zoo.example/badge/resnet50-v1-12.svg)", 0),
        ("[![DOI](https://zenodo.org/badge/DOI/10.5281/zenodo.1.svg)](https://doi.org/10.5281/zenodo.1)", 0),
        ("![a](a.png) and words", 1),
        ('<p align="center"><img src="a.png"> and words</p>', 1),
    ],
)
def test_badges_below_the_title_stay_where_they_say_nothing_else(badges: str, count: int) -> None:
    text = TEXT.replace("# Digits\n", f"# Digits\n\n{badges}\n", 1)
    assert len(told(text)) == count
    assert bool(line_above_sections(text, METADATA)) is bool(count)
    if not count:
        assert readme_text(METADATA, text) == text


@pytest.mark.parametrize("heading", ["## License", "##   **license** ", "License\n-------"])
def test_a_section_is_there_once(heading: str) -> None:
    (difference,) = differences(f"{TEXT}\n{heading}\n\nMIT\n", METADATA)
    assert "'License'" in difference.sentence
    twice = f"{TEXT}\n## License\n\nApache-2.0\n"
    assert told(twice) == ["has section 'License' a second time"]


def test_sections_of_ones_own_stay_when_it_is_written_again() -> None:
    own = "## How it was trained\n\n```\n## License\n```\n\n### Data\n\nOn a desk.\n"
    assert told(f"{TEXT}\n{own}") == []
    changed = METADATA.model_copy(update={"version": "1.1", "description": "Reads digits."})
    again = readme_text(changed, f"{TEXT}\n{own}")
    assert again == f"{readme_text(changed)}\n{own}"
    assert differences(again, changed) == []
    assert readme_text(changed, again) == again


@pytest.mark.parametrize("own", ["# Thanks\n\nTo all.\n", "Thanks\n======\n\nTo all.\n", "# License\n\nOf the data.\n"])
def test_so_do_those_of_the_first_level(own: str) -> None:
    own = f"{own}\n## More\n\nWords.\n"
    assert told(f"{TEXT}\n{own}") == []
    assert readme_text(METADATA, f"{TEXT}\n{own}") == f"{TEXT}\n{own}"
    assert told(TEXT.replace("## License", "# License"))[0].startswith("has no section 'License'")


@pytest.mark.parametrize(
    ("before", "line"),
    [
        (TEXT, 0), ("", 0), ("# Letters\n\n## Own\n\nWords.\n", 0), ("## Own\n\nWords.\n", 0), ("# A\n\n# B\n\nWords.\n", 0),
        ("# Digits\n\nWords.\n\n## Description\n", 3), ("Digits\n======\n\n\nWords.\n", 5), ("\nWords.\n\n# Digits\n", 2),
        ("Words.\n", 1), ("Words.\n\n## Description\n", 1), ("# Digits\n\n### Words\n", 3),
    ],
)  # fmt: skip
def test_words_above_the_sections_have_no_place_and_are_found(before: str, line: int) -> None:
    assert line_above_sections(before, METADATA) == line
