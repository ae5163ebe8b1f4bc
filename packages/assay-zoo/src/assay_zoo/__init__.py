"""Model submissions: a folder comes in, checks tell what holds, a pure decision goes out."""
