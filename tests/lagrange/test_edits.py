"""Edits: only the columns that depend on an edit are traced again,
and the result is that of a fresh build."""

from __future__ import annotations

import casadi
import numpy as np
import pytest
from casadi import cos, sin

from linkwork.errors import InvalidInput
from linkwork.lagrange import PlanarJoint, SpatialJoint, System, columns


@pytest.fixture
def tracer(monkeypatch):
    """The tracer replaced by one that writes down whose column it traces."""
    seen = []
    real = columns.trace

    def recording(term, *rest):
        seen.append(term.name)
        return real(term, *rest)

    monkeypatch.setattr(columns, "trace", recording)
    return seen


def chain(n=5):
    return System.planar_chain("R" * n, list(np.linspace(1, 2, n)), list(np.linspace(2, 1, n)))


def traced_by(system, tracer):
    tracer.clear()
    system.columns  # noqa: B018  (asking for the columns traces them)
    return tracer


def test_a_fresh_system_traces_every_column_once(tracer):
    system = chain(3)
    assert system.stale_terms() == ("link1", "link2", "link3")
    assert traced_by(system, tracer) == ["link1", "link2", "link3"]
    assert system.stale_terms() == ()
    assert traced_by(system, tracer) == []


EDITS = {
    "append": (lambda s: s.extended("R", 1.0, 1.0), ["link6"]),
    "append a slider": (lambda s: s.extended("P", 1.0, 1.0), ["link6"]),
    "mass": (lambda s: s.replace_body("link2", mass=7.0), ["link2"]),
    "spring of a body": (lambda s: s.replace_body("link3", spring=7.0), ["link3"]),
    "drag of a body": (lambda s: s.replace_body("link5", drag=7.0), ["link5"]),
    "inertia of a body": (lambda s: s.replace_body("link4", inertia=0.3), ["link4"]),
    "joint type": (lambda s: s.replace_joint("joint3", "prismatic"), ["link3", "link4", "link5"]),
    "length": (lambda s: s.replace_joint("joint4", PlanarJoint(length=3.0)), ["link4", "link5"]),
    "joint becomes fixed": (lambda s: s.replace_joint("joint4", "fixed"), ["link4", "link5"]),
    "gravity": (
        lambda s: s.with_gravity((1.0, -2.0)),
        ["link1", "link2", "link3", "link4", "link5"],
    ),
    "remove a leaf": (lambda s: s.remove("link5").remove("joint5"), []),
    "remove a body in the middle": (lambda s: s.remove("link2"), []),
    "a spring": (lambda s: s.with_spring("spring", 3.0, "link2", "link4", length=0.3), ["spring"]),
    "a variable": (lambda s: s.with_variables(k=2.0), []),
    "a coordinate": (lambda s: s.with_coordinates("z"), []),
}


@pytest.mark.parametrize(("edit", "rebuilt"), EDITS.values(), ids=EDITS)
def test_an_edit_rebuilds_the_columns_that_depend_on_it(edit, rebuilt, tracer):
    system = chain()
    system.columns  # noqa: B018
    edited = edit(system)
    assert list(edited.stale_terms()) == rebuilt
    before = columns.counts.copy()
    assert traced_by(edited, tracer) == rebuilt
    assert columns.counts - before == dict.fromkeys(rebuilt, 1)
    assert traced_by(system, tracer) == []


def test_what_hangs_on_a_body_is_rebuilt_with_it(tracer):
    system = (
        chain()
        .with_spring("spring", 3.0, "link2", (1.0, 1.0), length=0.3)
        .with_drag("air", 0.2, "link4")
    )
    system.columns  # noqa: B018
    assert list(system.replace_body("link2", position=(0.2, 0.0)).stale_terms()) == [
        "link2",
        "spring",
    ]
    assert list(system.replace_joint("joint3", "prismatic").stale_terms()) == [
        "link3",
        "link4",
        "link5",
        "air",
    ]


def test_a_tracer_that_refuses_is_not_asked_for_untouched_columns(monkeypatch):
    system = chain(3)
    expected = system.torque_table(*np.ones((3, 3)))

    def refuse(term, *rest):
        raise AssertionError(f"traced {term.name}")

    monkeypatch.setattr(columns, "trace", refuse)
    heavier = system.with_variables(unused=1.0)
    assert (heavier.torque_table(*np.ones((3, 3))) == expected).all()
    with pytest.raises(InvalidInput, match="traced link3"):  # in the words of the door
        system.replace_body("link3", mass=2.0).torque_table(*np.ones((3, 3)))


