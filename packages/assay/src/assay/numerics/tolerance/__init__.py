"""How much an output may differ from its reference, from the precision that was promised."""
