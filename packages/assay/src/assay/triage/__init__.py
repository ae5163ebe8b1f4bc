"""From a red verdict to its cause: where it is, the smallest model that shows it, what brought it, and a script that its vendor can run."""
