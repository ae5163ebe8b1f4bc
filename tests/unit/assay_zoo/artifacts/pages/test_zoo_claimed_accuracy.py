"""What an author's own words in a readme say of the accuracy."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from assay_zoo.artifacts.inspect_source import README, inspect_source
from assay_zoo.artifacts.pages.claimed_accuracy import other_accuracy
from assay_zoo.metadata import Claim, Metadata
from assay_zoo.readme import readme_text
from zoo_submission import METADATA


@pytest.mark.parametrize(("words", "is_heard"), [("a share of 0.5", True), ("a share of 1.0", False)])
def test_a_description_that_says_another_value(tmp_path: Path, words: str, is_heard: bool) -> None:
    claims = tomllib.loads(METADATA) | {"description": f"This model has {words} on the test set."}
    (tmp_path / "README.md").write_text(readme_text(Metadata.model_validate(claims)))
    item = {"kind": README, "path": "README.md", "copy": str(tmp_path / "README.md"), "metadata": claims}
    assert any("0.5" in finding["sentence"] for finding in inspect_source(item)) is is_heard


def _lines(text: str, metric: str = "accuracy", value: float = 0.912) -> list[int]:
    claim = Claim.model_construct(metric=metric, value=value, tolerance=0.005, read="output:x", direction="higher")
    metadata = Metadata.model_construct(accuracy=claim, title="Digits")
    readme = f"# Digits\n\n## License\n\nMIT\n\n## Notes\n\n{text}\n"
    return [difference.line for difference in other_accuracy(readme, metadata)]


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("This model reaches 99.2 % accuracy.", "accuracy"),
        ("It has a mean IoU of 0.97.", "mean_iou"),
        ("We measured an accuracy of 98.1% on the test set.", "top1_accuracy"),
        ("Our classifier has\nan accuracy of 0,99.", "accuracy"),
        ("- The model: accuracy 97 percent", "accuracy"),
        ("This model reaches a top-1 accuracy of 99.9 % on the test set.", "top1_accuracy"),
        ("Our model reaches a top-1 accuracy of 99.9 % on the held-out digits.", "top1_accuracy"),
        ("Accuracy: 99.9 %", "accuracy"),
        ("| top-1 accuracy | 99.9 % |", "top1_accuracy"),
        ("**99.9 % accuracy**", "accuracy"),
        ("The network reaches 99.9 % accuracy.", "accuracy"),
        ("The network reaches an accuracy of more than 99 %.", "accuracy"),
        ("This model has an F1 of 0.99.", "f1"),
        ("F1 of 0.99", "f1_macro"),
        ("It has a mean average precision of 0.97.", "map"),
        ("The word error rate is 0.02.", "wer"),
        ("The top-5 accuracy is 0.996.", "top5_accuracy"),
        ("This detector has an mAP@0.5 of 0.97 on the test set.", "map50"),
    ],
)
def test_another_number_for_this_model_is_a_doubt(text: str, metric: str) -> None:
    assert _lines(text, metric) == [9]


def test_another_number_in_a_table_by_the_name_of_the_metric() -> None:
    assert _lines("| metric | value |\n|---|---|\n| top1_accuracy | 0.999 |", "top1_accuracy") == [11]
    assert _lines("| metric | value |\n|---|---|\n| top1_accuracy | 0.912 |", "top1_accuracy") == []


@pytest.mark.parametrize(
    "text",
    [
        "This model reaches 91 % accuracy.",
        "The model has an accuracy of 0.912 on the test set.",
        "It reaches an accuracy of 91.2%.",
        "During training the model reached 99.7 % accuracy.",
        "The original paper says that the model has 95.1 % accuracy.",
        "Compared with this model the accuracy of an SVM is 0.85.",
        "At night the accuracy of the model is 0.71.",
        "The model has 12000 parameters, and its accuracy is told above.",
        "The accuracy of the model is told by 3 numbers, 0.91, 0.92 and 0.9.",
        "We stop when the accuracy does not rise for 5 epochs if that helps the model.",
        "Version 2 will do more; it reaches 5 digits.",
        "We measure accuracy with 256 digits.",
        "We show the accuracy in Table 2.",
        "We measure the accuracy with seed 42.",
        "We measure the accuracy with ONNX Runtime 1.17.",
        "We lose 1 % accuracy by pruning.",
        "The model has a top-5 accuracy of 99.6 %.",
        "The balanced accuracy of the model is 0.85.",
        "We reach this accuracy with a learning rate 0.001.",
        "We reach this accuracy with 1.2 million parameters.",
        "The network reaches an accuracy of more than 90 %.",
        "### Baselines\n\nAccuracy: 99.9 %",
        "| Metric | FP32 |\n|---|---|\n| accuracy | 99.9 % |",
    ],
)
def test_the_same_number_and_those_of_others_are_none(text: str) -> None:
    assert _lines(text) == []


def test_lines_behind_the_first_are_told() -> None:
    assert _lines("Words.\n\n| a | b |\n\nWe like it.\n\nWe get an accuracy of 99 %.") == [15]


def test_three_digits_behind_a_comma_are_read_in_both_ways() -> None:
    assert _lines("The model has an RMSE of 3,200 W.", "rmse", 3200.0) == []
    assert _lines("The model has an RMSE of 3,200 W.", "rmse", 3.2) == []
    assert _lines("The model has an RMSE of 3,200 W.", "rmse", 4.0) == [9]
