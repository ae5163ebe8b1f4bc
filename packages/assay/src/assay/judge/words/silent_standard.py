"""What the standard does not say, by the code of it."""

from __future__ import annotations

from assay.core.screening import Unspecified

SILENT_STANDARD = {
    Unspecified.INTEGER_OVERFLOW: "the standard does not say what a whole number is that its type cannot hold",
    Unspecified.CAST_OUT_OF_RANGE: "Cast: what a number outside of the range of the type becomes is undefined",
    Unspecified.DIVISION_BY_ZERO: "Div and Mod of whole numbers: the standard does not speak of 0 as a divisor",
    Unspecified.EQUAL_KEYS: "TopK: of equal values the lower index comes first, and of `sorted` 0 the order is undefined",
    Unspecified.ROUNDED_PLACE: "Resize: a place lies where the nearest element changes, and no type of places is named",
    Unspecified.FRACTIONAL_LENGTH: "Resize: whether the length of the result is rounded before places follow from it is not said",
    Unspecified.REAL_RESULT: "of whole numbers: the standard does not say how a result that is no whole number is rounded",
    Unspecified.ACTIVATION_NUMBERS: "an activation of a recurrent layer has no number of its own, or which one of the list is not said",
    Unspecified.BODY_DIFFERS: "Attention: of scores before the softcap the text says one thing, and the function body another",
    Unspecified.DILATED_SAME: "pools: SAME pads a dilated window by its reach in the text, and by its width in onnx's own evaluation",
    Unspecified.NEGATIVE_SAME: "ConvTranspose: SAME is negative where a stride is wider than the kernel: text and shape inference differ",
    Unspecified.SAMPLED_MAXIMUM: "RoiAlign, max: whether samples are compared, or the weighted elements around them, is not said",
    Unspecified.EQUAL_MAXIMA: "MaxPool: of equal maxima of one window nothing says whose place is given",
    Unspecified.REFLECTED_TWICE: "Pad, reflect: what lies further outside than the axis is long inside is not said",
    Unspecified.COARSE_SUM: "sums of halves: the type in which a sum is accumulated is not named",
    Unspecified.ROUNDED_STEP: "a quotient lies on the edge between two steps of the grid, and no type of the division is named",
    Unspecified.REPEATED_INDICES: "Scatter: what is written twice to one place depends on the order, which is undefined",
    Unspecified.EQUAL_EXTREMES: "ArgMax and ArgMin: before opset 12 nothing says whose place is given of equal extremes",
    Unspecified.CROSSED_BOUNDS: "Clip: before opset 13 nothing is said of a lower bound above the upper one",
    Unspecified.UPSAMPLED_PLACE: "Upsample, and Resize before opset 11: the length of the result is said, and not which places are read",
    Unspecified.BEYOND_THE_END: "RNN, GRU and LSTM: what Y holds beyond the end of a sequence (`sequence_lens`) is not said",
    Unspecified.NO_STEPS: "RNN, GRU and LSTM: what the last state of a sequence of no steps is, is not said",
    Unspecified.ZERO_SCALE: "DynamicQuantizeLinear: the scale of zeros alone is 0 by the formula, which then divides by it",
    Unspecified.LABEL_OUTSIDE: "losses: labels shall be classes or `ignore_index`; of others nothing is said",
    Unspecified.REMAINDER_SIGN: "Mod: fmod 1 is for floating numbers in the text, and for whole ones in onnx's own cases",
    Unspecified.WINDOW_NUMBERS: "windows: of the paper that the text names, exact and rounded coefficients are both",
}
