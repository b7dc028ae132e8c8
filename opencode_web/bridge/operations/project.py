"""Projects, requests that wait for a person, terminals and worktrees."""

from __future__ import annotations

from typing import Literal

from opencode_web.bridge.formatting.catalogues import names, projects, terminals
from opencode_web.bridge.formatting.messages import permissions, questions
from opencode_web.bridge.formatting.plain import done
from opencode_web.bridge.operations import shapes
from opencode_web.bridge.operations.arguments import aside, body, path
from opencode_web.bridge.tool import ACTS, ADDS, ENDS, READS, SETS, Operation

PROJECT_OPERATIONS = (
    Operation(
        "project_list", "GET", "/project", "List the projects the server knows.", READS, format=projects
    ),
    Operation("project_current", "GET", "/project/current", "Show the project of the directory.", READS),
    Operation(
        "project_init",
        "POST",
        "/project/git/init",
        "Make the directory a git repository, if it is in none; show its project.",
        SETS,
    ),
    Operation(
        "project_update",
        "PATCH",
        "/project/{projectID}",
        "Rename a project.",
        SETS,
        (path("projectID", "The project's id."), body("name", "Its new name.", required=True)),
    ),
)

_REQUEST = path("requestID", "The request, per_… or que_…")

REQUEST_OPERATIONS = (
    Operation(
        "permission_list",
        "GET",
        "/permission",
        "List permission requests that wait.",
        READS,
        format=permissions,
    ),
    Operation(
        "permission_reply",
        "POST",
        "/permission/{requestID}/reply",
        "Answer a permission request.",
        ACTS,
        (
            _REQUEST,
            body(
                "reply",
                "`always` allows what is like it from now on, too.",
                Literal["once", "always", "reject"],
                required=True,
            ),
            body("message", "With a rejection: what to do instead."),
        ),
        done("The request was answered. Go on with opencode_wait."),
    ),
    Operation("question_list", "GET", "/question", "List questions that wait.", READS, format=questions),
    Operation(
        "question_reply",
        "POST",
        "/question/{requestID}/reply",
        "Answer a question of the agent.",
        ACTS,
        (
            _REQUEST,
            body(
                "answers",
                "For each question a list of the labels chosen, or own words.",
                list[list[str]],
                required=True,
            ),
        ),
        done("The question was answered. Go on with opencode_wait."),
    ),
    Operation(
        "question_reject",
        "POST",
        "/question/{requestID}/reject",
        "Refuse to answer a question of the agent.",
        ENDS,
        (_REQUEST,),
        done("The question was dismissed."),
    ),
)

_TERMINAL = path("ptyID", "The terminal, pty_…")

TERMINAL_OPERATIONS = (
    Operation("pty_list", "GET", "/pty", "List the terminals.", READS, format=terminals),
    Operation(
        "pty_create",
        "POST",
        "/pty",
        "Start a terminal; a person can use it in the page.",
        ACTS,
        (
            body("command", "A program; the user's shell when left out."),
            body("args", "Its arguments.", list[str]),
            body("cwd", "Where it runs."),
            body("title", "What it is called."),
        ),
    ),
    Operation("pty_get", "GET", "/pty/{ptyID}", "Show one terminal.", READS, (_TERMINAL,)),
    Operation(
        "pty_remove",
        "DELETE",
        "/pty/{ptyID}",
        "End a terminal and what runs in it.",
        ENDS,
        (_TERMINAL,),
        done("The terminal was ended."),
    ),
)

WORKTREE_OPERATIONS = (
    Operation(
        "worktree_list",
        "GET",
        "/experimental/worktree",
        "List the worktrees of the project.",
        READS,
        format=names,
    ),
    Operation(
        "worktree_create",
        "POST",
        "/experimental/worktree",
        "Make a worktree of the project.",
        ADDS,
        (body("name", "A name for it."), body("startCommand", "A command to run in it.")),
    ),
    Operation(
        "worktree_remove",
        "DELETE",
        "/experimental/worktree",
        "Remove a worktree of the project, with what is not committed in it.",
        ENDS,
        (aside("worktree", "Its folder.", required=True),),
        done("The worktree was removed."),
        shapes.worktree,
    ),
)
