"""The cases of suites: which are taken, how they are shared out, and what is known of their outcomes."""
