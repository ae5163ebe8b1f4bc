"""Broken in what the metadata claim: directions, ranges, tolerances, names, versions, ports."""

from __future__ import annotations

import re
from pathlib import Path

from case import Break, broken


def _metadata(pattern: str, put: str) -> Break:
    """One line of metadata.toml is another; the readme that is made of it says so, too."""

    def breaks(folder: Path) -> None:
        file = folder / "metadata.toml"
        text = file.read_text(encoding="utf-8")
        changed, count = re.subn(pattern, put, text, count=1, flags=re.MULTILINE)
        assert count, f"metadata.toml has nothing like {pattern!r}"
        file.write_text(changed, encoding="utf-8")

    return breaks


ACCURACY = r"^tolerance = .*$"
for name, what, pattern, put in (
    ("claim-other-direction", "less accuracy is said to be better", ACCURACY, 'tolerance = 0.001\ndirection = "lower"'),
    ("claim-wide-tolerance", "a tolerance of a half", ACCURACY, "tolerance = 0.5"),
    ("claim-negative-tolerance", "a tolerance below zero", ACCURACY, "tolerance = -0.1"),
    ("claim-infinite-tolerance", "an infinite tolerance", ACCURACY, "tolerance = inf"),
    ("claim-of-other-metric", "a metric that the scenario does not ask for", r'^metric = ".*"$', 'metric = "loss"'),
    (
        "claim-for-other-scenario",
        "a scenario that the zoo does not have",
        r'^scenario = ".*"$',
        'scenario = "image-classificaton"',
    ),
    ("metadata-with-unknown-key", "a key that nobody knows", r"^opset = ", "quality = 'best'\nopset = "),
    ("metadata-of-other-name", "the name is not that of the folder", r'^name = "small-digits"$', 'name = "digits"'),
    ("metadata-version-in-words", "the version is a word", r'^version = ".*"$', 'version = "latest"'),
    ("metadata-unknown-dtype", "an input of a type that does not exist", r'^dtype = "float32"$', 'dtype = "float"'),
    ("metadata-without-contributors", "nobody made it", r"^contributors = .*$", "contributors = []"),
    ("metadata-model-outside", "the model is a file of the system", r'^model = ".*"$', 'model = "/etc/passwd"'),
):
    also = ("artifacts.readme", "artifacts.parts", "artifacts.notebooks")
    broken(name, what, "artifacts.metadata", near=True, also=also)(_metadata(pattern, put))


broken("metadata-is-no-toml", "the metadata cannot be read", "files.readable", near=True)(
    _metadata(r"^title = ", "title == ")
)


def _value(value: str) -> Break:
    return _metadata(r"^value = .*$", f"value = {value}")


for name, value in {
    "claim-above-one": "1.5",
    "claim-below-zero": "-0.5",
    "claim-not-a-number": "nan",
    "claim-infinite": "inf",
}.items():
    broken(name, f"an accuracy of {value}", "artifacts.metadata", near=True, also=("artifacts.readme",))(_value(value))

for name, what, pattern, put, check in (
    ("metadata-of-other-dtype", "the metadata say float64 and the model reads float32", r"^dtype = .float32.$",
     'dtype = "float64"', "compliance.graph"),
    ("metadata-of-other-opset", "the metadata say opset 13 and the model has 17", r"^opset = 17$", "opset = 13", "compliance.model"),
):  # fmt: skip
    broken(name, what, check, near=True, also=("artifacts.readme",))(_metadata(pattern, put))
for name, what, put, check in (
    ("version-again", "other contents under the version that is served", 'version = "1.0"', "artifacts.metadata"),
    ("version-below", "a version below the one that is served", 'version = "0.9"', "artifacts.metadata"),
):

    def _again(folder: Path, put: str = put) -> None:
        _metadata(r'^version = ".*"$', put)(folder)
        (folder / "more.txt").write_text("other contents\n", encoding="utf-8")

    broken(name, what, check, near=True, previous=True, also=("artifacts.readme",))(_again)
