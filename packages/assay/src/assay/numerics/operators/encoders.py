"""Tables and encodings of ai.onnx.ml."""

from __future__ import annotations

from collections.abc import Sequence

from assay.numerics.operators.record import LEARNING, OnnxOperator, alike
from assay.numerics.shapes.elementwise import same_shape
from assay.numerics.shapes.needed_values import Demands, index_into, known_texts, size_of
from assay.numerics.shapes.values import Node, Value


def _features_ranges(node: Node, inputs: Sequence[Value]) -> Demands:
    yield 1, index_into(size_of(inputs, 0, -1))


OPERATORS: tuple[OnnxOperator, ...] = (
    *alike("LabelEncoder", domain=LEARNING, moves=True, reference="learning", shape=same_shape, ranges=known_texts),
    *alike("CategoryMapper", domain=LEARNING, moves=True, reference="learning", ranges=known_texts),
    *alike("OneHotEncoder", domain=LEARNING, moves=True, ranges=known_texts),
    *alike("DictVectorizer FeatureVectorizer", domain=LEARNING, moves=True, reference="learning"),
    *alike("CastMap", domain=LEARNING, moves=True),
    *alike("ZipMap", domain=LEARNING, moves=True, reference="trees"),
    *alike("Binarizer Imputer", domain=LEARNING, moves=True, shape=same_shape),
    *alike("ArrayFeatureExtractor", domain=LEARNING, moves=True, ranges=_features_ranges),
)
