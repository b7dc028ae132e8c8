"""Prompts: how to go about six kinds of work with these tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Argument:
    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """`text` has `{names}` of the arguments; what is left out is filled with `otherwise`."""

    name: str
    title: str
    description: str
    text: str
    arguments: tuple[Argument, ...] = ()
    otherwise: str = "(not said)"

    def filled(self, given: Mapping[str, str]) -> str:
        """The text for these arguments. Raises KeyError with the name of one that is missing."""
        values = {}
        for argument in self.arguments:
            if argument.required and not given.get(argument.name):
                raise KeyError(argument.name)
            values[argument.name] = given.get(argument.name) or self.otherwise
        return self.text.format_map(values)


_SESSION = Argument("sessionID", "The session, ses_…", required=True)

PROMPTS = (
    Prompt(
        "opencode-code-review", "Review changes", "Look through what a session has changed.",
        """Review the changes that OpenCode made in session {sessionID}.

1. Read what was asked: opencode_conversation with this sessionID.
2. Read the changes: opencode_review_changes with this sessionID.
3. Where a change is not clear from its patch, read the file with opencode_file_read, and find who uses what
   was changed with opencode_find_text.
4. Judge: does it do what was asked, completely? Errors, missing cases, security, tests, things that were
   changed and had no need to be. Focus: {focus}.
5. Report findings by severity, each with its file and line. Say what you could not check. When something has
   to be mended, propose the text for opencode_reply and ask before you send it.
""", (_SESSION, Argument("focus", "What to look at most.")), "nothing in particular"),
    Prompt(
        "opencode-debug", "Find a defect", "Find the cause of a defect and have it mended.",
        """Find the cause of this defect and have OpenCode mend it: {issue}

What is known besides: {context}

1. opencode_context shows the project; opencode_find_text and opencode_file_read show the code in question.
2. Ask for the cause before any change: opencode_ask with agent `plan`, the description, what you found, and
   the request to reproduce it.
3. When the cause is plain, have it mended in the same session with opencode_reply and agent `build`, with a
   test that failed before.
4. opencode_review_changes shows whether only the cause was changed. Tell cause, change and test.
""", (Argument("issue", "What goes wrong.", required=True),
      Argument("context", "Messages, steps, guesses."))),
    Prompt(
        "opencode-project-setup", "Set up a project", "Get OpenCode ready for a project.",
        """Get OpenCode ready for the project in the current directory. Purpose: {goal}

1. opencode_setup says whether the server answers and a model can be used; follow what it says comes next. Ask
   the user for keys and never repeat them.
2. opencode_provider_test makes sure that the model answers.
3. opencode_context and opencode_file_list show the project. When it has no AGENTS.md, offer to write one:
   opencode_session_create, then opencode_session_init.
4. Say what is there: language, build, tests, agents, commands, MCP servers; and what is missing.
""", (Argument("goal", "What the project is to become or needs."),)),
    Prompt(
        "opencode-implement", "Implement something", "Have a feature built, step by step.",
        """Have OpenCode build this: {description}

Requirements: {requirements}

1. opencode_context for the project; read what the feature touches.
2. Ask for a plan first: opencode_ask with agent `plan`. Go through the plan with the user.
3. opencode_run in the same session with agent `build`: the plan, the requirements, tests. For long work
   opencode_fire, then opencode_check now and then.
4. When an answer says that a permission or a question waits, show it to the user, and answer as they decide.
5. opencode_review_changes; ask for corrections with opencode_reply. Say what was built and what was not.
""", (Argument("description", "What to build.", required=True),
      Argument("requirements", "What it has to fulfil."))),
    Prompt(
        "opencode-best-practices", "How to use these tools", "Which tool for what.",
        """How to work with the OpenCode tools:

- Begin with opencode_setup once. Name `directory` when you mean another project than the bridge's own.
- A question: opencode_ask. More in the same session: opencode_reply. A task to its end: opencode_run. A task
  beside other work: opencode_fire, then opencode_check, opencode_wait.
- One session for one topic: what was said in it is known there, and nowhere else.
- The agent `plan` reads and does not write; the agent `build` does the work.
- Name a model with providerID and modelID together, or none.
- An answer may say that a permission or a question waits. Show it to the user; answer with
  opencode_permission_reply or opencode_question_reply, then opencode_wait.
- Look at what was changed with opencode_review_changes; opencode_session_revert takes it back.
- The workflow tools answer briefly. Take the low-level tools when you need one operation exactly.
- A tool error begins with its category. `transient`: try again later. `not_found`, `invalid`: correct the
  arguments. `auth`, `provider`, `refused`, `unreachable`: the user has to act.
"""),
    Prompt(
        "opencode-session-summary", "Summarise a session", "What was asked, done and left open.",
        """Summarise session {sessionID} for somebody who was not there.

1. opencode_check and opencode_conversation with this sessionID; opencode_review_changes without patches.
2. Write: what was asked; what was found out and decided, with the reason; which files were changed and why;
   what was tested; what is open (the todo list, errors, unanswered questions).
3. At most one page. Name files and messages exactly; do not tell each step.
""", (_SESSION,)),
)  # fmt: skip
