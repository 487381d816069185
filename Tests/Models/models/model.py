"""A model of a protocol, its check, and its mutants."""

import collections.abc
import dataclasses

from .execution import Outcome, Processor, Tally, outcomes
from .language import Limits, MakeThread, Order

BOTH = (Processor.ARM64, Processor.X86_64)


class Variant:
    """The orders and optional steps of one variant of a model."""

    def __init__(self, orders: dict[str, Order], steps: dict[str, bool], processor: Processor) -> None:
        self._orders, self._steps, self.processor = orders, steps, processor

    def order(self, label: str) -> Order:
        """The order of the access with this label."""
        return self._orders[label]

    def has(self, label: str) -> bool:
        """True if the step with this label is made."""
        return self._steps[label]


@dataclasses.dataclass(frozen=True)
class Model:
    """A protocol of the recorder.

    Each label stands for an access in the code. A mutant has a weaker order at one label, or lacks one step. A mutant
    must have a wrong execution, unless `spare` gives the reason why the code is stricter than the model demands.
    """

    name: str
    code: str  # the functions of the threads
    initial: dict[str, int]
    threads: collections.abc.Callable[[Variant], list[MakeThread]]
    is_wrong: collections.abc.Callable[[Outcome], bool]
    is_useful: collections.abc.Callable[[Outcome], bool]  # some execution must reach this: then the model is not empty
    orders: dict[str, Order] = dataclasses.field(default_factory=dict)
    steps: tuple[str, ...] = ()
    spare: dict[str, str] = dataclasses.field(default_factory=dict)
    limits: Limits = dataclasses.field(default_factory=dict)  # the only values of some places, to save time
    processors: tuple[Processor, ...] = BOTH
    mutants: Processor = Processor.ARM64  # the processor that shows the mutants' faults


@dataclasses.dataclass
class Result:
    """What a check found."""

    executions: dict[Processor, int]
    tried: int  # by the check of the protocol and of all mutants
    wrong: dict[Processor, Outcome]
    useless: list[Processor]
    caught: list[str]
    missed: list[str]
    needless: list[str]  # mutants that are caught, although the model calls the label spare

    def is_right(self) -> bool:
        """True if the protocol is right, and every mutant is wrong."""
        return not (self.wrong or self.useless or self.missed or self.needless)


def _variant(model: Model, processor: Processor, label: str = "", order: Order = Order.RELAXED) -> Variant:
    orders = {name: order if name == label else known for name, known in model.orders.items()}
    return Variant(orders, {step: step != label for step in model.steps}, processor)


def _first_wrong(model: Model, variant: Variant, tally: Tally) -> Outcome | None:
    found = outcomes(model.threads(variant), model.initial, variant.processor, model.limits, tally)
    return next((outcome for outcome in found if model.is_wrong(outcome)), None)


def _weaker(order: Order) -> list[Order]:
    if order is Order.SC:
        return [Order.ACQUIRE, Order.RELEASE, Order.RELAXED]
    return [] if order is Order.RELAXED else [Order.RELAXED]


def check(model: Model) -> Result:
    """Checks a protocol and its mutants."""
    result = Result({}, 0, {}, [], [], [], [])
    tally = Tally()
    for processor in model.processors:
        variant = _variant(model, processor)
        count, is_useful = 0, False
        for outcome in outcomes(model.threads(variant), model.initial, processor, model.limits, tally):
            count += 1
            is_useful |= model.is_useful(outcome)
            if model.is_wrong(outcome):
                result.wrong[processor] = outcome
                break
        result.executions[processor] = count
        if not is_useful:
            result.useless.append(processor)
    labels = [(label, _weaker(order)) for label, order in model.orders.items() if _weaker(order)]
    labels += [(step, [Order.RELAXED]) for step in model.steps]
    for label, weaker in labels:
        # The strongest of the weaker orders that fails shows that the order is needed.
        failing = [o for o in weaker if _first_wrong(model, _variant(model, model.mutants, label, o), tally)]
        name = label if label in model.steps else f"{label} {failing[0].name.lower()}" if failing else label
        if label in model.spare:
            (result.needless if failing else []).append(name)
        else:
            (result.caught if failing else result.missed).append(name)
    result.tried = tally.tried
    return result
