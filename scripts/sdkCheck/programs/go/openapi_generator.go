package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	api "github.com/GIT_USER_ID/GIT_REPO_ID"
)

// step does one step and prints a line for the check: the step and its values, or `!`, the step and the reason.
func step(name string, work func() ([]string, error)) {
	values, err := work()
	if err != nil {
		name, values = "!"+name, []string{describe(err)}
	}
	fields := []string{name}
	for _, value := range values {
		fields = append(fields, strings.Join(strings.Fields(value), " "))
	}
	fmt.Println(strings.Join(fields, "\t"))
}

func describe(err error) string {
	var refused *api.GenericOpenAPIError
	if errors.As(err, &refused) {
		return err.Error() + " " + string(refused.Body())
	}
	return err.Error()
}

func fileWith(name, text string) (*os.File, error) {
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return nil, err
	}
	return os.Open(name)
}

func main() {
	configuration := api.NewConfiguration()
	configuration.Servers = api.ServerConfigurations{{URL: os.Getenv("GUILDHALL_ORIGIN") + "/public/api/v1"}}
	client := api.NewAPIClient(configuration)
	keys := map[string]api.APIKey{"ApiKey": {Key: os.Getenv("GUILDHALL_KEY")}}
	ctx := context.WithValue(context.Background(), api.ContextAPIKeys, keys)
	scene, replying := os.Getenv("SCENE"), os.Getenv("REPLYING_AGENT")

	step("create", func() ([]string, error) {
		body := api.NewAgentCreate(scene + " created")
		body.SetCategories([]string{"one", "two"})
		agent, _, err := client.AgentsAPI.CreateAgent(ctx).AgentCreate(*body).Execute()
		if err != nil {
			return nil, err
		}
		return []string{agent.PublicId}, nil
	})

	step("list", func() ([]string, error) {
		page, _, err := client.AgentsAPI.ListAgents(ctx).
			Status([]api.AgentStatus{api.AGENTSTATUS_DRAFT, api.AGENTSTATUS_ACTIVE}).
			Categories([]string{scene + "-a", scene + "-b"}).
			Search(scene + " LISTED").Page(1).Limit(2).Execute()
		if err != nil {
			return nil, err
		}
		values := []string{fmt.Sprint(page.Total)}
		for _, agent := range page.Items {
			values = append(values, agent.PublicId)
		}
		return values, nil
	})

	step("patch", func() ([]string, error) {
		body := api.NewAgentUpdate()
		body.SetDescription("Changed.")
		agent, _, err := client.AgentsAPI.UpdateAgent(ctx, os.Getenv("PATCHED_AGENT")).AgentUpdate(*body).Execute()
		if err != nil {
			return nil, err
		}
		return []string{agent.PublicId}, nil
	})

	step("patchNested", func() ([]string, error) {
		body := api.NewHttpToolUpdate()
		body.SetRequiresApproval(true)
		tool, _, err := client.HTTPToolsAPI.UpdateTool(ctx, os.Getenv("PATCHED_TOOL")).HttpToolUpdate(*body).Execute()
		if err != nil {
			return nil, err
		}
		return []string{tool.PublicId}, nil
	})

	step("publish", func() ([]string, error) {
		body := api.NewAgentUpdate()
		body.SetAiModelPublicId(os.Getenv("MODEL"))
		if _, _, err := client.AgentsAPI.UpdateAgent(ctx, replying).AgentUpdate(*body).Execute(); err != nil {
			return nil, err
		}
		notes := api.NewAgentPublish()
		notes.SetNotes("First version")
		agent, _, err := client.AgentsAPI.PublishAgent(ctx, replying).AgentPublish(*notes).Execute()
		if err != nil {
			return nil, err
		}
		return []string{string(agent.Status)}, nil
	})

	step("upload", func() ([]string, error) {
		file, err := fileWith("SKILL.md", os.Getenv("SKILL_TEXT"))
		if err != nil {
			return nil, err
		}
		skill, _, err := client.SkillsAPI.UploadSkill(ctx).File(file).Execute()
		if err != nil {
			return nil, err
		}
		return []string{skill.PublicId}, nil
	})

	step("uploadWithMetadata", func() ([]string, error) {
		file, err := fileWith("returns.md", os.Getenv("FILE_TEXT"))
		if err != nil {
			return nil, err
		}
		metadata, _ := json.Marshal(map[string]string{"name": scene + " returns"})
		source, _, err := client.KnowledgeSourcesAPI.CreateKnowledgeSource(ctx).File(file).Metadata(string(metadata)).Execute()
		if err != nil {
			return nil, err
		}
		return []string{source.PublicId}, nil
	})

	conversation := ""
	step("send", func() ([]string, error) {
		body := api.NewMessageSend()
		body.SetContent(os.Getenv("QUESTION"))
		reply, _, err := client.MessagesAPI.SendMessage(ctx, replying).MessageSend(*body).Execute()
		if err != nil {
			return nil, err
		}
		conversation = reply.ConversationId
		text := []string{}
		for _, message := range reply.Messages {
			text = append(text, message.Content)
		}
		return []string{reply.ConversationId, strings.Join(text, " ")}, nil
	})

	step("readBack", func() ([]string, error) {
		page, _, err := client.ConversationsAPI.ListConversationMessages(ctx, conversation).Limit(10).Execute()
		if err != nil {
			return nil, err
		}
		values := []string{conversation}
		for _, message := range page.Items {
			values = append(values, message.Content)
		}
		return values, nil
	})

	step("attach", func() ([]string, error) {
		attachment := api.NewAttachment()
		attachment.SetBase64(base64.StdEncoding.EncodeToString([]byte(os.Getenv("FILE_TEXT"))))
		attachment.SetFilename("returns.txt")
		body := api.NewMessageSend()
		body.SetAttachments([]api.Attachment{*attachment})
		reply, _, err := client.MessagesAPI.SendMessage(ctx, replying).MessageSend(*body).Execute()
		if err != nil {
			return nil, err
		}
		return []string{reply.ConversationId}, nil
	})

	// The client reads the whole stream before it returns.
	step("stream", func() ([]string, error) {
		body := api.NewMessageSend()
		body.SetContent(os.Getenv("QUESTION"))
		stream, _, err := client.MessagesAPI.StreamMessage(ctx, replying).MessageSend(*body).Execute()
		if err != nil {
			return nil, err
		}
		var event struct{ ConversationId, Text string }
		var text strings.Builder
		lines := bufio.NewScanner(strings.NewReader(stream))
		for lines.Scan() {
			data, isData := strings.CutPrefix(lines.Text(), "data: ")
			if !isData {
				continue
			}
			event.Text = ""
			if err := json.Unmarshal([]byte(data), &event); err != nil {
				return nil, err
			}
			text.WriteString(event.Text)
		}
		return []string{event.ConversationId, text.String()}, nil
	})

	step("error", func() ([]string, error) {
		_, _, err := client.AgentsAPI.GetAgent(ctx, os.Getenv("UNKNOWN_AGENT")).Execute()
		var refused *api.GenericOpenAPIError
		if !errors.As(err, &refused) {
			return nil, fmt.Errorf("no error of the API: %v", err)
		}
		var body api.ApiError
		if err := json.Unmarshal(refused.Body(), &body); err != nil {
			return nil, err
		}
		return []string{string(body.Code)}, nil
	})
}
