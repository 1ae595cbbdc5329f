package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"strings"

	"use/api"

	"github.com/google/uuid"
)

// step does one step and prints a line for the check: the step and its values, or `!`, the step and the reason.
func step(name string, work func() ([]string, error)) {
	values, err := work()
	if err != nil {
		name, values = "!"+name, []string{err.Error()}
	}
	fields := []string{name}
	for _, value := range values {
		fields = append(fields, strings.Join(strings.Fields(value), " "))
	}
	fmt.Println(strings.Join(fields, "\t"))
}

func refused(body []byte) error {
	return fmt.Errorf("refused: %s", body)
}

// formOf builds the form: the generated function takes it as a body with a content type.
func formOf(fileName, text, metadata string) (string, *bytes.Buffer) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if metadata != "" {
		_ = form.WriteField("metadata", metadata)
	}
	file, _ := form.CreateFormFile("file", fileName)
	_, _ = file.Write([]byte(text))
	_ = form.Close()
	return form.FormDataContentType(), &body
}

func main() {
	withKey := api.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-Api-Key", os.Getenv("GUILDHALL_KEY"))
		return nil
	})
	client, err := api.NewClientWithResponses(os.Getenv("GUILDHALL_ORIGIN")+"/public/api/v1", withKey)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	scene, replying := os.Getenv("SCENE"), uuid.MustParse(os.Getenv("REPLYING_AGENT"))
	question := os.Getenv("QUESTION")

	step("create", func() ([]string, error) {
		body := api.AgentCreate{Name: scene + " created", Categories: &[]string{"one", "two"}}
		response, err := client.CreateAgentWithResponse(ctx, nil, body)
		if err != nil {
			return nil, err
		}
		if response.JSON201 == nil {
			return nil, refused(response.Body)
		}
		return []string{response.JSON201.PublicId.String()}, nil
	})

	step("list", func() ([]string, error) {
		page, limit, search := int32(1), int32(2), scene+" LISTED"
		response, err := client.ListAgentsWithResponse(ctx, &api.ListAgentsParams{
			Page: &page, Limit: &limit, Search: &search,
			Status:     &[]api.AgentStatus{api.AgentStatusDraft, api.AgentStatusActive},
			Categories: &[]string{scene + "-a", scene + "-b"},
		})
		if err != nil {
			return nil, err
		}
		if response.JSON200 == nil {
			return nil, refused(response.Body)
		}
		values := []string{fmt.Sprint(response.JSON200.Total)}
		for _, agent := range response.JSON200.Items {
			values = append(values, agent.PublicId.String())
		}
		return values, nil
	})

	step("patch", func() ([]string, error) {
		description := "Changed."
		body := api.AgentUpdate{Description: &description}
		response, err := client.UpdateAgentWithResponse(ctx, uuid.MustParse(os.Getenv("PATCHED_AGENT")), body)
		if err != nil {
			return nil, err
		}
		if response.JSON200 == nil {
			return nil, refused(response.Body)
		}
		return []string{response.JSON200.PublicId.String()}, nil
	})

	step("patchNested", func() ([]string, error) {
		requiresApproval := true
		body := api.HttpToolUpdate{RequiresApproval: &requiresApproval}
		response, err := client.UpdateToolWithResponse(ctx, uuid.MustParse(os.Getenv("PATCHED_TOOL")), body)
		if err != nil {
			return nil, err
		}
		if response.JSON200 == nil {
			return nil, refused(response.Body)
		}
		return []string{response.JSON200.PublicId.String()}, nil
	})

	step("publish", func() ([]string, error) {
		model := uuid.MustParse(os.Getenv("MODEL"))
		if _, err := client.UpdateAgentWithResponse(ctx, replying, api.AgentUpdate{AiModelPublicId: &model}); err != nil {
			return nil, err
		}
		notes := "First version"
		response, err := client.PublishAgentWithResponse(ctx, replying, nil, api.AgentPublish{Notes: &notes})
		if err != nil {
			return nil, err
		}
		if response.JSON200 == nil {
			return nil, refused(response.Body)
		}
		return []string{string(response.JSON200.Status)}, nil
	})

	step("upload", func() ([]string, error) {
		contentType, body := formOf("SKILL.md", os.Getenv("SKILL_TEXT"), "")
		response, err := client.UploadSkillWithBodyWithResponse(ctx, nil, contentType, body)
		if err != nil {
			return nil, err
		}
		if response.JSON201 == nil {
			return nil, refused(response.Body)
		}
		return []string{response.JSON201.PublicId.String()}, nil
	})

	step("uploadWithMetadata", func() ([]string, error) {
		metadata, _ := json.Marshal(map[string]string{"name": scene + " returns"})
		contentType, body := formOf("returns.md", os.Getenv("FILE_TEXT"), string(metadata))
		response, err := client.CreateKnowledgeSourceWithBodyWithResponse(ctx, nil, contentType, body)
		if err != nil {
			return nil, err
		}
		if response.JSON201 == nil {
			return nil, refused(response.Body)
		}
		return []string{response.JSON201.PublicId.String()}, nil
	})

	var conversation uuid.UUID
	step("send", func() ([]string, error) {
		response, err := client.SendMessageWithResponse(ctx, replying, nil, api.MessageSend{Content: &question})
		if err != nil {
			return nil, err
		}
		if response.JSON200 == nil {
			return nil, refused(response.Body)
		}
		conversation = response.JSON200.ConversationId
		text := []string{}
		for _, message := range response.JSON200.Messages {
			text = append(text, message.Content)
		}
		return []string{response.JSON200.ConversationId.String(), strings.Join(text, " ")}, nil
	})

	step("readBack", func() ([]string, error) {
		limit := int32(10)
		response, err := client.ListConversationMessagesWithResponse(ctx, conversation, &api.ListConversationMessagesParams{Limit: &limit})
		if err != nil {
			return nil, err
		}
		if response.JSON200 == nil {
			return nil, refused(response.Body)
		}
		values := []string{conversation.String()}
		for _, message := range response.JSON200.Items {
			values = append(values, message.Content)
		}
		return values, nil
	})

	step("attach", func() ([]string, error) {
		content, name := []byte(os.Getenv("FILE_TEXT")), "returns.txt"
		attachments := []api.Attachment{{Base64: &content, Filename: &name}}
		response, err := client.SendMessageWithResponse(ctx, replying, nil, api.MessageSend{Attachments: &attachments})
		if err != nil {
			return nil, err
		}
		if response.JSON200 == nil {
			return nil, refused(response.Body)
		}
		return []string{response.JSON200.ConversationId.String()}, nil
	})

	step("stream", func() ([]string, error) {
		response, err := client.ClientInterface.StreamMessage(ctx, replying, nil, api.MessageSend{Content: &question})
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		var event struct{ ConversationId, Text string }
		var text strings.Builder
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
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
		response, err := client.GetAgentWithResponse(ctx, uuid.MustParse(os.Getenv("UNKNOWN_AGENT")))
		if err != nil {
			return nil, err
		}
		if response.JSON404 == nil {
			return nil, refused(response.Body)
		}
		return []string{string(response.JSON404.Code)}, nil
	})
}
