"""Services by their address: what is asked of them, and what they may do to a client."""
