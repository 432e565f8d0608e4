"""Version of the package. Generated from package.json by `make generate`; never edited by hand."""

__version__ = "0.1.0"
