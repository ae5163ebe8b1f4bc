"""torchao 0.18.0, `convert_pt2e`: one batch normalization in a model costs a quarter of a minute of processor time.

Expected: a conversion that takes as long as that of a model without any (hundredths of a second). Got: `_fold_conv_bn_qat` traces its
patterns of a convolution and a batch normalization again in each call, 96 programs (15 to 20 s of processor time on an Intel Xeon), also
where nothing was trained and no convolution is there. ExecuTorch's `xnnpack-int8` goes through it; with a limit of 60 s and a busy
machine its `batch_norm2d` timed out. Found by
`assay run operators --flow executorch-xnnpack-static-int8-per-channel --filter 'batch_norm2d*'`.
"""

from __future__ import annotations

import sys
import time
import warnings

import torch
import torchao.quantization.pt2e.qat_utils as qat
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer, get_symmetric_quantization_config
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

warnings.simplefilter("ignore")
traced = 0
trace = qat._get_aten_graph_module_for_pattern


def counted(*given: object, **named: object) -> object:
    global traced
    traced += 1
    return trace(*given, **named)


qat._get_aten_graph_module_for_pattern = counted


def converted(module: torch.nn.Module) -> tuple[float, int]:
    """Processor time of the conversion, and how many patterns were traced in it."""
    picture = (torch.randn(2, 4, 9, 11),)
    program = torch.export.export(module.eval(), picture).module()
    config = get_symmetric_quantization_config(is_per_channel=True)
    prepared = prepare_pt2e(program, XNNPACKQuantizer().set_global(config))
    prepared(*picture)
    begin, before = time.process_time(), traced
    convert_pt2e(prepared)
    return time.process_time() - begin, traced - before


wrong = False
for what, module in (("a convolution", torch.nn.Conv2d(4, 4, 3)), ("a batch normalization", torch.nn.BatchNorm2d(4))):
    seconds, patterns = converted(module)
    print(f"{what}: converted in {seconds:.1f} s of processor time, {patterns} patterns traced")
    wrong |= patterns > 0
sys.exit(int(wrong))
