"""Records behave as frozen dataclasses do."""

import copy
import dataclasses
import inspect
import pickle
import pprint

import pytest

import wimble
from wimble._record import dataclass, field


def build(dataclass, field):
    @dataclass(frozen=True)
    class Point:
        x: float
        y: float = 2.0
        more: dict = field(default_factory=dict)
        name: str = field(default="p", kw_only=True)

    Point.__qualname__ = "Point"
    return Point


OURS, ORIGINAL = build(dataclass, field), build(dataclasses.dataclass, dataclasses.field)


@pytest.mark.parametrize("args, kwargs", [((1.0,), {}), ((1.0, 3.0), {"name": "q"}), ((), {"y": 4.0, "x": 0.0, "more": {"a": 1}})])
def test_a_record_is_made_compared_and_printed_as_a_dataclass_is(args, kwargs):
    ours, original = OURS(*args, **kwargs), ORIGINAL(*args, **kwargs)
    assert repr(ours) == repr(original) and ours.__dict__ == original.__dict__
    assert ours == OURS(*args, **kwargs) and ours != original and ours != OURS(9.0)
    assert dataclasses.asdict(ours) == dataclasses.asdict(original)
    assert [f.name for f in dataclasses.fields(ours)] == [f.name for f in dataclasses.fields(original)]
    assert dataclasses.replace(ours, y=7.0).y == 7.0 and dataclasses.is_dataclass(OURS)
    assert copy.deepcopy(ours) == ours
    # pprint asks what kind of dataclass it is.
    assert pprint.pformat(ours, width=200) == pprint.pformat(original, width=200)
    # Each has a dictionary of its own.
    assert OURS(1.0).more is not OURS(1.0).more
    match ours:
        case OURS(x, y):
            assert (x, y) == (ours.x, ours.y)


@pytest.mark.parametrize(
    "args, kwargs, words",
    [((), {}, "'x'"), ((1, 2, 3, 4), {}, "positional"), ((1,), {"x": 2}, "'x'"), ((1,), {"z": 2}, "'z'")],
)
def test_what_a_dataclass_refuses_is_refused(args, kwargs, words):
    for cls in (OURS, ORIGINAL):
        with pytest.raises(TypeError, match=words):
            cls(*args, **kwargs)
        one = cls(1.0)
        for change in (lambda: setattr(one, "x", 2.0), lambda: setattr(one, "new", 2.0), lambda: delattr(one, "x")):
            with pytest.raises(AttributeError):
                change()
        assert one.x == 1.0


def test_records_of_the_package_have_hashes_signatures_and_pickles():
    first, second = wimble.real(0, 1), wimble.real(0, 1)
    assert first == second and hash(first) == hash(second) and len({first, second, wimble.real(0, 2)}) == 2
    assert pickle.loads(pickle.dumps(first)) == first
    assert str(inspect.signature(wimble.Real)).startswith("(low: 'float', high: 'float', log: 'bool' = False")
    assert inspect.signature(OURS).parameters.keys() == inspect.signature(ORIGINAL).parameters.keys()
    with pytest.raises(TypeError, match="unhashable"):
        hash(wimble.Trial(0, {}))
