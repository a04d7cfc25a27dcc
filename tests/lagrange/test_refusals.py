"""Refusals: what a System cannot mean is said in a sentence that names the culprit."""

from __future__ import annotations

import math

import casadi
import numpy as np
import pytest
from casadi import SX, cos, fabs, if_else, sin

from linkwork.errors import ComputationError, InvalidInput, NotPossible, UnknownName
from linkwork.lagrange import PlanarJoint, SpatialJoint, System

BASE = System("x theta", gravity=(0, -9.81), variables={"l": 1.0})
CHAIN = System.planar_chain("RR", 1.0, 1.0)

SENTENCES = {
    "undeclared by name": (
        lambda: BASE.with_body("b", 1.0, lambda q: (q.x, q.phi)),
        UnknownName,
        'body "b": position uses "phi"',
    ),
    "nearest name": (
        lambda: BASE.with_body("b", 1.0, lambda q: (q.thetta, 0)),
        UnknownName,
        'did you mean "theta"',
    ),
    "undeclared symbol": (
        lambda: BASE.with_body("b", 1.0, (SX.sym("y"), 0)),
        UnknownName,
        'position uses "y"',
    ),
    "undeclared index": (
        lambda: BASE.with_body("b", 1.0, lambda q: (q[2], 0)),
        UnknownName,
        "uses coordinate 2 of 2",
    ),
    "a velocity": (
        lambda: BASE.with_body("b", 1.0, (BASE.scope.symbols.v["x"], 0)),
        InvalidInput,
        "uses the velocity x', expected coordinates and time only",
    ),
    "not smooth": (
        lambda: BASE.with_body("b", 1.0, lambda q: (fabs(q.x), 0)),
        InvalidInput,
        "is not smooth: it uses abs",
    ),
    "a root that is abs": (
        lambda: BASE.with_body("b", 1.0, lambda q: (casadi.sqrt(q.x**2), 0)),
        InvalidInput,
        "uses abs",
    ),
    "pieces": (
        lambda: BASE.with_body("b", 1.0, lambda q: (if_else(q.x > 0, q.x, 0), 0)),
        InvalidInput,
        "not smooth",
    ),
    "a branch": (
        lambda: BASE.with_body("b", 1.0, lambda q: (q.x if q.x > 0 else 0, 0)),
        InvalidInput,
        "decides by a coordinate",
    ),
    "a comparison of floats": (
        lambda: BASE.with_body("b", 1.0, lambda q: (1.0 if float(q.x) > 0 else 0.0, 0)),
        InvalidInput,
        "a symbol has no value",
    ),
    "math": (
        lambda: BASE.with_body("b", 1.0, lambda q: (math.cos(q.x), 0)),
        InvalidInput,
        "Python's math module",
    ),
    "four numbers": (
        lambda: BASE.with_body("b", 1.0, (1, 2, 3, 4)),
        InvalidInput,
        "expected one, two or three numbers",
    ),
    "text": (
        lambda: BASE.with_body("b", 1.0, ("a", 2)),
        InvalidInput,
        "expected numbers or CasADi SX expressions",
    ),
    "negative mass": (
        lambda: BASE.with_body("b", -1.0, (0, 0)),
        InvalidInput,
        'body "b": mass is -1',
    ),
    "moving mass": (
        lambda: BASE.with_body("b", BASE.scope.symbols.q["x"], (0, 0)),
        InvalidInput,
        "mass depends on x",
    ),
    "negative drag": (
        lambda: BASE.with_body("b", 1.0, (0, 0), drag=-2),
        InvalidInput,
        "drag is -2",
    ),
    "infinite mass": (lambda: BASE.with_body("b", math.inf, (0, 0)), InvalidInput, "not finite"),
    "too many parameters": (
        lambda: BASE.with_body("b", 1.0, lambda q, t, u: (0, 0)),
        InvalidInput,
        "a function of 3 arguments",
    ),
    "name twice": (
        lambda: CHAIN.with_body("link1", 1.0),
        InvalidInput,
        'the name "link1" is taken',
    ),
    "coordinate twice": (
        lambda: System("x x", gravity=None),
        InvalidInput,
        '"x" is declared twice',
    ),
    "time as a name": (lambda: System("t", gravity=None), InvalidInput, "t means time"),
    "no identifier": (
        lambda: System(["a b"], gravity=None),
        InvalidInput,
        "cannot name a coordinate",
    ),
    "no symbol": (lambda: System([SX.sym("x") + 1], gravity=None), InvalidInput, "is not a symbol"),
    "unknown frame": (
        lambda: CHAIN.with_body("b", 1.0, frame="joint3"),
        UnknownName,
        'unknown frame "joint3"; did you mean',
    ),
    "unknown point": (
        lambda: CHAIN.with_spring("s", 1.0, "lnk1"),
        UnknownName,
        'did you mean "link1"',
    ),
    "unknown coordinate": (
        lambda: CHAIN.with_joint_drag("d", 1.0, "joint9"),
        UnknownName,
        "which is no coordinate",
    ),
    "inertia alone": (
        lambda: BASE.with_body("b", 1.0, (0, 0), inertia=1.0),
        InvalidInput,
        "inertia but no orientation",
    ),
    "orientation alone": (
        lambda: BASE.with_body("b", 1.0, orientation=lambda q: q.x),
        InvalidInput,
        "no inertia",
    ),
    "no rotation": (
        lambda: BASE.with_body("b", 1.0, orientation=np.diag([1, 1, 2.0]), inertia=np.eye(3)),
        InvalidInput,
        "is not a rotation matrix",
    ),
    "flat inertia in space": (
        lambda: (
            System(gravity=None)
            .with_joint("a", SpatialJoint())
            .with_body("b", 1.0, frame="a", inertia=1.0)
        ),
        InvalidInput,
        "expected a matrix",
    ),
    "asymmetric inertia": (
        lambda: BASE.with_body(
            "b", 1.0, orientation=lambda q: q.x, inertia=np.triu(np.ones((3, 3)))
        ),
        InvalidInput,
        "not symmetric",
    ),
    "unknown letter": (lambda: System.planar_chain("RQ"), InvalidInput, "expected letters R, P, F"),
    "wrong count": (
        lambda: System.planar_chain("RR", [1.0, 2.0, 3.0]),
        InvalidInput,
        "lengths has 3 entries",
    ),
    "unknown type": (
        lambda: CHAIN.replace_joint("joint1", "hinge"),
        InvalidInput,
        "'revolute', 'prismatic', 'fixed'",
    ),
    "not a joint": (
        lambda: BASE.with_frame("f", lambda q: (q.x, 0, 0)).replace_joint("f", "fixed"),
        InvalidInput,
        "is not made by a joint",
    ),
    "unknown property": (
        lambda: CHAIN.replace_body("link1", weight=2),
        UnknownName,
        'no property "weight"',
    ),
    "unknown body": (lambda: CHAIN.replace_body("link7", mass=2), UnknownName, 'no body "link7"'),
    "unknown removal": (lambda: CHAIN.remove("link7"), UnknownName, 'has no "link7"'),
    "unknown variable": (
        lambda: BASE.with_body("b", 1.0, lambda q: (q.x, q.theta)).bias(
            [0, 0], [0, 0], variables={"m": 1.0}
        ),
        UnknownName,
        'has no variable "m"',
    ),
    "a frame of four": (
        lambda: BASE.with_frame("f", lambda q: (1, 2, 3, q.x)),
        InvalidInput,
        "expected (x, y, angle)",
    ),
    "potential of two": (
        lambda: BASE.with_potential("p", lambda q: (q.x, q.theta)),
        InvalidInput,
        "expected a scalar",
    ),
    "gravity of a coordinate": (
        lambda: BASE.with_gravity((0, BASE.scope.symbols.q["x"])),
        InvalidInput,
        "gravity depends",
    ),
    "shape": (
        lambda: CHAIN.inverse_dynamics([1, 2, 3], [0, 0], [0, 0]),
        InvalidInput,
        "has 2 coordinates (joint1, joint2)",
    ),
    "not finite": (
        lambda: CHAIN.inverse_dynamics([1, np.nan], [0, 0], [0, 0]),
        InvalidInput,
        "q[1] is nan",
    ),
    "unknown quantity": (
        lambda: CHAIN.function("mass_matrx"),
        UnknownName,
        'did you mean "mass_matrix"',
    ),
    "zero axis": (
        lambda: System(gravity=None).with_joint("a", SpatialJoint(axis=(0, 0, 0))),
        InvalidInput,
        "axis is zero",
    ),
}


