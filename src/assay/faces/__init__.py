"""The composition roots: where adapters are chosen and put together."""
