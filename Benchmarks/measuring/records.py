"""Conversion between typed records and the JSON values of results.json."""

import dataclasses
import enum
import types
import typing
from typing import Any, TypeVar

from .figures import Series

Record = TypeVar("Record")


class Mark(enum.Enum):
    """Marks for fields of records, in `Annotated`."""

    INLINED = enum.auto()  # the entries of this record or dictionary are entries of the enclosing record
    KEPT = enum.auto()  # None is written as null; without this mark, the field is left out


@dataclasses.dataclass(frozen=True)
class Named:
    """The name of a field in results.json."""

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
    """Returns the JSON value of a record, or of a list or dictionary of records."""
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
    """Returns the record of a JSON value. Raises KeyError or TypeError if the value does not fit `kind`."""
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
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
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
