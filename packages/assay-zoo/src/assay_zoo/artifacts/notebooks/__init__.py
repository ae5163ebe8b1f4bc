"""What a notebook shows, what it feeds to the model, and what it asks of IPython."""
