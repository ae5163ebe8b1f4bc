"""The robot: a service that watches a zoo's repository, has submissions checked, decides, promotes, and tells."""