@pytest.mark.parametrize(("call", "error", "words"), SENTENCES.values(), ids=SENTENCES)
def test_bad_input_is_refused_in_words(call, error, words):
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


def test_a_piecewise_position_is_accepted_when_it_is_meant():
    """sin(x)/x by series near zero joins smoothly."""
    sinc = lambda q: (
        if_else(q.x**2 < 1e-4, 1 - q.x**2 / 6, sin(q.x) / if_else(q.x**2 < 1e-4, 1.0, q.x)),
        0,
    )
    system = System("x", gravity=None).with_body("b", 1.0, sinc, piecewise=True)
    assert system.mass_matrix([1.0])[0, 0] == pytest.approx((np.cos(1) - np.sin(1)) ** 2)


def test_a_coordinate_without_inertia_is_named():
    idle = System("x theta", gravity=(0, -9.81)).with_body("b", 1.0, lambda q: (q.x, 0))
    with pytest.raises(NotPossible, match='coordinate "theta" carries no inertia'):
        idle.forward_dynamics([0, 0], [0, 0], [0, 0])
    np.testing.assert_allclose(idle.inverse_dynamics([0, 0], [0, 0], [2, 0]), [2, 0])


def test_a_mass_matrix_singular_at_one_place_names_coordinate_and_place():
    """Polar coordinates: the angle carries no inertia at the pole."""
    polar = System("r phi", gravity=None).with_body(
        "b", 1.0, lambda q: (q.r * cos(q.phi), q.r * sin(q.phi))
    )
    words = (
        r'forward_dynamics: the mass matrix is singular at q = \[0, 0.4\]: coordinate "phi" '
        r"carries no inertia there"
    )
    with pytest.raises(ComputationError, match=words):
        polar.forward_dynamics([0.0, 0.4], [0.1, 0.2], [0.0, 1.0])
    with pytest.raises(ComputationError, match=words):
        polar.forward_dynamics([[1.0, 0.1], [0.0, 0.4]], [0.1, 0.2], [0.0, 1.0])
    assert np.isfinite(polar.forward_dynamics([1e-3, 0.4], [0.1, 0.2], [0.0, 1.0])).all()


