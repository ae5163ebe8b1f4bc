"""People are told what needs them, once per cause."""
