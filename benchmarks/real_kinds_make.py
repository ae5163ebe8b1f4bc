"""Trains, or changes, one model each and writes it: run by `real_kinds.py` in an environment of its own.

python benchmarks/real_kinds_make.py FOLDER NAME            a pipeline of scikit-learn, LightGBM or XGBoost
python benchmarks/real_kinds_make.py FOLDER NAME OLD CHANGE   OLD after the change

Beside NAME.onnx of a trained model it writes NAME.npz (inputs of real rows) and NAME.own.npz (what the framework itself predicts for
them: `label`, `scores`). Everything is seeded. The text is that of the descriptions of scikit-learn's own data sets.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx

ROWS = 12
WORDS = "[a-zA-Z0-9_]+"
"""The converter knows this pattern; the default one, which drops single letters, it does not take along (skl2onnx 1.20)."""
GRAMS: dict[str, Any] = {"ngram_range": (1, 2), "token_pattern": WORDS}
Array = np.ndarray[Any, Any]
Made = tuple[Any, Array, dict[str, Any]]
"""A fitted estimator, its rows, and options of the converter."""


def rows_of(name: str, *, missing: bool = False) -> tuple[Array, Array]:
    import sklearn.datasets

    x, y = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    x = x.astype(np.float32)
    if missing:
        x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan
    return x, y


def texts() -> tuple[Array, Array]:
    """Sentences of the descriptions of data sets, and the set that each describes."""
    import sklearn.datasets

    sentences, labels = [], []
    for file in sorted((Path(sklearn.datasets.__file__).parent / "descr").glob("*.rst")):
        for part in re.split(r"(?<=[.])\s+", file.read_text()):
            words = " ".join(re.findall(r"[A-Za-z]+", part))
            if len(words) > 20:
                sentences.append(words)
                labels.append(file.stem)
    return np.array(sentences), np.array(labels)


def levels() -> tuple[Array, Array]:
    """Three measurements of wine as low, mid and high; the kind of wine by its name."""
    import sklearn.datasets

    x, y = rows_of("wine")
    columns = [np.searchsorted(np.quantile(x[:, number], [0.33, 0.66]), x[:, number]) for number in range(3)]
    return np.array(["low", "mid", "high"])[np.stack(columns, 1)], sklearn.datasets.load_wine().target_names[y]


def trained(name: str) -> Made:
    from sklearn import ensemble, svm
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

    logistic = LogisticRegression(max_iter=500)
    tables: dict[str, tuple[Callable[[], Any], Callable[[], tuple[Array, Array]], dict[str, Any]]] = {
        "rf-digits-zipmap": (lambda: ensemble.RandomForestClassifier(30, random_state=0, max_depth=8), lambda: rows_of("digits"), {}),
        "gbr-diabetes": (lambda: ensemble.GradientBoostingRegressor(random_state=0), lambda: rows_of("diabetes"), {}),
        "extratrees-linnerud": (lambda: ensemble.ExtraTreesRegressor(10, random_state=0), lambda: rows_of("linnerud"), {}),
        "tfidf-text": (lambda: make_pipeline(TfidfVectorizer(max_features=800, **GRAMS), logistic), texts, {}),
        "count-stopwords-rf": (
            lambda: make_pipeline(CountVectorizer(stop_words=["the", "of", "a"], max_features=300, token_pattern=WORDS),
                                  ensemble.RandomForestClassifier(10, random_state=0)), texts, {"zipmap": False},
        ),
        "onehot-strings": (lambda: make_pipeline(OneHotEncoder(handle_unknown="ignore"), logistic), levels, {}),
        "ordinal-strings": (
            lambda: make_pipeline(OrdinalEncoder(), ensemble.GradientBoostingClassifier(random_state=0, n_estimators=10)), levels, {},
        ),
        "svc-iris-names": (lambda: svm.SVC(probability=True, random_state=0), lambda: rows_of("iris"), {}),
        "knn-iris-scan": (KNeighborsClassifier, lambda: rows_of("iris"), {}),
        "knn-diabetes-scan": (lambda: KNeighborsRegressor(weights="distance"), lambda: rows_of("diabetes"), {}),
        "mlp-digits": (
            lambda: make_pipeline(StandardScaler(), PCA(20, random_state=0), MLPClassifier((40,), max_iter=50, random_state=0)),
            lambda: rows_of("digits"), {"zipmap": False},
        ),
        "impute-logistic-nan": (
            lambda: make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), logistic),
            lambda: rows_of("breast_cancer", missing=True), {},
        ),
        "mlp-100mb-digits": (
            lambda: MLPClassifier((5000, 5000), max_iter=2, random_state=0), lambda: rows_of("digits"), {"zipmap": False},
        ),
        "svr-opset9-diabetes": (svm.SVR, lambda: rows_of("diabetes"), {}),
        "gbr-opset7-linnerud": (
            lambda: ensemble.GradientBoostingRegressor(random_state=0, n_estimators=10),
            lambda: (rows_of("linnerud")[0], rows_of("linnerud")[1][:, 0]), {},
        ),
        "kmeans-digits": (lambda: KMeans(10, random_state=0, n_init=1), lambda: rows_of("digits"), {}),
    }  # fmt: skip
    estimator, data, options = tables[name]
    x, y = data()
    return estimator().fit(x, y), x, options


def boosted(name: str) -> Made:
    if name == "lightgbm-wine-nan":
        import lightgbm

        x, y = rows_of("wine", missing=True)
        return lightgbm.LGBMClassifier(n_estimators=20, verbose=-1, random_state=0).fit(x, y), x, {}
    import xgboost

    if name == "xgboost-iris":
        x, y = rows_of("iris")
        return xgboost.XGBClassifier(n_estimators=10, random_state=0).fit(x, y), x, {}
    x, y = rows_of("diabetes", missing=True)
    return xgboost.XGBRegressor(n_estimators=40, random_state=0, base_score=0.5).fit(x, y), x, {}


def convert(name: str, estimator: Any, x: Array, options: dict[str, Any]) -> tuple[Any, Array]:
    """The ONNX model, and rows as it takes them."""
    if "boost" in name or "lightgbm" in name:
        import onnxmltools
        from onnxmltools.convert.common.data_types import FloatTensorType

        tool = onnxmltools.convert_lightgbm if "lightgbm" in name else onnxmltools.convert_xgboost
        return tool(estimator, initial_types=[("x", FloatTensorType([None, x.shape[1]]))], target_opset=15), x
    from skl2onnx import to_onnx
    from skl2onnx.common.data_types import FloatTensorType as Floats
    from skl2onnx.common.data_types import StringTensorType

    if x.dtype.kind == "U":
        table = x if x.ndim == 2 else x[:, None]
        if x.ndim == 1:  # the letters of every machine: its default is a locale that not every machine has
            options = {"locale": "C", **options}
            first = type(estimator.steps[0][1])
            split = {first: {"locale": options.pop("locale")}}
            if options:
                split[type(estimator.steps[-1][1])] = options
            return to_onnx(estimator, initial_types=[("x", StringTensorType([None, 1]))], options=split), table
        return to_onnx(estimator, initial_types=[("x", StringTensorType([None, table.shape[1]]))]), table
    older = re.search(r"opset(\d+)", name)
    target = {"": int(older[1]), "ai.onnx.ml": 1} if older else None
    row = [("x", Floats([None, x.shape[1]]))]
    return to_onnx(estimator, initial_types=row, options=options or None, target_opset=target), x


def looped(folder: Path, name: str) -> None:
    """A recurrent classifier of the rows of a digit, trained for some steps: a `Loop` of ONNX."""
    import torch

    class Reader(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.take, self.keep = torch.nn.Linear(8, 32), torch.nn.Linear(32, 32)
            self.head = torch.nn.Linear(32, 10)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            state = torch.tanh(self.take(x[:, 0]))
            for row in range(1, x.size(1)):
                state = torch.tanh(self.take(x[:, row]) + self.keep(state))
            return self.head(state)

    torch.manual_seed(0)
    x, y = rows_of("digits")
    images, reader = torch.from_numpy(x.reshape(-1, 8, 8) / 16), Reader()
    chosen = torch.optim.Adam(reader.parameters(), 1e-2)
    for _ in range(60):
        chosen.zero_grad()
        torch.nn.functional.cross_entropy(reader(images), torch.from_numpy(y)).backward()
        chosen.step()
    sizes = {"x": {0: "batch", 1: "rows"}}
    torch.onnx.export(
        torch.jit.script(reader.eval()), (images[:ROWS],), folder / f"{name}.onnx", input_names=["x"], output_names=["scores"],
        dynamic_axes=sizes, opset_version=17, dynamo=False,
    )  # fmt: skip
    np.savez(folder / f"{name}.npz", x=images[:ROWS].numpy())
    np.savez(folder / f"{name}.own.npz", scores=reader(images[:ROWS]).detach().numpy())


def make(folder: Path, name: str) -> None:
    estimator, x, options = boosted(name) if ("boost" in name or "lightgbm" in name) else trained(name)
    model, fed = convert(name, estimator, x, options)
    onnx.save(model, folder / f"{name}.onnx")
    np.savez(folder / f"{name}.npz", x=fed[:ROWS])
    own = {"label": estimator.predict(x[:ROWS])}
    if hasattr(estimator, "predict_proba"):
        own["scores"] = estimator.predict_proba(x[:ROWS])
    np.savez(folder / f"{name}.own.npz", **own)


def change(folder: Path, name: str, old: Path, how: str) -> None:
    target = folder / f"{name}.onnx"
    match how.split("_")[0]:
        case "half":
            from onnxconverter_common import float16

            onnx.save(float16.convert_float_to_float16(onnx.load(old), keep_io_types=how == "half"), target)
        case "external":
            onnx.save(
                onnx.load(old), target, save_as_external_data=True, all_tensors_to_one_file=how == "external",
                location=f"{name}.data" if how == "external" else None, size_threshold=0,
            )  # fmt: skip
        case "opset":
            from onnx import version_converter

            onnx.save(version_converter.convert_version(onnx.load(old), int(how.split("_")[1])), target)
        case "optimized":
            import onnxruntime

            options = onnxruntime.SessionOptions()
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
            options.optimized_model_filepath = str(target)
            onnxruntime.InferenceSession(str(old), options, providers=["CPUExecutionProvider"])
        case "dynamic":
            from onnxruntime.quantization import quantize_dynamic

            quantize_dynamic(old, target)
        case _:
            raise SystemExit(f"no change {how}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        (looped if sys.argv[2].startswith("torch-") else make)(Path(sys.argv[1]), sys.argv[2])
    else:
        change(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]), sys.argv[4])
