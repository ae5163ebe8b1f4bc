"""Reference answers, and the tolerance derived from the model's arithmetic."""
