# Loads what the code of RunCode imports: with hooks for some modules, and packages with less work than in a script.
import sys

# Folders of installed packages.
PACKAGES = {"site-packages", "dist-packages"}
# More than a package makes as it loads: pandas and pyplot together make 175,000.
MANY_OBJECTS = 1_000_000


def watch_imports(hooks):
    """Calls each hook with the module that it is named for, once that is loaded. While installed packages load, the garbage
    collector waits: it would visit what they make several times, and nearly all of that stays."""
    import gc
    from _frozen_importlib_external import SourceFileLoader

    load = SourceFileLoader.exec_module
    known = sys.implementation.name == "cpython" and sys.version_info >= (3, 8)

    def exec_module(self, module):
        thresholds = gc.get_threshold() if known else (0,)
        # Of nested imports the outermost one does this. Where the collector is off, it stays so.
        if not 0 < thresholds[0] < MANY_OBJECTS or PACKAGES.isdisjoint(str(self.path).split("/")):
            load(self, module)
        else:
            # Not gc.disable, which would undo what the package itself does with it.
            gc.set_threshold(MANY_OBJECTS, *thresholds[1:])
            try:
                load(self, module)
            finally:
                if gc.get_freeze_count() == 0:
                    # Together they move all objects to the oldest generation, without a visit to each.
                    gc.freeze()
                    gc.unfreeze()
                if gc.get_threshold()[0] == MANY_OBJECTS:
                    gc.set_threshold(*thresholds)
        hook = hooks.pop(module.__name__, None)
        if hook:
            hook(module)

    if known:
        # Tracebacks and warnings leave it out, like the other frames of an import.
        exec_module.__code__ = exec_module.__code__.replace(co_filename=load.__code__.co_filename)
    SourceFileLoader.exec_module = exec_module


def remember_values(artist):
    """Makes matplotlib read the documentation of each setter once, and not again for each class that inherits it. Leaves a
    version alone that works otherwise."""
    read = getattr(getattr(artist, "ArtistInspector", None), "get_valid_values", None)
    if read is None:
        return
    known = {}

    def get_valid_values(self, attr):
        setter = getattr(self.o, f"set_{attr}", None)
        if type(setter) is not type(read) or setter.__doc__ is None or hasattr(setter, "_kwarg_doc"):
            return read(self, attr)
        key = setter, setter.__doc__
        if key not in known:
            known[key] = read(self, attr)
        return known[key]

    artist.ArtistInspector.get_valid_values = get_valid_values
