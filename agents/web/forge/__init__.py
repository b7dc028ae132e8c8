"""The panel of issues and pull requests. docs/decisions/0059-forges.md."""
