"""Followers: elements on joints that mimic others, said about the joints that these follow.

A follower has q_f = m q + b and hands its force to its leader m times. So a spring k (q_f - free)
is one of stiffness m^2 k with its rest at (free - b) / m, and a linear condition on q_f is one on
q.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from linkwork.formats.strictness import Passed
from linkwork.model.elements import Coupling, Element, TorsionSpring

Rules = Mapping[str, tuple[str, float, float]]
"""follower -> (independent joint, multiplier, offset)"""


def on_leaders(elements: Iterable[Element], rules: Rules, passed: Passed) -> tuple[Element, ...]:
    """The elements with followers replaced; a coupling that then holds a single joint is left out,
    with a remark."""
    moved: list[Element] = []
    for element in elements:
        match element:
            case TorsionSpring() if element.joint in rules:
                moved.append(_spring(element, *rules[element.joint]))
            case Coupling():
                coupling = _coupling(element, rules)
                if len(coupling.terms) > 1:
                    moved.append(coupling)
                else:
                    passed.remark(
                        f'equality joint "{element.name}" would hold a single joint and is left out'
                    )
            case _:
                moved.append(element)
    return tuple(moved)


def _spring(spring: TorsionSpring, leader: str, multiplier: float, offset: float) -> TorsionSpring:
    stiffness = multiplier * multiplier * spring.stiffness
    return replace(
        spring, joint=leader, stiffness=stiffness, free=(spring.free - offset) / multiplier
    )


def _coupling(coupling: Coupling, rules: Rules) -> Coupling:
    terms: dict[str, float] = {}
    total = coupling.offset
    for joint, coefficient in coupling.terms:
        leader, multiplier, offset = rules.get(joint, (joint, 1.0, 0.0))
        terms[leader] = terms.get(leader, 0.0) + coefficient * multiplier
        total -= coefficient * offset
    return replace(
        coupling, terms=tuple((joint, c) for joint, c in terms.items() if c), offset=total
    )
