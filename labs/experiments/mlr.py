"""How much goes through with how little loss: FD.io's MLRsearch, with our own trials as its measurer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.errors import NotAvailable
from labs.experiments.mlr_trials import EXCEED, LOSSES, PDR, Bounds, Search, Trial, final_length
from labs.experiments.profile import by_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NOTHING_IS_KEPT = "No lower bound"  # as the package says it
_LEAST = 0.001  # of the highest load; a ring outlasts the longest pause of most machines there


def search(
    attempt: Callable[[float, float], tuple[int, int]],
    most: float,
    told: Callable[[Trial], None],
    found: Search | None = None,
) -> Search:
    """Search the loads that keep to each goal; a search that does not end says why, and keeps its trials.

    Parameters
    ----------
    attempt : callable
        Offers a load, in packets a second, for so many seconds; returns the packets sent and received.
    most : float
        The highest load to try: what the sender manages. Higher ones would look free of loss.
    told : callable
        Hears of each trial.
    found : Search, optional
        Gets the trials and bounds; what is in it is kept if the search is cut short.

    Raises
    ------
    NotAvailable
        The package MLRsearch is not installed.
    """
    package = _package()
    made = Search() if found is None else found

    class Measurer(package.AbstractMeasurer):  # type: ignore[misc, name-defined] # an untyped package
        """Hands each trial to `attempt`."""

        def measure(self, intended_duration: float, intended_load: float) -> Any:  # noqa: ANN401 - likewise
            """Try a load once."""
            sent, received = attempt(intended_load, intended_duration)
            trial = Trial(intended_load, intended_duration, sent, received)
            made.trials.append(trial)
            told(trial)
            return package.MeasurementResult(
                intended_duration=intended_duration,
                intended_load=intended_load,
                offered_count=sent,
                forwarding_count=min(received, sent),  # a packet under way may be counted on one side first
            )

    for names in (tuple(LOSSES), (PDR,)):  # both share trials; but no load at all may be without a loss
        goals = {name: _goal(package, LOSSES[name]) for name in names}
        config = package.Config(
            goals=list(goals.values()),
            min_load=_LEAST * most,
            max_load=most,
            search_duration_max=by_profile(full=300.0, ci=60.0),
            warmup_duration=None,
        )
        try:
            result = package.MultipleLossRatioSearch(config=config).search(
                measurer=Measurer(), debug=lambda _: None
            )
        except RuntimeError as error:  # the package has no other
            made.why = _told(error, made)
            if _NOTHING_IS_KEPT not in str(error):
                break
        else:
            made.why = ""
            made.bounds = {name: Bounds(name, None, None, None) for name in LOSSES}
            made.bounds |= {name: _bounds(name, result, goal) for name, goal in goals.items()}
            break
    return made


def _told(error: RuntimeError, made: Search) -> str:
    """Return in a sentence why a search did not end."""
    if _NOTHING_IS_KEPT in str(error):
        least = min(trial.asked for trial in made.trials)
        return f"Packets are lost even at the least load that is tried, {least:,.0f} a second."
    return (
        f"The search did not end in time; {len(made.trials)} trials were made. "
        "What is lost changes too much from trial to trial."
    )


def _package() -> Any:  # noqa: ANN401 - an untyped package
    try:
        import MLRsearch  # type: ignore[import-untyped]  # noqa: PLC0415 - only this experiment needs it
    except ImportError:
        raise NotAvailable(
            "The package MLRsearch is not installed, and the search for NDR and PDR is its work.",
            "install it: pip install 'MLRsearch>=1.2.1'; everything else is measured without it.",
        ) from None
    return MLRsearch


def _goal(package: Any, loss: float) -> Any:  # noqa: ANN401 - likewise
    """Return a goal of the search: how much loss, how narrow, how long each trial."""
    return package.SearchGoal(
        loss_ratio=loss,
        exceed_ratio=EXCEED,
        relative_width=by_profile(full=0.02, ci=0.05),
        initial_trial_duration=by_profile(full=0.5, ci=0.3),
        final_trial_duration=final_length(),
        duration_sum=by_profile(full=5.0, ci=0.9),
        preceding_targets=2,
        expansion_coefficient=4,
        fail_fast=True,
    )


def _bounds(name: str, result: Mapping[Any, Any], goal: Any) -> Bounds:  # noqa: ANN401 - likewise
    """Return the bounds as plain numbers; a goal may lack one."""
    of = result[goal]
    low, high, through = (
        None if each is None else float(each)
        for each in (of.relevant_lower_bound, of.relevant_upper_bound, of.conditional_throughput)
    )
    return Bounds(name, low, high, through)
