"""What is said of a model that nobody could look at."""

from __future__ import annotations

import pytest

from assay.core.outcome import Outcome, Stage
from assay.core.result import InspectResult
from assay.errors import UsageError
from assay.pipeline.inspect_models import model_of


def test_a_file_is_not_doubted_where_something_else_is_missing() -> None:
    detail = "words.txt was not sent to this node"
    result = InspectResult("net|inspect", "net", "", "0", Outcome.UNAVAILABLE, Stage.LOAD, detail=detail)
    with pytest.raises(UsageError, match=r"^net:small cannot be looked at: words.txt was not sent to this node$"):
        model_of(result, "net:small")
