"""An exception scenario: a right model, used wrongly once. What the flow must do about it is part of the case."""

from __future__ import annotations

import msgspec

KINDS = ("rank", "shape", "empty", "dtype", "missing", "extra", "value", "model", "threads", "cache", "disk")
EXPECTED = ("error", "right", "any", "timeout")


class ErrorCase(msgspec.Struct, frozen=True):
    """What is done between two right uses of one engine, and what must come of it.

    `kind` is one of: rank (an axis too many in `input`), shape (its last axis one longer), empty (its last axis 0), dtype
    (as `dtype`), missing, extra (an input too many), value (every element of `input` is `value`), model (the file `model`
    beside the case's own is lowered and run instead), threads (lowered again with `value` threads), cache (lowered again
    where no cache can be made), disk (lowered again where no file can grow).

    `expects`: error, an answer is wrong; right, an error or the right answer; any, an error or any answer, for what no
    specification defines; timeout, a model that does not end and is stopped in time. Whatever is expected: no crash, no
    hang, and the engine gives the right answer afterwards. `limit_s` is the time of the whole job, 0 the run's own.
    """

    kind: str
    expects: str = "error"
    input: str = ""
    value: int = 0
    dtype: str = ""
    model: str = ""
    limit_s: float = 0.0
