"""Models that are wrong in one way each: functions of the model itself."""

from __future__ import annotations

from pathlib import Path

import onnx

from assay.testing.broken_models.craft import HEAD, case, text


@case("function", "recursion")
def recursive_function(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17, "own" : 1]> F (a) => (b) { [f] b = own.F(a) }',
        HEAD.replace("17]", '17, "own" : 1]'),
    )


@case("function", "missing-import")
def function_without_import(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["other" : 1]> F (a) => (b) { [f] b = Relu(a) }',
        HEAD.replace("17]", '17, "own" : 1]'),
    )


@case("function", "undefined-value")
def function_reads_nothing(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17]> F (a) => (b) { [f] b = Relu(nobody) }',
        HEAD.replace("17]", '17, "own" : 1]'),
    )


@case("function", "hidden-operator")
def function_hides_relu(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = Relu(x) }\n"
        '<domain: "", opset_import: ["" : 17]> Relu (a) => (b) { [f] b = Neg(a) }'
    )


@case("function", "duplicate-function")
def function_twice(_: Path) -> onnx.ModelProto:
    body = '<domain: "own", opset_import: ["" : 17]> F (a) => (b) { [f] b = Relu(a) }\n'
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n" + body + body, HEAD.replace("17]", '17, "own" : 1]')
    )


@case("function", "call-depth")
def function_chain(_: Path) -> onnx.ModelProto:
    parts = ["g (float[2] x) => (float[2] y) { [a] y = own.F0(x) }\n"]
    for level in range(1200):
        call = f"own.F{level + 1}" if level < 1199 else "Relu"
        parts.append(
            f'<domain: "own", opset_import: ["" : 17, "own" : 1]> F{level} (a) => (b) {{ [p] b = {call}(a) }}\n'
        )
    return text("".join(parts), HEAD.replace("17]", '17, "own" : 1]'))


@case("function", "recursion")
def functions_in_a_ring(_: Path) -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17, "own" : 1]> F (a) => (b) { [f] b = own.G(a) }\n'
        '<domain: "own", opset_import: ["" : 17, "own" : 1]> G (a) => (b) { [f] b = own.F(a) }',
        HEAD.replace("17]", '17, "own" : 1]'),
    )


@case("function", "expansion")
def function_bomb(_: Path) -> onnx.ModelProto:
    parts = ["g (float[2] x) => (float[2] y) { [a] y = own.F0(x) }\n"]
    for level in range(30):
        call = f"own.F{level + 1}" if level < 29 else "Relu"
        parts.append(
            f'<domain: "own", opset_import: ["" : 17, "own" : 1]> F{level} (a) => (c) '
            f"{{ [p] b = {call}(a)  [q] c = {call}(b) }}\n"
        )
    return text("".join(parts), HEAD.replace("17]", '17, "own" : 1]'))


@case("function", "arity")
def function_before_there_were_any(_: Path) -> onnx.ModelProto:
    """In an IR version for which the checker does not look at functions."""
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F(x) }\n"
        '<domain: "own", opset_import: ["" : 17]> F (a) => (b) { [f] b = Loop(a) }',
        '<ir_version: 7, opset_import: ["" : 17, "own" : 1]>\n',
    )
