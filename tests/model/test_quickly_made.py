"""Values made quickly are the frozen values that dataclasses makes: equal, fixed,
copied and refused alike."""

import copy
import dataclasses
import pickle

import pytest

from linkwork.model.quickly_made import quickly_made


@dataclasses.dataclass(frozen=True, slots=True)
class Plain:
    name: str
    size: float = 1.0
    kind: tuple[str, ...] = ()


@quickly_made
@dataclasses.dataclass(frozen=True, slots=True)
class Quick:
    name: str
    size: float = 1.0
    kind: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class Longer(Quick):
    more: int = 7


@quickly_made
@dataclasses.dataclass(frozen=True)
class Checked:
    """Without slots, and looked at when it is made."""

    name: str
    size: float = 1.0

    def __post_init__(self) -> None:
        if self.size < 0.0:
            raise ValueError(self.name)


@dataclasses.dataclass(frozen=True)
class LongerChecked(Checked):
    more: int = 7


def test_a_value_without_slots_is_frozen_and_looked_at():
    value = Checked("a", 2.0)
    assert dataclasses.asdict(value) == vars(value) == {"name": "a", "size": 2.0}
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.size = 3.0
    assert dataclasses.replace(value, size=4.0) == Checked("a", 4.0)
    assert pickle.loads(pickle.dumps(value)) == copy.copy(value) == value
    assert dataclasses.astuple(LongerChecked("a", more=9)) == ("a", 1.0, 9)
    for kind in (Checked, LongerChecked):
        with pytest.raises(ValueError, match="a"):
            kind("a", size=-1.0)
        with pytest.raises(TypeError):
            kind("a", width=1.0)


def test_a_value_has_the_fields_of_the_plain_one():
    for values in (("a",), ("a", 2.0), ("a", 2.0, ("b",))):
        assert dataclasses.astuple(Quick(*values)) == dataclasses.astuple(Plain(*values))
    assert Quick(kind=("b",), name="a") == Quick("a", 1.0, ("b",)) != Quick("a", 2.0, ("b",))
    assert hash(Quick("a")) == hash(Quick("a")) == hash(Plain("a"))
    assert repr(Quick("a")) == repr(Plain("a")).replace("Plain", "Quick")
    assert type(Quick("a")) is Quick


def test_it_is_frozen_and_has_slots():
    value = Quick("a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.size = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.size
    assert not hasattr(value, "__dict__")
    assert value.size == 1.0


def test_it_is_copied_replaced_pickled_and_derived_from():
    value = Quick("a", 3.0, ("b",))
    for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
        assert other == value and type(other) is Quick
    assert dataclasses.replace(value, size=4.0) == Quick("a", 4.0, ("b",))
    longer = Longer("a", 3.0, ("b",), 9)
    assert type(longer) is Longer and dataclasses.astuple(longer) == ("a", 3.0, ("b",), 9)


@pytest.mark.parametrize("wrong", [{}, {"name": "a", "width": 1.0}, {"size": 1.0}])
def test_what_the_plain_one_refuses_is_refused(wrong):
    for made in (Plain, Quick):
        with pytest.raises(TypeError):
            made(**wrong)


def test_defaults_that_are_made_anew_are_refused():
    @dataclasses.dataclass(frozen=True, slots=True)
    class Listed:
        names: list = dataclasses.field(default_factory=list)

    with pytest.raises(TypeError, match="default_factory"):
        quickly_made(Listed)
