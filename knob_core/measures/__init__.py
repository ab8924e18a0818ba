"""What an operator reads off a stream."""
