"""A name that somebody types when a finger slips asks a person; the names of a family, which are nearly alike, do not."""

from __future__ import annotations

import pytest

from assay_zoo.conflicts import one_slip_away
from assay_zoo.manifest import Entry


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("digtis-v1", "digits-v1"), ("wihsper-tiny", "whisper-tiny"), ("bret-base", "bert-base"), ("bert-bsae", "bert-base"),
        ("resnt50", "resnet50"), ("resnett50", "resnet50"), ("rsenet50", "resnet50"), ("yollov5s", "yolov5s"),
        ("dgits-v1", "digits-v1"), ("digit5-v1", "digits-v1"),
    ],
)  # fmt: skip
def test_a_slip_of_the_finger(name: str, other: str) -> None:
    assert list(one_slip_away(name, {other: Entry(current="")}))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("resnet", "resnext"), ("resnext-50", "resnet-50"), ("regnetx-002", "regnety-002"), ("mnist", "kmnist"), ("emnist", "kmnist"),
        ("mnist-cnn", "emnist-cnn"), ("modela", "modelb"), ("codebert", "codebart"), ("house-price", "horse-price"),
        ("translate-en-de", "translate-de-en"), ("yolov5s", "yolov5m"), ("t5-small", "ts-small"), ("model-12", "model-21"),
        ("over-water", "rover-water"), ("house-2011", "house-20111"),
    ],
)  # fmt: skip
def test_families_of_models_have_names_nearly_alike(name: str, other: str) -> None:
    for new, old in ((name, other), (other, name)):
        assert not list(one_slip_away(new, {old: Entry(current="")}))
