"""Configurations as people have them: what OpenCode answers of each is held against what we answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Files = Mapping[str, str | dict[str, Any]]
"""By path; a dictionary is written as JSON."""

FAKE = {
    "npm": "@ai-sdk/openai-compatible",
    "name": "Fake",
    "options": {"baseURL": "http://127.0.0.1:9/v1"},
    "models": {"fake": {"name": "Fake", "limit": {"context": 1000, "output": 100}, "temperature": True}},
}
"""A provider that nothing is asked of."""


@dataclass(frozen=True)
class Case:
    """`here` is written into the project, `home` into the home folder; `inner` is the folder that is asked
    about, in the project. A case with a home or an environment of its own has servers of its own."""

    here: Files = field(default_factory=dict)
    home: Files = field(default_factory=dict)
    environ: Mapping[str, str] = field(default_factory=dict)
    inner: str = ""

    @property
    def alone(self) -> bool:
        return bool(self.home or self.environ)


def provider(**changes: Any) -> Case:
    """One with the fake provider changed."""
    return config(provider={"fake": {**FAKE, **changes}})


def model(**keys: Any) -> Case:
    return provider(models={"fake": {**FAKE["models"]["fake"], **keys}})  # type: ignore[index]


def config(**keys: Any) -> Case:
    return Case({"opencode.json": keys})


def markdown(path: str, front: str, body: str = "Do it well.") -> Case:
    return Case({path: f"---\n{front}\n---\n{body}\n"})


def skill(path: str, name: str = "tidy", description: str = "Tidies up.") -> Files:
    return {f"{path}/SKILL.md": f"---\nname: {name}\ndescription: {description}\n---\nTidy.\n"}


AGENT = {
    "description": "Reads",
    "mode": "subagent",
    "model": "fake/fake",
    "prompt": "You read.",
    "temperature": 0.3,
    "top_p": 0.8,
    "color": "#aabbcc",
    "hidden": True,
    "steps": 4,
    "reasoningEffort": "high",
    "options": {"other": 1},
    "permission": {"edit": "deny", "bash": {"*": "ask", "git *": "allow"}},
}

CASES: dict[str, Case] = {
    "nothing": Case(),
    "an empty file": config(),
    # Providers and models
    "a provider": provider(),
    "headers and timeouts": provider(
        options={
            "baseURL": "http://127.0.0.1:9/v1",
            "headers": {"X-A": "b"},
            "timeout": 5000,
            "chunkTimeout": 9,
        }
    ),
    "a model by another package": model(provider={"npm": "@ai-sdk/anthropic"}),
    "interleaved reasoning": model(interleaved={"field": "reasoning_content"}, reasoning=True),
    "prices": model(cost={"input": 1, "output": 2, "cache_read": 0.1, "cache_write": 0.2}),
    "kinds of input": model(attachment=True, modalities={"input": ["text", "image"], "output": ["text"]}),
    "the name at the provider": model(id="fake-2026"),
    "options and headers of a model": model(options={"reasoningEffort": "low"}, headers={"X-M": "1"}),
    "no tools": model(tool_call=False),
    "no temperature": model(temperature=False),
    "a whitelist": provider(models={"a": {}, "b": {}}, whitelist=["a"]),
    "a blacklist": provider(models={"a": {}, "b": {}}, blacklist=["a"]),
    "a disabled provider": config(provider={"fake": FAKE, "other": FAKE}, disabled_providers=["other"]),
    "enabled providers": config(provider={"fake": FAKE, "other": FAKE}, enabled_providers=["fake"]),
    "a package nobody knows": provider(npm="somebody-elses-provider"),
    "variables of the environment": provider(name="{env:LANG}", options={"baseURL": "{env:NOT_THERE}"}),
    "files in values": Case(
        {"opencode.json": {"username": "{file:./name.txt}"}, "name.txt": "from a file\n"}
    ),
    "models": config(provider={"fake": FAKE}, model="fake/fake", small_model="fake/fake"),
    # Agents
    "an agent with every key": config(provider={"fake": FAKE}, agent={"reader": AGENT}),
    "tools of an agent": config(agent={"reader": {"tools": {"write": False, "webfetch": True}}}),
    "the older name of steps": config(agent={"reader": {"maxSteps": 3}}),
    "rules of an agent in one word": config(agent={"reader": {"permission": "ask"}}),
    "a disabled agent": config(agent={"general": {"disable": True}, "reader": {"disable": True}}),
    "a changed agent": config(agent={"build": {"temperature": 0.1, "description": "Mine"}}),
    "a mode": config(mode={"reader": {"prompt": "You read.", "tools": {"bash": False}}}),
    "the default agent": config(agent={"reader": {"mode": "primary"}}, default_agent="reader"),
    "an agent in Markdown": markdown(
        ".opencode/agent/reader.md", "description: Reads\nmode: subagent\nsteps: 3"
    ),
    "agents in a folder": markdown(".opencode/agents/team/reader.md", "description: Reads"),
    "an agent that is all text": Case({".opencode/agent/reader.md": "You read.\n"}),
    "an agent from Windows": Case(
        {".opencode/agent/reader.md": "---\r\ndescription: Reads\r\n---\r\nYou read.\r\n"}
    ),
    "rules in Markdown": markdown(
        ".opencode/agent/reader.md", "permission:\n  edit: deny\n  bash:\n    git *: ask"
    ),
    "a colon in a description": markdown(".opencode/agent/reader.md", "description: Use this: when needed"),
    "a mode in Markdown": markdown(".opencode/mode/reader.md", "description: Reads"),
    "modes in Markdown": markdown(".opencode/modes/reader.md", "temperature: 0.4"),
    "Markdown over JSON": Case(
        {
            "opencode.json": {"agent": {"reader": {"description": "JSON", "temperature": 0.5}}},
            ".opencode/agent/reader.md": "---\ndescription: Markdown\n---\nYou read.\n",
        }
    ),
    # Commands
    "a command": config(
        command={"fix": {"template": "Fix $1 in $2.", "description": "Fixes", "agent": "build"}}
    ),
    "a command in Markdown": markdown(".opencode/command/fix.md", "description: Fixes", "Fix $ARGUMENTS."),
    "a command in a folder": markdown(".opencode/commands/git/fix.md", "description: Fixes\nsubtask: true"),
    "a colon in a command": markdown(".opencode/command/fix.md", "description: Fix: all of it", "Fix."),
    "a command with a model": markdown(".opencode/command/fix.md", "model: fake/fake\nagent: plan", "Fix."),
    # Rules
    "rules in one word": config(permission="ask"),
    "rules by tool": config(permission={"bash": "ask", "edit": "deny", "webfetch": "allow"}),
    "rules by pattern": config(permission={"bash": {"*": "ask", "git status*": "allow", "rm *": "deny"}}),
    "rules of the home folder": config(permission={"external_directory": {"~/work/**": "allow"}}),
    "the older tools": config(tools={"write": False, "bash": True, "patch": False}),
    "tools under rules": config(tools={"bash": False}, permission={"bash": "ask"}),
    # Programs
    "a local server": config(
        mcp={"x": {"type": "local", "command": ["true"], "environment": {"A": "b"}, "enabled": False}}
    ),
    "a server elsewhere": config(
        mcp={"x": {"type": "remote", "url": "http://127.0.0.1:9/mcp", "oauth": False, "enabled": False}}
    ),
    "a language server": config(
        lsp={"mine": {"command": ["true"], "extensions": [".zz"], "env": {"A": "b"}}}
    ),
    "no language servers": config(lsp=False),
    "a formatter": config(formatter={"mine": {"command": ["true", "$FILE"], "extensions": [".zz"]}}),
    "no formatters": config(formatter=False),
    # The rest
    "instructions": config(instructions=["docs/*.md", "RULES.md"]),
    "sharing": config(share="disabled"),
    "the older autoshare": config(autoshare=True),
    "compaction": config(compaction={"auto": False, "prune": True, "reserved": 100}),
    "outputs of tools": config(tool_output={"max_lines": 10, "max_bytes": 1000}),
    "watching": config(watcher={"ignore": ["dist/**"]}),
    "a name": config(username="bob"),
    "snapshots": config(snapshot=False),
    "a shell": Case({"opencode.json": {"shell": "/bin/sh"}}),
    "the depth of subagents": config(subagent_depth=2),
    "comments and commas": Case({"opencode.jsonc": '// mine\n{\n  "username": "bob", /* c */\n}\n'}),
    "a mark of the byte order": Case({"opencode.json": '\ufeff{"username": "bob"}'}),
    "lines of Windows": Case({"opencode.json": '{\r\n  "username": "bob"\r\n}\r\n'}),
    "a nearer file": Case(
        {"opencode.json": {"username": "far", "share": "manual"}, "web/opencode.json": {"username": "near"}},
        inner="web",
    ),
    "a folder of its own": Case(
        {"opencode.json": {"username": "far"}, ".opencode/opencode.json": {"username": "near"}}
    ),
    # Skills
    "a skill": Case(skill(".opencode/skills/tidy")),
    "skills of other agents": Case(
        {**skill(".claude/skills/one", "one"), **skill(".agents/skills/two", "two")}
    ),
    "a skill by another name": Case(skill(".opencode/skill/folder", "tidy")),
    "a colon in a skill": Case(skill(".opencode/skill/tidy", description="Use this: when needed")),
    "skills elsewhere": Case({"opencode.json": {"skills": {"paths": ["more"]}}, **skill("more/tidy")}),
    # Whose they are
    "the person's own files": Case(
        home={
            ".config/opencode/config.json": {"username": "first", "share": "manual"},
            ".config/opencode/opencode.json": {"username": "second", "snapshot": False},
            ".config/opencode/opencode.jsonc": '{"username": "third"}',
            ".config/opencode/agent/reader.md": "---\ndescription: Reads\n---\nYou read.\n",
            ".config/opencode/command/fix.md": "Fix.",
            **skill(".config/opencode/skill/tidy"),
        }
    ),
    "a folder in the home": Case(
        {"opencode.json": {"username": "project"}, **skill(".opencode/skill/tidy")},
        home={
            ".opencode/opencode.json": {"username": "home"},
            ".opencode/agent/reader.md": "---\ndescription: Reads\n---\nYou read.\n",
            ".opencode/command/fix.md": "Fix.",
            **skill(".opencode/skill/fold", "fold"),
        },
    ),
    "a folder that is named": Case(
        {".opencode/opencode.json": {"username": "project"}},
        home={
            "named/opencode.json": {"username": "named"},
            "named/agents/reader.md": "---\ndescription: Reads\n---\nYou read.\n",
            **skill("named/skills/tidy"),
        },
        environ={"OPENCODE_CONFIG_DIR": "{home}/named"},
    ),
    "a file that is named": Case(
        {"opencode.json": {"snapshot": False}},
        home={"more.json": {"username": "named", "snapshot": True}},
        environ={"OPENCODE_CONFIG": "{home}/more.json"},
    ),
    "a text in the environment": Case(
        {"opencode.json": {"username": "project"}},
        environ={"OPENCODE_CONFIG_CONTENT": json.dumps({"username": "environment"})},
    ),
    "rules in the environment": Case(
        {"opencode.json": {"permission": {"bash": "ask", "edit": "ask"}}},
        environ={"OPENCODE_PERMISSION": json.dumps({"bash": {"*": "deny", "ls *": "allow"}})},
    ),
    "switches in the environment": Case(
        config(compaction={"auto": True, "reserved": 5}).here,
        environ={"OPENCODE_DISABLE_AUTOCOMPACT": "1", "OPENCODE_DISABLE_PRUNE": "true"},
    ),
    "without the project": Case(
        {"opencode.json": {"username": "project"}, ".opencode/command/fix.md": "Fix."},
        home={".config/opencode/opencode.json": {"username": "own"}},
        environ={"OPENCODE_DISABLE_PROJECT_CONFIG": "1"},
    ),
    "of the machine": Case(
        {"opencode.json": {"username": "project", "permission": {"bash": "ask"}}},
        home={"etc/opencode.json": {"username": "machine", "permission": {"bash": "deny"}}},
        environ={"OPENCODE_TEST_MANAGED_CONFIG_DIR": "{home}/etc"},
    ),
    "no skills of others": Case(
        {
            **skill(".claude/skills/one", "one"),
            **skill(".agents/skills/two", "two"),
            **skill(".opencode/skill/tidy"),
        },
        environ={"OPENCODE_DISABLE_EXTERNAL_SKILLS": "1"},
    ),
    "nothing of Claude's": Case(
        {**skill(".claude/skills/one", "one"), **skill(".agents/skills/two", "two")},
        environ={"OPENCODE_DISABLE_CLAUDE_CODE": "1"},
    ),
}
