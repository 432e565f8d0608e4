"""Git, with a repository inside the sandbox as the remote one."""

from steps import equal, rejection, step

ORIGIN = "file:///home/daytona/origin.git"
AUTHOR = {"author": "Ann", "email": "ann@example.org"}


def changes(client, attribute):
    files = client.sandbox.git.status("work").file_status
    return sorted((file.name, getattr(file, attribute).value) for file in files)


def run(client, command, folder=None):
    response = client.sandbox.process.exec(command, cwd=folder)
    assert response.exit_code == 0, response.result
    return response.result.strip()


@step("git: clones")
def _(client):
    git = client.sandbox.git
    run(
        client,
        "set -e; git init -q -b main seed; cd seed; git config user.name Ann; git config user.email ann@example.org; "
        "echo one >one.txt; git add .; git commit -qm first; git branch other; git clone -q --bare . ../origin.git",
    )
    git.clone(ORIGIN, "work")
    git.clone(ORIGIN, "work-other", branch="other")
    equal([git.status("work").current_branch, git.status("work-other").current_branch], ["main", "other"])


@step("git: shows what has changed")
def _(client):
    client.sandbox.fs.upload_file(b"two\n", "work/two.txt")
    client.sandbox.fs.upload_file(b"changed\n", "work/one.txt")
    equal(changes(client, "worktree"), [("one.txt", "Modified"), ("two.txt", "Untracked")])


@step("git: adds and commits")
def _(client):
    git = client.sandbox.git
    git.add("work", ["one.txt", "two.txt"])
    equal(changes(client, "staging"), [("one.txt", "Modified"), ("two.txt", "Added")])
    sha = git.commit("work", "second", **AUTHOR).sha
    equal(run(client, "git log -1 --format='%H %an %ae %s'", "work"), f"{sha} Ann ann@example.org second")
    equal(git.status("work").ahead, 1)


@step("git: makes, lists, takes and deletes branches")
def _(client):
    git = client.sandbox.git
    git.create_branch("work", "feature")
    assert "feature" in git.branches("work").branches
    git.checkout_branch("work", "feature")
    equal(git.status("work").current_branch, "feature")
    git.checkout_branch("work", "main")
    git.delete_branch("work", "feature")
    assert "feature" not in git.branches("work").branches


@step("git: pushes and pulls")
def _(client):
    git = client.sandbox.git
    git.push("work")
    git.clone(ORIGIN, "work-second")
    run(
        client,
        "git config user.name Bob; git config user.email bob@example.org; echo three >three.txt; git add .; "
        "git commit -qm third && git push -q",
        "work-second",
    )
    git.pull("work")
    equal(run(client, "cat three.txt", "work"), "three")


@step("git: begins a repository, with its own author and remote", since=(0, 226))
def _(client):
    git = client.sandbox.git
    git.init("begun", initial_branch="trunk")
    git.configure_user("Eve", "eve@example.org", scope="local", path="begun")
    equal(git.get_config("user.name", scope="local", path="begun"), "Eve")
    git.set_config("core.compat", "set", scope="local", path="begun")
    equal(git.get_config("core.compat", scope="local", path="begun"), "set")
    git.remote_add("begun", "origin", ORIGIN)
    equal([git.remote_get("begun", "origin"), [one.name for one in git.remotes("begun").remotes]], [ORIGIN, ["origin"]])
    client.sandbox.fs.upload_file(b"one\n", "begun/one.txt")
    git.add("begun", ["one.txt"])
    git.commit("begun", "first", **AUTHOR)
    equal(git.status("begun").current_branch, "trunk")


@step("git: resets and restores", since=(0, 226))
def _(client):
    box = client.sandbox
    box.fs.upload_file(b"changed\n", "begun/one.txt")
    box.git.add("begun", ["one.txt"])
    box.git.reset("begun", mode="mixed", target="HEAD")
    box.git.restore("begun", ["one.txt"])
    equal([box.fs.download_file("begun/one.txt"), box.git.status("begun").file_status], [b"one\n", []])


@step("errors: a folder without a repository is refused")
def _(client):
    error = rejection(lambda: client.sandbox.git.status("/tmp"))
    assert isinstance(error, client.sdk.DaytonaError), repr(error)
    assert 400 <= error.status_code < 500, error.status_code
