"""What torch's words become."""

from __future__ import annotations

from assay.backends.torch.errors import torch_failure
from assay.errors import Lowering, Unsupported


def test_a_guard_of_an_exported_program_refuses_the_size() -> None:
    failure = torch_failure(AssertionError("Guard failed: 1 + (-1 + inputs_0.size()[2]) // 32 == 1"))
    assert type(failure) is Unsupported
    assert str(failure) == (
        "the exported program takes no input of this size: it was specialised to 1 + (-1 + inputs_0.shape[2]) // 32 == 1"
    )
    assert type(torch_failure(AssertionError("another"))) is Lowering
