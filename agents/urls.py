from django.urls import path

from agents import permission_pages, pickers, problem_pages
from agents.commands import pages as commands
from agents.lsp.uses import completion as symbols
from agents.mcp.offered import completion as resources
from agents.trust import pages as trust

urlpatterns = [
    path("models", pickers.models),
    path("agents", pickers.agent_picker),
    path("mentions", pickers.mentions),
    path("resources", resources.options),
    path("arguments", resources.arguments),
    path("symbols", symbols.options),
    path("status", pickers.status),
    path("choose", pickers.choose),
    path("trust", trust.dialog),
    path("trust/grant", trust.trust),
    path("trust/revoke", trust.revoke),
    path("rules", permission_pages.configured),
    path("why", permission_pages.why),
    path("problems", problem_pages.listing),
    path("problems/count", problem_pages.count),
    path("problems/lines", problem_pages.lines),
    path("problems/check", problem_pages.check),
    path("commands", commands.options),
    path("command", commands.send),
]
