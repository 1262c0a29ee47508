"""Code of agent libraries as policies: the code that they ship, not a TOML that resembles it.

`recompact catalog adapters` lists them. Each is a module that needs its library installed.
"""
