"""One statistical method a file, each with its reference."""
