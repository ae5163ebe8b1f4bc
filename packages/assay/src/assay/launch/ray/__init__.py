"""Jobs on the nodes of a Ray cluster: a supervisor on each, as at home. Ray carries jobs and results, and says when a node is lost."""
