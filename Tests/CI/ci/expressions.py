"""Expressions of GitHub's workflows, as far as actions of this repository use them.

Anything else is an error: an expression that is not understood must not count as true or false.
"""

import re
from collections.abc import Mapping
from typing import Any

TOKENS = re.compile(r"\s*(?:('(?:[^']|'')*')|(\d+(?:\.\d+)?)|([A-Za-z_][\w-]*)|(==|!=|&&|\|\||[!().\[\],]))")
TEMPLATE = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)


class ExpressionError(Exception):
    """An expression that is not understood."""


def evaluate(text: str, contexts: Mapping[str, Any], failed: bool = False) -> Any:
    """Returns the value of an expression. `failed`: whether an earlier step of the job has failed."""
    return _Parser(text, contexts, failed).result()


def interpolate(text: str, contexts: Mapping[str, Any]) -> str:
    """Returns a text with the values of its `${{ … }}`."""
    return TEMPLATE.sub(lambda match: string(evaluate(match[1], contexts)), text)


def condition(text: str | None, contexts: Mapping[str, Any], failed: bool) -> bool:
    """Returns whether a step with this `if` runs. Without a function of status, it runs only if no step has failed."""
    text = (text or "success()").strip()
    if text.startswith("${{") and text.endswith("}}"):
        text = text[3:-2]
    if not re.search(r"\b(always|success|failure|cancelled)\s*\(", text):
        text = f"success() && ({text})"
    return truth(evaluate(text, contexts, failed))


def string(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def truth(value: Any) -> bool:
    return value not in (None, False, "", 0)


class _Parser:
    def __init__(self, text: str, contexts: Mapping[str, Any], failed: bool) -> None:
        self.text, self.contexts, self.failed = text, contexts, failed
        self.tokens: list[str] = []
        position = 0
        while text[position:].strip():
            match = TOKENS.match(text, position)
            if not match:
                raise ExpressionError(f"{text}: cannot read {text[position:]}")
            self.tokens.append(match[0].strip())
            position = match.end()

    def result(self) -> Any:
        value = self.disjunction()
        if self.tokens:
            raise ExpressionError(f"{self.text}: {self.tokens} is left")
        return value

    def taken(self, token: str) -> bool:
        if self.tokens and self.tokens[0] == token:
            self.tokens.pop(0)
            return True
        return False

    def need(self, token: str) -> None:
        if not self.taken(token):
            raise ExpressionError(f"{self.text}: {token} is missing")

    # Both operators return an operand, as in JavaScript.
    def disjunction(self) -> Any:
        value = self.conjunction()
        while self.taken("||"):
            other = self.conjunction()
            value = value if truth(value) else other
        return value

    def conjunction(self) -> Any:
        value = self.comparison()
        while self.taken("&&"):
            other = self.comparison()
            value = other if truth(value) else value
        return value

    def comparison(self) -> Any:
        value = self.negation()
        while self.tokens and self.tokens[0] in ("==", "!="):
            operator = self.tokens.pop(0)
            value = _equal(value, self.negation()) == (operator == "==")
        return value

    def negation(self) -> Any:
        return not truth(self.negation()) if self.taken("!") else self.primary()

    def primary(self) -> Any:
        value: Any
        if self.taken("("):
            value = self.disjunction()
            self.need(")")
            return value
        if not self.tokens:
            raise ExpressionError(f"{self.text}: ends too early")
        token = self.tokens.pop(0)
        if token[0] == "'":
            return token[1:-1].replace("''", "'")
        if token[0].isdigit():
            return float(token)
        if token in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[token]
        if self.taken("("):
            return self.call(token)
        if token not in self.contexts:
            raise ExpressionError(f"{self.text}: there is no {token}")
        value = self.contexts[token]
        while self.taken("."):
            name = self.tokens.pop(0)
            # A property that is not there is null.
            value = value.get(name) if isinstance(value, Mapping) else None
        return value

    def call(self, function: str) -> Any:
        self.need(")")
        values = {"always": True, "success": not self.failed, "failure": self.failed, "cancelled": False}
        if function not in values:
            raise ExpressionError(f"{self.text}: {function} is not supported")
        return values[function]


def _equal(a: Any, b: Any) -> bool:
    """Texts are compared without case. Other values of different types are compared as numbers."""
    if isinstance(a, str) and isinstance(b, str):
        return a.lower() == b.lower()
    if type(a) is type(b):
        return bool(a == b)
    return _number(a) == _number(b)


def _number(value: Any) -> float:
    if value is None or value == "":
        return 0.0
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")
