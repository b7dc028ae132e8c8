"""`/metrics`: how the server is doing, for a Prometheus. It names no people and no projects."""
