"""The review panel."""
