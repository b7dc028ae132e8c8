"""How fast and how heavy the server is, beside OpenCode itself on the same scripted model: `make bench`."""
