"""What a submission asks others to install, in whatever file or command."""
