"""Where submissions come from and where the robot reports to: a plain git repository, GitHub, GitLab."""
