"""For authors of plugins and custom tools: `from opencode_web.plugin import tool`. See docs/plugins.md."""

from agents.plugins.authors import PluginContext, Refused, ToolContext, ToolDefinition, tool
from agents.plugins.shapes import (
    AutoContinue,
    ChatHeaders,
    ChatMessage,
    ChatParams,
    CommandBefore,
    Compacting,
    MessagesTransform,
    PermissionAsk,
    ShellEnv,
    SmallModel,
    SystemTransform,
    TextComplete,
    ToolAfter,
    ToolBefore,
    ToolShown,
)

__all__ = [
    "AutoContinue",
    "ChatHeaders",
    "ChatMessage",
    "ChatParams",
    "CommandBefore",
    "Compacting",
    "MessagesTransform",
    "PermissionAsk",
    "PluginContext",
    "Refused",
    "ShellEnv",
    "SmallModel",
    "SystemTransform",
    "TextComplete",
    "ToolAfter",
    "ToolBefore",
    "ToolContext",
    "ToolDefinition",
    "ToolShown",
    "tool",
]
