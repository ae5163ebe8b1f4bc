"""Group `artifacts`: whether a submission has every part that it needs, and whether the parts agree."""
