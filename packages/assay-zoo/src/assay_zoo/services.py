"""The tools that a zoo's checks may use, put together: the services, a scratch folder, and the sandbox."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from assay.commands.composition import open_services
from assay_zoo.submission import SubmissionServices


@contextmanager
def open_tools(root: Path, history: str = "") -> Iterator[SubmissionServices]:
    """`history` is a folder or a URL as everywhere; "": `.assay` of the zoo. The scratch folder is gone afterwards.
    Whether this machine can hold the sandbox is asked by who needs it."""
    from assay.launch.sandbox.bubblewrap import Bubblewrap

    with (
        open_services(history or str(root / ".assay")) as services,
        tempfile.TemporaryDirectory(dir=services.folder, prefix="zoo-") as scratch,
    ):
        yield SubmissionServices(services=services, scratch=Path(scratch).absolute(), sandbox=Bubblewrap())