def edited_chain():
    """One, two, three links, a slider in the middle, then another mass, then a fourth link:
    nine edits."""
    system = System.planar_chain("R", 2.0, 3.0, gravity=(0, -9.8))
    system.columns  # noqa: B018
    for edit in (
        lambda s: s.extended("RR", [1.0, 0.7], [1.0, 2.0]),
        lambda s: s.replace_joint("joint2", PlanarJoint("prismatic", angle=0.3)),
        lambda s: s.replace_body("link3", mass=4.0, drag=0.2),
        lambda s: s.extended("R", 0.4, 0.3),
        lambda s: s.with_spring("spring", 5.0, "link2", "link4", length=0.1),
        lambda s: s.remove("link1"),
    ):
        system = edit(system)
        system.columns  # noqa: B018
    return system


def fresh_chain():
    system = System.planar_chain(
        "RPRR", [2.0, 1.0, 0.7, 0.4], [3.0, 1.0, 4.0, 0.3], gravity=(0, -9.8), angles=[0, 0.3, 0, 0]
    )
    system = system.replace_body("link3", drag=0.2).with_spring(
        "spring", 5.0, "link2", "link4", length=0.1
    )
    return system.remove("link1")


def test_an_edited_system_is_the_fresh_one_bit_for_bit():
    edited, fresh = edited_chain(), fresh_chain()
    q, v, a = np.random.default_rng(0).normal(size=(3, 200, 4))
    assert (edited.torque_table(q, v, a) == fresh.torque_table(q, v, a)).all()
    assert (edited.inverse_dynamics(q, v, a) == fresh.inverse_dynamics(q, v, a)).all()
    assert (edited.forward_dynamics(q, v, a) == fresh.forward_dynamics(q, v, a)).all()
    for one, other in zip(edited.columns, fresh.columns, strict=True):
        assert str(one.tau) == str(other.tau)  # the expressions themselves, not only their values


def described(links):
    """A fresh chain from a list of links (letter, length, mass, angle)."""
    letters, lengths, masses, angles = (list(x) for x in zip(*links, strict=True))
    return System.planar_chain("".join(letters), lengths, masses, angles=angles)


def edited_at_random(rng, system, links):
    """One edit of a system and of the list that describes it."""
    kind, k = (
        rng.choice(["append", "mass", "length", "type", "remove"]),
        int(rng.integers(len(links))),
    )
    size = float(rng.uniform(0.3, 2.0))
    letter, length, mass, angle = links[k]
    if kind == "append" or len(links) < 2:
        new = (str(rng.choice(["R", "P"])), size, size + 1, size / 3)
        return system.extended(new[0], *new[1:3], angles=new[3]), [*links, new]
    if kind == "mass":
        return system.replace_body(f"link{k + 1}", mass=size), [
            *links[:k],
            (letter, length, size, angle),
            *links[k + 1 :],
        ]
    if kind == "remove":
        n = len(links)
        return system.remove(f"link{n}").remove(f"joint{n}"), links[:-1]
    letter = {"type": {"R": "P", "P": "R"}[letter], "length": letter}[kind]
    joint = PlanarJoint({"R": "revolute", "P": "prismatic"}[letter], length=size, angle=angle)
    links = [*links[:k], (letter, size, mass, angle), *links[k + 1 :]]
    return system.replace_joint(f"joint{k + 1}", joint), links


@pytest.mark.parametrize("seed", range(8))
def test_any_sequence_of_edits_gives_the_fresh_system(seed):
    """Twelve random edits, the columns traced after each:
    the expressions are those of a system built at once."""
    rng = np.random.default_rng(seed)
    links = [("R", 1.0, 1.0, 0.0), ("P", 1.0, 2.0, 0.4)]
    system = described(links)
    for _ in range(12):
        system, links = edited_at_random(rng, system, links)
        system.columns  # noqa: B018
    fresh = described(links)
    assert system.coordinates == fresh.coordinates
    for one, other in zip(system.columns, fresh.columns, strict=True):
        assert (one.name, one.depends) == (other.name, other.depends)
        assert str(one.tau) == str(other.tau)
    q, v, a = rng.normal(size=(3, fresh.nq))
    expected = np.array(fresh.function("torque_table")(q, v, a))
    assert (np.array(system.function("torque_table")(q, v, a)) == expected).all()


