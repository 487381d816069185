"""Typed records, and the JSON values that results.json has of them."""

import dataclasses
import enum
import types
import typing
from typing import Any, TypeVar

from .figures import Series

Record = TypeVar("Record")


class Mark(enum.Enum):
    """What `Annotated` says of a field."""

    INLINED = enum.auto()  # a record or dictionary whose entries stand among those of the record around it
    KEPT = enum.auto()  # null in results.json while it is None; others are left out


@dataclasses.dataclass(frozen=True)
class Named:
    """The name that results.json has for a field."""

    name: str


@dataclasses.dataclass
class _Field:
    attribute: str
    name: str
    kind: Any
    marks: tuple[Any, ...]
    is_required: bool


def _fields(kind: type[Any]) -> list[_Field]:
    hints = typing.get_type_hints(kind, include_extras=True)
    found = []
    for each in dataclasses.fields(kind):
        hint = hints[each.name]
        marks: tuple[Any, ...] = ()
        if typing.get_origin(hint) is typing.Annotated:
            hint, marks = hint.__origin__, hint.__metadata__
        name = next((mark.name for mark in marks if isinstance(mark, Named)), each.name)
        is_required = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
        found.append(_Field(each.name, name, hint, marks, is_required))
    return found


def plain(value: Any) -> Any:
    """The value as JSON has it."""
    if isinstance(value, Series):
        return value.values
    if isinstance(value, dict):
        return {str(name): plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if not dataclasses.is_dataclass(value):
        return value
    found: dict[str, Any] = {}
    for each in _fields(type(value)):
        inner = plain(getattr(value, each.attribute))
        if Mark.INLINED in each.marks:
            found.update(inner)
        elif inner is not None or Mark.KEPT in each.marks:
            found[each.name] = inner
    return found


def record(kind: type[Record], value: Any) -> Record:
    """The record that JSON has as `value`. Raises KeyError or TypeError if it has something else."""
    return typing.cast(Record, _read(kind, value))


def _read(kind: Any, value: Any) -> Any:
    if kind is Any:
        return value
    if kind is Series:
        return Series(value)
    arguments = typing.get_args(kind)
    origin = typing.get_origin(kind)
    if origin in (types.UnionType, typing.Union):
        (inner,) = (each for each in arguments if each is not type(None))
        return None if value is None else _read(inner, value)
    if origin is dict:
        return {name: _read(arguments[1], each) for name, each in value.items()}
    if origin is list:
        return [_read(arguments[0], each) for each in value]
    if origin is tuple:
        return tuple(_read(inner, each) for inner, each in zip(arguments, value, strict=True))
    if dataclasses.is_dataclass(kind):
        return _read_record(typing.cast("type[Any]", kind), value)
    if not isinstance(value, (int, float) if kind is float else kind):
        raise TypeError(f"{value!r} is no {kind.__name__}")
    return value


def _read_record(kind: type[Any], value: dict[str, Any]) -> Any:
    fields = _fields(kind)
    own = {each.name for each in fields if Mark.INLINED not in each.marks}
    found = {}
    for each in fields:
        if Mark.INLINED in each.marks:
            inner = {name: entry for name, entry in value.items() if name not in own}
            found[each.attribute] = _read(each.kind, inner)
        elif each.name in value or each.is_required:
            found[each.attribute] = _read(each.kind, value[each.name])
    return kind(**found)
