import base64
import json

from report import BASE_URL, env, reply_of, step

import openapi_client as api

client = api.ApiClient(api.Configuration(host=BASE_URL, api_key={"ApiKey": env["GUILDHALL_KEY"]}))
agents = api.AgentsApi(client)
messages = api.MessagesApi(client)
scene = env["SCENE"]
replying = env["REPLYING_AGENT"]


def create():
    body = api.AgentCreate(name=f"{scene} created", categories=["one", "two"])
    return [agents.create_agent(body).public_id]


def list_filtered():
    page = agents.list_agents(
        status=[api.AgentStatus.DRAFT, api.AgentStatus.ACTIVE],
        categories=[f"{scene}-a", f"{scene}-b"],
        search=f"{scene} LISTED",
        page=1,
        limit=2,
    )
    return [page.total, *(agent.public_id for agent in page.items)]


def patch():
    return [agents.update_agent(env["PATCHED_AGENT"], api.AgentUpdate(description="Changed.")).public_id]


def patch_nested():
    body = api.HttpToolUpdate(requires_approval=True)
    return [api.HTTPToolsApi(client).update_tool(env["PATCHED_TOOL"], body).public_id]


def publish():
    agents.update_agent(replying, api.AgentUpdate(ai_model_public_id=env["MODEL"]))
    agent = agents.publish_agent(replying, agent_publish=api.AgentPublish(notes="First version"))
    return [agent.status.value]


def upload():
    return [api.SkillsApi(client).upload_skill(("SKILL.md", env["SKILL_TEXT"].encode())).public_id]


def upload_with_metadata():
    file = ("returns.md", env["FILE_TEXT"].encode())
    metadata = json.dumps({"name": f"{scene} returns"})
    # Of an operation with two kinds of body the client sends JSON, unless it is told.
    source = api.KnowledgeSourcesApi(client).create_knowledge_source(
        file, metadata=metadata, _content_type="multipart/form-data"
    )
    return [source.public_id]


conversations = []


def send():
    reply = messages.send_message(replying, api.MessageSend(content=env["QUESTION"]))
    conversations.append(reply.conversation_id)
    return [reply.conversation_id, " ".join(message.content for message in reply.messages)]


def read_back():
    page = api.ConversationsApi(client).list_conversation_messages(conversations[0], limit=10)
    return [conversations[0], *(message.content for message in page.items)]


def attach():
    content = base64.b64encode(env["FILE_TEXT"].encode()).decode()
    body = api.MessageSend(attachments=[api.Attachment(base64=content, filename="returns.txt")])
    return [messages.send_message(replying, body).conversation_id]


def stream():
    body = api.MessageSend(content=env["QUESTION"])
    response = messages.stream_message_without_preload_content(replying, body)
    return reply_of(line.decode() for line in response)


def error():
    try:
        agents.get_agent(env["UNKNOWN_AGENT"])
    except api.ApiException as reason:
        return [str(api.ApiError.from_json(reason.body).to_dict()["code"])]
    return ["no error"]


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
