"""Group `functionality`: every data set of a submission on every runtime of the zoo."""
