"""An interpreter per flow: resolved once, locked, built when missing, so that two versions of one backend meet in one run."""
