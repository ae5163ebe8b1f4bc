"""The git program, told what to do and never trusted to guess: no prompts, no hooks of ours, no filters, no checkout."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from assay.errors import HarnessError

# Nothing of a submitter is configuration here: a bare mirror has no work tree, so that neither .gitattributes nor
# .gitmodules nor a filter for large files is ever obeyed.
_OPTIONS = (
    "core.hooksPath=/dev/null",
    "fetch.fsckObjects=true",
    "fetch.recurseSubmodules=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "core.logAllRefUpdates=false",
    "protocol.ext.allow=never",
)
_TOLD_MOST = 300


class GitFailed(HarnessError):
    """git could not do it; the text is its own last words, without secrets."""


class Git:
    """Runs git in one bare repository. `credentials` gives the variables that only the commands that speak to the remote
    see: never an argument, which every user of the machine could read."""

    def __init__(self, folder: Path, credentials: Callable[[], Mapping[str, str]] = dict) -> None:
        self.folder = folder
        self._credentials = credentials

    def run(
        self,
        *words: str,
        told: bytes | None = None,
        remote: bool = False,
        timeout_s: float = 300.0,
        variables: Mapping[str, str] | None = None,
    ) -> bytes:
        """Standard output. Raises GitFailed."""
        try:
            ended = subprocess.run(
                self._command(words),
                input=told,
                stdin=subprocess.DEVNULL if told is None else None,
                capture_output=True,
                env={**self._environment(remote), **(variables or {})},
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise GitFailed(f"git {words[0]} did not end within {timeout_s:g} s") from None
        except OSError as error:
            raise GitFailed(f"git cannot be started ({error.strerror}): install it") from None
        if ended.returncode != 0:
            raise GitFailed(f"git {words[0]} failed: {_last_words(ended.stderr)}")
        return ended.stdout

    def text(self, *words: str) -> str:
        """One line of output."""
        return self.run(*words).decode("utf-8", "replace").strip()

    def open(self, *words: str) -> subprocess.Popen[bytes]:
        """A git that is talked to by its pipes."""
        return subprocess.Popen(
            self._command(words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self._environment(False),
        )

    def _command(self, words: Sequence[str]) -> list[str]:
        options = [word for option in _OPTIONS for word in ("-c", option)]
        return ["git", f"--git-dir={self.folder}", *options, *words]

    def _environment(self, remote: bool) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        calm = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_NO_REPLACE_OBJECTS": "1"}
        return {**kept, **calm, **(self._credentials() if remote else {})}


def basic_authorization(address: str, user: str, token: str) -> dict[str, str]:
    """Variables that make git send the token to the host of `address` and to no other."""
    import base64
    from urllib.parse import urlsplit

    parts = urlsplit(address)
    if parts.scheme not in ("http", "https"):
        return {}
    encoded = base64.b64encode(f"{user}:{token}".encode()).decode()
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": f"http.{parts.scheme}://{parts.netloc}/.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {encoded}",
    }


def _last_words(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    wanted = [line for line in lines if line.startswith(("fatal:", "error:", " ! ", "!", "remote:"))] or lines
    return " / ".join(wanted[-3:])[:_TOLD_MOST] or "it said nothing"
