"""The client for threads that wait. Made from `_async`, but for the clock and the content of uploads."""
