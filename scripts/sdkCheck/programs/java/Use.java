import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.JSON;
import org.openapitools.client.api.AgentsApi;
import org.openapitools.client.api.ConversationsApi;
import org.openapitools.client.api.HttpToolsApi;
import org.openapitools.client.api.KnowledgeSourcesApi;
import org.openapitools.client.api.MessagesApi;
import org.openapitools.client.api.SkillsApi;
import org.openapitools.client.model.*;

public class Use {
  interface Work {
    List<String> run() throws Exception;
  }

  static String env(String name) {
    return System.getenv(name);
  }

  static String oneLine(String text) {
    return text.replaceAll("\\s+", " ");
  }

  /** Does one step and prints a line for the check: the step and its values, or `!`, the step and the reason. */
  static void step(String name, Work work) {
    try {
      StringBuilder line = new StringBuilder(name);
      for (String value : work.run()) line.append('\t').append(oneLine(value));
      System.out.println(line);
    } catch (Throwable error) {
      System.out.println("!" + name + "\t" + oneLine(String.valueOf(error)));
    }
  }

  public static void main(String[] args) {
    // Of an operation with two kinds of body the client sends JSON, unless it is told.
    ApiClient client = new ApiClient() {
      @Override
      public String selectHeaderContentType(String[] types) {
        String form = "multipart/form-data";
        return java.util.Arrays.asList(types).contains(form) ? form : super.selectHeaderContentType(types);
      }
    };
    client.setBasePath(env("GUILDHALL_ORIGIN") + "/public/api/v1");
    client.setApiKey(env("GUILDHALL_KEY"));
    AgentsApi agents = new AgentsApi(client);
    HttpToolsApi tools = new HttpToolsApi(client);
    MessagesApi messages = new MessagesApi(client);
    String scene = env("SCENE");
    UUID replying = UUID.fromString(env("REPLYING_AGENT"));

    step("create", () -> {
      AgentCreate body = new AgentCreate().name(scene + " created").categories(List.of("one", "two"));
      return List.of(agents.createAgent(body, null).getPublicId().toString());
    });

    step("list", () -> {
      AgentPage page = agents.listAgents(
          1, 2, List.of(AgentStatus.DRAFT, AgentStatus.ACTIVE), scene + " LISTED",
          List.of(scene + "-a", scene + "-b"), null);
      List<String> values = new ArrayList<>(List.of(String.valueOf(page.getTotal())));
      page.getItems().forEach(agent -> values.add(agent.getPublicId().toString()));
      return values;
    });

    step("patch", () -> {
      AgentUpdate body = new AgentUpdate().description("Changed.");
      return List.of(agents.updateAgent(UUID.fromString(env("PATCHED_AGENT")), body).getPublicId().toString());
    });

    step("patchNested", () -> {
      HttpToolUpdate body = new HttpToolUpdate().requiresApproval(true);
      return List.of(tools.updateTool(UUID.fromString(env("PATCHED_TOOL")), body).getPublicId().toString());
    });

    step("publish", () -> {
      agents.updateAgent(replying, new AgentUpdate().aiModelPublicId(UUID.fromString(env("MODEL"))));
      AgentPublish body = new AgentPublish().notes("First version");
      return List.of(agents.publishAgent(replying, null, body).getStatus().toString());
    });

    step("upload", () -> {
      File file = Files.writeString(Path.of("SKILL.md"), env("SKILL_TEXT")).toFile();
      return List.of(new SkillsApi(client).uploadSkill(file, null).getPublicId().toString());
    });

    step("uploadWithMetadata", () -> {
      File file = Files.writeString(Path.of("returns.md"), env("FILE_TEXT")).toFile();
      String metadata = "{\"name\": \"" + scene + " returns\"}";
      return List.of(
          new KnowledgeSourcesApi(client).createKnowledgeSource(file, null, metadata).getPublicId().toString());
    });

    UUID[] conversation = new UUID[1];
    step("send", () -> {
      MessageResult reply = messages.sendMessage(replying, new MessageSend().content(env("QUESTION")), null);
      conversation[0] = reply.getConversationId();
      StringBuilder text = new StringBuilder();
      reply.getMessages().forEach(message -> text.append(message.getContent()).append(' '));
      return List.of(reply.getConversationId().toString(), text.toString());
    });

    step("readBack", () -> {
      MessagePage page = new ConversationsApi(client).listConversationMessages(conversation[0], null, 10, null, null);
      List<String> values = new ArrayList<>(List.of(conversation[0].toString()));
      page.getItems().forEach(message -> values.add(message.getContent()));
      return values;
    });

    step("attach", () -> {
      String content = java.util.Base64.getEncoder().encodeToString(env("FILE_TEXT").getBytes());
      MessageSend body = new MessageSend().addAttachmentsItem(
          new Attachment().base64(content).filename("returns.txt"));
      return List.of(messages.sendMessage(replying, body, null).getConversationId().toString());
    });

    step("stream", () -> {
      okhttp3.Call call = messages.streamMessageCall(replying, new MessageSend().content(env("QUESTION")), null, null);
      String conversationId = "";
      StringBuilder text = new StringBuilder();
      try (BufferedReader lines = new BufferedReader(new InputStreamReader(call.execute().body().byteStream()))) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          if (!line.startsWith("data: ")) continue;
          com.google.gson.JsonObject event = com.google.gson.JsonParser.parseString(line.substring("data: ".length())).getAsJsonObject();
          if (event.has("conversationId")) conversationId = event.get("conversationId").getAsString();
          if (event.has("text")) text.append(event.get("text").getAsString());
        }
      }
      return List.of(conversationId, text.toString());
    });

    step("error", () -> {
      try {
        agents.getAgent(UUID.fromString(env("UNKNOWN_AGENT")));
        return List.of("no error");
      } catch (ApiException error) {
        ApiError body = new JSON().getGson().fromJson(error.getResponseBody(), ApiError.class);
        return List.of(String.valueOf(body.getCode()));
      }
    });

    System.exit(0); // The connection pool would keep the process for minutes.
  }
}
