"""A service that continues prompts: does it give the probabilities of the model, however it is asked?"""
