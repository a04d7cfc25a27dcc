"""Lines of the table about chains and families: right numbers for each, whatever was asked
before."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwork as lw
from linkwork.inverse.analytic.classify import classified
from linkwork.inverse.analytic.polish import jacobian_kernel, residuals
from linkwork.quantities import kernel_of

FRAME = "7.Oe"


@pytest.fixture(scope="module")
def family():
    return classified(lw.load("redundant-7").subject, FRAME).pose


def test_values_of_a_live_variable_have_kernels_of_their_own():
    """Equal up to a live value: once they shared the code of the first one asked,
    and its link lengths."""
    short = lw.load("redundant-7", live=["a1"])
    for robot in (short, short.with_variables(a1=0.7)):
        q = robot.random(5, seed=1)
        chain = classified(robot.subject, FRAME).pose.chain
        assert_allclose(residuals(robot.subject, chain)(q, robot.pose(q, FRAME)), 0.0, atol=1e-13)
        J = robot.jacobian(q, FRAME)
        J[:, :3] /= chain.length
        assert_allclose(jacobian_kernel(robot.subject, chain)(q), J, atol=1e-13)


def test_two_frames_of_one_chain_have_kernels_of_their_own():
    robot = lw.load("redundant-7").with_frame("reach", "7", (0.0, 0.0, 0.2))
    q = robot.random(5, seed=2)
    for frame in (FRAME, "reach"):
        chain = classified(robot.subject, frame).pose.chain
        assert_allclose(residuals(robot.subject, chain)(q, robot.pose(q, frame)), 0.0, atol=1e-13)


def test_a_line_about_something_is_asked_about_it(family):
    robot = lw.load("redundant-7")
    with pytest.raises(
        lw.errors.InvalidInput, match=r"chain_jacobian: is asked about None, expected a Chain"
    ):
        robot.function("chain_jacobian", frame=FRAME)
    with pytest.raises(
        lw.errors.InvalidInput, match=r"swivel: is asked about Chain.* expected a Family"
    ):
        kernel_of(robot.subject, "swivel", FRAME, about=family.chain)
    with pytest.raises(
        lw.errors.InvalidInput, match=r"pose: is asked about Chain.* expected nothing"
    ):
        kernel_of(robot.subject, "pose", FRAME, about=family.chain)


def test_a_family_from_outside_is_keyed_by_its_trace(family):
    """Two classes with one name and different laws get their own numbers."""

    def turned(by: float):
        class Turned(type(family)):
            def swivel(self, q):
                return super().swivel(q) + by

        return Turned(family.subject, family.chain, family.canonical, family.size, family.exact)

    q = np.linspace(-1.0, 1.0, 7)
    plain = family.kernel_of("swivel")(q)
    first, second = turned(1.0), turned(2.0)
    assert_allclose(
        [solver.kernel_of("swivel")(q) for solver in (first, second)], [plain + 1.0, plain + 2.0]
    )
