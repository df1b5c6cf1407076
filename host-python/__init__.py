"""What Hermes' directory loader imports: this folder as a package, with the real one inside it."""

from .sayso.adapters.hermes import register

__all__ = ["register"]
