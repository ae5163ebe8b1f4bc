"""A readme that is written from the metadata agrees with them; one that a person wrote is read as a person would."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay_zoo.metadata import Claim, Dataset, Metadata, Port
from assay_zoo.readme import SECTIONS, differences, missing_sections, readme_text

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
    return [one.key or one.sentence for one in differences(text, METADATA)]


def test_what_is_written_from_the_metadata_says_what_they_say() -> None:
    assert told(TEXT) == []


WORDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=20).filter(
    lambda text: text.strip() != ""
)


@settings(deadline=None, max_examples=60)
@given(WORDS, WORDS, WORDS)
def test_so_does_one_of_any_words(first: str, second: str, third: str) -> None:
    metadata = METADATA.model_copy(
        update={"description": first, "title": second, "references": (third,), "contributors": (first, third)}
    )
    assert differences(readme_text(metadata), metadata) == []


def test_every_section_is_missed_by_name() -> None:
    assert len(missing_sections("# Digits\n")) == len(SECTIONS)
    for section in SECTIONS:
        heading = f"## {section.titles[0]}\n"
        without = TEXT.replace(heading, "## Something else\n")
        assert without != TEXT
        assert told(without) == [f"has no section {section.titles[0]!r}: add it"]


@pytest.mark.parametrize(
    ("found", "put", "key"),
    [
        ("# Digits", "# Letters", "title"),
        ("Apache-2.0", "MIT", "license"),
        ("0.9532", "0.97", "accuracy.value"),
        ("0.9532", "0.95321", "accuracy.value"),
        ("top1_accuracy", "top5_accuracy", "accuracy.metric"),
        ("(batch, 1, 8, 8)", "(batch, 1, 8)", "inputs[0].shape"),
        ("(batch, 1, 8, 8)", "(batch, 1, 8, 8, 3)", "inputs[0].shape"),
        ("`logits`", "`probabilities`", "outputs[0].name"),
        ("- A person", "- Another", "contributors[0]"),
        ("UCI digits", "MNIST", "dataset.name"),
        ("`postprocess.py`", "`post.py`", "postprocessing"),
        ("A paper, 1998", "A paper, 19", "references[0]"),
    ],
)
def test_the_field_that_differs_is_named_with_the_line_of_its_section(found: str, put: str, key: str) -> None:
    text = TEXT.replace(found, put)
    assert text != TEXT
    (one,) = differences(text, METADATA)
    assert one.key == key
    heading = text.splitlines()[one.line - 1]
    assert heading.startswith("#")


@pytest.mark.parametrize(
    ("found", "put"),
    [
        ("## License", "## Licence"),
        ("## License", "### LICENSE"),
        ("## Data set", "## Dataset"),
        ("0.9532 (higher", "95.3 % (higher"),
        ("0.9532 (higher", "0.953 (higher"),
        ("(batch, 1, 8, 8)", "[batch, 1, 8, 8]"),
        ("(batch, 1, 8, 8)", "batch x 1 x 8 x 8"),
        ("Reads a digit.", "*Reads* a\ndigit. And more."),
        ("- A person", "* **A person** <a@b.example>"),
    ],
)
def test_a_person_may_write_it_otherwise(found: str, put: str) -> None:
    text = TEXT.replace(found, put)
    assert text != TEXT
    assert told(text) == []


def test_a_link_says_its_words_and_its_target() -> None:
    metadata = METADATA.model_copy(update={"source": "https://example.com/model", "references": ("The paper",)})
    text = readme_text(METADATA).replace("trained here", "[the repository](https://example.com/model)")
    text = text.replace("A paper, 1998", "[The paper](https://example.com/paper)")
    assert differences(text, metadata) == []
