"""Kernel counts: what a robot has compiled so far,
and how many operations each takes beside what papers publish."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from linkwork.engine.kernel import Kernel
from linkwork.errors import UnknownName, did_you_mean
from linkwork.recursions.christoffel_paper import table_2
from linkwork.results import ByName
from linkwork.subject import Subject


class Published(NamedTuple):
    """A paper's count for a chain of as many joints."""

    multiplications: int
    additions: int
    source: str

    @property
    def operations(self) -> int:
        return self.multiplications + self.additions


class Kernels(ByName[Kernel]):
    """Kernels by the name of what they compute: `robot.kernels["inverse_dynamics"].operations`.

    Several of one name (poses of two frames, say) are numbered from the second on. An operation is
    one addition, multiplication, fused multiply-add or function; `published` has the counts of
    papers, which fuse nothing.
    """

    def __init__(self, subject: Subject) -> None:
        self._kernels: dict[str, Kernel] = {}
        for kernel in list(subject.kernels.values()):
            name = free = kernel.signature.name
            number = 1
            while free in self._kernels:
                number += 1
                free = f"{name} {number}"
            self._kernels[free] = kernel
        self.published = {
            "christoffel": Published(
                *table_2(subject.nv), "[Safeea2019] table 2, additions corrected"
            )
        }

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            raise UnknownName(f'there is no kernel "{name}" yet{did_you_mean(name, self._kernels)}')
        return self._kernels[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kernels)

    def __len__(self) -> int:
        return len(self._kernels)

    def __repr__(self) -> str:
        """One line a kernel."""
        lines = []
        for name, kernel in self.items():
            line = f"{name}: {kernel.operations} operations"
            published = self.published.get(name)
            if published is not None:
                line += f" ({published.operations} by {published.source})"
            lines.append(line)
        return "\n".join(lines) or "no kernels yet"
