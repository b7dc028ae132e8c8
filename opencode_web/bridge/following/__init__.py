"""Following a session while it works: how far it is, who has to answer, when it has come to rest."""
