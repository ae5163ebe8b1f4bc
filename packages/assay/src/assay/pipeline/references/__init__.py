"""What a case is compared with, and how exactly: references, tolerances, data of the user, the original of a changed model."""