def test_edits_leave_the_original_alone():
    system = chain(3)
    q, v, a = np.ones((3, 3))
    before = system.torque_table(q, v, a)
    system.replace_body("link1", mass=100.0).replace_joint("joint1", "prismatic").extended("R")
    assert (system.torque_table(q, v, a) == before).all()
    assert system.coordinates == ("joint1", "joint2", "joint3")


def test_a_fixed_joint_takes_its_coordinate_away_and_gets_it_back_in_place():
    system = chain(3)
    rigid = system.replace_joint("joint2", PlanarJoint("fixed", length=1.5, angle=0.4))
    assert rigid.coordinates == ("joint1", "joint3")
    q, v, a = np.array([[0.3, 0.4, -0.2], [1.0, 0.0, -0.7], [0.5, 0.0, 0.9]])
    tau = system.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(
        rigid.inverse_dynamics(q[[0, 2]], v[[0, 2]], a[[0, 2]]), tau[[0, 2]], rtol=1e-12
    )
    assert rigid.replace_joint("joint2", PlanarJoint(length=1.5)).coordinates == (
        "joint1",
        "joint2",
        "joint3",
    )


def test_sharing_costs_less_than_tracing_everything():
    """Appending to ten links traces one column of eleven."""
    system = chain(10)
    system.columns  # noqa: B018
    before = sum(columns.counts.values())
    system.extended("R").columns  # noqa: B018
    assert sum(columns.counts.values()) - before == 1


def test_spatial_bodies_are_edited_the_same_way(tracer):
    system = System(gravity=(0, 0, -9.81)).with_joint("a", SpatialJoint(axis=(0, 1, 0)))
    system = system.with_joint("b", SpatialJoint("prismatic", axis=(1, 0, 0), xyz=(0.1, 0, 0)), "a")
    system = system.with_body("arm", 1.0, (0.3, 0, 0), frame="a", inertia=np.eye(3))
    system = system.with_body("rod", 2.0, (0, 0, 0.1), frame="b", inertia=np.eye(3) * 0.2)
    assert traced_by(system, tracer) == ["arm", "rod"]
    assert traced_by(system.replace_joint("b", "revolute"), tracer) == ["rod"]
    other = system.replace_joint("b", SpatialJoint("revolute", axis=(1, 0, 0), xyz=(0.1, 0, 0)))
    q, v, a = np.random.default_rng(0).normal(size=(3, 50, 2))
    assert (other.torque_table(q, v, a)[..., 0] == system.torque_table(q, v, a)[..., 0]).all()


def test_things_in_use_cannot_be_removed():
    system = chain(2).with_spring("spring", 1.0, "link2", (0, 0))
    with pytest.raises(InvalidInput, match='"joint1" carries joint2, link1; remove these first'):
        system.remove("joint1")
    with pytest.raises(InvalidInput, match='"link2" is held by spring'):
        system.remove("link2")
    tied = chain(2).with_constraint("tie", lambda q: q.joint1 + q.joint2).remove("link2")
    with pytest.raises(InvalidInput, match='coordinate "joint2" is used by tie'):
        tied.remove("joint2")
    with pytest.raises(
        InvalidInput, match='cannot become fixed: coordinate "joint2" is used by tie'
    ):
        tied.replace_joint("joint2", "fixed")


def test_time_in_a_frame_moves_every_body_on_it():
    lift = System(gravity=(0, -9.81)).with_frame("lift", lambda q, t: (0, 0.5 * 3.0 * t**2, 0))
    lift = lift.with_joint("swing", PlanarJoint(length=2.0), "lift").with_body(
        "bob", 1.0, frame="swing"
    )
    assert lift.time_dependent
    a = lift.forward_dynamics([0.0], [0.0], [0.0], t=1.7)
    np.testing.assert_allclose(a, [-(9.81 + 3.0) / 2.0], rtol=1e-14)


def test_positions_written_with_numpy_or_casadi_are_the_same(recwarn):
    by_numpy = System("x", gravity=None).with_body("b", 1.0, lambda q: (np.cos(q.x), np.sin(q.x)))
    by_casadi = System("x", gravity=None).with_body("b", 1.0, lambda q: (cos(q.x), sin(q.x)))
    # different symbols
    assert casadi.is_equal(by_numpy.columns[0].tau, by_casadi.columns[0].tau, 0) is False
    assert str(by_numpy.columns[0].tau) == str(by_casadi.columns[0].tau)
    assert not [w for w in recwarn if w.category is FutureWarning]  # of casadi, about numpy
