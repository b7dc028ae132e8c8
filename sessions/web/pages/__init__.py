"""The HTMX views. They only orchestrate: access check, service call, fragments."""
