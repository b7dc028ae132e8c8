"""What everything else stands on: rows, wire shapes, the one writer, the bus, ids, locks, folders."""
