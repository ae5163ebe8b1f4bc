"""Broken in what a person writes: the readme, the metadata, and the parts that a submission must have."""

from __future__ import annotations

import re
from pathlib import Path

from case import broken, first_cell, replace


def _without_section(folder: Path, title: str) -> None:
    readme = folder / "README.md"
    text = readme.read_text(encoding="utf-8")
    kept = re.sub(rf"^## {title}\n.*?(?=^## |\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    assert kept != text, f"README.md has no section {title!r}"
    readme.write_text(kept, encoding="utf-8")


def _metadata(folder: Path, pattern: str, put: str) -> None:
    file = folder / "metadata.toml"
    text = file.read_text(encoding="utf-8")
    changed, count = re.subn(pattern, put, text, count=1, flags=re.MULTILINE)
    assert count, f"metadata.toml has nothing like {pattern!r}"
    file.write_text(changed, encoding="utf-8")


def _license(folder: Path, name: str) -> None:
    """In both places alike: that they differ is another reason."""
    _metadata(folder, r'^license = ".*"$', f'license = "{name}"')
    replace(folder / "README.md", "Apache-2.0", name)


@broken("readme-missing", "there is no readme", "artifacts.parts")
def _(folder: Path) -> None:
    (folder / "README.md").unlink()


@broken("readme-without-references", "the readme has no section References", "artifacts.readme")
def _(folder: Path) -> None:
    _without_section(folder, "References")


@broken("readme-says-other-accuracy", "the readme claims more than the metadata", "artifacts.readme")
def _(folder: Path) -> None:
    claim = re.search(r"^value = ([0-9.]+)$", (folder / "metadata.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert claim
    replace(folder / "README.md", claim[1], "0.9999")


@broken("metadata-without-use-cases", "the metadata has no use_cases", "artifacts.metadata")
def _(folder: Path) -> None:
    _metadata(folder, r"^use_cases = \[[^\]]*\]\n", "")


@broken("metadata-of-wrong-type", "the metadata spells the opset out", "artifacts.metadata")
def _(folder: Path) -> None:
    _metadata(folder, r"^opset = [0-9]+$", 'opset = "seventeen"')


@broken(
    "metadata-names-other-input",
    "metadata and readme name an input that the model does not have",
    "compliance.graph",
)
def _(folder: Path) -> None:
    _metadata(folder, r'^name = "image"$', 'name = "picture"')
    replace(folder / "README.md", "| `image` |", "| `picture` |")


@broken("license-not-spdx", "a licence that is no SPDX expression", "artifacts.license")
def _(folder: Path) -> None:
    _license(folder, "Apache License, second edition")


@broken("license-not-allowed", "a licence that the zoo does not take", "artifacts.license")
def _(folder: Path) -> None:
    _license(folder, "GPL-3.0-only")


@broken(
    "license-for-a-person",
    "a licence that the zoo does not take, in a zoo where a person looks at what artifacts find",
    "artifacts.license",
    answer="needs a person",
    zoo=("[decision]", 'person = ["artifacts"]'),
)
def _(folder: Path) -> None:
    _license(folder, "GPL-3.0-only")


@broken("no-validation-notebook", "there is no validation notebook", "artifacts.parts")
def _(folder: Path) -> None:
    (folder / "validation.ipynb").unlink()


@broken("no-inference-notebook", "there is no inference notebook", "artifacts.parts")
def _(folder: Path) -> None:
    (folder / "inference.ipynb").unlink()


@broken("notebook-is-no-notebook", "the inference notebook is a text file", "files.readable")
def _(folder: Path) -> None:
    (folder / "inference.ipynb").write_text("print('a script, renamed')\n", encoding="utf-8")


@broken("no-preprocessing", "the metadata names a preprocessing script that is not there", "artifacts.parts")
def _(folder: Path) -> None:
    _metadata(folder, r"^opset = ", 'preprocessing = "prepare.py"\nopset = ')
    replace(folder / "README.md", "`preprocess.py`", "`prepare.py`")


@broken(
    "import-of-missing-script",
    "a notebook imports a script that is not there",
    "artifacts.sources",
)
def _(folder: Path) -> None:
    first_cell(folder / "inference.ipynb", "import helpers_of_mine\n")


@broken("no-test-data", "there is no test data set", "artifacts.samples")
def _(folder: Path) -> None:
    for file in folder.glob("test_data_set_*/*.pb"):
        file.unlink()
    for path in folder.glob("test_data_set_*"):
        path.rmdir()


@broken(
    "data-without-expected-outputs",
    "a data set has inputs and no expected output",
    "artifacts.samples",
)
def _(folder: Path) -> None:
    (folder / "test_data_set_1" / "output_0.pb").unlink()
