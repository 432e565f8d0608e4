# A context's interpreter: runs each code that comes on descriptor 4, behind its variables, in the same __main__, and answers
# there. Every message ends in NUL. The agent starts it behind the text of imports.py, as run.py, with the text of charts.py behind it on descriptor 3.
# The usual ast, json, linecache and signal load for longer than the interpreter starts; what they are made of is there already.
import _ast
import builtins
import os
import sys
from _json import encode_basestring_ascii as quoted
from _signal import SIGINT
from _signal import signal as on_signal

CONTROL_FD = 4
ONLY_AST, TOP_LEVEL_AWAIT, COROUTINE = 0x400, 0x2000, 0x80
MAX_SOURCES = 200
MAX_MIME_CHARS = 3 << 20
MAX_TEXT_CHARS = 200_000
MAX_TABLE_ROWS = 1_000
MAX_TABLE_VALUES = 20_000
REPRESENTATIONS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_latex_": "text/latex",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_json_": "application/json",
}

# Forms of IPython.display, by its names of their classes.
FORMS = {
    "HTML": "text/html",
    "Markdown": "text/markdown",
    "Latex": "text/latex",
    "SVG": "image/svg+xml",
    "JSON": "application/json",
    "Javascript": "application/javascript",
    "Pretty": "text/plain",
}
MAX_TICKS = 100


class Kernel:
    def __init__(self, charts_text):
        self.charts_text = charts_text
        self.charts = None
        self.count = 0
        self.running = False
        self.loop = None
        self.received = bytearray()
        self.sources = {}
        self.main = type(sys)("__main__")
        self.main.__dict__.update(__builtins__=builtins, display=self.display)
        sys.modules["__main__"] = self.main
        sys.meta_path.append(NotebookNames(self.display))
        self.process = os.getpid()

    def serve(self):
        on_signal(SIGINT, self.interrupted)
        sys.stdout.reconfigure(line_buffering=True)
        self.answer("ready")
        while True:
            variables, code = self.next_text(), self.next_text()
            if code is None:
                os._exit(0)
            try:
                self.run(code, variables)
            except KeyboardInterrupt as late:
                # It came as the run had ended with another error.
                self.running = False
                self.answer({"done": {"error": describe(late)}})

    def interrupted(self, *_):
        """Between two runs there is nothing to interrupt."""
        if self.running:
            raise KeyboardInterrupt

    def next_text(self):
        while (end := self.received.find(0)) < 0:
            piece = os.read(CONTROL_FD, 65_536)
            if not piece:
                return None
            self.received += piece
        text = bytes(self.received[:end])
        del self.received[: end + 1]
        return text.decode("utf-8", "replace")

    def run(self, code, variables):
        """Variables are of this run alone."""
        self.count += 1
        name = f"<cell {self.count}>"
        error = None
        restore = set_variables(variables)
        try:
            self.running = True
            # By itself: an interruption may follow at once, and in an answer it would be passed over.
            os.write(CONTROL_FD, b'"begun"\0')
            self.execute(code, name)
            self.show_charts()
        except BaseException as caught:
            self.running = False
            error = describe(caught)
        self.running = False
        restore()
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:
                pass
        self.answer({"done": {"error": error}})

    def execute(self, code, name):
        code = unindented(code)
        self.keep_source(name, code)
        try:
            tree = parse(code, name)
        except SyntaxError:
            shell = with_commands(code)
            if shell == code:
                raise
            self.main.__dict__["__sandhaven_command"] = command
            tree = parse(shell, name)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], _ast.Expr) else None
        if tree.body:
            self.evaluate(tree, name, "exec")
        if last is not None and not code.rstrip().endswith(";"):
            value = self.evaluate(_ast.Expression(last.value), name, "eval")
            if value is not None:
                builtins._ = value
                self.send("result", value)
        elif last is not None:
            self.evaluate(_ast.Expression(last.value), name, "eval")

    def evaluate(self, tree, name, mode):
        compiled = compile(tree, name, mode, TOP_LEVEL_AWAIT, dont_inherit=True)
        value = eval(compiled, self.main.__dict__)
        if not compiled.co_flags & COROUTINE:
            return value
        # With its loop.
        import asyncio  # noqa: F401

        task = self.loop.create_task(value)
        try:
            return self.loop.run_until_complete(task)
        except BaseException:
            task.cancel()
            raise

    def make_loop(self, asyncio):
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)

    def keep_source(self, name, code):
        """For tracebacks."""
        self.sources[name] = code
        if len(self.sources) > MAX_SOURCES:
            oldest = next(iter(self.sources))
            del self.sources[oldest]
            if "linecache" in sys.modules:
                sys.modules["linecache"].cache.pop(oldest, None)
        if "linecache" in sys.modules:
            self.show_lines(sys.modules["linecache"])

    def show_lines(self, linecache):
        for name, code in self.sources.items():
            if name not in linecache.cache:
                linecache.cache[name] = (len(code), None, code.splitlines(True), name)

    def display(self, *values, raw=False, **_):
        """Shows values as rich results; with raw a value is a bundle itself, from types to data."""
        for value in values:
            if raw:
                self.answer({"display": {"type": "display", "data": bounded(value)}})
            else:
                self.send("display", value)

    def send(self, kind, value):
        pyplot = sys.modules.get("matplotlib.pyplot")
        if pyplot and self.charts and isinstance(value, sys.modules["matplotlib.figure"].Figure):
            self.charts["send"](value)
            pyplot.close(value)
            return
        sys.stdout.flush()
        self.answer({"display": {"type": kind, "data": bundle(value)}})

    def install_charts(self, pyplot):
        self.charts = scope = {"__name__": "sandhaven_charts", "CHARTS_FD": -1}
        exec(compile(self.charts_text, "<charts>", "exec"), scope)
        scope["MAX_TICKS"] = MAX_TICKS
        scope["emit"] = self.send_chart
        scope["install"](pyplot)

    def send_chart(self, text, picture):
        import base64
        import json

        sys.stdout.flush()
        chart = json.loads(text)
        data = {"image/png": base64.b64encode(picture).decode(), "text/plain": chart["title"] or "figure"}
        self.answer({"display": {"type": "display", "data": bounded(data), "chart": chart}})

    def show_charts(self):
        if self.charts:
            pyplot = sys.modules["matplotlib.pyplot"]
            self.charts["sent"] = 0
            if pyplot.get_fignums():
                pyplot._sandhaven_finish()
                pyplot.close("all")

    def answer(self, message):
        """Whole, though the code is interrupted meanwhile. A process that the code forked answers nothing."""
        if os.getpid() != self.process:
            return
        running, self.running = self.running, False
        try:
            view = memoryview(encode(message) + b"\0")
            while view:
                view = view[os.write(CONTROL_FD, view) :]
        finally:
            self.running = running


