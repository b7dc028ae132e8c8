"""The built-in Context Sources, one file each; `agents.context.registry` names them."""
