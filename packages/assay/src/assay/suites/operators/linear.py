"""Products of matrices, attention, recurrent layers, distances."""

from __future__ import annotations

from assay.suites.operators.declare import FLOATS, Operator

_RNN = (
    {"size": 8, "layers": 1, "both": False},
    {"size": 8, "layers": 2, "both": False},
    {"size": 8, "layers": 1, "both": True},
)

TABLE = (
    Operator(
        "matmul",
        "torch.matmul(x, y)",
        "4x8 8x5 | 3x4x8 3x8x5 | 2x3x4x8 2x3x8x5 | 16x256 256x32",
        "8 8 | 4x8 8 | 8 8x5 | 3x4x8 8x5 | 1x4x8 3x8x5 | 0x8 8x5 | 4x0 0x5 | 7x13 13x17 | 1x1 1x1 | 2x4096 4096x3",
    ),
    Operator("mm", "torch.mm(x, y)", "4x8 8x5 | 16x256 256x32", "1x1 1x1 | 7x13 13x17 | 0x8 8x5"),
    Operator("bmm", "torch.bmm(x, y)", "3x4x8 3x8x5 | 2x16x64 2x64x16", "1x1x1 1x1x1 | 2x7x13 2x13x17 | 0x4x8 0x8x5"),
    Operator(
        "addmm",
        "torch.addmm(x, y, z, beta=beta, alpha=alpha)",
        "4x5 4x8 8x5 | 16x32 16x256 256x32",
        "5 4x8 8x5 | 4x1 4x8 8x5",
        attributes=({"beta": 1.0, "alpha": 1.0}, {"beta": 0.5, "alpha": 2.0}),
    ),
    Operator(
        "linear",
        "m(x)",
        "5x16 | 3x4x16 | 16",
        "1x16 | 0x16 | 2x3x5x16",
        module="nn.Linear(16, size, bias=bias)",
        attributes=(
            {"size": 8, "bias": True},
            {"size": 8, "bias": False},
            {"size": 1, "bias": True},
            {"size": 257, "bias": True},
        ),
    ),
    Operator("linear_large", "m(x)", "4x256 | 1x256", module="nn.Linear(256, 1024)"),
    Operator("bilinear", "m(x, y)", "4x5 4x6", "1x5 1x6", FLOATS[:2], module="nn.Bilinear(5, 6, 7)"),
    *(
        Operator(f"einsum_{name}", f"torch.einsum('{equation}', {names})", shapes, dtypes=FLOATS[:3])
        for name, equation, names, shapes in (
            ("outer", "i,j->ij", "x, y", "5 7"),
            ("batch", "bij,bjk->bik", "x, y", "3x4x5 3x5x6"),
            ("attention", "bhid,bhjd->bhij", "x, y", "2x3x4x8 2x3x5x8"),
            ("diagonal_sum", "ij,ij->i", "x, y", "4x5 4x5"),
            ("transpose", "ij->ji", "x", "4x5"),
        )
    ),
    Operator("outer", "torch.outer(x, y)", "5 7 | 20 30", "1 1 | 0 4"),
    Operator("cdist", "torch.cdist(x, y)", "5x3 7x3 | 2x5x3 2x7x3", dtypes=FLOATS[:1]),
    Operator(
        "cosine_similarity",
        "F.cosine_similarity(x, y, dim)",
        "5x10 5x10 | 3x4x5 3x4x5",
        "1x7 1x7",
        attributes=({"dim": 1}, {"dim": 0}),
    ),
    Operator(
        "attention",
        "F.scaled_dot_product_attention(x, y, z)",
        "1x2x4x8 1x2x4x8 1x2x4x8 | 2x3x5x8 2x3x7x8 2x3x7x8 | 1x4x32x16 1x4x32x16 1x4x32x16",
        "1x1x1x4 1x1x1x4 1x1x1x4",
    ),
    Operator(
        "attention_causal",
        "F.scaled_dot_product_attention(x, y, z, is_causal=True)",
        "1x2x4x8 1x2x4x8 1x2x4x8 | 1x4x32x16 1x4x32x16 1x4x32x16",
    ),
    Operator(
        "attention_masked",
        "F.scaled_dot_product_attention(x, y, z, attn_mask=w)",
        "1x2x4x8 1x2x4x8 1x2x4x8 4x4 | 2x3x5x8 2x3x7x8 2x3x7x8 2x1x5x7",
    ),
    Operator(
        "multihead_attention",
        "m(x, x, x, need_weights=False)[0]",
        "2x5x16 | 1x9x16",
        "1x1x16",
        FLOATS[:2],
        module="nn.MultiheadAttention(16, heads, batch_first=True)",
        attributes=({"heads": 2}, {"heads": 4}),
    ),
    Operator(
        "transformer_layer",
        "m(x)",
        "2x5x16",
        dtypes=FLOATS[:2],
        module="nn.TransformerEncoderLayer(16, 2, 32, activation=act, batch_first=True, norm_first=first)",
        attributes=({"act": "relu", "first": False}, {"act": "gelu", "first": True}),
    ),
    Operator(
        "lstm",
        "m(x)",
        "2x5x6 | 1x10x6",
        "1x1x6",
        FLOATS[:2],
        module="nn.LSTM(6, size, layers, batch_first=True, bidirectional=both)",
        attributes=_RNN,
    ),
    Operator(
        "gru",
        "m(x)",
        "2x5x6 | 1x10x6",
        "1x1x6",
        FLOATS[:2],
        module="nn.GRU(6, size, layers, batch_first=True, bidirectional=both)",
        attributes=_RNN,
    ),
    Operator(
        "rnn",
        "m(x)",
        "2x5x6 | 1x10x6",
        "1x1x6",
        FLOATS[:2],
        module="nn.RNN(6, size, layers, batch_first=True, bidirectional=both)",
        attributes=_RNN,
    ),
)
