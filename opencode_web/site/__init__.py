"""The server around the pages: wiring, the guard, static files, the document of the API."""
