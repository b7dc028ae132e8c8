"""Skills: folders with a `SKILL.md` that say how a kind of work is done, read when they are needed."""
