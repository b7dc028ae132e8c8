"""OpenCode's HTTP API over the same store and actions as the page; paths and shapes are OpenCode's."""
