"""Which file a job did not find on a node that shares no disk, though it lies where the command runs."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator

from msgspec.structs import replace

from assay.core.outcome import Cause, Outcome
from assay.core.result import Result

ABSENT = re.compile(
    r"no such file|not found|cannot find|could ?n[o']t find|does ?n[o']t exist|does not exist|n[o']t open",
    re.IGNORECASE,
)
"""Of those who look for a file, in the words of Python and of libraries."""
TORN = re.compile(r"""[\s'"`,;()<>\[\]=]+""")
"""Between the words of a sentence, one of which may be a path."""
QUOTED = re.compile(r"""(?<!\w)(['"`])(.+?)\1""")
"""A path as it is, with its spaces and brackets."""


def without_file(result: Result, sent: Collection[str]) -> Result:
    """The same result, or where an error names a file that is missing on the node alone: the job is unavailable there, and nothing is said
    of the model. `sent` are the paths that went to that node."""
    path = _not_sent(result, sent) if result.outcome is Outcome.ERROR else ""
    if not path:
        return result
    advice = f"{path} was not sent to this node: name it under [launch] in assay.toml, send = [{_quoted(path)}]"
    detail = f"{advice} ({result.detail})" if result.detail else advice
    return replace(result, outcome=Outcome.UNAVAILABLE, cause=Cause.NONE, detail=detail)


def _not_sent(result: Result, sent: Collection[str]) -> str:
    """As it is to be named, "" where there is none."""
    here = os.getcwd()
    for name in _absent_names(result):
        path = os.path.normpath(os.path.join(here, name.rstrip(".:")))
        if path.startswith(f"{here}/") and path not in sent and os.path.isfile(path):
            return os.path.relpath(path, here)
    return ""


def _absent_names(result: Result) -> Iterator[str]:
    """What may be the name of a file that was looked for. A log has much that is no reason of an error: only what stands quoted there is
    taken."""
    if ABSENT.search(result.detail):
        yield from _quoted_in(result.detail)
        yield from TORN.split(result.detail)
    for line in result.log.splitlines():
        if ABSENT.search(line):
            yield from _quoted_in(line)


def _quoted_in(line: str) -> Iterator[str]:
    return (match[2] for match in QUOTED.finditer(line))


def _quoted(path: str) -> str:
    return f'"{path}"'
