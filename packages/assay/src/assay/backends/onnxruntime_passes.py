"""Which of ONNX Runtime's graph optimizers changed a model, and the lines of Python that call a session without some of them."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from assay.backends.onnxruntime_session import LEVELS, PROVIDER, session
from assay.core.flow import Option

_MODIFIED = re.compile(r"GraphTransformer (\S+) modified: 1")
_RULES = "RuleBasedTransformer"
REWRITE_RULES = (
    "CastChainElimination", "CastElimination", "ClipQuantRewrite", "ConvAddFusion", "ConvBNFusion", "ConvMulFusion",
    "DivMulFusion", "EliminateDropout", "EliminateIdentity", "EliminateSlice", "ExpandElimination", "FuseReluClip",
    "GemmSumFusion", "GemmTransposeFusion", "LabelEncoderFusion", "MatMul_BatchNormalization_Fusion", "NoopElimination",
    "NotWhereFusion", "Pad_Fusion", "PreShapeNodeElimination", "ReluQuantRewrite", "UnsqueezeElimination",
)  # fmt: skip
"""Names that `disabled_optimizers` takes, of what the rule-based transformers hold (1.31.1). No log names them, and a name that a
version does not know is ignored by it."""


def optimizers_run(model: Path, options: Any) -> tuple[str, ...]:
    """In the order in which they changed the model; before a rule-based one all its rules, which are not logged."""
    options.log_severity_level = 0
    with _native_errors() as log:
        session(model, options)
        found = list(dict.fromkeys(_MODIFIED.findall(log.read_text(errors="replace"))))
    at = next((place for place, name in enumerate(found) if _RULES in name), len(found))
    return (*found[:at], *(REWRITE_RULES if at < len(found) else ()), *found[at:])


@contextmanager
def _native_errors() -> Iterator[Path]:
    """A file that gets what native code writes to standard error meanwhile."""
    with tempfile.TemporaryDirectory(prefix="log-") as folder:
        path = Path(folder) / "log"
        sys.stderr.flush()
        kept = os.dup(2)
        try:
            with path.open("wb") as file:
                os.dup2(file.fileno(), 2)
            yield path
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def plain_code(options: Mapping[str, Option]) -> str:
    """See `ports.ShowsPlainUse`."""
    level = LEVELS[str(options["optimization"])]
    lines = [
        "def run(model, inputs):",
        "    import onnxruntime",
        "    options = onnxruntime.SessionOptions()",
        f"    options.intra_op_num_threads = {options['threads']}",
        f"    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.{level}",
    ]
    if options["int8_sums"] == "exact":
        lines.append('    options.add_session_config_entry("session.x64quantprecision", "1")')
    if options["prepacking"] is False:
        lines.append('    options.add_session_config_entry("session.disable_prepacking", "1")')
    disabled = [name for name in str(options["disabled_optimizers"]).split(";") if name]
    more = f", disabled_optimizers={disabled!r}" if disabled else ""
    lines += [
        f'    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["{PROVIDER}"]{more})',
        "    return dict(zip([one.name for one in session.get_outputs()], session.run(None, inputs), strict=True))",
    ]
    return "\n".join(lines) + "\n"
