"""One file a backend; the heavy import inside a function."""
