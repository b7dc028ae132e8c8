"""What a step means for a turn whose answer has a form: done, once more, or in vain."""

from __future__ import annotations

import logging

from agents.runtime.run import Run
from agents.runtime.steps.recorder import Recorder
from agents.tools.structured import Form
from sessions.wire.base import NamedError

logger = logging.getLogger(__name__)


def judge(run: Run, recorder: Recorder, form: Form, *, tried: bool, goes_on: bool) -> bool:
    """Whether another step is due; what the message then has is written with the end of the step.

    `tried`: the model called the tool of the form in this step; `goes_on`: there would be another step by
    what else it did. An answer ends the turn, and so does one wrong answer too many. A model that ends in
    plain text is not asked again, as in OpenCode.
    """
    if form.answer is not None:
        recorder.message.structured = form.answer
        return False
    form.wrong += tried
    if goes_on and not form.spent:
        return True
    recorder.message.error = _unmet(form)
    run.error = recorder.message.error.wire()
    logger.warning("session %s: %s", run.session.id, recorder.message.error.message)
    return False


def _unmet(form: Form) -> NamedError:
    """`retries`: how many wrong answers went back to the model."""
    words = "The model gave no answer in the form that was asked for."
    if form.wrong:
        words = f"The model's answer did not fit the schema, in {form.wrong} of {form.retries + 1} tries."
    retries = min(form.wrong, form.retries)
    return NamedError(name="StructuredOutputError", data={"message": words, "retries": retries})
