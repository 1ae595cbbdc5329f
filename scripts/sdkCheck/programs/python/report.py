import json
import os
import re
import sys

sys.path.insert(0, "client")

env = os.environ
BASE_URL = env["GUILDHALL_ORIGIN"] + "/public/api/v1" if "GUILDHALL_ORIGIN" in env else ""


def step(name, work):
    """Does one step and prints a line for the check: the step and its values, or `!`, the step and the reason."""
    try:
        line = [name, *(str(value) for value in work())]
    except Exception as error:
        line = ["!" + name, f"{type(error).__name__}: {error}"]
    print("\t".join(re.sub(r"\s+", " ", part) for part in line), flush=True)


def reply_of(lines):
    """The id of the conversation and the text of a reply, from the lines of its stream."""
    conversation_id, text = "", ""
    for line in lines:
        if line.startswith("data: "):
            event = json.loads(line[len("data: ") :])
            conversation_id = event.get("conversationId", conversation_id)
            text += event.get("text", "")
    return conversation_id, text
