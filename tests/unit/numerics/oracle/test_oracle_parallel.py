"""Parts of one operator in several threads."""

import threading

import numpy as np
import pytest

from assay.numerics.oracle import parallel
from assay.numerics.oracle.convolution import convolved
from assay.numerics.oracle.parallel import WORTH, in_threads


def test_every_part_is_done_once_by_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_cores", lambda: 3)
    together = threading.Barrier(3, timeout=60)  # breaks where fewer than three work at a time
    done: list[int] = []

    def work(part: int) -> None:
        if part < 3:
            together.wait()
        done.append(part)

    in_threads(work, range(20), WORTH)
    assert sorted(done) == list(range(20))


def test_little_work_begins_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_cores", lambda: 3)
    asked: set[str] = set()
    in_threads(lambda _: asked.add(threading.current_thread().name), range(20), WORTH - 1)
    assert asked == {threading.current_thread().name}


def test_the_first_failure_is_raised_and_the_rest_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_cores", lambda: 2)
    done: list[int] = []

    def work(part: int) -> None:
        done.append(part)
        if part == 3:
            raise ValueError("no room")

    with pytest.raises(ValueError, match="no room"):
        in_threads(work, range(10_000), WORTH)
    assert len(done) < 10_000


def test_what_numpy_passes_over_in_silence_is_silent_in_every_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_cores", lambda: 2)
    together = threading.Barrier(2, timeout=60)
    seen: list[str] = []

    def work(_: int) -> None:
        together.wait()
        seen.append(np.geterr()["over"])

    with np.errstate(over="ignore"):
        in_threads(work, range(2), WORTH)
    assert seen == ["ignore", "ignore"]


@pytest.mark.parametrize("groups", [1, 2])
def test_a_convolution_has_the_same_bits_in_any_number_of_threads(monkeypatch: pytest.MonkeyPatch, groups: int) -> None:
    monkeypatch.setattr(parallel, "WORTH", 0)
    monkeypatch.setattr("assay.numerics.oracle.convolution.COLUMNS", 1 << 10)
    random = np.random.default_rng(0)
    x, w = random.standard_normal((2, 8, 20, 16)), random.standard_normal((6, 8 // groups, 3, 3))
    answers = []
    for cores in (1, 2, 4):
        monkeypatch.setattr(parallel, "_cores", lambda cores=cores: cores)
        answers.append(convolved(x, w, None, {"pads": [1, 1, 1, 1], "group": groups}))
    assert all(np.array_equal(answers[0], answer) for answer in answers[1:])


def test_where_no_thread_may_begin_the_work_is_done_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(parallel, "_cores", lambda: 3)
    monkeypatch.setattr(threading.Thread, "start", refuses)
    done: list[int] = []
    in_threads(done.append, range(5), WORTH)
    assert done == list(range(5))
