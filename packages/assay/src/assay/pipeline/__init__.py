"""The flow of a check and its variations. Adapters come in as arguments."""
