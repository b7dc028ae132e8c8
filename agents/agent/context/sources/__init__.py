"""The built-in Context Sources, one file each; `agents.agent.context.registry` names them."""
