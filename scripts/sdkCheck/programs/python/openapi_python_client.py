import base64
import json
from io import BytesIO
from uuid import UUID

from report import BASE_URL, env, reply_of, step

from guildhall_workspace_public_api_client import AuthenticatedClient, models
from guildhall_workspace_public_api_client.api.agents import (
    create_agent,
    get_agent,
    list_agents,
    publish_agent,
    update_agent,
)
from guildhall_workspace_public_api_client.api.conversations import list_conversation_messages
from guildhall_workspace_public_api_client.api.http_tools import update_tool
from guildhall_workspace_public_api_client.api.knowledge_sources import create_knowledge_source
from guildhall_workspace_public_api_client.api.messages import send_message, stream_message
from guildhall_workspace_public_api_client.api.skills import upload_skill
from guildhall_workspace_public_api_client.types import File

client = AuthenticatedClient(
    base_url=BASE_URL, token=env["GUILDHALL_KEY"], auth_header_name="X-Api-Key", prefix="", raise_on_unexpected_status=True
)
scene = env["SCENE"]
replying = UUID(env["REPLYING_AGENT"])


def done(answer):
    """The answer, or an exception when it is an error of the API."""
    if isinstance(answer, models.ApiError):
        raise RuntimeError(f"{answer.code}: {answer.message}")
    return answer


def create():
    body = models.AgentCreate(name=f"{scene} created", categories=["one", "two"])
    return [done(create_agent.sync(client=client, body=body)).public_id]


def list_filtered():
    page = done(
        list_agents.sync(
            client=client,
            status=[models.AgentStatus.DRAFT, models.AgentStatus.ACTIVE],
            categories=[f"{scene}-a", f"{scene}-b"],
            search=f"{scene} LISTED",
            page=1,
            limit=2,
        )
    )
    return [page.total, *(agent.public_id for agent in page.items)]


def patch():
    body = models.AgentUpdate(description="Changed.")
    return [done(update_agent.sync(UUID(env["PATCHED_AGENT"]), client=client, body=body)).public_id]


def patch_nested():
    body = models.HttpToolUpdate(requires_approval=True)
    return [done(update_tool.sync(UUID(env["PATCHED_TOOL"]), client=client, body=body)).public_id]


def publish():
    model = models.AgentUpdate(ai_model_public_id=UUID(env["MODEL"]))
    done(update_agent.sync(replying, client=client, body=model))
    notes = models.AgentPublish(notes="First version")
    return [done(publish_agent.sync(replying, client=client, body=notes)).status.value]


def upload():
    file = File(payload=BytesIO(env["SKILL_TEXT"].encode()), file_name="SKILL.md")
    return [done(upload_skill.sync(client=client, body=models.SkillUpload(file=file))).public_id]


def upload_with_metadata():
    body = models.KnowledgeSourceFileCreate(
        file=File(payload=BytesIO(env["FILE_TEXT"].encode()), file_name="returns.md"),
        metadata=json.dumps({"name": f"{scene} returns"}),
    )
    return [done(create_knowledge_source.sync(client=client, body=body)).public_id]


conversations = []


def send():
    reply = done(send_message.sync(replying, client=client, body=models.MessageSend(content=env["QUESTION"])))
    conversations.append(reply.conversation_id)
    return [reply.conversation_id, " ".join(message.content for message in reply.messages)]


def read_back():
    page = done(list_conversation_messages.sync(conversations[0], client=client, limit=10))
    return [conversations[0], *(message.content for message in page.items)]


def attach():
    content = base64.b64encode(env["FILE_TEXT"].encode()).decode()
    attachment = models.Attachment(base64=content, filename="returns.txt")
    body = models.MessageSend(attachments=[attachment])
    return [done(send_message.sync(replying, client=client, body=body)).conversation_id]


def stream():
    answer = stream_message.sync_detailed(replying, client=client, body=models.MessageSend(content=env["QUESTION"]))
    return reply_of(answer.content.decode().splitlines())


def error():
    return [get_agent.sync(UUID(env["UNKNOWN_AGENT"]), client=client).to_dict()["code"]]


step("create", create)
step("list", list_filtered)
step("patch", patch)
step("patchNested", patch_nested)
step("publish", publish)
step("upload", upload)
step("uploadWithMetadata", upload_with_metadata)
step("send", send)
step("readBack", read_back)
step("attach", attach)
step("stream", stream)
step("error", error)
