"""The words of real backends, as they were said, and what they mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, helper

from assay.backends.errors import checker_failure, onnxruntime_failure, openvino_failure, without_sparse
from assay.backends.iree.errors import no_device
from assay.errors import InvalidModel, Lowering, Unavailable, Unsupported

_ORT = "[ONNXRuntimeError] : {} : Load model from a/b.onnx failed:{}"
_OV = "Exception from src/inference/src/cpp/core.cpp:84:\nCheck 'false' failed at src/frontends/common/src/x.cpp:47:\n{}\n"


@pytest.mark.parametrize(
    ("text", "kind", "cause", "node"),
    [
        (
            _ORT.format(
                "1 : FAIL",
                "/onnxruntime_src/onnxruntime/core/graph/model_load_utils.h:46 void onnxruntime::model_load_utils::"
                "ValidateOpsetForDomain(const std::string&, int) ONNX Runtime only *guarantees* support for models stamped"
                " with official released onnx opset versions. Opset 28 is under development and support for this is "
                "limited. Current official support for domain ai.onnx is till opset 26.",
            ),
            Unsupported,
            "opset_too_new",
            "",
        ),
        (
            _ORT.format("1 : FAIL", "Unsupported model IR version: 14, max supported IR version: 13"),
            Unsupported,
            "opset_too_new",
            "",
        ),
        (
            _ORT.format(
                "10 : INVALID_GRAPH",
                'This is an invalid model. In Node, ("nfoo", Foo, "", -1) : ("x": tensor(float),) -> '
                '("y": tensor(float),) , Error No Op registered for Foo with domain_version of 17',
            ),
            Unsupported,
            "operator_unsupported",
            "nfoo",
        ),
        (
            _ORT.format("1 : FAIL", "Fatal error: my.dom:Foo(-1) is not a registered function/op"),
            Unsupported,
            "operator_unsupported",
            "my.dom:Foo",
        ),
        (
            "Exception during loading: MLDataType for: tensor(complex64) is not currently registered or supported",
            Unsupported,
            "operator_unsupported",
            "",
        ),
        (
            "[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Could not find an implementation for Sin(22) node with name 'nc'",
            Unsupported,
            "operator_unsupported",
            "nc",
        ),
        (
            _ORT.format("1 : FAIL", "Node (nm) Op (MatMul) [ShapeInferenceError] Incompatible dimensions"),
            InvalidModel,
            None,
            "nm",
        ),
        (_ORT.format("1 : FAIL", "This is an invalid model. Error: the graph is not acyclic."), InvalidModel, None, ""),
        (_ORT.format("7 : INVALID_PROTOBUF", "Protobuf parsing failed."), InvalidModel, None, ""),
        (
            "[ONNXRuntimeError] : 1 : FAIL : Updating cos_cache and sin_cache in RotaryEmbedding is not currently supported",
            Unsupported,
            "operator_unsupported",
            "",
        ),
        (_ORT.format("1 : FAIL", "[ShapeInferenceError] a rank of 7 is not supported"), InvalidModel, None, ""),
        ("[ONNXRuntimeError] : 1 : FAIL : something nobody has seen", Lowering, None, ""),
    ],
)
def test_onnxruntime(text: str, kind: type[Lowering], cause: str | None, node: str) -> None:
    failure = onnxruntime_failure(text)
    assert type(failure) is kind
    assert failure.node == node
    assert getattr(failure, "cause", None) == cause
    assert "onnxruntime_src" not in str(failure)
    assert "a/b.onnx" not in str(failure)


def test_onnxruntime_memory() -> None:
    text = (
        "[ONNXRuntimeError] : 1 : FAIL : Non-zero status code returned while running ConstantOfShape node. Name:'nb' "
        "Status Message: Failed to allocate memory for requested buffer of size 17592186044416"
    )
    assert isinstance(onnxruntime_failure(text), MemoryError)


@pytest.mark.parametrize(
    ("text", "kind", "node"),
    [
        (_OV.format("Summary:\n-- No conversion rule found for operations: Foo-17"), Unsupported, "Foo-17"),
        (_OV.format('Input tensor isn\'t found for node "zz"'), InvalidModel, "zz"),
        (_OV.format('Unable to read the model: "a.onnx" Please check that model format'), InvalidModel, ""),
        (
            _OV.format(
                "FrontEnd API failed with OpConversionFailure: While validating ONNX node '<Node(MatMul): y>': no"
            ),
            InvalidModel,
            "y",
        ),
        (_OV.format("a word that nobody has heard"), Lowering, ""),
    ],
)
def test_openvino(text: str, kind: type[Lowering], node: str) -> None:
    failure = openvino_failure(text)
    assert type(failure) is kind
    assert failure.node == node
    assert "Exception from" not in str(failure)


def test_openvino_memory() -> None:
    assert isinstance(openvino_failure("Exception from a.cpp:1:\nstd::bad_alloc\n"), MemoryError)


@pytest.mark.parametrize(
    ("text", "kind", "node"),
    [
        (
            "No Op registered for Foo with domain_version of 17\n\n==> Context: Bad node spec for node. Name: nfoo OpType: Foo",
            Unsupported,
            "nfoo",
        ),
        (
            "Nodes in a graph must be topologically sorted, however input 'zz' of node: \n"
            "name: na OpType: Add\n is not output of any previous nodes.",
            InvalidModel,
            "na",
        ),
        ("The model does not have an ir_version set properly.", InvalidModel, ""),
    ],
)
def test_checker(text: str, kind: type[Lowering], node: str) -> None:
    failure = checker_failure(text)
    assert type(failure) is kind
    assert failure.node == node


def test_long_texts_are_cut() -> None:
    assert len(str(onnxruntime_failure("word " * 1000))) <= 600


def test_openvino_names_the_operator_that_it_refuses_and_why() -> None:
    failure = openvino_failure(
        "Check 'false' failed at src/unconverted_ops_report.cpp:151:\nModel wasn't fully converted. Failed operations detailed log:\n"
        "-- Conv-16 with a message:\nWhile validating ONNX node '<Node(Conv): branch/y>': Check 'rank().is_static()' failed at "
        "src/op/conv.cpp:38:\nFrontEnd API failed with GeneralFailure:\nThe input data tensor's rank has to be known (static)\n"
    )
    assert (type(failure), getattr(failure, "node", "")) == (InvalidModel, "branch/y")
    assert (
        str(failure)
        == "OpenVINO's importer refuses Conv 'branch/y': The input data tensor's rank has to be known (static)"
    )


@pytest.mark.parametrize(("name", "language"), [("en_US", "en_US"), ("de_DE.UTF-8", "de_DE")])
def test_a_missing_locale_is_named_and_so_is_the_way_out(name: str, language: str) -> None:
    failure = onnxruntime_failure(
        "Exception during initialization: /onnxruntime_src/onnxruntime/core/providers/cpu/text/string_normalizer.cc:235 "
        "onnxruntime::StringNormalizer::Locale::Locale(const std::string&)::<lambda()> Failed to construct locale with "
        f"name:{name}:locale::facet::_S_create_c_locale name not valid:Please, install necessary language-pack-XX and configure locales"
    )
    assert type(failure) is Unavailable
    assert str(failure) == (
        f"this machine lacks the locale '{name}', by which StringNormalizer changes the case of letters: install it (Debian, Ubuntu: "
        f"`apt-get install locales`, then `localedef -i {language} -f UTF-8 {name}`), or set the attribute locale='C' of that node "
        "(skl2onnx: the option locale of the vectorizer), which changes the case of ASCII letters only"
    )


def test_onnxruntime_names_the_node_whose_types_contradict() -> None:
    failure = onnxruntime_failure(
        "[ONNXRuntimeError] : 1 : FAIL : Load model from m.onnx failed:Type Error: Type (tensor(float16)) of output arg (/Cast:0) of "
        "node (/Cast) does not match expected type (tensor(float))."
    )
    assert (type(failure), getattr(failure, "node", "")) == (InvalidModel, "/Cast")


def test_a_device_that_iree_does_not_find_is_said_without_the_places_where_it_looked() -> None:
    text = (
        "c/runtime/src/iree/base/internal/x.c:165: NOT_FOUND; Vulkan loader library not found; "
        "ensure it is installed: Tried: \n  libvulkan.so.1\n c/runtime/src/iree/base/internal/x.c:165: NOT_FOUND; failed to load"
    )
    assert str(no_device("vulkan", text)) == (
        "no vulkan device: NOT_FOUND; Vulkan loader library not found; ensure it is installed"
    )


def _with_a_sparse_weight(folder: Path) -> Path:
    """In a branch of it."""
    values = helper.make_tensor("w", TensorProto.FLOAT, [1], [3.0])
    sparse = helper.make_sparse_tensor(values, helper.make_tensor("at", TensorProto.INT64, [1], [1]), [2])
    branch = helper.make_graph([helper.make_node("Add", ["x", "w"], ["o"])], "b", [], [], sparse_initializer=[sparse])
    node = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    path = folder / "m.onnx"
    path.write_bytes(helper.make_model(helper.make_graph([node], "g", [], [])).SerializeToString())
    return path


@pytest.mark.parametrize("missing", ["w", "v"])
def test_a_library_without_sparse_weights_finds_no_model_broken_that_has_one_in_a_branch(
    tmp_path: Path, missing: str
) -> None:
    text = f"While validating ONNX node '<Node(If): y>': Input tensor isn't found for node \"{missing}\"\nSummary:\n"
    failure = openvino_failure(_OV.format(text))
    read = without_sparse(_with_a_sparse_weight(tmp_path), failure, text, "OpenVINO")
    assert isinstance(read, Unsupported if missing == "w" else InvalidModel)
    assert isinstance(read, InvalidModel) or read.node == "w"


def test_of_a_file_that_is_no_model_the_library_s_own_words_stand(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"no model")
    text = 'Input tensor isn\'t found for node "w"'
    failure = openvino_failure(_OV.format(text))
    assert isinstance(failure, InvalidModel)
    assert without_sparse(tmp_path / "m.onnx", failure, text, "OpenVINO") is failure
