"""One valid node of each operator of the standard, its attributes within what the standard says of them."""

from __future__ import annotations

from functools import cache

from assay.generators.operators.form import FORMS, Form


@cache
def forms() -> dict[str, Form]:
    """By name of the operator, sorted."""
    from assay.generators.operators import (  # noqa: F401  each adds its own
        attention,
        control,
        elementwise,
        indexing,
        learning,
        linear,
        normalization,
        quantized,
        recurrent,
        reductions,
        sampling,
        selection,
        sequences,
        shapes,
        signal,
        windows,
    )

    return {name: FORMS[name] for name in sorted(FORMS)}
