"""Files of the project."""

from __future__ import annotations

from typing import Literal

from opencode_web.bridge.formatting.catalogues import content, entries, hits, names, symbols
from opencode_web.bridge.formatting.messages import counts, patches
from opencode_web.bridge.formatting.plain import pretty
from opencode_web.bridge.operations.arguments import query
from opencode_web.bridge.tool import READS, Operation

FILE_OPERATIONS = (
    Operation(
        "find_text",
        "GET",
        "/find",
        "Search the files for a regular expression.",
        READS,
        (query("pattern", "The expression, as ripgrep takes it.", required=True),),
        hits,
    ),
    Operation(
        "find_file",
        "GET",
        "/find/file",
        "Find files by a part of their path.",
        READS,
        (
            query("query", "A part of the path, not necessarily in one piece.", required=True),
            query("type", "Only these.", Literal["file", "directory"]),
            query("limit", "At most so many.", int),
        ),
        names,
    ),
    Operation(
        "find_symbol",
        "GET",
        "/find/symbol",
        "Find symbols through the language servers.",
        READS,
        (query("query", "A part of the name.", required=True),),
        symbols,
    ),
    Operation(
        "file_list",
        "GET",
        "/file",
        "List a folder.",
        READS,
        (query("path", "The folder, from the project's root; `.` is the root itself.", required=True),),
        entries,
    ),
    Operation(
        "file_read",
        "GET",
        "/file/content",
        "Read a file.",
        READS,
        (query("path", "The file, from the project's root.", required=True),),
        content,
    ),
    Operation(
        "file_status",
        "GET",
        "/file/status",
        "List files that differ from the last commit.",
        READS,
        format=counts,
    ),
    Operation("vcs_info", "GET", "/vcs", "Show the branch.", READS, format=pretty),
    Operation(
        "vcs_status",
        "GET",
        "/vcs/status",
        "List changed files with the count of their lines.",
        READS,
        format=counts,
    ),
    Operation(
        "vcs_diff",
        "GET",
        "/vcs/diff",
        "Show the changes of the working tree or of the branch.",
        READS,
        (
            query(
                "mode",
                "`git` against the last commit, `branch` against the default branch.",
                Literal["git", "branch"],
                required=True,
            ),
            query("context", "Lines around each change.", int),
        ),
        patches,
    ),
)
