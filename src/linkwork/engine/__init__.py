"""Mathematics to machine code: trace, program, LLVM, kernel. Knows no robot."""

__all__: list[str] = []
