"""Data that do not fit the model: one sentence each."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from own_data_models import CELL, MODEL, ONE, STACK, X, function

from assay.core.data import Data
from assay.core.model import Model
from assay.errors import BadGolden, UsageError
from assay.models.own_data import read_data

BAD: dict[str, tuple[str, Callable[[Path], Any], Model, str, str]] = {
    "a near name": (
        "a.npz",
        lambda path: np.savez(path, X=X),
        ONE,
        "",
        "{p} holds 'X', which one neither takes nor gives; perhaps you mean 'x' (a label of the samples is called 'label_X')",
    ),
    "a name far off": (
        "a.npz",
        lambda path: np.savez(path, pixels=X),
        ONE,
        "",
        "{p} holds 'pixels', which one neither takes nor gives; choose one of x, y (a label of the samples is called 'label_pixels')",
    ),
    "an input is missing": (
        "a.npz",
        lambda path: np.savez(path, x=X),
        MODEL,
        "",
        "{p} lacks the input 'n' (int64, []) of net; store one value for each input",
    ),
    "a state is missing": (
        "a.npz",
        lambda path: np.savez(path, x=X),
        CELL,
        "",
        "{p} lacks the input 'state' (float32, [2, N, 3]) of cell; it looks like the state that output 'stateN' gives back: "
        "--state stateN=state begins at zeros and feeds it",
    ),
    "no name": (
        "a.npy",
        lambda path: np.save(path, X),
        MODEL,
        "",
        "{p} holds one array without a name, and net has 2 inputs (x, n); save them by name with numpy.savez",
    ),
    "a lossy type": (
        "a.npy",
        lambda path: np.save(path, X.astype(np.float64) / 3),
        ONE,
        "",
        "{p}: 'x' is float64 and would lose digits as float32, which the model takes; cast it yourself if that is meant: "
        "array.astype('float32')",
    ),
    "text": (
        "a.npy",
        lambda path: np.save(path, np.array([["a"] * 4])),
        ONE,
        "",
        "{p}: 'x' is string, the model takes float32; give float32",
    ),
    "an axis": (
        "a.npy",
        lambda path: np.save(path, X[:, :3]),
        ONE,
        "",
        "{p}: 'x' has shape [2, 3], and the model declares [N, 4]; axis 1 is 3 and must be 4",
    ),
    "no batch axis": (
        "a.npy",
        lambda path: np.save(path, X[0]),
        ONE,
        "",
        "{p}: 'x' has shape [4] of 1 axes, and the model declares [N, 4]; add the batch axis: array[None]",
    ),
    "other counts": (
        "a.npz",
        lambda path: np.savez(path, x=STACK, n=np.arange(2)),
        MODEL,
        "",
        "{p}: inputs hold different numbers of samples ('x' 3, 'n' 2); stack as many of each on axis 0",
    ),
    "objects": (
        "a.npy",
        lambda path: np.save(path, np.array([{}], object), allow_pickle=True),
        ONE,
        "",
        "{p} holds Python objects, which run code when they are read; save arrays of numbers or text",
    ),
    "a text that is called an archive": (
        "a.npz",
        lambda path: path.write_text("0.5 0.25"),
        ONE,
        "",
        "{p} is no file of numpy: it begins with '0.5 0.25'; save arrays with numpy.save or numpy.savez",
    ),
    "a pickle": (
        "a.npy",
        lambda path: path.write_bytes(pickle.dumps([0.5])),
        ONE,
        "",
        "{p} holds Python objects, which run code when they are read; save arrays of numbers or text",
    ),
    "another suffix": (
        "a.mat",
        lambda path: path.write_bytes(b"x"),
        ONE,
        "",
        "{p} is of no kind that is read (.mat); give a golden folder, .npy, .npz, .safetensors, a folder of them, of test_data_set_N "
        "or of images, an image, prompts (.jsonl, .txt), Polygraphy's JSON, or a function (module:function, file.py:function)",
    ),
    "a function that raises": (
        "f.py",
        function("def f(): 1 / 0"),
        ONE,
        ":f",
        "{p}:f raised ZeroDivisionError: division by zero; call it yourself to see where",
    ),
    "another name in the file": (
        "f.py",
        function("def calls(): pass"),
        ONE,
        ":call",
        "{p}:call: {p} has no 'call'; perhaps you mean 'calls'",
    ),
    "a function without an end": (
        "f.py",
        function("def f():\n while True: yield {'x': X}"),
        ONE,
        ":f",
        "{p}:f yields more than 4096 times; say how many are wanted with --samples",
    ),
    "a function that yields arrays": (
        "f.py",
        function("def f(): yield X"),
        ONE,
        ":f",
        "{p}:f yields ndarray as item 0; yield a dict from input names to arrays, or a list of them",
    ),
    "an image without a declaration": (
        "a.png",
        lambda path: path.write_bytes(b""),
        ONE,
        "",
        "{p} is an image, and how it becomes an input is not declared: give for example --image "
        "size=224x224,layout=NCHW,scale=1/255,mean=0.485:0.456:0.406,std=0.229:0.224:0.225",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_are_told_in_one_sentence(name: str, tmp_path: Path) -> None:
    file, write, model, suffix, sentence = BAD[name]
    write(tmp_path / file)
    with pytest.raises((BadGolden, UsageError)) as caught:
        read_data(Data(f"{tmp_path / file}{suffix}"), model)
    assert str(caught.value) == sentence.replace("{p}", str(tmp_path / file))
