"""Notebook 01, One VPP."""

from __future__ import annotations

from labs.course.model import Chapter, Exercise, Option, Question

EXERCISES: tuple[Exercise, ...] = ()

QUIZ = (
    Question(
        "01-which-door",
        "Through which of its three doors can you watch VPP without holding up its packets?",
        (
            Option("The CLI.", "most CLI commands stop the workers at a barrier while they run."),
            Option("The binary API.", "most API calls stop the workers at a barrier too."),
            Option(
                "The stats segment.",
                "it is shared memory that VPP writes anyway; a reader costs VPP nothing.",
                right=True,
            ),
        ),
    ),
    Question(
        "01-silent-interface",
        "A new interface has an address, and no packet passes. What do you look at first?",
        (
            Option(
                "Whether the interface is up.",
                "VPP creates interfaces down. `set interface state … up` is the step most often forgotten.",
                right=True,
            ),
            Option("How many buffers there are.", "buffers run out under load, not on the first packet."),
            Option("Its rx-mode.", "every rx-mode passes packets; it changes how long they wait."),
        ),
    ),
    Question(
        "01-read-a-trace",
        "A trace shows a packet in `ip4-lookup` and then in `ip4-local`. What became of it?",
        (
            Option(
                "It was sent out through another interface.", "then `ip4-rewrite` would follow the lookup."
            ),
            Option(
                "It was for an address of this VPP, and was taken in.",
                "`ip4-local` is where packets go whose destination is VPP itself, such as a ping.",
                right=True,
            ),
            Option(
                "It was dropped, for want of a route.",
                "then the trace would end in `ip4-drop` and `error-drop`.",
            ),
        ),
    ),
)

CHAPTER = Chapter("01", "One VPP", 25, EXERCISES, QUIZ)
