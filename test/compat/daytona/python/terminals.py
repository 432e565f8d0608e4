"""Terminals."""

from steps import equal, step, until


@step("terminals: runs a shell in a folder, with an environment and a size")
def _(client):
    size = client.sdk.PtySize(rows=33, cols=91)
    handle = client.sandbox.process.create_pty_session(
        "compat-sized", cwd="/tmp", envs={"PLACE": "here"}, pty_size=size
    )
    handle.wait_for_connection()
    handle.send_input('pwd; echo "$PLACE-$(stty size)"\n')
    handle.send_input("exit 7\n")
    pieces = []
    result = handle.wait(pieces.append, timeout=30)
    text = b"".join(pieces).decode()
    assert "here-33 91" in text and "/tmp\r\n" in text, text
    # Older generations do not look at the reason of a normal close.
    equal(result.exit_code, 7 if client.version >= (0, 190) else 0)
    handle.disconnect()


@step("terminals: is listed and resized")
def _(client):
    process = client.sandbox.process
    handle = process.create_pty_session("compat-listed", pty_size=client.sdk.PtySize(rows=24, cols=80))
    handle.wait_for_connection()
    assert "compat-listed" in [terminal.id for terminal in process.list_pty_sessions()]
    equal(process.get_pty_session_info("compat-listed").active, True)
    resized = process.resize_pty_session("compat-listed", client.sdk.PtySize(rows=30, cols=100))
    equal([resized.rows, resized.cols], [30, 100])
    handle.disconnect()


@step("terminals: goes on without its viewer, for the next")
def _(client):
    handle = client.sandbox.process.connect_pty_session("compat-listed")
    handle.wait_for_connection()
    handle.send_input("echo back-$(stty size)\n")
    text = b""
    for piece in handle:
        text += piece
        if b"back-30 100" in text:
            break
    assert b"back-30 100" in text, text
    handle.disconnect()


@step("terminals: is killed")
def _(client):
    process = client.sandbox.process
    process.kill_pty_session("compat-listed")
    until(lambda: not any(terminal.id == "compat-listed" and terminal.active for terminal in process.list_pty_sessions()))
