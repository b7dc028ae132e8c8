"""Links that a repository brings along: (what is linked, where to). `OUT` is a folder beside the project that
holds `text.md`, `x/SKILL.md`, `opencode.json`, `agent/text.md` and `skills/x/SKILL.md`, all with a secret."""

OUT = "{out}"

TRUSTABLE = (
    ("AGENTS.md", "{out}/text.md"),
    ("CLAUDE.md", "{out}/text.md"),
    ("CONTEXT.md", "../out/text.md"),
    ("AGENTS.md", "inner/../../out/text.md"),
    ("AGENTS.md", "{out}/again.md"),
    ("sub/AGENTS.md", "{out}/text.md"),
    ("docs", "{out}"),
    ("docs/text.md", "{out}/text.md"),
    ("deep/docs", "../../out"),
    ("opencode.json", "{out}/opencode.json"),
    (".opencode/opencode.json", "{out}/opencode.json"),
    (".opencode/agent/text.md", "{out}/text.md"),
    (".opencode/agents", "{out}/agent"),
    (".opencode/commands/text.md", "{out}/text.md"),
    (".opencode/command", "{out}/agent"),
    (".opencode", "{out}"),
)
"""A person may trust where they lead."""

NEVER = (
    ("AGENTS.md", "/proc/self/environ"),
    ("CLAUDE.md", "/proc/{pid}/environ"),
    ("CONTEXT.md", "/proc/self/task/{pid}/environ"),
    ("AGENTS.md", "/proc/thread-self/environ"),
    ("AGENTS.md", "../../../../../../../../../../proc/self/environ"),
    ("docs", "/proc/self"),
    ("docs/text.md", "/proc/self/environ"),
    ("opencode.json", "/proc/self/environ"),
    (".opencode/agent/text.md", "/proc/self/environ"),
    (".opencode/agents", "/proc/self"),
    (".opencode/skills/x/SKILL.md", "/proc/self/environ"),
    (".opencode/skills", "{out}/skills"),
    (".claude/skills/x", "{out}/x"),
    (".agents/skills/x/SKILL.md", "{out}/x/SKILL.md"),
    ("AGENTS.md", "/dev/stdin"),
    ("AGENTS.md", "AGENTS.md"),
    ("AGENTS.md", "/nowhere/at/all"),
)
"""Nobody is asked about these, and they are not read."""

INSTRUCTIONS = ["docs/*.md", "docs/text.md", "docs/environ", "deep/docs/*.md", "**/text.md"]
"""What the project's configuration names."""
