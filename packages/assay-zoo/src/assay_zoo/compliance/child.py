"""`python -m assay_zoo.compliance.child`: one request on standard input, findings as lines of JSON on standard output.

It sets its own limits before it opens anything: what it reads is untrusted.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import BinaryIO

import msgspec

from assay_zoo.compliance.process import limit_self
from assay_zoo.compliance.request import Answer, Finished, Found, Request, StepStarted, Undecided


def main() -> None:
    """Ends with code 0 after the last step; exhaustion of memory or of the stack ends it with a code of its own."""
    limit_self()
    out = _own_output()
    from assay.models.examination.steps import Examination, take
    from assay_zoo.compliance.steps import steps_of

    request = msgspec.json.decode(sys.stdin.buffer.read(), type=Request)
    look = Examination(Path(request.model))
    for name, step in steps_of(request).items():
        if name in request.skip:
            continue
        _say(out, StepStarted(name))
        try:
            for finding in take(look, step):
                _say(out, Found(finding))
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except RecursionError:
            os._exit(TOO_DEEP)
        except Exception as error:  # noqa: BLE001  a rule of ours that does not know this model: a person must look
            _say(out, Undecided(name, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"))
    _say(out, Finished(look.counts()))


OUT_OF_MEMORY, TOO_DEEP = 101, 102


def _own_output() -> BinaryIO:
    """Standard output for us alone: what native code prints goes where errors go."""
    own = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return own


def _say(out: BinaryIO, answer: Answer) -> None:
    out.write(msgspec.json.encode(answer) + b"\n")


if __name__ == "__main__":
    main()
