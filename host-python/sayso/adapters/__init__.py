"""The words of agent runtimes, one module each: what a runtime calls things, turned into events and back."""
