"""Declared parameters: one constraint gives the check, the sentence, the parser and the schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from shoal.errors import ParameterError, UnknownName
from shoal.params import (
    Choice,
    Constraint,
    Flag,
    Integer,
    Names,
    Optional,
    Parameterised,
    Real,
    Text,
    param,
)


@dataclass(frozen=True)
class Sample(Parameterised):
    name: ClassVar[str] = "sample"
    k: int = param(Integer(1), "size")
    t: float = param(Real(0, 1), "threshold", default=0.5)
    mode: str = param(Choice(("a", "b")), "mode", default="a")
    relaxed: bool = param(Flag(), "relaxed", default=False)
    columns: tuple[str, ...] = param(Names(), "columns", default=())


@pytest.mark.parametrize(
    ("constraint", "good", "bad"),
    [
        (Integer(1, 9), [1, 9, 5.0], [0, 10, 1.5, True, "3", None]),
        (Real(0, 1), [0, 1, 0.5], [-0.1, 1.1, float("nan"), float("inf"), "0", None]),
        (Real(0, open_low=True), [0.1], [0, -1]),
        (Choice(("x", "y")), ["x"], ["z", 1]),
        (Flag(), [True, False], [1, "true"]),
        (Text(), ["a"], ["", 1]),
        (Names(), [["a"], ("a", "b"), "a", []], [[1], 3]),
        (Optional(Integer(1)), [None, 2], [0]),
    ],
)
def test_constraints_accept_and_refuse(constraint: Constraint, good: list[Any], bad: list[Any]) -> None:
    assert all(constraint.accepts(value) for value in good)
    assert not any(constraint.accepts(value) for value in bad)
    assert constraint.words()
    assert isinstance(constraint.schema(), dict)


def test_values_are_checked_and_made_canonical() -> None:
    made = Sample(5.0, columns=["x"])
    assert (made.k, type(made.k), made.columns) == (5, int, ("x",))
    with pytest.raises(ParameterError, match="'t' of sample must be a number between 0 and 1; got 2"):
        Sample(5, t=2)


def test_a_rejected_object_is_described_not_printed() -> None:
    with pytest.raises(ParameterError) as caught:
        Sample({"secret": 1})
    assert "secret" not in str(caught.value)
    assert "a dict" in str(caught.value)


def test_create_refuses_unknown_and_missing_names() -> None:
    with pytest.raises(UnknownName, match=r"no parameter of sample 'relaxd'.*Did you mean 'relaxed'"):
        Sample.create({"k": 1, "relaxd": True})
    with pytest.raises(ParameterError, match="sample needs 'k'"):
        Sample.create({})


def test_command_line_texts_become_values() -> None:
    texts = {"k": "5", "t": "0.25", "relaxed": "yes", "columns": "a, b", "mode": "b"}
    assert Sample.create(Sample.parse(texts)) == Sample(5, 0.25, "b", True, ("a", "b"))
    with pytest.raises(ParameterError, match="got 'many'"):
        Sample.create(Sample.parse({"k": "many"}))


def test_schema_and_dictionary() -> None:
    schema = Sample.json_schema()
    assert schema["required"] == ["k"]
    assert schema["properties"]["t"] == {
        "type": "number",
        "minimum": 0,
        "maximum": 1,
        "description": "threshold",
        "default": 0.5,
    }
    assert Sample(3).to_dict() == {"k": 3}
    assert Sample.create(Sample(3, mode="b").to_dict()) == Sample(3, mode="b")
