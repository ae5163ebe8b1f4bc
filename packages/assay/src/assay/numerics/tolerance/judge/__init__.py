"""What the derived noise allows: verdicts on outputs and elements."""
