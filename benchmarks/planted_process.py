"""A stream of cases in a process of its own: a case that ends that process, or never ends, is one more answer, and the next process goes on
behind it."""

from __future__ import annotations

import multiprocessing
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

HANG_S = 120.0
"""Without a message: the case under way does not end."""
NO_FAULT = -1

FORK = multiprocessing.get_context("fork")


class UnderWay:
    """What a process does at the moment, where the one that started it can read it afterwards: the number of the generator, the index of
    the case, and the number of the fault whose graph is run."""

    def __init__(self) -> None:
        self._numbers = FORK.Array("q", [0, 0, NO_FAULT], lock=False)

    def case(self, generator: int, index: int) -> None:
        self._numbers[:] = [generator, index, NO_FAULT]

    def fault(self, number: int) -> None:
        self._numbers[2] = number

    def read(self) -> tuple[int, int, int]:
        generator, index, fault = self._numbers[:]
        return generator, index, fault


@dataclass(frozen=True)
class Ended:
    """A process that ended before its work: at which case, with the graph of which fault (NO_FAULT: with none), and how."""

    generator: int
    index: int
    fault: int
    how: str


class Processes:
    """`work(tell, under_way, used_s)` runs in a forked process; `hear` takes each message that it tells."""

    def __init__(self, hear: Callable[[Any], None]) -> None:
        self._hear = hear
        self._under_way = UnderWay()
        self._began_s = time.process_time() + _children_s()

    def used_s(self) -> float:
        """Of the processor, by this process and those that are over."""
        return time.process_time() + _children_s() - self._began_s

    def run(self, work: Callable[[Callable[[Any], None], UnderWay, Callable[[], float]], None]) -> Ended | None:
        """None where the work came to its end."""
        reads, writes = FORK.Pipe(duplex=False)
        before_s = self.used_s()
        process = FORK.Process(target=_child, args=(work, writes, self._under_way, before_s), daemon=True)
        process.start()
        writes.close()
        try:
            how = self._listen(reads)
        finally:
            if not reads.closed:  # it is interrupted, or the case does not end: what the process used counts
                process.kill()
            process.join()
        if process.exitcode == 0:
            return None
        return Ended(*self._under_way.read(), how or _how(process.exitcode))

    def _listen(self, reads: Connection) -> str:
        """Until the process closes its end, "", or tells nothing for too long."""
        while reads.poll(HANG_S):
            try:
                message = reads.recv()
            except EOFError:
                reads.close()
                return ""
            self._hear(message)
        return f"no end in {HANG_S:.0f} s"


def _child(work: Any, writes: Connection, under_way: UnderWay, before_s: float) -> None:
    begin_s = time.process_time()
    work(writes.send, under_way, lambda: before_s + time.process_time() - begin_s)


def _how(code: int | None) -> str:
    return signal.Signals(-code).name if code is not None and code < 0 else f"exit {code}"


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def print_ended(ended: Ended, generators: Sequence[str], faults: Sequence[str]) -> None:
    by = faults[ended.fault] if ended.fault != NO_FAULT else "the case without a fault"
    print(f"{ended.how}: case {ended.index} of {generators[ended.generator]}, {by}", file=sys.stderr, flush=True)