def test_dependent_constraints_are_named():
    system = System("x y", gravity=(0, -9.81)).with_body("b", 1.0, lambda q: (q.x, q.y))
    twice = system.with_constraint("line", lambda q: q.x - q.y).with_constraint(
        "again", lambda q: 2 * q.x - 2 * q.y
    )
    with pytest.raises(ComputationError, match="constraints 'line', 'again' depend on each other"):
        twice.forward_dynamics([0, 0], [0, 0], [0, 0])


def test_contradicting_constraints_are_named():
    system = System("x y", gravity=(0, -9.81)).with_body("b", 1.0, lambda q: (q.x, q.y))
    ring = system.with_constraint("ring", lambda q: q.x**2 + q.y**2 - 1)
    q, v = ring.consistent([2.0, 0.5], [1.0, 1.0])
    assert abs(q @ q - 1) < 1e-12
    assert abs(q @ v) < 1e-12
    impossible = ring.with_constraint("wall", lambda q: q.x - 3.0)
    with pytest.raises(NotPossible, match=r"no configuration near .* obeys the constraints"):
        impossible.consistent([2.0, 0.5])


def test_robots_with_quaternions_are_refused_by_name():
    from linkwork.model import Body, Joint, MassProperties, Model
    from linkwork.subject import Subject

    ball = Model("ball", (Body("b", MassProperties(1.0)),), (Joint("j", "ball", None, "b"),))
    with pytest.raises(NotPossible, match=r"ball or floating joints \(j\)"):
        System.from_robot(Subject(ball))


def test_no_equilibrium_is_said():
    pendulum = System.planar_chain("R", 1.0, 1.0)
    with pytest.raises(NotPossible, match="equilibrium: none was found"):
        pendulum.equilibrium([0.0], tau=100.0)


def test_the_system_reads_as_a_table():
    text = str(
        BASE.with_body("b", 1.0, lambda q: (q.x, 0))
        .with_joint("j", PlanarJoint())
        .with_constraint("c", lambda q: q.x)
    )
    assert "coordinates x, theta, j; 1 terms, 1 constraints" in text
    assert "b     body  x" in text
