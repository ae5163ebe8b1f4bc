"""The git program, told what to do and never trusted to guess: no prompts, no hooks of ours, no filters, no checkout."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.errors import HarnessError
from assay_zoo.robot.file_modes import umask_of_pushes

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
    # Models are large: they are streamed, and only a part of a pack is looked at at once.
    "core.bigFileThreshold=16m",
    "core.packedGitWindowSize=32m",
    "core.packedGitLimit=256m",
    "pack.threads=1",
    "pack.windowMemory=128m",
    "core.deltaBaseCacheLimit=64m",
)
_CHUNK_BYTES = 1 << 20
_TOLD_MOST = 300
_OF_MEMORY = ("out of memory", "cannot allocate memory", "malloc")
_OF_CRASHES = (signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT)
"""Where it does not notice that it was given no memory."""
MEMORY_BYTES = 2_000_000_000
"""Address space of one git: what it is given to read was made by somebody else."""
FILE_BYTES = 16_000_000_000
"""Of one file that git writes: the pack of a fetch."""
OUTPUT_BYTES = 16_000_000
"""Of one answer of git that is kept in memory."""


class GitFailed(HarnessError):
    """git could not do it; the text is its own last words, without secrets."""


class GitTooLarge(GitFailed):
    """What git would have to say, or needs, is more than is taken."""


class Git:
    """Runs git in one bare repository. `credentials` gives the variables that only the commands that speak to the remote
    see: never an argument, which every user of the machine could read."""

    def __init__(
        self,
        folder: Path,
        credentials: Callable[[], Mapping[str, str]] = dict,
        *,
        memory_bytes: int = MEMORY_BYTES,
        file_bytes: int = FILE_BYTES,
        output_bytes: int = OUTPUT_BYTES,
    ) -> None:
        self.folder, self.memory_bytes, self.file_bytes = folder, memory_bytes, file_bytes
        self.output_bytes = output_bytes
        self._credentials = credentials
        self._memory_bytes = _allowed(resource.RLIMIT_AS, memory_bytes)
        self._file_bytes = _allowed(resource.RLIMIT_FSIZE, file_bytes)

    def run(
        self,
        *words: str,
        input_bytes: bytes | None = None,
        remote: bool = False,
        timeout_s: float = 300.0,
        variables: Mapping[str, str] | None = None,
        cut: bool = False,
    ) -> bytes:
        """Standard output; with `cut` the first `output_bytes` of one that is too long, and a byte more. Raises GitFailed."""
        try:
            code, output, errors = self._bounded(
                words, input_bytes, {**self._environment(remote), **(variables or {})}, timeout_s
            )
        except subprocess.TimeoutExpired:
            raise GitFailed(f"git {words[0]} did not end within {timeout_s:g} s") from None
        except OSError as error:
            raise GitFailed(f"git cannot be started ({error.strerror}): install it") from None
        if len(output) > self.output_bytes and cut:
            return output
        if len(output) > self.output_bytes:
            raise GitTooLarge(f"git {words[0]} has more than {self.output_bytes} bytes to say")
        if code != 0:
            words_of_git = _last_words(errors)
            if code == -signal.SIGXFSZ:
                much = f"git {words[0]} writes a file of more than {self._file_bytes} bytes"
                raise _too_large(much, self._file_bytes < self.file_bytes)
            if -code in _OF_CRASHES or any(phrase in words_of_git.lower() for phrase in _OF_MEMORY):
                much = f"git {words[0]} needs more than {self._memory_bytes} bytes of memory: {words_of_git}"
                raise _too_large(much, self._memory_bytes < self.memory_bytes)
            if code < 0:
                raise GitFailed(f"git {words[0]} was ended by signal {-code}")
            raise GitFailed(f"git {words[0]} failed: {words_of_git}")
        return output

    def _bounded(
        self, words: Sequence[str], input_bytes: bytes | None, variables: Mapping[str, str], timeout_s: float
    ) -> tuple[int, bytes, bytes]:
        """Exit code, output and errors, of each no more than is needed to see that it is too much."""
        with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as errors:
            given.write(input_bytes or b"")
            given.seek(0)
            with subprocess.Popen(
                self._command(words), stdin=given, stdout=subprocess.PIPE, stderr=errors, env=variables,
                umask=umask_of_pushes() if words[0] == "push" else -1,
            ) as git:  # fmt: skip
                assert git.stdout is not None
                late = threading.Timer(timeout_s, git.kill)
                late.start()
                try:
                    output = git.stdout.read(self.output_bytes + 1)
                    if len(output) > self.output_bytes:
                        git.kill()
                    code = git.wait()
                    if not late.is_alive():
                        raise subprocess.TimeoutExpired(words[0], timeout_s)
                finally:
                    late.cancel()
                    git.kill()
            size = errors.seek(0, os.SEEK_END)
            errors.seek(max(0, size - 65536))
            return code, output, errors.read()

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

    @contextmanager
    def objects(self) -> Iterator[Objects]:
        """For reading objects, one after the other."""
        process = self.open("cat-file", "--batch")
        try:
            yield Objects(process, self.output_bytes)
        finally:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    assert pipe is not None
                    pipe.close()

    def _command(self, words: Sequence[str]) -> list[str]:
        options = [word for option in _OPTIONS for word in ("-c", option)]
        git = ["git", f"--git-dir={self.folder}", *options, *words]
        # The shell's own limits hold from the first instruction on, and for all that git starts.
        limits = f'ulimit -v {self._memory_bytes // 1024} && ulimit -f {self._file_bytes // 512} && exec "$@"'
        return ["/bin/sh", "-c", limits, "sh", *git]

    def _environment(self, remote: bool) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        calm = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "GIT_NO_REPLACE_OBJECTS": "1"}
        return {**kept, **calm, **(self._credentials() if remote else {})}


class Objects:
    """One `git cat-file --batch`, asked for one object after another. Raises GitFailed."""

    def __init__(self, process: subprocess.Popen[bytes], most_bytes: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._ask, self._answer, self._most_bytes = process.stdin, process.stdout, most_bytes

    def whole(self, name: str) -> bytes:
        """One of at most `output_bytes`."""
        return b"".join(self.chunks(name, self._most_bytes))

    def chunks(self, name: str, most_bytes: int | None = None) -> Iterator[bytes]:
        """One of any size, piece by piece."""
        try:
            self._ask.write(name.encode() + b"\n")
            self._ask.flush()
        except OSError:
            raise GitFailed(f"git stopped before object {name}") from None
        header = self._answer.readline().split()
        if len(header) != 3:
            raise GitFailed(f"git has no object {name}: fetch the repository again")
        left = int(header[2])
        if most_bytes is not None and left > most_bytes:
            raise GitTooLarge(f"object {name} has {left} bytes")
        while left:
            chunk = self._answer.read(min(left, _CHUNK_BYTES))
            if not chunk:
                raise GitFailed(f"git stopped in the middle of object {name}")
            left -= len(chunk)
            yield chunk
        self._answer.read(1)


def _allowed(what: int, most: int) -> int:
    """Where the machine itself allows less, a higher limit could not be set."""
    hard = resource.getrlimit(what)[1]
    return most if hard == resource.RLIM_INFINITY else min(most, hard)


def _too_large(reason: str, here: bool) -> GitFailed:
    """`here`: by a limit of this machine, and no commit is to blame."""
    return GitFailed(f"{reason}: raise the hard limit of this machine (ulimit -H)") if here else GitTooLarge(reason)


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


def globs_behind(name: str) -> list[str]:
    """Patterns of git for what comes after a name in the order of bytes: longer ones, and those that have another letter first."""
    letters = ["".join(f"\\{letter}" for letter in name[:at]) for at in range(len(name) + 1)]
    return [f"{letters[-1]}?*", *(f"{start}[!\x01-\\{letter}]*" for start, letter in zip(letters, name, strict=False))]
