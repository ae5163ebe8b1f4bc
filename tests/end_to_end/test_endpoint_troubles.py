"""Services with a trouble, checked side by side as a user does it: each has its outcome and one sentence, and no result is lost."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import assay
from assay.core.note import NoteCode
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult
from free_port import free_port
from served_model import MODEL, TOKENIZER, WEIGHTS, serving

SEEN = {
    "right": (Outcome.OK, ""),
    "busy": (Outcome.OK, ""),
    "no-logprobs": (Outcome.OK, ""),
    "slow": (Outcome.TIMEOUT, "did not answer in 1 s"),
    "truncated": (Outcome.ERROR, ""),
    "unavailable": (Outcome.INFRASTRUCTURE, "was busy 5 times (status 503"),
    "endless": (Outcome.MISMATCH, "asked for a number of tokens it generates another"),
    "dies": (Outcome.ERROR, "went away"),
    "gone": (Outcome.INFRASTRUCTURE, "nothing answers at"),
    "other-model": (Outcome.ERROR, "serves no model 'huge'; it serves tiny"),
    "other-tokenizer": (Outcome.MISMATCH, ""),
}
"""What each is, and what its sentence says."""


@contextmanager
def _process(port: int, trouble: str) -> Iterator[str]:
    """A server of its own process: it ends in the middle."""
    line = [
        sys.executable,
        "-m",
        "assay.testing.language_server",
        "--weights",
        str(WEIGHTS),
        "--tokenizer",
        str(TOKENIZER),
    ]
    process = subprocess.Popen([*line, "--port", str(port), "--for", "120", "--trouble", trouble])
    try:
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1)
                break
            except (OSError, urllib.error.URLError):
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.kill()
        process.wait()


def _other_tokenizer(folder: Path) -> Path:
    """It knows bytes and nothing else: the same text becomes other tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    known = Tokenizer.from_file(str(TOKENIZER))
    single = {token: number for token, number in known.get_vocab().items() if len(token) == 1}
    other = Tokenizer(models.BPE(vocab=single, merges=[]))
    other.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    other.decoder = decoders.ByteLevel()
    other.save(str(folder / "other.json"))
    return folder / "other.json"


def _flow(name: str, address: str, **options: object) -> str:
    said = {"url": address, "tokenizer": str(TOKENIZER), "draws": 0} | options
    listed = ", ".join(f"{key} = {value!r}" for key, value in said.items())
    return f"[flow.{name}]\nbackend = 'openai'\noptions = {{ {listed} }}\n"


def test_each_trouble_has_its_outcome_and_its_sentence(tmp_path: Path) -> None:
    (tmp_path / "prompts.jsonl").write_text("[51, 71, 68, 220]\n", "utf-8")
    with ExitStack() as stack:
        flows = [
            _flow(
                name,
                stack.enter_context(serving(troubles=(name,), slow_s=3.0)),
                timeout_s=1.0 if name == "slow" else 20.0,
            )
            for name in ("busy", "no-logprobs", "slow", "truncated", "unavailable", "endless")
        ]
        right = stack.enter_context(serving())
        flows += [
            _flow("right", right),
            _flow("dies", stack.enter_context(_process(free_port(), "dies"))),
            _flow("gone", "http://127.0.0.1:9/v1"),
            _flow("other-model", right, model="huge"),
            _flow("other-tokenizer", right, tokenizer=str(_other_tokenizer(tmp_path))),
        ]
        config = tmp_path / "assay.toml"
        config.write_text(f"[[model]]\npath = '{MODEL}'\n[flows]\nuse = ['right']\n" + "".join(flows))
        checked = assay.check(
            MODEL, config=config, flows=tuple(SEEN), inputs=tmp_path / "prompts.jsonl", measure=False,
            history=tmp_path / ".assay", workers=2,
        )  # fmt: skip
    by_flow = {result.flow: result for result in checked.results if isinstance(result, VerifyResult)}
    assert by_flow.keys() == SEEN.keys()
    ends_by_name = {name: (result.outcome, result.detail) for name, result in by_flow.items()}
    for name, (outcome, sentence) in SEEN.items():
        assert ends_by_name[name][0] is outcome, (name, ends_by_name[name])
        assert sentence in ends_by_name[name][1], (name, ends_by_name[name])
        assert "\n" not in ends_by_name[name][1]
    assert NoteCode.NO_LOG_PROBABILITIES in [note.code for note in by_flow["no-logprobs"].notes]
