"""Which file a job did not find on a node that shares no disk, though it lies where the command runs."""

from __future__ import annotations

import os
import re
from collections.abc import Collection

from msgspec.structs import replace

from assay.core.outcome import Cause, Outcome
from assay.core.result import Result

ABSENT = re.compile(
    r"no such file|not found|cannot find|could ?n[o']t find|does ?n[o']t exist|does not exist|n[o']t open",
    re.IGNORECASE,
)
"""Of those who look for a file, in the words of Python and of libraries."""
TORN = re.compile(r"""[\s'"`,;()<>\[\]]+""")
"""Between the words of a sentence, in which a path may be quoted."""
GOOD = (Outcome.OK, Outcome.UNAVAILABLE)


def without_file(result: Result, sent: Collection[str]) -> Result:
    """The same result, or where a file is missing on the node alone: the job is unavailable there, and nothing is said of the model.
    `sent` are the paths that went to nodes."""
    path = "" if result.outcome in GOOD else _not_sent(result, sent)
    if not path:
        return result
    detail = f"{path} was not sent to this node: name it under [launch] in assay.toml, send = [{_quoted(path)}]"
    return replace(result, outcome=Outcome.UNAVAILABLE, cause=Cause.NONE, detail=detail)


def _not_sent(result: Result, sent: Collection[str]) -> str:
    """As it is to be named, "" where there is none."""
    here = os.getcwd()
    for line in (result.detail, *result.log.splitlines()):
        for word in TORN.split(line) if ABSENT.search(line) else ():
            path = os.path.normpath(os.path.join(here, word.rstrip(".:")))
            if path.startswith(f"{here}/") and path not in sent and os.path.isfile(path):
                return os.path.relpath(path, here)
    return ""


def _quoted(path: str) -> str:
    return f'"{path}"'
