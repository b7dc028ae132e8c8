"""Which event renews which fragment, and the browser's frames."""
