"""Who else is asked where an engine and the oracle differ, or an engine refuses inputs: no answer is called wrong by one voice."""
