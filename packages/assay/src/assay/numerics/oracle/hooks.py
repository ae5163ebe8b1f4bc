"""What looks at an evaluation while it happens: every operator, and every place inside one where a real kernel rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from assay.ports import Tensor

Values = tuple[Any, ...]


class Hook:
    """Sees everything and changes nothing; a subclass may answer with other values, and the evaluation goes on with them."""

    def site(self, kind: str, value: Tensor, call: Call, operands: Mapping[str, Any]) -> Tensor:
        """`value` was just computed inside `call`; `kind` names the arithmetic, `operands` what its rounding depends on."""
        del kind, call, operands
        return value

    def node(self, call: Call, results: Values, again: Callable[..., Values]) -> Values:
        """`call` gave `results`, and marked no place of its own. `again` evaluates the same operator on other inputs."""
        del call, again
        return results

    def answer(self, call: Call, results: Values) -> Values:
        """`call` gives `results`, whether it marked places or not: the last word on what the evaluation goes on with."""
        del call
        return results


SILENT = Hook()
_CURRENT: ContextVar[Hook] = ContextVar("probe", default=SILENT)


def current() -> Hook:
    """The probe of this evaluation. It reaches into subgraphs and function bodies, whose evaluators make themselves."""
    return _CURRENT.get()


@contextmanager
def observed_by(probe: Hook) -> Iterator[None]:
    """Every evaluation inside goes past `probe`."""
    token = _CURRENT.set(probe)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@dataclass
class Call:
    """One operator on its inputs (None where an optional one is left out). `explicit` are the attributes that the node
    names itself; `attributes` has the defaults of the standard too; `outputs` and `reads` are the names of
    what it gives and takes."""

    operator: str
    version: int
    inputs: Values
    attributes: Mapping[str, Any]
    explicit: frozenset[str]
    outputs: tuple[str, ...]
    label: str
    probe: Hook = SILENT
    domain: str = ""
    reads: tuple[str, ...] = ()
    marked: bool = field(default=False, compare=False)

    def mark(self, kind: str, value: Tensor, **operands: Any) -> Tensor:
        """Tell the probe of a place where a real kernel rounds; compute on with the answer."""
        self.marked = True
        return self.probe.site(kind, value, self, operands)

    def input(self, position: int) -> Any:
        """None where the node leaves it out."""
        return self.inputs[position] if position < len(self.inputs) else None

    def silent(self, inputs: Values) -> Call:
        """The same operator on other inputs, seen by nobody."""
        return Call(
            self.operator,
            self.version,
            inputs,
            self.attributes,
            self.explicit,
            self.outputs,
            self.label,
            domain=self.domain,
            reads=self.reads,
        )


Kernel = Callable[[Call], Values | None]
"""One operator in numpy, in the type of its inputs. None: this form is left to onnx.reference."""
