"""Plugins and tools written for OpenCode, in JavaScript or TypeScript, in a process of their own."""
