"""Calls of a submission's code that bandit's rules hold for dangerous."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Iterator

_BANDIT = (
    "B102", "B202", "B301", "B302", "B306", "B307", "B310", "B312", "B321", "B401", "B402", "B403", "B404", "B411", "B412",
    "B415", "B507", "B601", "B602", "B603", "B604", "B605", "B606", "B607", "B609", "B614", "B615",
)  # fmt: skip
"""exec, eval, pickle, marshal, archives unpacked anywhere, shells and processes, network clients, models loaded as code."""
_WORDS = re.compile(
    r"\b(exec\w*|eval|c?pickle|dill|shelve|jsonpickle|marshal|mktemp|temp?nam|urlopen|urlretrieve|urllib\w*|telnetlib|ftplib|xmlrpc\w*|"
    r"pyghmi|wsgiref|twisted|paramiko|subprocess|popen\w*|system|spawn\w*|startfile|commands|shell|tarfile|extractall|torch|pandas|"
    r"from_pretrained|load_dataset|hf_hub_download|snapshot_download|getoutput|fork\w*)\b",
    re.IGNORECASE,
)
"""What those rules speak of: bandit takes a fifth of a second to load, and code without one of these words needs it not."""


def dangerous_calls(text: str) -> list[tuple[int, str]]:
    """(line, what), by bandit's own rules; what a comment of the submitter's would silence is told all the same."""
    if not _WORDS.search(text):
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # bandit 1.9.4 asks stevedore 5.10 in a way that is on its way out
        return list(_issues(text))


def _issues(text: str) -> Iterator[tuple[int, str]]:
    from bandit.core.config import BanditConfig
    from bandit.core.manager import BanditManager

    logging.getLogger("bandit").setLevel(logging.CRITICAL)
    descriptor = os.memfd_create("source")
    try:
        with open(descriptor, "wb", closefd=False) as file:
            file.write(text.encode())
        asked = BanditManager(BanditConfig(), "file", quiet=True, profile={"include": list(_BANDIT)}, ignore_nosec=True)
        asked.discover_files([f"/proc/self/fd/{descriptor}"])
        asked.run_tests()
        for issue in asked.get_issue_list():
            yield issue.lineno, f"something dangerous ({issue.test_id}: {' '.join(str(issue.text).split())[:120]})"
    finally:
        os.close(descriptor)
