"""What the code of a submission reaches for. It is read name by name, and never run here."""