class NotebookNames:
    """Finds `IPython.display` where no IPython is installed: code for notebooks, and Pillow, show their values by it."""

    def __init__(self, display):
        self.display = display

    def find_spec(self, name, path=None, target=None):
        if name in ("IPython", "IPython.display"):
            from importlib.machinery import ModuleSpec

            return ModuleSpec(name, self, is_package=name == "IPython")

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if module.__name__ == "IPython":
            module.get_ipython = lambda: None
            return
        module.display = self.display
        module.clear_output = lambda wait=False: None
        for name, mime in FORMS.items():
            setattr(module, name, type(name, (Form,), {"mime": mime, "__module__": module.__name__}))
        module.Image = Image


class Form:
    """A value in one form."""

    __module__ = "IPython.display"

    def __init__(self, data=None):
        self.data = data

    def _repr_mimebundle_(self, **_):
        return {self.mime: self.data}


class Image(Form):
    __module__ = "IPython.display"

    def __init__(self, data=None, filename=None, **_):
        if data is None:
            with open(filename, "rb") as file:
                data = file.read()
        super().__init__(data)
        self.mime = "image/jpeg" if data[:2] == b"\xff\xd8" else "image/png"


def set_variables(text):
    """Returns a function that undoes it."""
    if text == "{}":
        return lambda: None
    import json

    given = json.loads(text)
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)

    def restore():
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    return restore


def unindented(code):
    """Code may be indented as a whole, by as much as its first line is."""
    lines = code.split("\n")
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip())]
    if not indent:
        return code
    return "\n".join(line[len(indent) :] if line.startswith(indent) else line for line in lines)


def parse(code, name):
    return compile(code, name, "exec", ONLY_AST | TOP_LEVEL_AWAIT, dont_inherit=True)


def encode(message):
    text = plainly(message)
    if text is not None:
        return text.encode()
    import json

    options = {"ensure_ascii": False, "default": str, "skipkeys": True}
    try:
        text = json.dumps(message, allow_nan=False, **options)
    except ValueError:
        # JSON has no NaN.
        text = json.dumps(json.loads(json.dumps(message, **options), parse_constant=lambda _: None), **options)
    return text.encode("utf-8", "replace")


