"""How the page looks: themes, and sizes, which each browser keeps (docs/decisions/0055-looks.md)."""
