"""What is remembered and shown: models, the one writer, the event log, API, pages, snapshots, undo."""
