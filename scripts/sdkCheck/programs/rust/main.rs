use base64::prelude::{Engine, BASE64_STANDARD};
use openapi::apis::configuration::{ApiKey, Configuration};
use openapi::apis::{agents_api, conversations_api, http_tools_api, knowledge_sources_api, messages_api, skills_api, Error};
use openapi::models::{AgentCreate, AgentPublish, AgentStatus, AgentUpdate, ApiError, Attachment, HttpToolUpdate, MessageSend};

type Values = Result<Vec<String>, String>;

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Prints a line for the check: the step and its values, or `!`, the step and the reason.
fn step(name: &str, result: Values) {
    let (name, values) = match result {
        Ok(values) => (name.to_owned(), values),
        Err(reason) => (format!("!{name}"), vec![reason]),
    };
    let lines: Vec<String> = values.iter().map(|value| value.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    println!("{name}\t{}", lines.join("\t"));
}

/// The error as a text, with the body of the answer.
fn text<T>(error: Error<T>) -> String {
    match error {
        Error::ResponseError(response) => format!("{} {}", response.status, response.content),
        other => other.to_string(),
    }
}

fn file_with(name: &str, text: String) -> std::path::PathBuf {
    std::fs::write(name, text).expect("the folder can be written");
    name.into()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let configuration = Configuration {
        base_path: env("GUILDHALL_ORIGIN") + "/public/api/v1",
        api_key: Some(ApiKey { prefix: None, key: env("GUILDHALL_KEY") }),
        ..Configuration::default()
    };
    let scene = env("SCENE");
    let replying = env("REPLYING_AGENT");

    let body = AgentCreate {
        categories: Some(vec!["one".to_owned(), "two".to_owned()]).into(),
        ..AgentCreate::new(format!("{scene} created"))
    };
    let created = agents_api::create_agent(&configuration, body, None).await;
    step("create", created.map(|agent| vec![agent.public_id.to_string()]).map_err(text));

    let page = agents_api::list_agents(
        &configuration,
        Some(1),
        Some(2),
        Some(vec![AgentStatus::Draft, AgentStatus::Active]),
        Some(&format!("{scene} LISTED")),
        Some(vec![format!("{scene}-a"), format!("{scene}-b")]),
        None,
    )
    .await;
    let total_and_ids = page.map(|page| {
        let ids = page.items.iter().map(|agent| agent.public_id.to_string());
        std::iter::once(page.total.to_string()).chain(ids).collect()
    });
    step("list", total_and_ids.map_err(text));

    let body = AgentUpdate { description: Some(Some("Changed.".to_owned())), ..AgentUpdate::new() };
    let patched = agents_api::update_agent(&configuration, &env("PATCHED_AGENT"), body).await;
    step("patch", patched.map(|agent| vec![agent.public_id.to_string()]).map_err(text));

    let body = HttpToolUpdate { requires_approval: Some(true), ..HttpToolUpdate::new() };
    let patched = http_tools_api::update_tool(&configuration, &env("PATCHED_TOOL"), body).await;
    step("patchNested", patched.map(|tool| vec![tool.public_id.to_string()]).map_err(text));

    let model = env("MODEL").parse().expect("MODEL is a UUID");
    let body = AgentUpdate { ai_model_public_id: Some(Some(model)), ..AgentUpdate::new() };
    let published = match agents_api::update_agent(&configuration, &replying, body).await {
        Ok(_) => {
            let body = AgentPublish { notes: Some(Some("First version".to_owned())), ..AgentPublish::new() };
            agents_api::publish_agent(&configuration, &replying, None, Some(body)).await.map_err(text)
        }
        Err(error) => Err(text(error)),
    };
    step("publish", published.map(|agent| vec![agent.status.to_string()]));

    let file = file_with("SKILL.md", env("SKILL_TEXT"));
    let skill = skills_api::upload_skill(&configuration, file, None).await;
    step("upload", skill.map(|skill| vec![skill.public_id.to_string()]).map_err(text));

    let file = file_with("returns.md", env("FILE_TEXT"));
    let metadata = format!("{{\"name\": \"{scene} returns\"}}");
    let source = knowledge_sources_api::create_knowledge_source(&configuration, file, None, Some(&metadata)).await;
    step("uploadWithMetadata", source.map(|source| vec![source.public_id.to_string()]).map_err(text));

    let body = MessageSend { content: Some(env("QUESTION")), ..MessageSend::new() };
    let reply = messages_api::send_message(&configuration, &replying, body, None).await;
    let id_and_text = reply.map(|reply| {
        let texts: Vec<String> = reply.messages.into_iter().map(|message| message.content).collect();
        vec![reply.conversation_id.to_string(), texts.join(" ")]
    });
    let conversation = id_and_text.as_ref().map(|values| values[0].clone()).unwrap_or_default();
    step("send", id_and_text.map_err(text));

    let page = conversations_api::list_conversation_messages(&configuration, &conversation, None, Some(10), None, None).await;
    let id_and_texts = page.map(|page| {
        std::iter::once(conversation).chain(page.items.into_iter().map(|message| message.content)).collect()
    });
    step("readBack", id_and_texts.map_err(text));

    let attachment = Attachment {
        base64: Some(BASE64_STANDARD.encode(env("FILE_TEXT"))),
        filename: Some("returns.txt".to_owned()),
        ..Attachment::new()
    };
    let body = MessageSend { attachments: Some(vec![attachment]).into(), ..MessageSend::new() };
    let reply = messages_api::send_message(&configuration, &replying, body, None).await;
    step("attach", reply.map(|reply| vec![reply.conversation_id.to_string()]).map_err(text));

    let code = match agents_api::get_agent(&configuration, &env("UNKNOWN_AGENT")).await {
        Ok(_) => Err("no error".to_owned()),
        Err(Error::ResponseError(response)) => serde_json::from_str::<ApiError>(&response.content)
            .and_then(|body| serde_json::to_value(body.code))
            .map(|code| vec![code.as_str().unwrap_or_default().to_owned()])
            .map_err(|error| error.to_string()),
        Err(other) => Err(text(other)),
    };
    step("error", code);
}
