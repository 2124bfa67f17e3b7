"""The teaching parts: verdicts, exercises, quizzes and a learner's progress."""

from labs.course.exercise import exercise
from labs.course.progress import progress
from labs.course.quiz import quiz
from labs.course.verdict import Verdict, verdict

__all__ = ["Verdict", "exercise", "progress", "quiz", "verdict"]
