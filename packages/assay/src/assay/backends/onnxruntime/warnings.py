"""What the warnings of ONNX Runtime's logger mean. Their words are those of 1.16 to 1.31; the file and line in front change."""

from __future__ import annotations

from assay.backends.warning_rules import reader, rule
from assay.core.native_warning import WarningCode

RULES = (
    # Assay saves the optimized graph, for the machine that it runs on: this is its own doing.
    rule(None, r"Serializing optimized model with Graph Optimization level"),
    # Of the machine, once in each process: which devices and processors it has.
    rule(None, r"device discovery failed|Failed to detect devices|Unknown CPU vendor|cpuid_info|pthread_setaffinity"),
    rule(WarningCode.INITIALIZER_DROPPED, r"Removing initializer '(?P<node>[^']*)'"),
    rule(WarningCode.INITIALIZER_DROPPED, r"Initializer (?P<node>\S+) appears in graph inputs"),
    rule(WarningCode.FUSION_SKIPPED, r"can't constant fold \S+ node '(?P<node>[^']*)'"),
    rule(WarningCode.FUSION_SKIPPED, r"(?:fusion|fuse)\b.*(?:skip|not (?:be )?(?:fused|applied|supported)|fail|unable)"),
    rule(WarningCode.FUSION_SKIPPED, r"(?:skip|unable to|cannot|can't)\w* .*\b(?:fusion|fuse)"),
    rule(WarningCode.NODE_ON_CPU, r"fallback to CPU execution for node: (?P<node>\S+)"),
    rule(WarningCode.NODE_ON_CPU, r"Some nodes were not assigned to the preferred execution providers"),
    rule(WarningCode.NODE_ON_CPU, r"(?P<count>\d+) Memcpy nodes are added to the graph (?P<node>\S+)"),
    rule(WarningCode.FALLBACK, r"provider '?(?P<node>\w+)'? is not in available provider"),
    # Of a shape that the model declares and its nodes do not give.
    rule(WarningCode.OTHER, r"merging shape info for output\. '?(?P<node>[^' ]*)'?"),
    rule(WarningCode.FALLBACK, r"Fall(?:ing)? ?back to (?P<node>[^.]*)"),
    rule(WarningCode.FALLBACK, r"Failed to create (?P<node>\w*ExecutionProvider)"),
    rule(WarningCode.PRECISION_LOST, r"(?:cast|convert|truncat)\w* (?:down )?(?:to|from) (?:int32|float16|fp16|bfloat16)"),
    rule(WarningCode.PRECISION_LOST, r"(?:lose|loss of|lost|reduced) precision|denormal|flush.to.zero"),
    rule(WarningCode.DEPRECATED, r"deprecated"),
)  # fmt: skip

read_warnings = reader(r"\S+ \S+ \[[WE]:onnxruntime:[^,]*, \S+ [^\]]*\] ", RULES)
