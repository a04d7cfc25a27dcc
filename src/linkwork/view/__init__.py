"""What people see: pictures of robots. Needs the extra "plots"."""
