"""Take what can be read out of a damaged SQLite file into a new one (docs/decisions/0021)."""