def plainly(message):
    """JSON of what has texts alone; None for all else."""
    if message is None:
        return "null"
    if type(message) is str:
        return quoted(message) if message.isascii() else None
    if type(message) is not dict:
        return None
    values = [plainly(value) for value in message.values()]
    if None in values:
        return None
    return "{" + ",".join(f"{quoted(name)}:{value}" for name, value in zip(message, values)) + "}"


def bundle(value):
    data = {}
    made = attempt(value, "_repr_mimebundle_")
    made = made[0] if isinstance(made, tuple) else made
    if isinstance(made, dict):
        data.update(made)
    for method, mime in REPRESENTATIONS.items():
        made = None if mime in data else attempt(value, method)
        if made is not None:
            data[mime] = made[0] if isinstance(made, tuple) else made
    table = as_table(value)
    if table:
        data["application/vnd.dataresource+json"] = table
    if "text/plain" not in data:
        data["text/plain"] = plain(value)
    return bounded(data)


def attempt(value, method):
    if isinstance(value, type) or not callable(getattr(type(value), method, None)):
        return None
    try:
        return getattr(value, method)()
    except Exception:
        return None


def plain(value):
    if isinstance(value, (dict, list, tuple, set)) and len(value) > 8:
        import pprint

        return pprint.pformat(value, width=100, sort_dicts=False, compact=True)
    return repr(value)


def as_table(value):
    """The rows of a data frame or series of pandas, as a Tabular Data Resource. A frame that has no such form has none."""
    if type(value).__module__.split(".")[0] != "pandas" or not hasattr(value, "to_json"):
        return None
    import json

    try:
        columns = value.shape[1] + 1 if len(value.shape) > 1 else 2
        rows = min(MAX_TABLE_ROWS, MAX_TABLE_VALUES // columns)
        table = json.loads(value.head(rows).to_json(orient="table", date_format="iso"))
        return {**table, "total_rows": int(value.shape[0])}
    except Exception:
        return None


def bounded(data):
    import base64

    kept = {}
    for mime, value in dict(data).items():
        if isinstance(value, (bytes, bytearray)):
            value = base64.b64encode(value).decode()
        if mime == "text/plain":
            kept[mime] = clip(str(value))
        elif not isinstance(value, str) or len(value) <= MAX_MIME_CHARS:
            kept[str(mime)] = value
    return kept


def clip(text):
    return text if len(text) <= MAX_TEXT_CHARS else text[:MAX_TEXT_CHARS] + "\n… it is longer"


def with_commands(code):
    """Turns lines that begin with an exclamation mark into shell commands."""
    lines = code.split("\n")
    for index, line in enumerate(lines):
        text = line.lstrip()
        if text.startswith("!"):
            lines[index] = f"{line[: len(line) - len(text)]}__sandhaven_command({text[1:]!r})"
    return "\n".join(lines)


def command(text):
    import subprocess

    sys.stdout.flush()
    status = subprocess.call(["sh", "-c", text])
    if status:
        print(f"exit code {status}", file=sys.stderr)


def describe(error):
    """As the interpreter would, without the frames of this file and of what it calls the code by."""
    import traceback

    frames = error.__traceback__
    while frames and not frames.tb_frame.f_code.co_filename.startswith("<cell "):
        frames = frames.tb_next
    try:
        value = str(error)
        shown = traceback.TracebackException(type(error), error, frames)
        shown.stack = traceback.StackSummary.from_list(frame for frame in shown.stack if frame.filename != "<run>")
        text = "".join(shown.format())
    except Exception:
        value, text = "", f"{type(error).__name__}\n"
    return {"name": type(error).__name__, "value": clip(value), "traceback": clip(text)}


def start(source):
    for descriptor in (3, CONTROL_FD):
        os.set_inheritable(descriptor, False)
    charts_text = source.read().decode()
    source.close()
    kernel = Kernel(charts_text)
    watch_imports(
        {
            "asyncio": kernel.make_loop,
            "linecache": kernel.show_lines,
            "matplotlib.artist": remember_values,
            "matplotlib.pyplot": kernel.install_charts,
        }
    )
    try:
        # Of all that runs in the sandbox, the kernel ends contexts first when memory is exhausted.
        with open("/proc/self/oom_score_adj", "w") as score:
            score.write("500")
    except OSError:
        pass
    kernel.serve()


start(source)
