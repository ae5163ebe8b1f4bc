"""Operators of com.microsoft: how a model is taken apart into the steps of the standard that their records give.

Taken apart, each step is evaluated, batched and given its noise as everywhere else, the grids of dynamic quantization too. What
no steps say (a state that goes onto a grid in every turn) is a kernel. Sources: ONNX Runtime's ContribOperators.md and schemas;
each is compared with unoptimised ONNX Runtime in tests/unit/numerics/oracle.
"""
