"""Random models: trees with every joint type, for identities that hold for any robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from linkwork.model import Body, Frame, Joint, Limits, MassProperties, Mimic, Model, Placement
from linkwork.model.joint import TYPES, resolved_mimic
from linkwork.model.rotation import from_quaternion


def random_model(
    seed: int, bodies: int = 12, types: tuple[str, ...] = TYPES, mimic: bool = True
) -> Model:
    """A tree of physical bodies on joints of the given types, with a frame,
    points and mimicking joints."""
    rng = np.random.default_rng(seed)
    names = [f"body_{i}" for i in range(bodies)]
    joints: list[Joint] = []
    for i, name in enumerate(names):
        parent = None if i == 0 else names[int(rng.integers(max(0, i - 4), i))]
        joints.append(random_joint(rng, f"joint_{i}", str(rng.choice(types)), parent, name))
    single = [k for k, joint in enumerate(joints) if joint.nv == 1]
    if mimic and len(single) >= 3:
        first, second, third = single[:3]
        joints[second] = _following(joints[second], joints[first].name, rng)
        joints[third] = _following(joints[third], joints[second].name, rng)
    return Model(
        name=f"random_{seed}",
        bodies=tuple(
            Body(name, random_matter(rng), points=(("tip", _vector(rng)),)) for name in names
        ),
        joints=tuple(joints),
        frames=(Frame("tool", names[-1], random_placement(rng)),),
    )


def random_joint(
    rng: np.random.Generator, name: str, type: str, parent: str | None, child: str
) -> Joint:
    joint = Joint(
        name,
        type,
        parent,
        child,
        placement=random_placement(rng),
        axis=_direction(rng),
        second_axis=_direction(rng),
        pitch=float(rng.uniform(-0.1, 0.1)),
        damping=float(rng.uniform(0, 1)),
        friction=float(rng.uniform(0, 1)),
        armature=float(rng.uniform(0, 1)),
    )
    limits = tuple(
        Limits(float(-rng.uniform(0, 3)), float(rng.uniform(0, 3)), 2.0, 50.0)
        for _ in range(joint.nv)
    )
    return replace(joint, limits=limits)


def random_placement(rng: np.random.Generator) -> Placement:
    return Placement(from_quaternion(_quaternion(rng)), _vector(rng))


def random_matter(rng: np.random.Generator) -> MassProperties:
    """Six point masses: whatever they are, physics allows it."""
    points, masses = rng.normal(size=(6, 3)) * 0.1, rng.uniform(0.1, 1.0, size=6)
    com = masses @ points / masses.sum()
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, points - com))
    return MassProperties(float(masses.sum()), _plain(com), tuple(_plain(row) for row in inertia))


def random_q(model: Model, seed: int) -> dict[str, tuple[float, ...]]:
    """Coordinates of every joint by name; mimicking joints where their leader puts them."""
    rng = np.random.default_rng(seed)
    q: dict[str, tuple[float, ...]] = {}
    for joint in model.joints:
        free = tuple(float(x) for x in rng.uniform(-1.0, 1.0, size=joint.nq))
        if joint.type in ("ball", "floating"):
            free = (*free[:-4], *_quaternion(rng))
        q[joint.name] = free
    for name, (leader, multiplier, offset) in resolved_mimic(model.joints).items():
        q[name] = (multiplier * q[leader][0] + offset,)
    return q


def _following(joint: Joint, leader: str, rng: np.random.Generator) -> Joint:
    return replace(joint, mimic=Mimic(leader, float(rng.uniform(-2, 2)), float(rng.uniform(-1, 1))))


def _vector(rng: np.random.Generator) -> tuple[float, float, float]:
    return _plain(rng.uniform(-1.0, 1.0, size=3))


def _direction(rng: np.random.Generator) -> tuple[float, float, float]:
    x = rng.normal(size=3)
    return _plain(x / np.linalg.norm(x))


def _quaternion(rng: np.random.Generator) -> tuple[float, ...]:
    x = rng.normal(size=4)
    return tuple(float(c) for c in x / np.linalg.norm(x))


def _plain(x: np.ndarray) -> tuple[float, float, float]:
    return (float(x[0]), float(x[1]), float(x[2]))
