"""Sessions: a shell that keeps its state, with commands that are waited for or followed."""

import asyncio
import time

from steps import equal, rejection, step, until

SESSION = "compat-session"


def begin(client, command, asynchronous=False):
    request = client.sdk.SessionExecuteRequest(command=command, run_async=asynchronous)
    return client.sandbox.process.execute_session_command(SESSION, request)


def status_of(client, command):
    return client.sandbox.process.get_session_command(SESSION, command).exit_code


@step("sessions: makes one, finds it, and lists it")
def _(client):
    process = client.sandbox.process
    process.create_session(SESSION)
    equal(process.get_session(SESSION).session_id, SESSION)
    assert SESSION in [session.session_id for session in process.list_sessions()]


@step("sessions: keeps folder and variables")
def _(client):
    begin(client, "cd /tmp; export KEPT=yes")
    ran = begin(client, "pwd; echo $KEPT")
    equal([ran.exit_code, ran.stdout.strip()], [0, "/tmp\nyes"])


@step("sessions: gives streams apart, status and logs")
def _(client):
    process, command = client.sandbox.process, "echo out; echo err >&2; (exit 3)"
    ran = begin(client, command)
    equal([ran.stdout.strip(), ran.stderr.strip(), ran.exit_code], ["out", "err", 3])
    logs = process.get_session_command_logs(SESSION, ran.cmd_id)
    equal([logs.stdout.strip(), logs.stderr.strip()], ["out", "err"])
    found = process.get_session_command(SESSION, ran.cmd_id)
    equal([found.id, found.command, found.exit_code], [ran.cmd_id, command, 3])
    assert ran.cmd_id in [one.id for one in process.get_session(SESSION).commands]


@step("sessions: begins a command that ends later")
def _(client):
    ran = begin(client, "echo begun; sleep 2; echo ended", asynchronous=True)
    equal(ran.exit_code, None)

    def logged():
        return client.sandbox.process.get_session_command_logs(SESSION, ran.cmd_id).stdout or ""

    until(lambda: "begun" in logged())
    equal(status_of(client, ran.cmd_id), None)
    until(lambda: status_of(client, ran.cmd_id) == 0)
    assert "begun\nended" in logged()


@step("sessions: follows the logs of a command to its end")
def _(client):
    command = "for i in 1 2 3; do echo out $i; echo err $i >&2; sleep 0.5; done"
    ran, out, err = begin(client, command, asynchronous=True), [], []
    process = client.sandbox.process
    asyncio.run(process.get_session_command_logs_async(SESSION, ran.cmd_id, out.append, err.append))
    equal(["".join(out), "".join(err)], ["out 1\nout 2\nout 3\n", "err 1\nerr 2\nerr 3\n"])


@step("sessions: sends input to a command")
def _(client):
    process = client.sandbox.process
    ran = begin(client, 'read -r line; echo "got $line"', asynchronous=True)
    time.sleep(0.5)
    process.send_session_command_input(SESSION, ran.cmd_id, "a line\n")
    until(lambda: status_of(client, ran.cmd_id) == 0)
    assert "got a line" in process.get_session_command_logs(SESSION, ran.cmd_id).stdout


@step("sessions: is deleted with what runs in it")
def _(client):
    process = client.sandbox.process
    begin(client, "exec -a compat-sleep sleep 600", asynchronous=True)
    process.delete_session(SESSION)
    assert SESSION not in [session.session_id for session in process.list_sessions()]
    until(lambda: process.exec('pgrep -fc "^compat-[s]leep"').result.strip() == "0")


@step("errors: a session that is not there has its class")
def _(client):
    error = rejection(lambda: client.sandbox.process.get_session("no-such-session"))
    assert isinstance(error, client.sdk.DaytonaNotFoundError), repr(error)
