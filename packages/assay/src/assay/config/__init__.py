"""assay.toml in, frozen values out: its keys, their types, and one sentence for each mistake."""
