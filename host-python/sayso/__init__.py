"""sayso: checks what an AI agent writes and does, at the moment it does it, with evidence instead of trust.

Importing this package loads nothing heavy: `sayso.engine` brings the sandbox in when it is first needed, so that a
plugin whose dependencies are missing still loads and can say so.
"""

__version__ = "0.1.0"
