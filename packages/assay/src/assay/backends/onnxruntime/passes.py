"""Which of ONNX Runtime's graph optimizers changed a model, and the lines of Python that call a session without some of them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from assay.backends.onnxruntime.session import LEVELS, PROVIDER, session, session_options
from assay.core.flow import Option

_RAN = re.compile(r"GraphTransformer (\S+) modified: (\d)(?: with status: (\w+))?")
_BEGUN = re.compile(r"Applying graph transformer (\S+) on step")
_RULES = "RuleBasedTransformer"
_LISTS = "import sys; from assay.backends.onnxruntime.passes import log_session; log_session(sys.argv[1])"
REWRITE_RULES = (
    "CastChainElimination", "CastElimination", "ClipQuantRewrite", "ConvAddFusion", "ConvBNFusion", "ConvMulFusion",
    "DivMulFusion", "EliminateDropout", "EliminateIdentity", "EliminateSlice", "ExpandElimination", "FuseReluClip",
    "GemmSumFusion", "GemmTransposeFusion", "LabelEncoderFusion", "MatMul_BatchNormalization_Fusion", "NoopElimination",
    "NotWhereFusion", "Pad_Fusion", "PreShapeNodeElimination", "ReluQuantRewrite", "UnsqueezeElimination",
)  # fmt: skip
"""Names that `disabled_optimizers` takes, of what the rule-based transformers hold (1.31.1). No log names them, and a name that a
version does not know is ignored by it."""

TRANSFORMERS = (
    "Level1_RuleBasedTransformer", "Level2_RuleBasedTransformer", "ConstantFolding", "ConstantSharing",
    "CommonSubexpressionElimination", "TransposeOptimizer", "TransposeOptimizer_CPUExecutionProvider", "NchwcTransformer",
    "NhwcTransformer", "ConvActivationFusion", "ConvAddActivationFusion", "GemmActivationFusion", "MatMulAddFusion",
    "MatmulTransposeFusion", "MatMulScaleFusion", "MatMulActivationFusion", "MatMulNBitsFusion", "MatMulIntegerToFloatFusion",
    "DynamicQuantizeMatMulFusion", "QDQPropagationTransformer", "QDQS8ToU8Transformer", "QDQSelectorActionTransformer",
    "QDQFinalCleanupTransformer", "DoubleQDQPairsRemover", "EnsureUniqueDQForNodeUnit", "WeightBiasQuantization", "WhereDummyDq",
    "LayerNormFusion", "LayerNormFusionL1", "LayerNormFusionL2", "SimplifiedLayerNormFusion", "SkipLayerNormFusion",
    "BiasSkipLayerNormFusion", "EmbedLayerNormFusion", "AttentionFusion", "GroupQueryAttentionFusion", "GeluFusion",
    "GeluFusionL1", "GeluFusionL2", "FastGeluFusion", "QuickGeluFusion", "BiasGeluFusion", "BiasSoftmaxFusion",
    "BiasDropoutFusion", "GatherToSplitFusion", "GatherToSliceFusion", "GatherSliceToSplitFusion", "ReshapeFusion",
    "FreeDimensionOverrideTransformer",
    "SliceConcatToSpaceToDepthFusion", "CastFloat16Transformer", "InsertCastTransformer", "RemoveDuplicateCastTransformer",
)  # fmt: skip
"""Of the sessions of 1.15 to 1.31 on a CPU."""


def optimizers_run(model: Path, level: str, threads: int, options: Mapping[str, Option]) -> tuple[str, ...]:
    """In the order in which they changed the model; before a rule-based one all its rules, which are not logged. The session is made in
    a process of its own: where that dies, what it has logged up to then is the answer."""
    arguments = json.dumps([str(model), level, threads, dict(options)])
    with tempfile.TemporaryDirectory(prefix="log-") as folder:
        path = Path(folder) / "log"
        with path.open("wb") as file:
            ended = subprocess.run(
                [sys.executable, "-P", "-c", _LISTS, arguments], stdout=file, stderr=file, check=False
            )
        return parse_log(path.read_text(errors="replace"), failed=ended.returncode != 0)


def parse_log(text: str, *, failed: bool = False) -> tuple[str, ...]:
    """The optimizers that changed a model, by the log of its session, and the one in which it failed. Where the log names none that
    ran, or not the one in which the session failed: all that are known."""
    begun, ran = _BEGUN.findall(text), _RAN.findall(text)
    passes = list(dict.fromkeys(name for name, changed, status in ran if changed == "1" or status not in ("", "OK")))
    if failed and begun:
        passes += [
            name for name in begun[-1:] if name not in passes and text.rfind(f"{name} modified") < text.rfind(name)
        ]
    elif failed or not ran:
        passes += [name for name in TRANSFORMERS if name not in passes]
    at = next((place for place, name in enumerate(passes) if _RULES in name), len(passes))
    return (*passes[:at], *(REWRITE_RULES if at < len(passes) else ()), *passes[at:])


def log_session(arguments: str) -> None:
    """Makes a session that logs all it does, for `optimizers_run`."""
    model, level, threads, options = json.loads(arguments)
    made = session_options(level, threads, options)
    made.log_severity_level = 0
    session(Path(model), made)


def plain_code(options: Mapping[str, Option], *, saved: bool = False) -> str:
    """See `ports.ShowsPlainUse`; `saved`: `ports.ShowsSavedUse`."""
    level = LEVELS[str(options["optimization"])]
    lines = [
        "def run(model, inputs):",
        *(["    import os", "    import tempfile"] if saved else []),
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
    providers = f'providers=["{PROVIDER}"]'
    plain = "model.SerializeToString()"
    if saved:
        lines += [
            "    with tempfile.TemporaryDirectory() as folder:",
            '        options.optimized_model_filepath = path = os.path.join(folder, "saved.onnx")',
            f"        onnxruntime.InferenceSession({plain}, options, {providers}{more})",
            '        options.optimized_model_filepath = ""',
            "        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL",
            f"        session = onnxruntime.InferenceSession(path, options, {providers})",
        ]
    else:
        lines.append(f"    session = onnxruntime.InferenceSession({plain}, options, {providers}{more})")
    lines += [
        "    return dict(zip([one.name for one in session.get_outputs()], session.run(None, inputs)))",
    ]
    return "\n".join(lines) + "\n"
