"""Hostile URDFs that both sides load: linkwork agrees with Pinocchio, refuses,
or is the one that is right.

Of 1 000 mutated files eleven disagreed on kinetic energy. Five had masses, lengths or moments whose
products leave the
numbers: an error now. The others, looked at one by one: a line break between numbers
(XML makes it a space before any reader sees it; urdfdom loses the number behind it), and axes so
long that their squares overflow (Pinocchio's becomes zero, linkwork's keeps its direction). Numbers
further apart than doubles are long, such as a product of inertia of 1e99 beside moments of 1e-4,
cost digits on both sides, on linkwork's in other places because it regroups parameters.
"""

from __future__ import annotations

import random
import re

import numpy as np
import pinocchio as pin
import pytest

import linkwork as lw
from linkwork.errors import InvalidFile, LinkworkError
from tests.published import URDFS


def pendulum(
    origin: str = 'xyz="0 0 0"',
    axis: str = "0 0 1",
    mass: str = "1",
    ixx: str = "1",
    com: str = "1 0.5 0",
) -> str:
    inertia = f'<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'
    inertial = f'<inertial><origin xyz="{com}"/><mass value="{mass}"/>{inertia}</inertial>'
    ends = '<parent link="a"/><child link="b"/>'
    joint = (
        f'<joint name="j" type="continuous">{ends}<origin {origin}/><axis xyz="{axis}"/></joint>'
    )
    return f'<robot name="r"><link name="a"/><link name="b">{inertial}</link>{joint}</robot>'


@pytest.mark.parametrize(
    "text",
    [
        pendulum(mass="1e308"),
        pendulum(mass="1e101"),
        pendulum(ixx="1e305"),
        pendulum(com="1e154 0 0"),
        pendulum(origin='xyz="0 -1e200 0"'),
    ],
)
def test_numbers_whose_products_overflow_are_refused(text):
    with pytest.raises(
        InvalidFile,
        match=r"beyond 1e\+100, where what is computed with (them|it) leaves the numbers",
    ):
        lw.load(text=text)


def test_large_numbers_below_are_computed():
    assert lw.load(text=pendulum(mass="1e100", com="1e90 0 0")).mass_matrix([0.3])[
        0, 0
    ] == pytest.approx(1e280)


def test_a_line_break_between_numbers_is_a_space():
    """XML 1.0, section 3.3.3: attribute values are normalised, a line break becomes a space."""
    for break_ in ("\n", "\t", "\r\n"):
        robot = lw.load(text=pendulum(origin=f'xyz="0.1 0.2{break_}0.3"'))
        assert robot.model.joint("j").placement.position == (0.1, 0.2, 0.3)


@pytest.mark.parametrize("axis", ["0 1e200 0", "0 1e308 1e308", "0 0 -1e155"])
def test_the_direction_of_a_long_axis_is_kept(axis):
    given = np.array([float(x) for x in axis.split()])
    expected = given / np.abs(given).max()
    expected /= np.linalg.norm(expected)
    np.testing.assert_allclose(
        lw.load(text=pendulum(axis=axis)).model.joint("j").axis, expected, rtol=1e-15
    )


VALUES = (
    "1e4",
    "-350.5",
    "1e-310",
    "5e-324",
    "3.14159e3",
    "-0.0",
    "7",
    "1e308",
    "1e155",
    "1e304",
    "0",
)
NUMBERS = re.compile(r'(?<!<axis  )(mass value|ixx|iyy|izz|ixy|ixz|iyz|xyz|rpy)="([^"]*)"')


def mutated(text: str, rng: random.Random) -> str:
    for _ in range(rng.randint(1, 4)):
        found = rng.choice(list(NUMBERS.finditer(text)))
        words = found[2].split()
        words[rng.randrange(len(words))] = rng.choice(VALUES)
        text = text[: found.start(2)] + " ".join(words) + text[found.end(2) :]
    return text


def test_mutated_files_agree_with_pinocchio_or_are_refused():
    """Kinetic energy of both at one state. Axes are left alone, see above;
    angles may be as large as they like."""
    names = ("ur/ur5_robot", "finger_edu/finger_edu")
    texts = [URDFS[name].read_text() for name in names]
    compared = 0
    for seed in range(120):
        rng = random.Random(seed)
        text = rng.choice(texts)
        text = mutated(text.replace("<axis xyz", "<axis  xyz"), rng)
        try:
            ours = lw.load(text=text, mimic="independent")
        except LinkworkError:
            continue
        theirs = pin.buildModelFromXML(text)
        data = theirs.createData()
        q = np.linspace(-0.5, 0.8, theirs.nq)
        M = np.array(pin.crba(theirs, data, q))
        M = np.triu(M) + np.triu(M, 1).T
        own = np.array(ours.function("mass_matrix")(q))
        scale = max(1.0, np.abs(M).max())
        assert np.abs(own - M).max() / scale < 1e-9, (seed, own, M)
        compared += 1
    assert compared > 40
