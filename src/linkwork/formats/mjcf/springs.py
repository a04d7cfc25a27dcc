"""Springs of joints as elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from linkwork.formats.mjcf.bodies import Described, Names
from linkwork.formats.mjcf.joints import Chain
from linkwork.formats.strictness import Passed
from linkwork.model.elements import TorsionSpring

_SPRINGS = frozenset(("springdamper", "stiffness"))


def springs(
    bodies: Sequence[Described],
    chains: Mapping[str, Chain],
    known: Mapping[str, str],
    names: Names,
    passed: Passed,
) -> list[TorsionSpring]:
    """A `TorsionSpring` for every hinge and slide with stiffness:
    it acts with -stiffness (q - springref).

    known   joint -> the name its spring had when linkwork wrote the file; names: free ones for the
            others
    """
    torsion = []
    for body in bodies:
        for part, (joint, q) in zip(body.joints, chains[body.name].reference, strict=True):
            words = part.words
            if words.own.tag == "freejoint" or words.has_none_of(_SPRINGS):
                continue
            if words.has("springdamper") and any(words.numbers("springdamper", 2)):
                passed.remark(
                    f'springdamper of joint "{joint}", which MuJoCo turns into a spring, is '
                    "left out"
                )
            stiffness, *higher = words.overlaid("stiffness", (0.0, 0.0, 0.0))
            if any(higher):
                passed.remark(
                    f'the spring of joint "{joint}" keeps the linear part of its stiffness alone'
                )
            if stiffness and len(q) > 1:
                passed.remark(f'stiffness of joint "{joint}", of several coordinates, is left out')
            elif stiffness:
                unit = (
                    part.settings.angle
                    if words.choice("type", ("hinge", "slide"), "hinge") == "hinge"
                    else 1.0
                )
                free = unit * words.number("springref", 0.0)
                name = known.get(joint) or names.free(f"{joint}_spring")
                torsion.append(TorsionSpring(name, joint, stiffness, free))
    return torsion
