"""What several tools share: paths, texts, changing a file, running a process, searching."""
