"""Reading and writing of robot descriptions: the only room that knows a file format."""
