"""Changes of OpenCode's configuration files by a person: what is written by hand around them stays."""
