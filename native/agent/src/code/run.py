# Runs the code that descriptor 3 holds as __main__, and sends the charts it makes to descriptor 4.
# The agent starts it as the text of -c with `source` open on descriptor 3: this file's text has been read from
# it; what follows is the text of charts.py, after its length, and the code.
import builtins
import os
import sys

CHARTS_FD = 4
FILE_NAME = "<code>"


def run(source):
    os.set_inheritable(3, False)
    os.set_inheritable(CHARTS_FD, False)
    charts_text = source.read(int.from_bytes(source.read(4), "little"))
    code = source.read()
    source.close()
    watch_for_pyplot(charts_text)
    main = type(sys)("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    show_lines_in_tracebacks(code)
    try:
        exec(compile(code, FILE_NAME, "exec", dont_inherit=True), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        report(error)
        raise SystemExit(130 if isinstance(error, KeyboardInterrupt) else 1) from None
    finally:
        pyplot = sys.modules.get("matplotlib.pyplot")
        finish = getattr(pyplot, "_sandhaven_finish", None)
        if finish:
            finish()


def show_lines_in_tracebacks(code):
    import linecache

    text = code.decode("utf-8", "replace")
    linecache.cache[FILE_NAME] = (len(text), None, text.splitlines(True), FILE_NAME)


def report(error):
    """As the interpreter would, without this file's own frames."""
    frames = error.__traceback__
    while frames and frames.tb_frame.f_code.co_filename != FILE_NAME:
        frames = frames.tb_next
    error.__traceback__ = frames
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, frames)
        return
    import traceback

    traceback.print_exception(type(error), error, frames)


class PyplotFinder:
    """Prepares matplotlib.pyplot when the code imports it, and costs nothing otherwise."""

    def __init__(self, charts_text):
        self.charts_text = charts_text

    def find_spec(self, name, path, target=None):
        if name != "matplotlib.pyplot":
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def exec_module(module):
            load(module)
            scope = {"__name__": "sandhaven_charts", "CHARTS_FD": CHARTS_FD}
            exec(compile(self.charts_text, "<charts>", "exec"), scope)
            scope["install"](module)

        spec.loader.exec_module = exec_module
        return spec


def watch_for_pyplot(charts_text):
    sys.meta_path.insert(0, PyplotFinder(charts_text))


run(source)
