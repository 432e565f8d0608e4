"""An agent of smolagents whose code runs in a sandbox of E2B, with a model that says what is written here."""

from smolagents import ChatMessage, CodeAgent, MessageRole, Model

STEPS = [
    "<code>\nimport os\nwith open('n.txt', 'w') as file:\n    file.write('40')\ntotal = int(open('n.txt').read())\nprint(total)\n</code>",
    "<code>\nfinal_answer({'sum': total + 2, 'folder': os.getcwd()})\n</code>",
]


class Scripted(Model):
    def __init__(self):
        super().__init__(model_id="scripted")
        self.steps = iter(STEPS)
        self.heard = []

    def generate(self, messages, **_):
        self.heard.append(str(messages[-1].content))
        return ChatMessage(role=MessageRole.ASSISTANT, content=next(self.steps))


model = Scripted()
with CodeAgent(tools=[], model=model, executor_type="e2b", additional_authorized_imports=["os"]) as agent:
    answer = agent.run("Add two to forty.")
assert answer == {"sum": 42, "folder": "/home/user"}, answer
assert "40" in model.heard[-1], model.heard
print("done")
