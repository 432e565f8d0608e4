# Runs the code that descriptor 3 holds as __main__, and sends the charts it makes to descriptor 4.
# The agent starts it, behind the text of imports.py, as the text of -c with `source` open on descriptor 3: both have been
# read from it; what follows is the text of charts.py, after its length, and the code.
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
    watch_imports(
        {
            "matplotlib.artist": remember_values,
            "matplotlib.pyplot": lambda module: install_charts(module, charts_text),
        }
    )
    main = type(sys)("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    show_lines_in_tracebacks(code)
    status = execute(code, main)
    finish_charts()
    end(status, main.__dict__)


def execute(code, main):
    try:
        exec(compile(code, FILE_NAME, "exec", dont_inherit=True), main.__dict__)
    except SystemExit as exit:
        return status_of(exit.code)
    except BaseException as error:
        report(error)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def status_of(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 255
    if sys.stderr is None:
        os.write(2, f"{code}\n".encode(errors="backslashreplace"))
    else:
        print(code, file=sys.stderr)
    return 1


def finish_charts():
    pyplot = sys.modules.get("matplotlib.pyplot")
    finish = getattr(pyplot, "_sandhaven_finish", None)
    if finish:
        finish()


def end(status, names):
    """Does what the interpreter does at its end, except its teardown, which takes long with many modules. Leaves all to the
    interpreter where files are open for writing, which it closes in an order of its own, and where output fails."""
    import atexit

    threading = sys.modules.get("threading")
    if threading:
        threading._shutdown()
    atexit._run_exitfuncs()
    if writes_files():
        raise SystemExit(status)
    forget(names)
    if not flush():
        raise SystemExit(status)
    leave(status)


def forget(names):
    """Drops the code's values, which runs their finalizers. What finalizers may call stays."""
    kept = (type(sys), type(forget), type)
    for name in list(names):
        if not name.startswith("__") and not isinstance(names[name], kept):
            names[name] = None


def writes_files():
    """Returns whether a descriptor is open for writing beside the standard ones and the charts'."""
    import fcntl

    standard = {0, 1, 2, CHARTS_FD}
    try:
        return any(is_writable(fcntl, fd) for fd in map(int, os.listdir("/proc/self/fd")) if fd not in standard)
    except OSError:
        return True


def is_writable(fcntl, fd):
    try:
        return fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    except OSError:
        # Of the listing itself, which is over.
        return False


def flush():
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream is not None and not stream.closed:
                stream.flush()
    except Exception:
        return False
    return True


def leave(status):
    """Libraries of C write out their own buffers when C's exit calls them."""
    if has_foreign_libraries():
        import ctypes

        # The interpreter's lock stays held: no other thread runs Python meanwhile.
        ctypes.PyDLL(None).exit(status)
    os._exit(status)


def has_foreign_libraries():
    """Returns whether a library of C that is not the interpreter's own may have run."""
    if "ctypes" in sys.modules:
        return True
    files = (getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values()))
    return any(type(file) is str and ".so" in file and "lib-dynload" not in file for file in files)


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


def install_charts(pyplot, text):
    scope = {"__name__": "sandhaven_charts", "CHARTS_FD": CHARTS_FD}
    exec(compile(text, "<charts>", "exec"), scope)
    scope["install"](pyplot)


run(source)
