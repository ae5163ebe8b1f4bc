"""One file of a third party, opened in a limited process: the first thing that is wrong with it, and every secret in it."""

from __future__ import annotations

from typing import Any

import msgspec

from assay.models.files import is_lfs_pointer
from assay_zoo.files.archives import archive_problems
from assay_zoo.files.claims import claim_problems
from assay_zoo.files.finding import Finding, Item
from assay_zoo.files.pickles import pickle_problem
from assay_zoo.files.programs import program_problem
from assay_zoo.files.secrets import secrets_in
from assay_zoo.files.shown_text import text_problem

_HEAD_BYTES = 1 << 20


def open_file(raw: Any) -> Any:
    """The target of `run_limited`: an `Item` in, `Finding` values out."""
    return msgspec.to_builtins(problems(msgspec.convert(raw, Item)))


def problems(item: Item) -> list[Finding]:
    """Each kind of look happens only where the one before found nothing: a pointer is not also no model."""
    if is_lfs_pointer(item.file):
        return [
            Finding(check="pointers", sentence="is a Git LFS pointer, not the file itself: run `git lfs pull`", line=1)
        ]
    with item.file.open("rb") as file:
        head = file.read(_HEAD_BYTES)
    for look in (program_problem, pickle_problem):
        if problem := look(item, head):
            return [problem]
    turned = text_problem(item)
    findings = archive_problems(item, head) or claim_problems(item, head)
    return [*findings, *([turned] if turned else []), *secrets_in(item)]
