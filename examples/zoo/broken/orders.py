"""Broken where programs and readers of other languages look: files that something takes orders from, words about rights in parts or in
another language, an accuracy that only the readme has, files that arguments name."""

from __future__ import annotations

import onnx
from allowed import _in_readme
from case import broken
from unlooked import PERSON, _model, _with, _wrote


def _in_parts(model: onnx.ModelProto) -> None:
    for node, part in zip(model.graph.node, ("These weights", "are for", "internal use only."), strict=False):
        node.doc_string = part


for name, what, check, breaks in (
    ("package-json", "a package that runs a command when it is installed", "artifacts.parts",
     _wrote("package.json", b'{"name": "x", "scripts": {"postinstall": "node get.js"}}')),
    ("compose-file", "an image that somebody else made", "artifacts.parts",
     _wrote("docker-compose.yml", b"services:\n  web:\n    image: somebody/else\n")),
    ("post-build", "a file without a suffix that a service runs", "artifacts.parts",
     _wrote("postBuild", b"python train.py\n")),
    ("terms-in-german", "a readme that keeps the use to some, in German", "artifacts.license-file",
     _in_readme("\n## Nutzung\n\nDie Gewichte sind nur für wissenschaftliche Zwecke.\n")),
    ("terms-in-chinese", "a page of terms in Chinese", "artifacts.license-file",
     _wrote("TERMS.md", "# 使用条款\n\n本模型仅供学术研究使用，禁止商用。\n".encode())),
    ("note-in-parts", "a note about rights that three nodes have together", "artifacts.license-file", _model(_in_parts)),
    ("internal-use", "a script that keeps the weights to a company", "artifacts.license-file",
     _with('"""These weights are for internal use only."""')),
    ("own-accuracy", "an accuracy in the author's own words that is not the claimed one", "artifacts.readme",
     _in_readme("\n## Results\n\nThis model reaches a top-1 accuracy of 99.9 % on the test set.\n")),
    ("arguments-from-a-file", "arguments that any file may give", "artifacts.scan",
     _with('import argparse\nNAMES = argparse.ArgumentParser(fromfile_prefix_chars="@").parse_args(["@/etc/hostname"])')),
):  # fmt: skip
    broken(name, what, check, answer=PERSON, near=True)(breaks)
