"""Commands without a room: one a file, named as the file."""
