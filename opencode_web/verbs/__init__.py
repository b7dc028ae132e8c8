"""What the commands do that need Django; each module is loaded when its command is called."""
