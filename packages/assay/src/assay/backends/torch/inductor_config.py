"""Settings of Inductor as one option of a flow, and those that triage changes one at a time."""

from __future__ import annotations

import ast

from assay.core.note import noted
from assay.core.refusals.backend_codes import BackendCode
from assay.errors import UsageError
from assay.ports import OptionSpec

NAME = "inductor_config"
INDUCTOR_CONFIG = OptionSpec(
    NAME,
    "",
    help="settings of torch._inductor.config, with a semicolon between two: epilogue_fusion=False;cpp.simdlen=1",
    tried=(
        "pattern_matcher=False",
        "joint_graph_constant_folding=False",
        "epilogue_fusion=False",
        "cpp.enable_loop_tail_vec=False",
        "cpp.simdlen=1",
        "cpp.weight_prepack=False",
        "layout_optimization=False",
        "split_reductions=False",
        "max_fusion_size=1",
        "cpp.max_horizontal_fusion_size=0",
        "inplace_buffers=False",
        "allow_buffer_reuse=False",
        "reorder_for_locality=False",
        "loop_ordering_after_fusion=False",
        "comprehensive_padding=False",
        "fallback_by_default=True",
    ),
)
"""The narrow ones first: without vectors, without any fusion, and last with torch's own kernel in place of every operator."""


def read_config(text: str, flow: str) -> dict[str, object]:
    """The settings by name. Raises UsageError for what is no setting, and where torch has none of that name (`check_names`)."""
    settings: dict[str, object] = {}
    for part in filter(None, text.split(";")):
        name, equals, value = part.partition("=")
        try:
            settings[name.strip()] = ast.literal_eval(value.strip()) if equals else None
        except (ValueError, SyntaxError):
            settings[name.strip()] = value.strip()
        if not equals or not name.strip():
            raise UsageError(noted(BackendCode.INDUCTOR_FORM, flow=flow, setting=part))
    return settings


def checked_config(text: str) -> dict[str, object]:
    """The same, of names that this torch has. Raises UsageError."""
    from torch._inductor import config

    settings = read_config(text, "inductor")
    for name in settings:
        if name not in config._config:
            raise UsageError(noted(BackendCode.INDUCTOR_NAME, setting=name))
    return settings
