"""Checks of the live data plane, and how they are run so that no fault ends in a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.course.model import Result
from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from labs.course.model import Exercise
    from labs.lab import Lab

_VPP_WORD = {"server": "master", "client": "slave"}
_PINGS = 3


def run_check(exercise: Exercise, lab: Lab | None) -> Result:
    """Return what the exercise's check says of `lab`; a fault on the way becomes its reason.

    Parameters
    ----------
    exercise : Exercise
    lab : Lab or None
        The running lab; without one the check does not pass, and says what to do.
    """
    if lab is None:
        return Result(passed=False, reason=f'the check needs your lab: `exercise("{exercise.id}", lab)`.')
    try:
        result = exercise.check(lab)
    except LabError as error:
        return Result(passed=False, reason=_in_a_line(error))
    except Exception as error:  # noqa: BLE001 - a learner is owed a sentence, whatever went wrong
        return Result(passed=False, reason=_fault_of_ours(error))
    return result


def _in_a_line(error: LabError) -> str:
    """Return message and hint without what follows the first line, such as a log."""
    first = error.message.partition("\n")[0]
    return f"{first} Hint: {error.hint}" if error.hint else first


def _fault_of_ours(error: Exception) -> str:
    first = next(iter(str(error).splitlines()), "")
    what = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return (
        f"the check itself failed ({what}). That says nothing of your work; run `lab.reset()` and try again."
    )


def first_fault(look: Callable[[Lab], Iterator[str]], passed: str) -> Callable[[Lab], Result]:
    """Make a check from a generator of faults.

    Parameters
    ----------
    look : callable
        Yields a sentence for each thing that is not right. The first ends the check, so look at what is
        cheap and basic first.
    passed : str
        What to say where it yields nothing.
    """

    def check(lab: Lab) -> Result:
        fault = next(look(lab), None)
        return Result(passed=fault is None, reason=passed if fault is None else fault)

    return check


def wrong_roles(lab: Lab, **wanted: str) -> Iterator[str]:
    """Yield a sentence for each named node whose memif is missing or has another role than wanted.

    Parameters
    ----------
    lab : Lab
    **wanted : {"server", "client"}
        Roles by node name.
    """
    # All are asked before any is judged: a node that has ended is the news that matters.
    found = {node: lab[node].memifs().interfaces for node in wanted}
    for node, role in wanted.items():
        if not found[node]:
            yield f"{node} has no memif."
        for memif in found[node]:
            if memif.role != role:
                yield (
                    f"{node}'s {memif.name} is the {memif.role}. It should be the {role}, "
                    f"which VPP calls {_VPP_WORD[role]}."
                )


def ends_down(lab: Lab, *nodes: str) -> Iterator[str]:
    """Yield a sentence for each memif of the named nodes that has not been set up."""
    for node in nodes:
        for memif in lab[node].memifs().interfaces:
            if "admin-up" not in memif.flags:
                yield f"{node}'s {memif.name} is down; a new interface has to be set up."


def unconnected(lab: Lab, timeout: float = 4.0) -> Iterator[str]:
    """Yield why a memif of the lab is not connected after `timeout` seconds.

    Four seconds, because a client that found nobody tries again after three.
    """
    try:
        lab.wait_link(timeout)
    except LabError as error:
        yield _in_a_line(error)


def wrong_addresses(lab: Lab, **wanted: str) -> Iterator[str]:
    """Yield a sentence for each named node that lacks the wanted interface address (as ``10.10.2.1/24``)."""
    for node, address in wanted.items():
        has = [each for some in lab[node].addresses().values() for each in some]
        if address not in has:
            yield f"{node} has {', '.join(has) or 'no address'}; it should have {address}."


def no_echo(lab: Lab, source: str, target: str) -> Iterator[str]:
    """Yield a sentence if `target` answers none of a few pings from `source`."""
    ping = lab.ping(source, target, count=_PINGS)
    if not ping.received:
        yield f"{target} answered none of {ping.sent} pings from {source}; look at `show interface` on both."
