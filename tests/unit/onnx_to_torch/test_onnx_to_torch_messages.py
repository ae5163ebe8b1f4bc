"""What torch itself raises is told in one short line."""

from __future__ import annotations

import pytest
import torch

from assay.judge.words.note_text import note_text
from assay.onnx_to_torch.torch_messages import torch_message


def _text(error: BaseException, limit: int = 400) -> str:
    said = torch_message(error, limit)
    return said if isinstance(said, str) else note_text(said)


class _BranchOnData(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ones(3) if x.item() == 1 else torch.zeros(3)


class _SizeOfData(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ones([1] * int(x.item()))


def _raised(module: torch.nn.Module) -> Exception:
    with pytest.raises(RuntimeError) as caught:
        torch.export.export(module, (torch.tensor([1]),))
    return caught.value


def test_a_branch_on_data_is_said_in_one_sentence() -> None:
    assert _text(_raised(_BranchOnData())) == (
        "a condition, Eq(u0, 1), depends on the values of the inputs, and torch's tracer has to know it before they are there"
    )


def test_a_size_that_data_decide() -> None:
    assert _text(_raised(_SizeOfData())).startswith("a size, u0, depends on the values of the inputs")


def test_an_expression_too_long_to_be_read_is_left_out() -> None:
    text = "Could not guard on data-dependent expression Eq(((((((u1 + u3)//256)) + 1)//2)) + 1 + 576, 1) (unhinted: Eq(u1, 1))."
    assert _text(RuntimeError(text)) == (
        "a condition depends on the values of the inputs, and torch's tracer has to know it before they are there"
    )


def test_dynamo_quotes_the_assertion_and_no_address() -> None:
    def narrow(x: torch.Tensor) -> torch.Tensor:
        torch._assert(x.shape[0] >= 30, "needs 30 rows")
        return x + 1

    with pytest.raises(Exception, match="fake tensor") as caught:
        torch.compile(narrow, fullgraph=True, backend="eager", dynamic=True)(torch.ones(3))
    assert _text(caught.value) == "its tracer refuses the sizes: needs 30 rows"


def test_a_long_text_ends_at_a_whole_word() -> None:
    assert _text(RuntimeError("one two three"), limit=9) == "one two …"
    assert _text(RuntimeError()) == "RuntimeError"


def test_long_symbolic_shapes_are_left_out() -> None:
    text = "a and b must have same reduction dim, but got [128*s21, (((s41 - 256)//128)) + 1 + u0 + s77] X [s3, 512]."
    assert _text(RuntimeError(text)) == "a and b must have same reduction dim, but got […] X [s3, 512]."
