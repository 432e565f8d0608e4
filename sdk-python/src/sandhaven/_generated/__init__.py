"""Modules generated from the service's catalogue."""
