"""From a repository at a forge to what can be asked there."""

from __future__ import annotations

from django.utils.translation import gettext

from agents.forge.forge import Forge
from agents.forge.forgejo import Forgejo
from agents.forge.github import GitHub
from agents.forge.gitlab import GitLab
from agents.forge.hosts import Host
from agents.forge.shapes import ForgeError


def forge_at(host: Host, path: str) -> Forge:
    """To be entered. Raises ForgeError for a path that cannot be one of a repository there."""
    depth = path.count("/")
    if path and (depth < 1 or (depth > 1 and host.kind != "gitlab")):
        raise ForgeError(
            gettext("%(path)s is no repository at %(name)s.") % {"path": path, "name": host.name}
        )
    match host.kind:
        case "gitlab":
            return GitLab(host, path)
        case "forgejo":
            return Forgejo(host, path)
        case "github":
            return GitHub(host, path)


async def try_token(host: Host) -> str:
    """Whose the token of a host is. Raises ForgeError where it opens nothing."""
    async with forge_at(host, "") as forge:
        return await forge.who()
