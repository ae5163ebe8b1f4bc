"""The load generator against a server that answers as it is told: times count from when a request was due."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from assay.serving.load_answers import answers_of
from assay.serving.load_generator import Load, Sent, generate
from assay.serving.load_summary import summarize
from assay.serving.requests import Mix

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


TOKEN = _chunk(b'data: {"choices": [{"text": "a"}]}\n\n')
END = _chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"
Script = list[tuple[float, bytes]]
"""Seconds to wait, and what is sent then; b"" closes."""


@contextmanager
def answering(*scripts: Script) -> Iterator[str]:
    """A server that says the first to the first request, and the last to all that come later; one at a time on each connection."""
    coming = iter(scripts)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"}"):
                for wait, data in next(coming, scripts[-1]):
                    await asyncio.sleep(wait)
                    if not data:
                        return
                    writer.write(data)
                    await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass
        finally:
            writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    finally:

        async def end() -> None:
            server.close()
            mine = asyncio.current_task()
            tasks = [task for task in asyncio.all_tasks() if task is not mine]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), loop).result(60)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(60)
        loop.close()


def _load(script: Script, times: list[float], timeout_s: float = 60.0) -> Load:
    with answering(script) as address:
        return generate(Mix(address, "tiny", [[1, 2]], (3,)), times, timeout_s=timeout_s)


def test_the_first_token_and_the_gaps_are_timed() -> None:
    load = _load([(0.0, HEAD), (0.1, TOKEN), (0.05, TOKEN), (0.0, END)], [0.0, 0.02])
    for answer in answers_of(load):
        assert answer.error == ""
        assert answer.tokens == 2
        assert 0.1 <= answer.first_s < 30.0
        assert 0.04 <= answer.gaps_s[0] < 30.0
        assert answer.whole_s >= answer.first_s + 0.04
    metrics = summarize(load, {"ttft": 1.0}).metrics
    assert (metrics["requests"], metrics["errors"], metrics["goodput_per_s"]) == (2.0, 0.0, 0.0)


def test_a_request_does_not_wait_for_those_before() -> None:
    load = _load([(0.0, HEAD), (3.0, TOKEN + END)], [0.0, 0.01, 0.02, 0.03])
    assert max(request.sent for request in load.requests) < 2.5
    assert [answer.error for answer in answers_of(load)] == [""] * 4


TROUBLES: dict[str, Script] = {
    "status 503": [(0.0, b"HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\n{}")],
    "the stream was cut off": [(0.0, HEAD + TOKEN + b"0\r\n\r\n")],
    "connection lost": [(0.0, HEAD + TOKEN), (0.0, b"")],
    "no token came": [(0.0, HEAD + _chunk(b'data: {"choices": [{"text": ""}]}\n\n') + END)],
    "error: its answer cannot be read": [
        (0.0, HEAD + TOKEN + _chunk(b'data: {"choices": [{"text": "\xff"}]}\n\n') + END)
    ],
    "status 307": [(0.0, b"HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n")],
    "an answer of more than 1.01 MiB": [(0.0, HEAD), *[(0.0, _chunk(b": " + b"a" * 2**18 + b"\n"))] * 9, (9.0, b"")],
    "error: out of memory": [(0.0, HEAD + TOKEN + _chunk(b'data: {"error": {"message": "out of memory"}}\n\n') + END)],
    "no answer in 0.2 s": [(0.0, HEAD), (3.0, TOKEN)],
}


@pytest.mark.parametrize("error", TROUBLES)
def test_a_trouble_is_counted(error: str) -> None:
    load = _load(TROUBLES[error], [0.0], timeout_s=0.2 if "0.2" in error else 60.0)
    assert [answer.error for answer in answers_of(load)] == [error]
    assert summarize(load).errors == {error: 1}


@pytest.mark.parametrize("length", [b"many", b"-1", b"9" * 5000])
def test_what_comes_behind_a_length_that_is_no_number_is_not_the_answer_to_the_next(length: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Length: " + length + b"\r\n\r\n"
    with answering([(0.0, head), (0.3, HEAD + TOKEN + TOKEN + END)], [(0.0, HEAD + TOKEN + END)]) as address:
        load = generate(Mix(address, "tiny", [[1, 2]], (3,)), [0.0, 0.15], timeout_s=60.0)
    first, second = answers_of(load)
    assert (first.error, second.error) == ("an answer whose length is no number", "")
    assert second.tokens == 1


READ = {
    "numbers that are none": (
        b'data: {"choices": [{"text": "a", "logprobs": {"top_logprobs": [{"a": NaN}]}}]}\n\n',
        "",
    ),
    "tokens below 0": (
        b'data: {"choices": [{"text": "a", "token_ids": [-1]}]}\n\n',
        "error: its answer cannot be read",
    ),
    "a count below 0": (
        b'data: {"choices": [], "usage": {"completion_tokens": -3}}\n\n',
        "error: its answer cannot be read",
    ),
    "no JSON": (b"data: {\n\n", "error: its answer cannot be read"),
    "a list": (b"data: []\n\n", "error: its answer cannot be read"),
    "a comment": (b": 12.5\r\n\r\n", ""),
}


@pytest.mark.parametrize("what", READ)
def test_an_event_of_a_stream(what: str) -> None:
    event, error = READ[what]
    load = _load([(0.0, HEAD + TOKEN + _chunk(event) + END)], [0.0])
    assert [answer.error for answer in answers_of(load)] == [error]


def test_nobody_reads_behind_the_last_event() -> None:
    last = _chunk(b"data: [DONE]\n\n")
    load = _load([(0.0, HEAD + TOKEN + last + TOKEN * 3 + _chunk(b"data: {") + last + b"0\r\n\r\n")], [0.0])
    (answer,) = answers_of(load)
    assert (answer.error, answer.tokens, answer.text) == ("", 1, "a")


@pytest.mark.parametrize(
    ("body", "error", "tokens"),
    [
        (b'{"choices": [{"text": "a b"}], "usage": {"completion_tokens": 2}}', "", 2),
        (b'{"choices": [{"text": ""}], "usage": {"completion_tokens": 1}}', "", 1),
        (b'{"choices": [{"text": ""}], "usage": {"completion_tokens": 0}}', "no token came", 0),
        (b'{"choices": []}', "no token came", 0),
        (b"{}", "no token came", 0),
    ],
)
def test_a_whole_answer_has_tokens(body: bytes, error: str, tokens: int) -> None:
    load = _load([(0.0, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))], [0.0])
    (answer,) = answers_of(load)
    assert (answer.error, answer.tokens) == (error, tokens)


def test_a_stream_that_ends_with_its_connection_is_whole() -> None:
    stream = b'data: {"choices": [{"text": "a"}]}\n\ndata: [DONE]\n\n'
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    assert [answer.error for answer in answers_of(_load([(0.0, head + stream), (0.0, b"")], [0.0, 0.05]))] == ["", ""]
    cut = _load([(0.0, head + stream[:-9]), (0.0, b"")], [0.0])
    assert [answer.error for answer in answers_of(cut)] == ["the stream was cut off"]


def test_an_answer_has_its_time_also_while_others_are_waited_for() -> None:
    load = _load([(0.0, HEAD), (0.4, TOKEN + END)], [0.0, 0.6], timeout_s=0.3)
    assert [answer.error for answer in answers_of(load)] == ["no answer in 0.3 s"] * 2


def test_what_a_server_says_unasked_is_no_answer() -> None:
    more = (0.1, HEAD + TOKEN * 9 + END)
    with answering([(0.0, HEAD + TOKEN + END), more], [(0.0, HEAD + TOKEN * 2 + END)]) as address:
        load = generate(Mix(address, "tiny", [[1, 2]], (3,)), [0.0, 0.3], timeout_s=2.0)
    assert [(answer.error, answer.tokens) for answer in answers_of(load)] == [("", 1), ("", 2)]


def test_a_name_that_is_not_looked_up_in_time_is_no_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()
    monkeypatch.setattr("socket.getaddrinfo", lambda *asked, **settings: over.wait(20.0))
    began = time.monotonic()
    load = generate(Mix("http://service.test:8000/v1", "tiny", ["a"]), [0.0, 0.01], timeout_s=0.2)
    over.set()
    assert time.monotonic() - began < 5.0
    assert summarize(load).errors == {"no connection": 2}


_LOSES_THE_RIGHT = """
import os
from assay.serving.load_generator import _before_others
with _before_others():
    print(os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_RR)
    if os.geteuid() == 0:
        os.seteuid(65534)
