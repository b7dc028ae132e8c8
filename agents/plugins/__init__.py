"""Plugins: Python modules of the user, of installed packages and of trusted projects."""
