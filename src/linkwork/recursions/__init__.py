"""The recursions: one a file, symbols in, symbols out, the paper's letters."""

__all__: list[str] = []
