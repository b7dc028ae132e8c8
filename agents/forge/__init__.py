"""Forges: issues and pull requests at GitHub, GitLab, Forgejo and Gitea. docs/decisions/0059-forges.md."""
