"""What an engine is fed: own data, planned inputs, sizes and memory layout."""
