"""A client of a server that speaks OpenCode's protocol, ours or OpenCode's, and the way to start one."""
