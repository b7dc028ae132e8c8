"""`question`: ask the user, who answers in the page."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field, field_validator, model_validator

from agents.toolkit.base import Option, Question, Tool, ToolContext, ToolResult

MOST_QUESTIONS = 10
MOST_OPTIONS = 20
MOST_HEADER = 30

DESCRIPTION = """\
Ask the user something you need to know to go on: what they prefer, what a request means, which of several \
ways to take. They see the options, choose with one key, and can answer in their own words, so do not add \
an option such as "Other". Put the option you recommend first and say so in its label. Ask several \
questions that do not depend on one another in one call. Set `multiple` where more than one option may \
hold. Do not ask what you can find out yourself. You get the answers as labels or the user's words; if the \
user dismisses the questions, the turn ends."""


class Choice(BaseModel):
    label: str = Field(min_length=1, max_length=200, description="What is chosen, in one to five words.")
    description: str = Field("", max_length=2000, description="What choosing it means.")


class Asked(BaseModel):
    question: str = Field(min_length=1, max_length=5000, description="The whole question.")
    header: str = Field(min_length=1, max_length=MOST_HEADER, description="A label of at most 30 characters.")
    options: list[Choice] = Field(min_length=1, max_length=MOST_OPTIONS, description="What can be chosen.")
    multiple: bool = Field(False, description="Whether more than one may be chosen.")
    custom: bool = Field(True, description="Whether the user may answer in their own words.")

    @field_validator("question", "header")
    @classmethod
    def _not_blank(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("must not be blank")
        return text

    @model_validator(mode="after")
    def _different(self) -> Asked:
        labels = [option.label.strip() for option in self.options]
        if len(set(labels)) < len(labels) or "" in labels:
            raise ValueError("the labels of the options must be different and not blank")
        return self


class Input(BaseModel):
    questions: list[Asked] = Field(min_length=1, max_length=MOST_QUESTIONS, description="What to ask.")


async def execute(args: Input, ctx: ToolContext) -> ToolResult:
    """Wait for the answers; raises QuestionRejected when the user dismisses the questions."""
    await ctx.ask("question", ["*"], always=["*"])
    answers = await ctx.question([_question(asked) for asked in args.questions])
    told = [
        f"{asked.question}\n{_told(answer)}" for asked, answer in zip(args.questions, answers, strict=True)
    ]
    count = len(args.questions)
    return ToolResult(
        f"{count} question{'s' * (count > 1)} answered",
        "The user answered:\n\n" + "\n\n".join(told),
        {"answers": answers},
    )


def _question(asked: Asked) -> Question:
    options = [Option(choice.label.strip(), choice.description) for choice in asked.options]
    return Question(asked.question, asked.header, options, asked.multiple, asked.custom)


def _told(answer: Sequence[str]) -> str:
    return "\n".join(f"- {text}" for text in answer) or "- (no answer)"


TOOL = Tool("question", DESCRIPTION, Input, execute, "question")
