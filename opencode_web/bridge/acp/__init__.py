"""An agent for editors over the Agent Client Protocol; its sessions and turns are the server's."""
