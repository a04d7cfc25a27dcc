"""Mathematics to machine code: trace, program, LLVM, kernel. Knows no robot."""
