"""Closed loops: what drives joints, closes loops and shares loads beside the tree."""
