from django.urls import path

from agents import permission_pages, pickers
from agents.commands import pages as commands
from agents.trust import pages as trust

urlpatterns = [
    path("models", pickers.models),
    path("agents", pickers.agent_picker),
    path("mentions", pickers.mentions),
    path("status", pickers.status),
    path("choose", pickers.choose),
    path("trust", trust.dialog),
    path("trust/grant", trust.trust),
    path("trust/revoke", trust.revoke),
    path("rules", permission_pages.configured),
    path("why", permission_pages.why),
    path("commands", commands.options),
    path("command", commands.send),
]