print(os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK == os.SCHED_OTHER)
"""
"""A user with RLIMIT_RTPRIO has no right at the end, either: of the flag that a thread took, only CAP_SYS_NICE frees it."""


@pytest.mark.skipif(not hasattr(os, "SCHED_RR"), reason="no real time here")
def test_a_thread_is_not_left_in_real_time_without_the_right_to_end_it() -> None:
    ended = subprocess.run([sys.executable, "-c", _LOSES_THE_RIGHT], capture_output=True, text=True, check=True)
    real_time, restored = ended.stdout.split()
    if real_time == "False":
        pytest.skip("needs root, or RLIMIT_RTPRIO")
    assert restored == "True"


def test_nothing_listens() -> None:
    load = generate(Mix("http://127.0.0.1:9/v1", "tiny", ["a"]), [0.0, 0.01], timeout_s=60.0)
    assert summarize(load).errors == {"no connection": 2}


def test_what_was_sent_late_counts_as_waiting() -> None:
    body = b"HTTP/1.1 200 OK\r\n\r\n" + b'{"usage": {"completion_tokens": 7}}'
    late = Sent(due=1.0, sent=1.5, parts=[(1.6, body)], ended=1.6)
    (answer,) = answers_of(Load([late], 0.0, 1.0))
    assert answer.whole_s == pytest.approx(0.6)
    assert answer.tokens == 7
    assert any("the sender itself was late" in note for note in summarize(Load([late], 0.0, 1.0)).notes)


def test_a_percentile_has_an_interval_and_none_is_told_from_too_few() -> None:
    body = b"HTTP/1.1 200 OK\r\n\r\n" + b'{"choices": [{"text": "a"}]}'
    sent = [Sent(0.0, 0.0, [(0.001 * at, body)], 0.001 * at) for at in range(1, 101)]
    summary = summarize(Load(sent, 0.0, 1.0))
    low, high = summary.intervals["e2e_p50_ms"]
    assert low < 45 < summary.metrics["e2e_p50_ms"] < 55 < high
    assert "e2e_p90_ms" in summary.metrics
    assert "e2e_p99_ms" not in summary.metrics
    assert any("e2e_p99_ms needs 459 answers, and there are 100" in note for note in summary.notes)


def test_an_event_may_be_split_over_chunks_and_parts() -> None:
    event, end = b'data: {"choices": [{"text": "a"}]}\n\n', b"data: [DONE]\n\n"
    split = _chunk(event[:20]) + _chunk(event[20:] + end[:9]) + _chunk(end[9:]) + b"0\r\n\r\n"
    stream = HEAD + split
    for cut in range(1, len(stream)):
        parts = [(1.0, stream[:cut]), (2.0, stream[cut:])]
        (answer,) = answers_of(Load([Sent(0.0, 0.0, parts, 2.0)], 0.0, 2.0))
        assert (answer.error, answer.tokens) == ("", 1), cut
        assert answer.first_s == (1.0 if cut > stream.index(b"]}\n") + 2 else 2.0), cut


def test_empty_text_is_no_first_token() -> None:
    role = b'data: {"choices": [{"text": ""}]}\n\n'
    body = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    token = b'data: {"choices": [{"text": "a"}]}\n\ndata: [DONE]\n\n'
    (answer,) = answers_of(Load([Sent(0.0, 0.0, [(1.0, body + role), (2.0, token)], 2.0)], 0.0, 2.0))
    assert (answer.first_s, answer.tokens) == (2.0, 1)


def test_failed_requests_wait_for_ever() -> None:
    body = b"HTTP/1.1 200 OK\r\n\r\n" + b'{"choices": [{"text": "a"}]}'
    sent = [Sent(0.0, 0.0, [(0.001, body)], 0.001, "" if at < 40 else "connection lost") for at in range(100)]
    summary = summarize(Load(sent, 0.0, 1.0))
    assert summary.metrics["e2e_p50_ms"] == summary.metrics["ttft_p50_ms"] == float("inf")
    assert summary.metrics["e2e_mean_ms"] == pytest.approx(1.0)
    sent = [Sent(0.0, 0.0, [(0.001, body)], 0.001, "" if at < 60 else "connection lost") for at in range(100)]
    summary = summarize(Load(sent, 0.0, 1.0))
    assert summary.metrics["e2e_p50_ms"] == pytest.approx(1.0)
    assert summary.metrics["e2e_p90_ms"] == float("inf")


def test_a_key_that_a_stream_repeats_is_not_shown() -> None:
    body = b"HTTP/1.1 200 OK\r\n\r\n" + b'{"error": "key sk-a-secret-word is bad"}'
    load = Load([Sent(0.0, 0.0, [(0.1, body)], 0.1)], 0.0, 1.0, "sk-a-secret-word")
    assert summarize(load).errors == {"error: key (key) is bad": 1}
