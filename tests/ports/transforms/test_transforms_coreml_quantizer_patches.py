"""What Assay leaves out of Core ML's patterns changes nothing: the same nodes, and the activations of the model stay."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def utils() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from executorch.backends.apple.coreml.quantizer import _coreml_quantizer_utils
    return _coreml_quantizer_utils


class _Net(torch.nn.Module):  # type: ignore[misc]
    def forward(self, tensor: Any) -> Any:
        return torch.nn.functional.silu(tensor) + torch.nn.functional.relu6(tensor)


def _program() -> Any:
    return torch.export.export(_Net(), (torch.ones(2),)).module()


def _names(utils: Any) -> set[str]:
    return {
        activation.__name__ for activation in (*utils._supported_activations, *utils._supported_activations_no_inplace)
    }


@pytest.mark.filterwarnings("ignore")
def test_only_the_activations_of_the_program_are_looked_for(utils: Any) -> None:
    from assay.transforms.coreml_quantizer_patches import only_what_is_there

    before = _names(utils)
    with only_what_is_there(_program()):
        inside = _names(utils)
    assert {"silu", "relu6"} <= inside
    assert not inside & {"relu", "gelu", "tanh", "elu"}
    assert _names(utils) == before


@pytest.mark.filterwarnings("ignore")
def test_a_pattern_has_the_same_nodes(utils: Any) -> None:
    from assay.transforms.coreml_quantizer_patches import only_what_is_there

    def nodes() -> list[tuple[str, str, str]]:
        made = utils.get_conv_bn_pattern(2, torch.nn.functional.relu, True)
        return [(node.op, node.name, str(node.target)) for node in made.graph.nodes]

    slowly = nodes()
    with only_what_is_there(_program()):
        assert nodes() == slowly
    assert any("relu_" in name for _, _, name in slowly)
