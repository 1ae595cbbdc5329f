// Written by `npm run codegen` from spec/. Do not edit.

export interface paths {
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check the API key
         * @description Validates the key and names the workspace that it is bound to. Anything but 200 with `status: ok` means that requests with this key will not work.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents
         * @description A page of the workspace's agents, newest first. Filters combine: an agent is listed when it matches all of them. Archived agents are left out unless `includeArchived` is true or `status` asks for them.
         */
        get: operations["listAgents"];
        put?: never;
        /**
         * Create an agent
         * @description The agent starts with status `draft` and an empty draft: no model, no system prompt, version 1 not yet published. Configure it with `updateAgent`, then make it available with `publishAgent`.
         *
         *     Error codes: 409 `AGENT_NAME_TAKEN`, `IDEMPOTENCY_IN_PROGRESS`; 422 `AGENT_LIMIT_REACHED`, `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["createAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an agent
         * @description The agent with its editable state, which is what the next publication will freeze.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        get: operations["getAgent"];
        put?: never;
        post?: never;
        /**
         * Delete an agent
         * @description The agent is gone for the API and its name is free again. Its conversations stay readable; they take no more messages.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        delete: operations["deleteAgent"];
        options?: never;
        head?: never;
        /**
         * Change an agent
         * @description Changes the editable state only: conversations keep using the published version until the agent is published again. An absent field stays as it is; `null` clears a field that can be cleared and switches a toggle off. The status is not set here, `publishAgent` does that.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `AI_MODEL_NOT_FOUND`; 409 `AGENT_NAME_TAKEN`; 422 `TEMPERATURE_NOT_SUPPORTED`, `THINKING_NOT_SUPPORTED`, `FEATURE_VALIDATION_ERROR`.
         *
         *     Cannot be `null`: `name`.
         */
        patch: operations["updateAgent"];
        trace?: never;
    };
    "/agents/{agentPublicId}/publish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Publish an agent
         * @description Freezes the draft, with its variables and its linked tools, skills, knowledge sources, external MCP servers, native MCP connections and sub-agents, as the next published version, and starts a new draft from it. The status becomes `active`. The agent needs an AI model; its system prompt may be empty. What is silently wrong with it, such as a variable that is not defined, does not keep it from being published: the header `Agent-Warnings` names it.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `IDEMPOTENCY_IN_PROGRESS`, `NO_DRAFT_VERSION`; 422 `AI_MODEL_REQUIRED`, `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["publishAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List versions of an agent
         * @description A page of the published versions, the newest version first. The draft is not among them.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        get: operations["listVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/versions/published": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the published version of an agent
         * @description The snapshot that conversations run on. 404 `VERSION_NOT_FOUND` until the agent is published for the first time.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `VERSION_NOT_FOUND`.
         */
        get: operations["getPublishedVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/versions/{versionNumber}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a version of an agent
         * @description A published version as it was frozen: settings, variables and links. It never changes, also when what it links to is renamed or deleted later.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `VERSION_NOT_FOUND`.
         */
        get: operations["getVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/versions/{versionNumber}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore a version of an agent
         * @description Overwrites the editable state with that version: settings, variables and all links, including links to external and native MCP servers, which versions do not show. Unpublished changes are lost, and `hasUnpublishedChanges` is false afterwards. Conversations keep using the published version until the agent is published again. Parts of the version that are no longer possible are left out, and the response is still 200: a link to a deleted resource, a sub-agent that would now close a cycle, and a model that no longer exists, of the agent or of a sub-agent link. An archived agent has no draft to overwrite: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `VERSION_NOT_FOUND`; 409 `IDEMPOTENCY_IN_PROGRESS`, `NO_DRAFT_VERSION`.
         */
        post: operations["restoreVersion"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/prompt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the prompt of an agent
         * @description The editable system prompt and all variables of the agent, also those that the prompt does not refer to.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        get: operations["getAgentPrompt"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the prompt of an agent
         * @description A shortcut for `updateAgent` with only the two prompt fields. An absent field stays as it is; `null` clears the system prompt and switches the dynamic prompt off. Conversations keep using the published version, so `hasUnpublishedChanges` becomes true. A `{{name}}` without a variable of that name is accepted and stays in the text as it is.
         *
         *     With `dynamicPromptEnabled` on, three names work without a variable: `{{current_date}}` (`2026-11-23`), `{{current_time}}` (`14:05`) and `{{time_zone}}` (`Europe/Berlin`), in the time zone of the workspace. A variable with such a name counts instead. Models are told date, weekday, time and zone beside each message in any case, which costs least: a prompt with the time is another one every minute, so that providers find nothing of the conversation in their caches, and one with the date is another one every day.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        patch: operations["updateAgentPrompt"];
        trace?: never;
    };
    "/agents/{agentPublicId}/prompt/variables": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List variables of an agent
         * @description All variables of the editable state in one array, ordered by `sortOrder` and then by `createdAt`. With `includeOrphaned=false` only those that the editable system prompt refers to.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        get: operations["listVariables"];
        put?: never;
        /**
         * Create a variable
         * @description Defines a variable of the dynamic prompt; write `{{name}}` where its value belongs. It takes part in conversations once the agent is published with `dynamicPromptEnabled` on. Choice variables need 1 to 50 `options` with different labels, and other types take none: 422 `VARIABLE_OPTIONS_INVALID`. A `defaultValue` that does not fit the type is 422 `VARIABLE_DEFAULT_INVALID`. A conversation gets its values as `metadata.variables`, an object of values by name, with its first message. A variable may have the name `current_date`, `current_time` or `time_zone`, and counts instead of the built-in value (`updateAgentPrompt`).
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `IDEMPOTENCY_IN_PROGRESS`, `VARIABLE_NAME_TAKEN`; 422 `VARIABLE_OPTIONS_INVALID`, `VARIABLE_DEFAULT_INVALID`, `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["createVariable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/prompt/variables/{variablePublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a variable
         * @description With `mode=remove_from_prompt` every `{{name}}` is taken out of the editable system prompt and the variable itself stays. With `mode=purge` the variable is removed together with the values that conversations have stored for it; this cannot be undone and needs `confirmation=DELETE`, in the query or in the body, else 422 `CONFIRMATION_REQUIRED`. Purging leaves the prompt text and the published versions as they are.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `VARIABLE_NOT_FOUND`; 422 `CONFIRMATION_REQUIRED`.
         */
        delete: operations["deleteVariable"];
        options?: never;
        head?: never;
        /**
         * Change a variable
         * @description The rules are those of `createVariable`, applied to the variable as it will be. `options`, when given, replace the whole set and get new ids. A change of `type` drops what belongs to the former type (options, separator, texts of a boolean); a default that no longer fits must be cleared or replaced in the same request, else 422 `VARIABLE_DEFAULT_INVALID`. A new `name` is not written into the system prompt, and values stored under the former name stay there.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `VARIABLE_NOT_FOUND`; 409 `VARIABLE_NAME_TAKEN`; 422 `VARIABLE_OPTIONS_INVALID`, `VARIABLE_DEFAULT_INVALID`.
         *
         *     Cannot be `null`: `name`, `label`, `type`, `required`, `sortOrder`.
         */
        patch: operations["updateVariable"];
        trace?: never;
    };
    "/agents/{agentPublicId}/model": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the AI model of an agent
         * @description The model of the editable state with its settings, and what the model is able to do.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        get: operations["getAgentModel"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the AI model of an agent
         * @description A shortcut for `updateAgent` with only the model fields. An absent field stays as it is; `null` clears it and switches thinking off. The settings are checked against the model that results from the request: a temperature that it does not take, or outside its range, is 422 `TEMPERATURE_NOT_SUPPORTED`; thinking that it cannot do is 422 `THINKING_NOT_SUPPORTED`. Conversations keep using the published version until the agent is published again.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `AI_MODEL_NOT_FOUND`; 422 `TEMPERATURE_NOT_SUPPORTED`, `THINKING_NOT_SUPPORTED`.
         */
        patch: operations["updateAgentModel"];
        trace?: never;
    };
    "/ai-models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List AI models
         * @description The global catalogue and the workspace's own models in one array, ordered by `displayProvider` and then by `name`. Filters combine. Only active models are listed, which are those whose provider is configured on this server, unless `activeOnly` is false.
         */
        get: operations["listAiModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/features": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the features of an agent
         * @description The eight features that every agent has, switched on or not, always in the same order; `AgentFeature` says what each does. A feature is a view of the agent's own fields, so `getAgent` shows the same settings.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        get: operations["listFeatures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/features/{featureKey}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a feature of an agent
         * @description One feature with its settings. A key that is not one of the features is 404 `FEATURE_NOT_FOUND`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `FEATURE_NOT_FOUND`.
         */
        get: operations["getFeature"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change a feature of an agent
         * @description Switches the feature on or off, changes its settings, or both. A setting that is left out stays as it is. The rules of the feature are checked on the state that would result; when one is broken, the response is 422 `FEATURE_VALIDATION_ERROR` and nothing changes. Only the draft changes: conversations keep using the published version until the agent is published again.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `FEATURE_NOT_FOUND`; 422 `FEATURE_VALIDATION_ERROR`.
         */
        patch: operations["updateFeature"];
        trace?: never;
    };
    "/agents/{agentPublicId}/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the commands of an agent
         * @description All slash commands of the agent, active or not, newest first, in one list without pages.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        get: operations["listCommands"];
        put?: never;
        /**
         * Create a command
         * @description The command is active at once: commands are not part of a version, so the agent need not be published again. Its name and its slash word must each be unused among the commands of this agent.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `COMMAND_NAME_TAKEN`, `COMMAND_SLUG_TAKEN`, `IDEMPOTENCY_IN_PROGRESS`; 422 `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["createCommand"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/commands/{commandPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a command
         * @description The command, with how often and when it was last used.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `COMMAND_NOT_FOUND`.
         */
        get: operations["getCommand"];
        put?: never;
        post?: never;
        /**
         * Delete a command
         * @description The command is gone from the chat and from the API at once; its name and its slash word are free again.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `COMMAND_NOT_FOUND`.
         */
        delete: operations["deleteCommand"];
        options?: never;
        head?: never;
        /**
         * Change a command
         * @description Changes the fields given and takes effect at once. Set `status` to `inactive` to take the command out of the chat without losing it. The counters of use are kept.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `COMMAND_NOT_FOUND`; 409 `COMMAND_NAME_TAKEN`, `COMMAND_SLUG_TAKEN`.
         *
         *     Cannot be `null`: `name`, `command`, `description`, `prompt`, `status`.
         */
        patch: operations["updateCommand"];
        trace?: never;
    };
    "/agents/{agentPublicId}/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the skills of an agent
         * @description The skills linked to the draft of the agent, last linked first, in one list without pages. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `NO_DRAFT_VERSION`.
         */
        get: operations["listSkillLinks"];
        put?: never;
        /**
         * Link a skill to an agent
         * @description Adds the skill to the draft of the agent, active from the start. Conversations follow once the agent is published again: the agent knows the skill by its name and description, and reads its instructions and files when a task calls for them. A skill is linked to an agent once: a second time is 409 `ALREADY_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `SKILL_NOT_FOUND`; 409 `ALREADY_LINKED`, `IDEMPOTENCY_IN_PROGRESS`, `NO_DRAFT_VERSION`; 422 `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["linkSkill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/skills/available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the skills that can be linked to an agent
         * @description The skills of the workspace that are not linked to the agent, newest first, in one list without pages. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `NO_DRAFT_VERSION`.
         */
        get: operations["listAvailableSkills"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/skills/{skillPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unlink a skill from an agent
         * @description Takes the skill out of the draft of the agent; the skill itself stays in the workspace. Conversations follow once the agent is published again. A skill that is not linked, or does not exist, is 404 `NOT_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `NOT_LINKED`; 409 `NO_DRAFT_VERSION`.
         */
        delete: operations["unlinkSkill"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/skills": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List skills
         * @description A page of the skills of the workspace, newest first.
         */
        get: operations["listSkills"];
        put?: never;
        /**
         * Upload a skill
         * @description Takes a `.zip` or `.skill` archive with a `SKILL.md`, or a lone Markdown file, of at most 10 MiB (413 `PAYLOAD_TOO_LARGE`). The bytes decide which of the two it is; a file that is neither, or whose name has another extension, is 415 `UNSUPPORTED_MEDIA_TYPE`. The front matter of `SKILL.md` gives the name and the description, which it must contain, and the license, compatibility, metadata and allowed tools. An archive that is over a limit, cannot be read, is unsafe to unpack, or has no valid `SKILL.md` is 400 `INVALID_SKILL_ZIP`, and the message says what is wrong; `SkillUpload` has the rules. A workspace has at most 500 skills and 10 GiB of stored files unless its operator sets other limits: 429 `RATE_LIMITED`.
         *
         *     Error codes: 400 `INVALID_SKILL_ZIP`; 409 `IDEMPOTENCY_IN_PROGRESS`, `SKILL_NAME_TAKEN`; 422 `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["uploadSkill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/skills/{skillPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a skill
         * @description The skill, with the list of its files; their content cannot be read here.
         *
         *     Error codes: 404 `SKILL_NOT_FOUND`.
         */
        get: operations["getSkill"];
        put?: never;
        post?: never;
        /**
         * Delete a skill
         * @description The skill is gone for the API and for every agent that it is linked to, published versions included. Its name is free again.
         *
         *     Error codes: 404 `SKILL_NOT_FOUND`.
         */
        delete: operations["deleteSkill"];
        options?: never;
        head?: never;
        /**
         * Change a skill
         * @description Changes the name and the description in the workspace. The uploaded files, `SKILL.md` among them, never change: upload a new skill to replace them.
         *
         *     Error codes: 404 `SKILL_NOT_FOUND`; 409 `SKILL_NAME_TAKEN`.
         *
         *     Cannot be `null`: `name`, `description`.
         */
        patch: operations["updateSkill"];
        trace?: never;
    };
    "/agents/{agentPublicId}/knowledge-sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the knowledge sources of an agent
         * @description The knowledge sources linked to the draft of the agent, last linked first, in one list without pages. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `NO_DRAFT_VERSION`.
         */
        get: operations["listKnowledgeSourceLinks"];
        put?: never;
        /**
         * Link a knowledge source to an agent
         * @description Adds the knowledge source to the draft of the agent, active from the start; it may still be processing. Conversations follow once the agent is published again: the passages of all its sources that fit a message best, six at most, reach the agent with the message and the names of their sources, and it can search for more. A source is linked to an agent once: a second time is 409 `ALREADY_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `KNOWLEDGE_SOURCE_NOT_FOUND`; 409 `ALREADY_LINKED`, `IDEMPOTENCY_IN_PROGRESS`, `NO_DRAFT_VERSION`; 422 `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["linkKnowledgeSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/knowledge-sources/available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the knowledge sources that can be linked to an agent
         * @description The knowledge sources of the workspace that are not linked to the agent, in whatever state of processing, newest first, in one list without pages. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `NO_DRAFT_VERSION`.
         */
        get: operations["listAvailableKnowledgeSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/knowledge-sources/{knowledgeSourcePublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unlink a knowledge source from an agent
         * @description Takes the knowledge source out of the draft of the agent; the source itself stays in the workspace. Conversations follow once the agent is published again. A source that is not linked, or does not exist, is 404 `NOT_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `NOT_LINKED`; 409 `NO_DRAFT_VERSION`.
         */
        delete: operations["unlinkKnowledgeSource"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge-sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List knowledge sources
         * @description A page of the knowledge sources of the workspace, newest first. Filters combine: a source is listed when it matches all of them.
         */
        get: operations["listKnowledgeSources"];
        put?: never;
        /**
         * Add a knowledge source
         * @description Send JSON for a text, or `multipart/form-data` for a file: PDF, TXT, CSV, DOCX or MD, at most 20 MiB (413 `PAYLOAD_TOO_LARGE`; another kind of file is 415 `UNSUPPORTED_MEDIA_TYPE`). The response comes at once with `processingStatus` `PENDING`; the content is read and indexed in the background. Poll `getKnowledgeSource` until the status is `COMPLETED` or `FAILED`: what is wrong inside a file shows only then. Names need not be unique. A workspace has at most 2,000 sources and 10 GiB of stored files unless its operator sets other limits: 429 `RATE_LIMITED`.
         *
         *     Error codes: 409 `IDEMPOTENCY_IN_PROGRESS`; 422 `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["createKnowledgeSource"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/knowledge-sources/{knowledgeSourcePublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a knowledge source
         * @description The knowledge source and how far its processing is. Its content cannot be read here.
         *
         *     Error codes: 404 `KNOWLEDGE_SOURCE_NOT_FOUND`.
         */
        get: operations["getKnowledgeSource"];
        put?: never;
        post?: never;
        /**
         * Delete a knowledge source
         * @description The source is gone for the API and for every agent that it is linked to, published versions included: no answer draws on it from then on. Processing that has not finished is dropped.
         *
         *     Error codes: 404 `KNOWLEDGE_SOURCE_NOT_FOUND`.
         */
        delete: operations["deleteKnowledgeSource"];
        options?: never;
        head?: never;
        /**
         * Change a knowledge source
         * @description Changes the name and the description. The content cannot change, and is not processed again: add a new source to replace it.
         *
         *     Error codes: 404 `KNOWLEDGE_SOURCE_NOT_FOUND`.
         *
         *     Cannot be `null`: `name`, `description`.
         */
        patch: operations["updateKnowledgeSource"];
        trace?: never;
    };
    "/agents/{agentPublicId}/http-tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tools of an agent
         * @description The tools linked to the draft of the agent, last linked first, in one list without pages. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `NO_DRAFT_VERSION`.
         */
        get: operations["listToolLinks"];
        put?: never;
        /**
         * Link a tool to an agent
         * @description Adds the tool to the draft of the agent, active from the start and with the tool's own `requiresApproval`; change both with `updateToolLink`. Conversations follow once the agent is published again, and later changes of the tool itself count for them at once. A tool is linked to an agent once: a second time is 409 `ALREADY_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `HTTP_TOOL_NOT_FOUND`; 409 `ALREADY_LINKED`, `IDEMPOTENCY_IN_PROGRESS`, `NO_DRAFT_VERSION`; 422 `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["linkTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/http-tools/available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the tools that can be linked to an agent
         * @description The tools of the workspace that are not linked to the agent, newest first, in one list without pages. Filters combine: a tool is listed when it matches all of them. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `NO_DRAFT_VERSION`.
         */
        get: operations["listAvailableTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/http-tools/{httpToolPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unlink a tool from an agent
         * @description Takes the tool out of the draft of the agent; the tool itself stays in the workspace. Conversations follow once the agent is published again. A tool that is not linked, or does not exist, is 404 `NOT_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `NOT_LINKED`; 409 `NO_DRAFT_VERSION`.
         */
        delete: operations["unlinkTool"];
        options?: never;
        head?: never;
        /**
         * Change how an agent uses a tool
         * @description Changes the link only; the tool itself and its links to other agents stay as they are. Conversations follow once the agent is published again. A tool that is not linked, or does not exist, is 404 `NOT_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `NOT_LINKED`; 409 `NO_DRAFT_VERSION`.
         */
        patch: operations["updateToolLink"];
        trace?: never;
    };
    "/http-tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tools
         * @description A page of the tools of the workspace, newest first. Filters combine: a tool is listed when it matches all of them. Of an OpenAPI document that a `configuration` has as an object, the list shows `openapi` and the title and version of `info` only; `getTool` shows it whole.
         */
        get: operations["listTools"];
        put?: never;
        /**
         * Create a tool
         * @description An HTTP request, a database query, a variable or a third-party API that agents can be linked to. The configuration must fit the type, or else it is 422 `INVALID_TOOL_CONFIGURATION`, and `details` names each error. Tools of type `PARTNER_MCP` are not created here: 422 `INVALID_TOOL_TYPE`. A workspace has at most 500 tools unless its operator sets another limit: 422 `HTTP_TOOL_LIMIT_REACHED`.
         *
         *     Error codes: 409 `HTTP_TOOL_NAME_TAKEN`, `IDEMPOTENCY_IN_PROGRESS`; 422 `HTTP_TOOL_LIMIT_REACHED`, `INVALID_TOOL_TYPE`, `INVALID_TOOL_CONFIGURATION`, `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["createTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/http-tools/{httpToolPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a tool
         * @description The tool with its configuration, in which every secret value reads `********`.
         *
         *     Error codes: 404 `HTTP_TOOL_NOT_FOUND`.
         */
        get: operations["getTool"];
        put?: never;
        post?: never;
        /**
         * Delete a tool
         * @description The tool is gone for the API and for every agent that it is linked to, published versions included. Its name is free again and its secrets are erased.
         *
         *     Error codes: 404 `HTTP_TOOL_NOT_FOUND`.
         */
        delete: operations["deleteTool"];
        options?: never;
        head?: never;
        /**
         * Change a tool
         * @description Changes the fields given, at once for every agent that the tool is linked to; only `requiresApproval` is the link's own there. `configuration` replaces the present one as a whole, except that a secret value sent as `********` stays as it is. Where none is stored that is 422 `INVALID_TOOL_CONFIGURATION`. So it is where the tool would call another origin (scheme, host and port): a stored secret goes only to the one that it was given for. The type cannot change: a body with `toolType`, even the present one, is 400 `IMMUTABLE_FIELD`.
         *
         *     Error codes: 400 `IMMUTABLE_FIELD`; 404 `HTTP_TOOL_NOT_FOUND`; 409 `HTTP_TOOL_NAME_TAKEN`; 422 `INVALID_TOOL_CONFIGURATION`.
         *
         *     Cannot be `null`: `name`, `description`, `toolType`, `requiresApproval`.
         */
        patch: operations["updateTool"];
        trace?: never;
    };
    "/http-tools/{httpToolPublicId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Test a tool
         * @description Runs the tool once with these inputs: it really sends the request or runs the query. No approval is needed. A tool that fails, or inputs that do not fit it, are still a 200: `success` is then false and `errorMessage` says why. The run has no conversation: a variable of scope `conversation` has its default value, and a value that is written is checked and returned, but not stored.
         *
         *     Error codes: 404 `HTTP_TOOL_NOT_FOUND`.
         */
        post: operations["testTool"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/external-mcps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an agent's external MCP servers
         * @description All external MCP servers linked to the draft of the agent, active or not, the one linked last first. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `NO_DRAFT_VERSION`.
         */
        get: operations["listExternalMcpLinks"];
        put?: never;
        /**
         * Link an external MCP server to an agent
         * @description Lets the agent call every tool that the last discovery found on the server, also tools that a later discovery finds. The link starts active and without approval, and belongs to the draft: conversations use it once the agent is published again, for as long as the server is `CONNECTED`. Only a server with this status can be linked, any other is 422 `EXTERNAL_MCP_NOT_ACTIVE`; discover it again first. A server is linked to an agent once: a second time is 409 `ALREADY_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `EXTERNAL_MCP_NOT_FOUND`; 409 `ALREADY_LINKED`, `IDEMPOTENCY_IN_PROGRESS`, `NO_DRAFT_VERSION`; 422 `EXTERNAL_MCP_NOT_ACTIVE`, `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["linkExternalMcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/external-mcps/available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List external MCP servers that an agent can link
         * @description The servers of the workspace with status `CONNECTED` that are not linked to the agent, newest first. Any of them can be given to `linkExternalMcp`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `NO_DRAFT_VERSION`.
         */
        get: operations["listAvailableExternalMcps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/external-mcps/{externalMcpPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unlink an external MCP server from an agent
         * @description Takes the server out of the draft of the agent; the published version keeps it until the agent is published again. The server itself stays in the workspace. A server that exists but is not linked is 404 `NOT_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `EXTERNAL_MCP_NOT_FOUND`, `NOT_LINKED`; 409 `NO_DRAFT_VERSION`.
         */
        delete: operations["unlinkExternalMcp"];
        options?: never;
        head?: never;
        /**
         * Change the link to an external MCP server
         * @description Switches the server on or off for this agent, asks for approval of its calls, or sets how the connection is held. An absent field stays as it is; `null` resets it to the value of a new link: active, no approval, `STATIC`. The change reaches conversations once the agent is published again. A server that exists but is not linked is 404 `NOT_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `EXTERNAL_MCP_NOT_FOUND`, `NOT_LINKED`; 409 `NO_DRAFT_VERSION`.
         */
        patch: operations["updateExternalMcpLink"];
        trace?: never;
    };
    "/external-mcps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List external MCP servers
         * @description A page of the workspace's external MCP servers with the tools found on them, newest first. Filters combine: a server is listed when it matches all of them.
         */
        get: operations["listExternalMcps"];
        put?: never;
        /**
         * Register an external MCP server
         * @description Stores the server with its credential encrypted, then connects to it and discovers its tools, which takes up to 10 seconds. When that fails the response is still 201, with status `ERROR` and the reason in `errorMessage`, so that it can be mended and discovered again; with `rejectIfNotConnected` it is 422 `MCP_DISCOVERY_FAILED` and nothing is kept. A credential that `authType` needs and the body lacks is 400 `VALIDATION_ERROR`, as is a field of it that `authType` does not use. A workspace has at most 100 servers unless its operator sets another limit: 429 `RATE_LIMITED`.
         *
         *     Error codes: 409 `EXTERNAL_MCP_NAME_TAKEN`, `IDEMPOTENCY_IN_PROGRESS`; 422 `OAUTH_NOT_SUPPORTED_VIA_API`, `MCP_DISCOVERY_FAILED`, `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["createExternalMcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/external-mcps/{externalMcpPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an external MCP server
         * @description The server with the state of its connection and the tools found on it. The credential is never returned.
         *
         *     Error codes: 404 `EXTERNAL_MCP_NOT_FOUND`.
         */
        get: operations["getExternalMcp"];
        put?: never;
        post?: never;
        /**
         * Delete an external MCP server
         * @description The server is gone for the API, its name is free again and its credential is erased. Every agent that it is linked to loses its tools, published versions included.
         *
         *     Error codes: 404 `EXTERNAL_MCP_NOT_FOUND`.
         */
        delete: operations["deleteExternalMcp"];
        options?: never;
        head?: never;
        /**
         * Change an external MCP server
         * @description An absent field stays as it is. When the address or any part of the credential changes, the server is `PENDING` until its tools are discovered again. That happens before the response and takes up to 10 seconds; a failed discovery is still 200, with status `ERROR`. When `authType` changes to `API_KEY`, `BEARER_TOKEN`, or `CUSTOM_HEADER` with `authHeaderName`, the stored value is kept. A credential that the new `authType` needs and that neither the body nor the server has is 400 `VALIDATION_ERROR`. So is a credential field in the body that the `authType` does not use. With a `url` of another origin (scheme, host or port) the stored credential counts as none: it goes only to the origin that it was given for.
         *
         *     Error codes: 404 `EXTERNAL_MCP_NOT_FOUND`; 409 `EXTERNAL_MCP_NAME_TAKEN`; 422 `OAUTH_NOT_SUPPORTED_VIA_API`.
         *
         *     Cannot be `null`: `name`, `url`, `authType`, `authValue`.
         */
        patch: operations["updateExternalMcp"];
        trace?: never;
    };
    "/external-mcps/{externalMcpPublicId}/discover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Discover the tools of an external MCP server
         * @description Connects to the server again and replaces the list of its tools, which takes up to 10 seconds. A discovery that fails is still 200: read `status`, which is then `ERROR`, and `errorMessage`; the tools found before stay listed. It fails too when the list is out of bounds (more than 500 tools, 50 pages or 512 KiB), and when no tool of it can be used. A tool is left out when its name is empty, longer than 128 characters, has control characters or belongs to a tool before it, and when its input schema is not of an object; the others are found. The operator's log names it.
         *
         *     Error codes: 404 `EXTERNAL_MCP_NOT_FOUND`.
         */
        post: operations["discoverExternalMcp"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/native-mcps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an agent's native MCP connections
         * @description All native MCP connections linked to the draft of the agent, last linked first, in one list without pages, with their present state in the toolkit registry; one that has stopped being `ACTIVE` stays listed until it is unlinked. 502 `TOOLKIT_REGISTRY_UNAVAILABLE` when the registry does not answer.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 502 `TOOLKIT_REGISTRY_UNAVAILABLE`.
         */
        get: operations["listNativeMcpLinks"];
        put?: never;
        /**
         * Link native MCP connections to an agent
         * @description Adds up to 50 connections to the draft of the agent; each link starts `STATIC`. Conversations follow once the agent is published again. An id that the workspace does not have or whose connection is not `ACTIVE` is no error: it is left out and named in `skipped`. One that is linked already stays as it is and counts as linked, and an id that is sent twice counts twice. 502 `TOOLKIT_REGISTRY_UNAVAILABLE` when the registry does not answer; nothing is linked then.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `IDEMPOTENCY_IN_PROGRESS`; 422 `IDEMPOTENCY_KEY_REUSED`; 502 `TOOLKIT_REGISTRY_UNAVAILABLE`.
         */
        post: operations["linkNativeMcps"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/native-mcps/available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List native MCP connections that an agent can link
         * @description The workspace's `ACTIVE` connections that the draft of the agent is not linked to, newest first, in one list without pages. Connections in any other state are left out, as linking would skip them. 502 `TOOLKIT_REGISTRY_UNAVAILABLE` when the state of a connection cannot be asked for.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 502 `TOOLKIT_REGISTRY_UNAVAILABLE`.
         */
        get: operations["listAvailableNativeMcps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/native-mcps/{connectionPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unlink a native MCP connection from an agent
         * @description Takes the connection out of the draft of the agent; the connection itself stays authorized in the workspace. Conversations follow once the agent is published again. A connection that is not linked to the agent is 404 `NATIVE_MCP_CONNECTION_NOT_FOUND`. 502 `TOOLKIT_REGISTRY_UNAVAILABLE` when the state of the connection cannot be asked for; it stays linked then.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `NATIVE_MCP_CONNECTION_NOT_FOUND`; 502 `TOOLKIT_REGISTRY_UNAVAILABLE`.
         */
        delete: operations["unlinkNativeMcp"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/native-mcps/{connectionPublicId}/instance-mode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the instance mode of a native MCP connection
         * @description Sets in the draft how this agent loads the tools of a linked connection; other agents are not affected. Conversations follow once the agent is published again. `DYNAMIC` keeps a toolkit with many tools from filling the model's context. A connection that is not linked to the agent is 404 `NATIVE_MCP_CONNECTION_NOT_FOUND`. 502 `TOOLKIT_REGISTRY_UNAVAILABLE` when the state of the connection cannot be asked for; nothing changes then.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `NATIVE_MCP_CONNECTION_NOT_FOUND`; 502 `TOOLKIT_REGISTRY_UNAVAILABLE`.
         *
         *     Cannot be `null`: `instanceMode`.
         */
        patch: operations["updateNativeMcpInstanceMode"];
        trace?: never;
    };
    "/native-mcp-triggers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the trigger types of a toolkit
         * @description The events of a third-party toolkit that an automation with trigger mode `webhook` can wait for: the built-in ones (`github`, `stripe` and `webhook`, any sender of signed webhooks) and those of the toolkit registry, when one is configured. A toolkit that neither knows is 400 `UNKNOWN_TOOLKIT`; 502 `TOOLKIT_REGISTRY_UNAVAILABLE` when the registry does not answer.
         *
         *     Error codes: 400 `UNKNOWN_TOOLKIT`; 502 `TOOLKIT_REGISTRY_UNAVAILABLE`.
         */
        get: operations["listNativeMcpTriggers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/native-mcp-triggers/{triggerSlug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a trigger type
         * @description The trigger type with `configSchema`, the JSON Schema from which to build the `triggerConfig` of an automation that waits for it.
         *
         *     Error codes: 404 `TRIGGER_NOT_FOUND`; 502 `TOOLKIT_REGISTRY_UNAVAILABLE`.
         */
        get: operations["getNativeMcpTrigger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/sub-agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an agent's sub-agents
         * @description All agents linked to the draft of this one as delegation targets, by `sortOrder` and, where that is equal, the one linked first first. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`; 409 `NO_DRAFT_VERSION`.
         */
        get: operations["listSubAgentLinks"];
        put?: never;
        /**
         * Link a sub-agent to an agent
         * @description Lets the agent hand work to another one. The link belongs to the draft: conversations use it once the agent is
         *     published again. A link is never edited: unlink, then link again with other values. Linking an agent to itself, or
         *     so that delegation could come back to it over any number of agents, is 422 `SUB_AGENT_CYCLE`; the links of all
         *     agents as they are now count, archived ones included. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Delegation runs the version of the sub-agent that is published at that moment; one that is not active is left out.
         *     It sees the task alone and not the conversation, works with its own prompt, links and memory of the end user, gets
         *     the variables of the conversation and the message, and its answer goes back to the agent, not to the user. What it
         *     uses counts to the reply, and its calls that need approval wait with those of the agent. At most four agents stand
         *     above one another, that of the conversation included, and none is delegated to that stands above already: published
         *     versions may form a ring where drafts may not.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `SUB_AGENT_NOT_FOUND`, `AI_MODEL_NOT_FOUND`; 409 `ALREADY_LINKED`, `IDEMPOTENCY_IN_PROGRESS`, `NO_DRAFT_VERSION`; 422 `IDEMPOTENCY_KEY_REUSED`, `SUB_AGENT_CYCLE`.
         */
        post: operations["linkSubAgent"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/sub-agents/available": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List agents that can become sub-agents
         * @description The agents of the workspace that can be linked, newest first: not the agent itself, none that is linked already and none that would close a cycle. Archived agents are left out too, though `linkSubAgent` accepts them.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        get: operations["listAvailableSubAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/sub-agents/{subAgentPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Unlink a sub-agent from an agent
         * @description Takes the sub-agent out of the draft of the agent; the published version keeps it until the agent is published again. The sub-agent itself is not touched. An agent that exists but is not linked is 404 `NOT_LINKED`. An archived agent has no draft: 409 `NO_DRAFT_VERSION`.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `SUB_AGENT_NOT_FOUND`, `NOT_LINKED`; 409 `NO_DRAFT_VERSION`.
         */
        delete: operations["unlinkSubAgent"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/automations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an agent's automations
         * @description All automations of the agent, active or not, newest first. The list is not paged.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        get: operations["listAutomations"];
        put?: never;
        /**
         * Create an automation
         * @description The automation starts with the status `active`, and its schedule is set before the response is sent. With trigger mode `webhook_url` the response has the secret address. A run sends the prompt to the published version of the agent. Trigger mode `schedule` needs `schedule`. Trigger mode `webhook` needs `triggerToolkitSlug` and `triggerSlug`. Without them the response is 400 `VALIDATION_ERROR`. A cron expression that cannot be read is 400 `INVALID_CRON`, such a time zone 400 `INVALID_TIMEZONE`, and a trigger that the toolkit does not have is 422 `UNKNOWN_TRIGGER`; a trigger of the toolkit registry needs an active connection of the workspace to its toolkit as well. 502 `TOOLKIT_REGISTRY_UNAVAILABLE` when the registry must be asked and does not answer. At the workspace's limit of automations the response is 429 `RATE_LIMITED`. Whoever repeats the request with the same `Idempotency-Key` gets the secret address again.
         *
         *     Error codes: 400 `INVALID_CRON`, `INVALID_TIMEZONE`; 404 `AGENT_NOT_FOUND`; 409 `AUTOMATION_NAME_TAKEN`, `IDEMPOTENCY_IN_PROGRESS`; 422 `IDEMPOTENCY_KEY_REUSED`, `UNKNOWN_TRIGGER`; 502 `TOOLKIT_REGISTRY_UNAVAILABLE`.
         */
        post: operations["createAutomation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/automations/{automationPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an automation
         * @description The automation, when it last ran and, on a schedule, when it runs next.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `AUTOMATION_NOT_FOUND`.
         */
        get: operations["getAutomation"];
        put?: never;
        post?: never;
        /**
         * Delete an automation
         * @description Cancels the schedule and removes the automation. The API shows neither it nor its executions any more. Its name is free again, and its secret address, if it has one, stops working. A run that has begun is finished.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `AUTOMATION_NOT_FOUND`.
         */
        delete: operations["deleteAutomation"];
        options?: never;
        head?: never;
        /**
         * Change an automation
         * @description An absent field stays as it is. The schedule follows before the response is sent: `status` `inactive` stops the automation, `active` starts it again. The trigger mode must have what it needs, in the body or in the automation already, or else the response is 400 `VALIDATION_ERROR`. The cron expression, the time zone and the trigger are checked as by `createAutomation`. Another trigger mode, or another toolkit, ends the secret address and makes a new one where the mode has one; this response shows it. A schedule stays stored while another mode is chosen; what else a mode does not use is removed.
         *
         *     Error codes: 400 `INVALID_CRON`, `INVALID_TIMEZONE`; 404 `AGENT_NOT_FOUND`, `AUTOMATION_NOT_FOUND`; 409 `AUTOMATION_NAME_TAKEN`; 422 `UNKNOWN_TRIGGER`; 502 `TOOLKIT_REGISTRY_UNAVAILABLE`.
         *
         *     Cannot be `null`: `name`, `description`, `prompt`, `status`, `hitlMode`, `triggerMode`, `schedule`, `timezone`, `triggerToolkitSlug`, `triggerSlug`.
         */
        patch: operations["updateAutomation"];
        trace?: never;
    };
    "/agents/{agentPublicId}/automations/{automationPublicId}/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the executions of an automation
         * @description A page of the automation's runs, the one that started last first, whatever started them. A slot of the schedule is begun up to 30 seconds after its time, never before. One that was missed is run once, late by no more than its interval and an hour. A later one, and one that comes due while a run of the automation has not ended, is skipped: it is `FAILED`, with an `errorMessage` that begins with `Skipped:`. A run whose tool calls nobody decides on within 7 days is `FAILED`, too. Runs are listed for 90 days, unless the operator has chosen another time.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `AUTOMATION_NOT_FOUND`.
         */
        get: operations["listAutomationExecutions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/channels": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List an agent's channels
         * @description All channel connections of the agent, active or not, configured or not, newest first.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`.
         */
        get: operations["listChannels"];
        put?: never;
        /**
         * Connect an agent to a channel
         * @description The first of two steps: makes a connection that is not configured yet. The second step is `configureChannel`. An agent has at most one connection of each type; another one is 409 `CHANNEL_ALREADY_CONNECTED`. Channels are not part of the agent's versions, so the connection needs no publication.
         *
         *     Error codes: 400 `INVALID_CHANNEL_TYPE`; 404 `AGENT_NOT_FOUND`; 409 `CHANNEL_ALREADY_CONNECTED`, `IDEMPOTENCY_IN_PROGRESS`; 422 `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["connectChannel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/channels/by-type/{channelType}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an agent's channel by its type
         * @description The agent's connection of this type. 404 `CHANNEL_CONNECTION_NOT_FOUND` when the agent is not connected to it, which also answers a type that does not exist.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `CHANNEL_CONNECTION_NOT_FOUND`.
         */
        get: operations["getChannelByType"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/channels/{channelConnectionPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an agent's channel
         * @description The connection with its configuration. Its credentials are never returned.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `CHANNEL_CONNECTION_NOT_FOUND`.
         */
        get: operations["getChannel"];
        put?: never;
        post?: never;
        /**
         * Disconnect an agent from a channel
         * @description The agent no longer answers on the channel; configuration and credentials are erased and the type can be connected again. Conversations that came in over it stay readable.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `CHANNEL_CONNECTION_NOT_FOUND`.
         */
        delete: operations["deleteChannel"];
        options?: never;
        head?: never;
        /**
         * Configure a channel
         * @description The second step after `connectChannel`, and the way to switch a channel on and off. An absent field stays as it is. `channelSpecificConfig` and `credentials` are each replaced as a whole. They are checked against the schemas that `getChannelType` shows, and refused with 400 `INVALID_CHANNEL_CONFIG` or `INVALID_CHANNEL_CREDENTIALS`. A Z-API instance serves one connection of the workspace only; a second one is 409 `ZAPI_INSTANCE_ID_ALREADY_USED`. `whatsapp` is configured in the console: a body with its configuration or credentials is 422 `CHANNEL_CONFIG_NOT_ALLOWED_VIA_API`; `isActive` alone may be changed here.
         *
         *     Error codes: 400 `INVALID_CHANNEL_CONFIG`, `INVALID_CHANNEL_CREDENTIALS`; 404 `AGENT_NOT_FOUND`, `CHANNEL_CONNECTION_NOT_FOUND`; 409 `ZAPI_INSTANCE_ID_ALREADY_USED`; 422 `CHANNEL_CONFIG_NOT_ALLOWED_VIA_API`.
         *
         *     Cannot be `null`: `isActive`.
         */
        patch: operations["configureChannel"];
        trace?: never;
    };
    "/agents/{agentPublicId}/channels/{channelConnectionPublicId}/instance-mode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the instance mode of a channel
         * @description A switch to the other mode resets the channel and needs `confirm: true`: the conversations that are open on it end, and the next message of each person begins a new one. Configuration, credentials and addresses stay. Without the confirmation the response is 422 `CONFIRMATION_REQUIRED`, and nothing changes. The mode that the channel already has needs no confirmation and changes nothing.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `CHANNEL_CONNECTION_NOT_FOUND`; 422 `CONFIRMATION_REQUIRED`.
         *
         *     Cannot be `null`: `mode`, `confirm`.
         */
        patch: operations["updateChannelInstanceMode"];
        trace?: never;
    };
    "/channel-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List channel types
         * @description Every channel type that an agent can be connected to, with the JSON Schemas of its configuration and credentials, in a fixed order.
         */
        get: operations["listChannelTypes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/channel-types/{channelType}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a channel type
         * @description The channel type with the JSON Schemas that `configureChannel` checks its input against. An unknown type is 400 `INVALID_CHANNEL_TYPE`.
         *
         *     Error codes: 400 `INVALID_CHANNEL_TYPE`.
         */
        get: operations["getChannelType"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message to an agent
         * @description Sends the message to the published version of the agent and blocks until the reply is complete. Without
         *     `conversationId` a new conversation starts. Messages sent to one conversation at the same time are answered one
         *     after the other.
         *
         *     **What runs.** Settings and links are those of the published version. The tools, skills and sub-agents behind the
         *     links are read as they are now: a tool that was changed, a skill that was renamed or a sub-agent that was published
         *     again counts from the next message on. A link is left out when its target is deleted, switched off or not connected.
         *
         *     **A turn** is a sequence of steps. In each step the model is called, and then the tools that it asked for, in
         *     parallel. A tool that fails does not fail the turn: the agent reads the error and continues. An agent has at most 24
         *     steps, a turn with its sub-agents at most 100; the last step must be a reply. The texts of all steps are one reply,
         *     joined by a blank line. Later turns see the messages and, for the latest 20 to 40 of them, the calls of tools with
         *     their results, each cut to 4,000 characters once they are long together. Attachments are seen only in the turn that
         *     they were sent with. When the history does not fit the context of the model, the oldest messages are left out.
         *
         *     **The moment.** Models are told date, weekday, time and time zone of the workspace beside each message. Facts of
         *     your own about the moment, such as the page that the user looks at, are `metadata.context` (`MessageMetadata`).
         *
         *     **Cut replies.** A reply that may not be whole ends with a sentence in brackets, after a blank line, that says why:
         *     the model reached its limit of length, its provider withheld the rest, the model refused or gave no answer, the
         *     answer is larger than this service takes (4 MiB unless its operator chose another limit), or the agent used all of
         *     its steps. What came is kept, and the turn counts as one with a reply. A connection to the model that breaks in the middle of an answer is 502
         *     `MODEL_PROVIDER_ERROR`, and its message says so.
         *
         *     **Approvals.** A call that needs an approval is not made yet: the reply says so, and `pendingApprovals` lists it.
         *     The next message decides, or an operator does (`PendingApproval`). When an operator decides, the agent continues
         *     without a message, and `listConversationMessages` has its reply.
         *
         *     **A person takes over.** An agent with a channel can hand a conversation over to a person: its reply says so, and
         *     `isPaused` of the conversation is true. Until the conversation is resumed, a message is 422 `CONVERSATION_PAUSED`
         *     and is not stored. What a person wrote meanwhile is in the history that the agent reads.
         *
         *     **Commands.** A `content` that begins with `/` and the word of an active command is replaced by the prompt of the
         *     command (`AgentCommand`). Any other `content` is plain text.
         *
         *     **Operations.** A turn with a reply counts as one operation (`costOps`), however long it was. That includes a turn
         *     that waits for approval, a turn that decides on one, and a follow-up. A turn that fails is not counted, nor is one
         *     that continues after an operator's decision. 429 `OPERATION_LIMIT_REACHED`: the workspace has used all operations of
         *     the calendar month (UTC), or a budget of the month is used up, or the client has no credits left; the message says
         *     which. Nothing is stored then. `Retry-After` is the time until the next month or until the client's credits are
         *     renewed, where that is known; before it a retry does not help.
         *
         *     **Clients.** A conversation whose first message has `metadata.clientPublicId` belongs to that client of the hub. An
         *     operation costs it one credit, unless its plan has no limit: included credits are used before bought ones, and of
         *     each those that expire first. A credit is reserved before the agent runs, and a turn that runs is never cut. 409
         *     `CLIENT_NOT_ACTIVE`: the client is neither `active` nor `trialing`. Nothing is stored then.
         *
         *     **Failures.** The message is stored before the agent runs. After 408 `AGENT_TIMEOUT` or 502 `MODEL_PROVIDER_ERROR`
         *     it stays stored, and the conversation accepts further messages (`listConversations` with the `externalUserId` finds
         *     a new conversation). A turn whose server process dies goes on in another one: its reply is listed with the messages,
         *     and a retry with the same `Idempotency-Key` gets it. A required variable without a value or default is 422 `MISSING_VARIABLE`, and a value of the
         *     wrong type is 400 `VALIDATION_ERROR`; nothing is stored then.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `CONVERSATION_NOT_FOUND`; 408 `AGENT_TIMEOUT`; 409 `CLIENT_NOT_ACTIVE`; 422 `AGENT_NOT_PUBLISHED`, `CONVERSATION_PAUSED`, `CONVERSATION_ENDED`, `ATTACHMENT_TOO_LARGE`, `UNSUPPORTED_ATTACHMENT`, `MISSING_VARIABLE`, `IDEMPOTENCY_KEY_REUSED`; 429 `OPERATION_LIMIT_REACHED`; 502 `MODEL_PROVIDER_ERROR`.
         */
        post: operations["sendMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{agentPublicId}/messages/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a message to an agent and stream the reply
         * @description The same as `sendMessage`, with the reply sent piece by piece as server-sent events. A turn has five minutes;
         *     `timeoutSeconds` is ignored.
         *
         *     A request that is wrong in itself gets a plain HTTP error. A failure after the stream has begun is one `error` event
         *     under status 200, and the pieces that came before it are not stored. Its code is one of:
         *
         *     - of the agent: `AGENT_NOT_PUBLISHED`, `MISSING_VARIABLE`
         *     - of the conversation: `CONVERSATION_NOT_FOUND` (deleted meanwhile), `CONVERSATION_PAUSED`, `CONVERSATION_ENDED`
         *     - of the client that pays: `CLIENT_NOT_ACTIVE`, `OPERATION_LIMIT_REACHED`
         *     - of the message: `ATTACHMENT_TOO_LARGE`, `UNSUPPORTED_ATTACHMENT`
         *     - of the turn: `OPERATION_LIMIT_REACHED`, `AGENT_TIMEOUT`, `MODEL_PROVIDER_ERROR`, `UNAVAILABLE`, `INTERNAL_ERROR`
         *
         *     `MODEL_PROVIDER_ERROR` is also the code when the connection to the model breaks in the middle of the reply; the
         *     message says so. A reply that is cut for another reason ends with a sentence that says why, as the last
         *     `text-delta` (`sendMessage`).
         *
         *     `UNAVAILABLE` means that the service stops or has lost its database. Send the message again, with the
         *     `conversationId` if it has come.
         *
         *     A client that goes away does not stop the turn: it is completed and stored. A client that leaves more than 1 MiB
         *     unread counts as gone, and its connection is closed.
         *
         *     Error codes: 404 `AGENT_NOT_FOUND`, `CONVERSATION_NOT_FOUND`; 422 `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["streamMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/conversations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List conversations
         * @description A page of the workspace's conversations over all agents and channels, the one that started last first. Filters combine: a conversation is listed when it matches all of them. Conversations of deleted agents are among them, deleted conversations are not.
         */
        get: operations["listConversations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/conversations/{conversationPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a conversation
         * @description The conversation with its metadata. Its messages are read with `listConversationMessages`.
         *
         *     Error codes: 404 `CONVERSATION_NOT_FOUND`.
         */
        get: operations["getConversation"];
        put?: never;
        post?: never;
        /**
         * Delete a conversation
         * @description The conversation and its messages are gone for the API, and it takes no more messages. There is no way to bring it back through the API. Its spoken replies are erased. What the agent remembers of the end user is not part of a conversation and stays.
         *
         *     Error codes: 404 `CONVERSATION_NOT_FOUND`.
         */
        delete: operations["deleteConversation"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/conversations/{conversationPublicId}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List messages of a conversation
         * @description A page of the stored messages, ordered by `sentAt`, the oldest first unless `order` is `desc`. Messages of one reply keep their order. Replies that no message asked for are among them: follow-ups, and what an agent says after an operator's decision on an approval. Nothing announces these, so poll for them.
         *
         *     Error codes: 404 `CONVERSATION_NOT_FOUND`.
         */
        get: operations["listConversationMessages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clients": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List clients
         * @description A page of the clients of the hub, newest first. Filters combine: a client is listed when it matches all of them.
         */
        get: operations["listClients"];
        put?: never;
        /**
         * Create a client
         * @description Creates the client workspace with its users, who exist at once. With a plan the client is `active`, and its period begins now. An inactive plan can be given, a deleted one is not found. With `inviteToTrial` the client is `trialing` on the hub's trial plan, and `planPublicId` is ignored; the hub must offer a trial. With neither it is `pending_onboarding`. More users than the plan has seats are 409 `SEATS_LIMIT_REACHED`.
         *
         *     Each user has an invitation, which can be accepted for 7 days. `pendingInvitations` lists it until then. With `sendInvitations` it is mailed at once. A hub without a subdomain has no pages, so it mails none. None of the users has to be an admin.
         *
         *     Error codes: 404 `PLAN_NOT_FOUND`; 409 `CLIENT_NAME_TAKEN`, `IDEMPOTENCY_IN_PROGRESS`, `SEATS_LIMIT_REACHED`; 422 `IDEMPOTENCY_KEY_REUSED`, `TRIAL_NOT_ENABLED`.
         */
        post: operations["createClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clients/{clientPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a client
         * @description The client with its plan, its credits, its users and the invitations that they have not accepted yet.
         *
         *     Error codes: 404 `CLIENT_NOT_FOUND`.
         */
        get: operations["getClient"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clients/{clientPublicId}/invitations/{invitationPublicId}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Resend an invitation
         * @description Mails a pending invitation again, with a new link, and renews `expiresAt`, also when it has expired. Earlier links of it no longer work. An invitation that was accepted is no longer found. A hub without a subdomain has no pages: the invitation is renewed, and nothing is mailed.
         *
         *     Error codes: 404 `CLIENT_NOT_FOUND`, `INVITATION_NOT_FOUND`; 409 `IDEMPOTENCY_IN_PROGRESS`.
         */
        post: operations["resendClientInvitation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clients/{clientPublicId}/reactivate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reactivate a client
         * @description Restores the subscription of a suspended client at the payment provider. Its status is then `active` again. A client in any other state is 409. When the payment provider fails, nothing changes. The period goes on. If it has ended meanwhile and the payment provider holds no subscription, a new one begins now, with the credits of the plan.
         *
         *     Error codes: 404 `CLIENT_NOT_FOUND`; 409 `CLIENT_NOT_SUSPENDED`; 502 `PAYMENT_PROVIDER_ERROR`.
         */
        post: operations["reactivateClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clients/{clientPublicId}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Suspend a client
         * @description Sets the status to `suspended` at once, and cancels the subscription at the payment provider for the end of the paid period. Only an `active` client can be suspended. When the payment provider fails, nothing changes. Nothing is renewed meanwhile. `reactivateClient` undoes it.
         *
         *     Error codes: 404 `CLIENT_NOT_FOUND`; 409 `CLIENT_NOT_ACTIVE`; 502 `PAYMENT_PROVIDER_ERROR`.
         */
        post: operations["suspendClient"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/clients/{clientPublicId}/users/{userPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Remove a user from a client
         * @description The user loses access at once and is no longer listed. If the user has not accepted the invitation, it is withdrawn. The last admin cannot be removed; an admin counts as one before the invitation is accepted. Returns the client as it is now. A second removal is 404 `USER_NOT_FOUND`.
         *
         *     Error codes: 404 `CLIENT_NOT_FOUND`, `USER_NOT_FOUND`; 409 `LAST_ADMIN`.
         */
        delete: operations["removeClientUser"];
        options?: never;
        head?: never;
        /**
         * Change a user of a client
         * @description Changes a user's role in the client workspace, and the name when it is given. The last admin keeps that role: demoting this user is 409 `LAST_ADMIN`. An admin counts as one before the invitation is accepted.
         *
         *     Error codes: 404 `CLIENT_NOT_FOUND`, `USER_NOT_FOUND`; 409 `LAST_ADMIN`.
         *
         *     Cannot be `null`: `name`, `role`.
         */
        patch: operations["updateClientUser"];
        trace?: never;
    };
    "/billing/coupons": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List coupons
         * @description A page of the coupons of the hub, newest first, used up and expired ones among them.
         */
        get: operations["listCoupons"];
        put?: never;
        /**
         * Create a coupon
         * @description Makes a coupon that can be redeemed at once, or from `validFrom` on. It gets a coupon and a promotion code at the payment provider; when the provider fails, nothing is left behind. A percentage is at most 100. `repeating` needs `durationMonths`. Scope `plans` needs `applicablePlanIds`, and scope `hub` takes none. A fixed amount needs `applicablePlanIds` of one currency, which is its own. `validUntil` must be in the future and after `validFrom`. A coupon that breaks one of these rules is 422 `COUPON_RULE_VIOLATED`.
         *
         *     Error codes: 404 `PLAN_NOT_FOUND`; 409 `COUPON_CODE_TAKEN`, `IDEMPOTENCY_IN_PROGRESS`; 422 `COUPON_RULE_VIOLATED`, `IDEMPOTENCY_KEY_REUSED`; 502 `PAYMENT_PROVIDER_ERROR`.
         */
        post: operations["createCoupon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/coupons/{couponPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a coupon
         * @description The coupon with its plans and its redemptions so far.
         *
         *     Error codes: 404 `COUPON_NOT_FOUND`.
         */
        get: operations["getCoupon"];
        put?: never;
        post?: never;
        /**
         * Delete a coupon
         * @description The API does not show the coupon any more. Its code is free again, and its promotion code is deactivated at the payment provider. Discounts that were already granted stay. When the payment provider fails, the coupon stays.
         *
         *     Error codes: 404 `COUPON_NOT_FOUND`; 502 `PAYMENT_PROVIDER_ERROR`.
         */
        delete: operations["deleteCoupon"];
        options?: never;
        head?: never;
        /**
         * Change a coupon
         * @description Changes the name, `active` and the limits. The discount itself is fixed: any other field is 400. `maxUses` below `timesUsed`, or a `validUntil` in the past, is 422 `COUPON_RULE_VIOLATED`. A change of `active` is passed on to the promotion code at the payment provider; when that fails, nothing changes.
         *
         *     Error codes: 404 `COUPON_NOT_FOUND`; 422 `COUPON_RULE_VIOLATED`; 502 `PAYMENT_PROVIDER_ERROR`.
         *
         *     Cannot be `null`: `name`, `active`, `maxUses`, `validUntil`.
         */
        patch: operations["updateCoupon"];
        trace?: never;
    };
    "/billing/credit-packages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List credit packages
         * @description A page of the credit packages of the hub, newest first.
         */
        get: operations["listCreditPackages"];
        put?: never;
        /**
         * Create a credit package
         * @description Makes a package that plans can include with `creditPackagePublicId`. Nothing is created at the payment provider.
         *
         *     Error codes: 409 `CREDIT_PACKAGE_NAME_TAKEN`, `IDEMPOTENCY_IN_PROGRESS`; 422 `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["createCreditPackage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/credit-packages/{creditPackagePublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a credit package
         * @description The credit package. How many plans include it is shown by `listCreditPackages`.
         *
         *     Error codes: 404 `CREDIT_PACKAGE_NOT_FOUND`.
         */
        get: operations["getCreditPackage"];
        /**
         * Replace a credit package
         * @description Replaces the whole package. Required fields must be there, and an optional field that is absent loses its value. Plans that include the package change with it. Credits that were already granted stay as they are.
         *
         *     Error codes: 404 `CREDIT_PACKAGE_NOT_FOUND`; 409 `CREDIT_PACKAGE_NAME_TAKEN`.
         */
        put: operations["updateCreditPackage"];
        post?: never;
        /**
         * Delete a credit package
         * @description The package is gone for the API and its name is free again. As long as a plan includes it, it cannot be deleted.
         *
         *     Error codes: 404 `CREDIT_PACKAGE_NOT_FOUND`; 409 `CREDIT_PACKAGE_IN_USE`.
         */
        delete: operations["deleteCreditPackage"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List plans
         * @description A page of the plans of the hub, newest first.
         */
        get: operations["listPlans"];
        put?: never;
        /**
         * Create a plan
         * @description Makes an `active` plan with a product, a price and a payment link at the payment provider; when the provider fails, nothing is left behind. The content comes from exactly one of `packagePublicId` and `content`, or else the response is 400. `content` becomes a package of the plan's own. A recurring plan without an interval, extra credits without a price or without a credit package, a section in two places, or an unknown currency is 422 `PLAN_RULE_VIOLATED`. A free plan, and a hub without a payment provider, have no objects there. The texts of the pricing widget are set with `updatePlan`.
         *
         *     Error codes: 404 `CREDIT_PACKAGE_NOT_FOUND`, `PACKAGE_NOT_FOUND`, `AGENT_NOT_FOUND`, `EXTERNAL_LINK_NOT_FOUND`; 409 `IDEMPOTENCY_IN_PROGRESS`, `PLAN_NAME_TAKEN`; 422 `IDEMPOTENCY_KEY_REUSED`, `PLAN_RULE_VIOLATED`; 502 `PAYMENT_PROVIDER_ERROR`.
         */
        post: operations["createPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/billing/plans/{planPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a plan
         * @description The plan with its credit package, the package of its content and its pricing widget.
         *
         *     Error codes: 404 `PLAN_NOT_FOUND`.
         */
        get: operations["getPlan"];
        put?: never;
        post?: never;
        /**
         * Delete a plan
         * @description The API does not show the plan any more, also not among the plans of coupons. Its name is free again, and its payment link is closed. A plan with active subscribers, or with clients that change to it later, cannot be deleted; nor can the default plan of a public hub, which is 422 `PLAN_RULE_VIOLATED`. A private hub has no default plan then, and a hub that offered a trial of the plan offers none. When the payment provider fails, the plan stays.
         *
         *     Error codes: 404 `PLAN_NOT_FOUND`; 409 `PLAN_HAS_SUBSCRIBERS`; 422 `PLAN_RULE_VIOLATED`; 502 `PAYMENT_PROVIDER_ERROR`.
         */
        delete: operations["deletePlan"];
        options?: never;
        head?: never;
        /**
         * Change a plan
         * @description An absent field stays as it is. `currency`, `billingType` and `billingIntervalMonths` cannot be changed: each of them is 400. While the plan has active subscribers, or clients that change to it later, a new price is 409 `PLAN_HAS_SUBSCRIBERS`. `content` gives the plan a package of its own; other plans keep the old one, which is removed when no plan uses it. `content` together with `packagePublicId` is 400. Extra credits without a price or without a credit package, and a price for the default plan of a public hub, are 422 `PLAN_RULE_VIOLATED`. Present subscribers get unlimited and extra credits at once, and a new limit with their next credits. When the payment provider fails, nothing changes.
         *
         *     Error codes: 404 `PLAN_NOT_FOUND`, `CREDIT_PACKAGE_NOT_FOUND`, `PACKAGE_NOT_FOUND`, `AGENT_NOT_FOUND`, `EXTERNAL_LINK_NOT_FOUND`; 409 `PLAN_NAME_TAKEN`, `PLAN_HAS_SUBSCRIBERS`; 422 `PLAN_RULE_VIOLATED`; 502 `PAYMENT_PROVIDER_ERROR`.
         *
         *     Cannot be `null`: `name`, `description`, `status`, `priceCents`, `seatsIncluded`, `unlimitedCredits`, `extraCreditsEnabled`, `extraCreditsPriceCents`, `creditPackagePublicId`, `packagePublicId`, `content`, `widgetTitle`, `widgetDescription`, `widgetCtaText`, `widgetHighlighted`.
         */
        patch: operations["updatePlan"];
        trace?: never;
    };
    "/hub": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the hub
         * @description The hub of the key's workspace. A workspace has exactly one; it is created by the first request that needs it, private and without a subdomain.
         */
        get: operations["getHub"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the identity of the hub
         * @description Changes name, colours and support channel. A field that is absent or `null` stays as it is, so an empty body changes nothing. Logos, access and subdomain have operations of their own.
         */
        patch: operations["updateHubIdentity"];
        trace?: never;
    };
    "/hub/logos/{type}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Upload a logo of the hub
         * @description Stores the picture as the logo of that type and deletes the one before. `horizontal` and `icon` are also passed on to the branding at the payment provider; a failure there does not undo the upload. A picture over 5 MiB is 413. One whose bytes are not PNG, JPEG, WebP or SVG is 415, as is an SVG that declares entities. An unknown type is 400.
         */
        post: operations["uploadHubLogo"];
        /**
         * Delete a logo of the hub
         * @description Removes the logo of that type and its file. Without such a logo the hub is returned unchanged, with 200 as well. An unknown type is 400.
         */
        delete: operations["deleteHubLogo"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hub/access": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the access settings of the hub
         * @description Who may enter the hub, the plan that people who sign up get, and the picture on the login page.
         */
        get: operations["getHubAccess"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change the access settings of the hub
         * @description An absent field stays as it is. A public hub needs a default plan, in this body or set before, or else the response is 422 `DEFAULT_PLAN_REQUIRED`. The plan must be free (`priceCents` is 0), or else it is 422 `DEFAULT_PLAN_NOT_FREE`. The login picture is uploaded with `uploadHubLogo` as type `banner`.
         *
         *     Error codes: 404 `PLAN_NOT_FOUND`; 422 `DEFAULT_PLAN_REQUIRED`, `DEFAULT_PLAN_NOT_FREE`.
         *
         *     Cannot be `null`: `accessType`, `defaultPlanPublicId`, `selfServiceEnabled`.
         */
        patch: operations["updateHubAccess"];
        trace?: never;
    };
    "/hub/domain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get the domain of the hub
         * @description The subdomain of the hub and the address that follows from it.
         */
        get: operations["getHubDomain"];
        /**
         * Change the domain of the hub
         * @description Moves the hub to another subdomain. The payment links of its plans are made anew, and the earlier ones stop working. When the payment provider fails, the hub stays where it is. The subdomain that the hub already has is accepted and changes nothing.
         *
         *     Error codes: 409 `SUBDOMAIN_TAKEN`; 422 `SUBDOMAIN_RESERVED`; 502 `PAYMENT_PROVIDER_ERROR`.
         */
        put: operations["updateHubDomain"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hub/domain/availability": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Check whether a subdomain is free
         * @description Reads only; nothing is held for the caller. The subdomain is put in lower case first. The one that this hub already has counts as `taken`.
         */
        get: operations["checkSubdomainAvailability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hub/external-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the external links of the hub
         * @description All links of the hub in the order of the menu, by `displayOrder`. The list has no pages.
         */
        get: operations["listExternalLinks"];
        put?: never;
        /**
         * Create an external link
         * @description Adds a link at the end of the menu. A hub has at most 10 links; one more is 422 `EXTERNAL_LINK_LIMIT_REACHED`.
         *
         *     Error codes: 409 `EXTERNAL_LINK_TITLE_TAKEN`, `IDEMPOTENCY_IN_PROGRESS`; 422 `EXTERNAL_LINK_LIMIT_REACHED`, `IDEMPOTENCY_KEY_REUSED`.
         */
        post: operations["createExternalLink"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/hub/external-links/{linkPublicId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete an external link
         * @description Removes the link from the menu and frees its title; plans that showed it no longer do. A second deletion is 404.
         *
         *     Error codes: 404 `EXTERNAL_LINK_NOT_FOUND`.
         */
        delete: operations["deleteExternalLink"];
        options?: never;
        head?: never;
        /**
         * Change an external link
         * @description Changes the title, the address or both; an empty body leaves the link as it is. Its place in the menu stays.
         *
         *     Error codes: 404 `EXTERNAL_LINK_NOT_FOUND`; 409 `EXTERNAL_LINK_TITLE_TAKEN`.
         *
         *     Cannot be `null`: `title`, `url`.
         */
        patch: operations["updateExternalLink"];
        trace?: never;
    };
}
export interface webhooks {
    automation: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    payment: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export interface components {
    schemas: {
        /** @description An agent, its metadata and its editable state. */
        Agent: {
            /**
             * Format: uuid
             * @description The agent's id.
             */
            publicId: string;
            /** @description Name, unique among the agents of the workspace. */
            name: string;
            /** @description What the agent is for. */
            description: string | null;
            /** @description Picture of the agent. */
            avatarUrl: string | null;
            /** @description Free-form tags to find the agent by. */
            categories: string[];
            status: components["schemas"]["AgentStatus"];
            /**
             * Format: int32
             * @description Number that the draft will have once it is published; `null` while the agent is archived.
             */
            draftVersionNumber: number | null;
            /**
             * Format: int32
             * @description Number of the published version; `null` until the agent is published.
             */
            publishedVersionNumber: number | null;
            /** @description Whether the editable state has changed since it was last published or restored; also true while nothing has been published. Name, description, avatar and categories are not part of a version. Neither the names of what is linked nor the order of linking count; a linked resource that is deleted does. */
            hasUnpublishedChanges: boolean;
            /** @description Whether the agent is connected to a channel beside this API, such as WhatsApp or the web chat, configured or not. */
            hasExternalChannel: boolean;
            /** @description Display name of the AI model; `null` until one is chosen. */
            aiModelName: string | null;
            /** @description Instructions that open every conversation. `{{name}}` is replaced by a variable, or by date or time (`updateAgentPrompt`), when `dynamicPromptEnabled` is on. */
            systemPrompt: string | null;
            /**
             * Format: uuid
             * @description The AI model, one of `listAiModels`.
             */
            aiModelPublicId: string | null;
            /**
             * Format: double
             * @description Randomness of the replies, within the range of the model; `null` leaves it to the model. Models of OpenAI and Anthropic take none while they think.
             */
            temperature: number | null;
            /** @description Let the model think before it answers. The model must support it. */
            thinkingEnabled: boolean;
            /** @description How much the model may think once thinking is on; `null` is `medium`. */
            thinkingEffort: components["schemas"]["ThinkingEffort"] | null;
            /** @description Let the agent search the web. Where this server has no search service, the agent says so. */
            webSearchEnabled: boolean;
            /** @description Give the agent a sandbox to run JavaScript in: 5 seconds and 64 MiB at a time, without network and files. */
            sandboxEnabled: boolean;
            /** @description Let the agent show user interface components with its replies (`ui` of a message). */
            genuiEnabled: boolean;
            /** @description Render the variables into the system prompt. */
            dynamicPromptEnabled: boolean;
            /** @description Accept voice messages: a model provider transcribes them, and the agent reads the transcript. */
            audioListeningEnabled: boolean;
            /** @description Read replies aloud (`audioUrl` of a message). Needs a `ttsVoice`. */
            audioResponseEnabled: boolean;
            /** @description Voice of the audio responses, such as `alloy`. A voice that the provider does not have is replaced by its default voice. */
            ttsVoice: string | null;
            /** @description Remember facts about an end user, by `externalUserId`, from one conversation with the agent to the next. */
            longTermMemoryEnabled: boolean;
            /** @description What to remember and what not. */
            memoryCustomInstructions: string | null;
            /** @description Wait before each message on a channel, as long as typing it would take. `sendMessage` and `streamMessage` never wait. */
            messageDelayEnabled: boolean;
            /** @description How long to wait, when the delay is on; `null` is `MEDIUM`. */
            messageDelayType: components["schemas"]["MessageDelayTier"] | null;
            /** @description Split a long reply into several messages, at most six, between its paragraphs. */
            messageSplittingEnabled: boolean;
            /** @description Write again to an end user who has stopped writing. Needs `followUpMaxAttempts` and `followUpIntervalMinutes`. */
            followUpEnabled: boolean;
            /**
             * Format: int32
             * @description Hours of silence before the first follow-up. With `followUpInactivityMinutes` the longer of the two counts, without both the interval.
             */
            followUpAfterHours: number | null;
            /**
             * Format: int32
             * @description Minutes of silence after which a conversation counts as quiet: no follow-up comes earlier.
             */
            followUpInactivityMinutes: number | null;
            /**
             * Format: int32
             * @description Minutes from one follow-up to the next, while the user stays silent.
             */
            followUpIntervalMinutes: number | null;
            /**
             * Format: int32
             * @description Maximum number of follow-ups in one conversation, over its whole lifetime.
             */
            followUpMaxAttempts: number | null;
            /**
             * @description Time of day from which follow-ups may be sent, in the time zone of the workspace. Comes as a pair with the end, and before it.
             * @example 09:00:00
             */
            followUpBusinessHoursStart: string | null;
            /**
             * @description Time of day until which follow-ups may be sent. What comes due later waits for the next start.
             * @example 18:00:00
             */
            followUpBusinessHoursEnd: string | null;
            /** @description What a follow-up should say. */
            followUpPrompt: string | null;
            /**
             * Format: date-time
             * @description When the agent was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the agent was last changed.
             */
            updatedAt: string;
        };
        /** @description A slash command of an agent. A message that begins with `/` and the word of an active command, followed by nothing or by white space, invokes it: the agent gets the prompt in its place and, after a blank line, what was typed behind the word. White space before the slash does not count, upper case does. The message itself is stored as it was typed. A word that no active command has is text like any other. */
        AgentCommand: {
            /**
             * Format: uuid
             * @description The command's id.
             */
            publicId: string;
            /** @description Name to show to people, unique among the commands of the agent. */
            name: string;
            /** @description What is typed after the slash, unique among the commands of the agent. */
            command: string;
            /** @description What the command is for. */
            description: string | null;
            /** @description What the agent gets when the command is invoked, followed by what was typed after it. Variables are not rendered into it. */
            prompt: string;
            status: components["schemas"]["CommandStatus"];
            /**
             * Format: int64
             * @description How many messages have invoked the command, also those whose turn failed.
             */
            usageCount: number;
            /**
             * Format: date-time
             * @description When the command was last invoked; `null` while it never was.
             */
            lastUsedAt: string | null;
            /**
             * Format: date-time
             * @description When the command was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the command was last changed; being invoked does not count.
             */
            updatedAt: string;
        };
        /** @description A new slash command. */
        AgentCommandCreate: {
            /** @description Name to show to people, unique among the commands of the agent. */
            name: string;
            /** @description What is typed after the slash, unique among the commands of the agent. No hyphen at either end. */
            command: string;
            /** @description What the command is for. */
            description?: string | null;
            /** @description What the agent gets when the command is invoked, followed by what was typed after it. Variables are not rendered into it. */
            prompt: string;
        };
        /** @description The fields to change. An absent field stays as it is. */
        AgentCommandUpdate: {
            /** @description Name to show to people, unique among the commands of the agent. */
            name?: string;
            /** @description What is typed after the slash, unique among the commands of the agent. No hyphen at either end. */
            command?: string;
            /** @description What the command is for. */
            description?: string;
            /** @description What the agent gets when the command is invoked, followed by what was typed after it. Variables are not rendered into it. */
            prompt?: string;
            status?: components["schemas"]["CommandStatus"];
        };
        /** @description A new agent. */
        AgentCreate: {
            /** @description Name, unique among the agents of the workspace. */
            name: string;
            /** @description What the agent is for. */
            description?: string | null;
            /** @description Picture of the agent, an http or https address. */
            avatarUrl?: string | null;
            /** @description Free-form tags to find the agent by; absent or `null` for none. Equal tags are stored once. */
            categories?: string[] | null;
        };
        /**
         * @description A capability of an agent that can be switched on and off. What each feature does once it is published, by its key:
         *
         *     - `follow-up`: the agent writes again to an end user who has stopped writing, also in conversations of this API.
         *       `listConversationMessages` has these messages, and each counts as an operation. No follow-up is sent while a call
         *       waits for approval. A follow-up that is due while the conversation is paused or ended, or while the agent is not
         *       active, is dropped. One that fails is retried after 15 minutes, with three attempts in total.
         *     - `message-splitting`: a reply is several messages, at most six, cut between paragraphs. Lists, tables and code stay
         *       whole. A reply that waits for approval is not cut.
         *     - `message-delay`: a reply on a channel is delayed by the time that typing it would take. `sendMessage` and
         *       `streamMessage` never wait.
         *     - `long-term-memory`: the agent stores facts about an end user and uses them in later conversations with the same
         *       `externalUserId`: at most 200 facts of 1,000 characters. When there are more, those mentioned longest ago are removed. Other agents
         *       do not see them.
         *     - `sandbox`: the agent can run JavaScript, with at most 5 seconds and 64 MiB for each run, without network and files.
         *     - `genui`: the agent can show components with a reply (`ui` of a message).
         *     - `audio`: an agent that listens accepts voice messages (`Attachment`); an agent that speaks has its replies read
         *       aloud (`audioUrl` of a message). Both need a configured provider.
         *     - `web-search`: the agent can search the web with the search service of this server. When the server has no search
         *       service, the agent says so.
         *
         *     A sub-agent replies to the agent that delegated to it: its replies are not split, not spoken, and have no components.
         */
        AgentFeature: {
            key: components["schemas"]["FeatureKey"];
            /** @description Name to show to people. Its wording may change. Where the server has no search service, that of `web-search` is `Web search (not configured on this server)`. */
            label: string;
            /** @description Whether the feature is on. `audio` is on when listening or audio responses are. */
            enabled: boolean;
            config: components["schemas"]["FeatureConfig"];
        };
        /** @description The switch and the settings to change. An absent field stays as it is. */
        AgentFeatureUpdate: {
            /** @description Switch the feature on or off; `null` switches it off. `audio` switched on changes nothing while a part is on, and else switches listening on; switched off, it switches off both. When `config` names parts they count: switched on with no part on, or switched off with one switched on, is 422 `FEATURE_VALIDATION_ERROR`. */
            enabled?: boolean | null;
            /** @description The settings to change. A setting that is left out stays as it is, `null` clears one, and `null` in place of the object clears them all, for `audio` both parts among them. A setting that the feature does not have, or a value out of its bounds, is 422 `FEATURE_VALIDATION_ERROR`, and `details` names each. */
            config?: components["schemas"]["FeatureConfig"] | null;
        };
        /** @description An agent in a list. */
        AgentListItem: {
            /**
             * Format: uuid
             * @description The agent's id.
             */
            publicId: string;
            /** @description Name, unique among the agents of the workspace. */
            name: string;
            /** @description Picture of the agent. */
            avatarUrl: string | null;
            status: components["schemas"]["AgentStatus"];
            /**
             * Format: int32
             * @description Number that the draft will have once it is published; `null` while the agent is archived.
             */
            draftVersionNumber: number | null;
            /**
             * Format: int32
             * @description Number of the published version; `null` until the agent is published.
             */
            publishedVersionNumber: number | null;
            /**
             * Format: date-time
             * @description When the agent was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the agent was last changed.
             */
            updatedAt: string;
        };
        /** @description The AI model of an agent, with its settings. */
        AgentModel: {
            /**
             * Format: uuid
             * @description The AI model, one of `listAiModels`; `null` until one is chosen.
             */
            aiModelPublicId: string | null;
            /** @description Display name of the AI model; `null` until one is chosen. */
            aiModelName: string | null;
            /** @description Key of the provider that runs the model; `null` until a model is chosen. */
            provider: components["schemas"]["ModelProvider"] | null;
            /**
             * @description Name of the model at its provider; `null` until a model is chosen.
             * @example gpt-4.1
             */
            modelId: string | null;
            /**
             * Format: double
             * @description Randomness of the replies, within the range of the model; `null` leaves it to the model.
             */
            temperature: number | null;
            /** @description Let the model think before it answers. */
            thinkingEnabled: boolean;
            /** @description How much the model may think once thinking is on; `null` is `medium`. */
            thinkingEffort: components["schemas"]["ThinkingEffort"] | null;
            /** @description What the model is able to do; `null` until one is chosen. */
            capabilities: components["schemas"]["ModelCapabilities"] | null;
        };
        /** @description The fields to change. An absent field stays as it is, `null` clears it. */
        AgentModelUpdate: {
            /**
             * Format: uuid
             * @description The AI model, one of `listAiModels`.
             */
            aiModelPublicId?: string | null;
            /**
             * Format: double
             * @description Randomness of the replies, within the range of the model; `null` leaves it to the model.
             */
            temperature?: number | null;
            /** @description Let the model think before it answers. The model must support it. `null` switches it off. */
            thinkingEnabled?: boolean | null;
            /** @description How much the model may think once thinking is on; `null` is `medium`. */
            thinkingEffort?: components["schemas"]["ThinkingEffort"] | null;
        };
        /** @description A page of agents. */
        AgentPage: {
            /** @description The agents of this page. */
            items: components["schemas"]["AgentListItem"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /** @description The editable prompt of an agent. */
        AgentPrompt: {
            /** @description Instructions that open every conversation. `{{name}}` is replaced by a variable, or by date or time (`updateAgentPrompt`), when `dynamicPromptEnabled` is on. */
            systemPrompt: string | null;
            /** @description Render the variables into the system prompt. */
            dynamicPromptEnabled: boolean;
            /** @description The variables of the agent, ordered by `sortOrder` and then by `createdAt`. */
            variables: components["schemas"]["AgentVariable"][];
        };
        /** @description The fields to change. An absent field stays as it is, `null` clears it. */
        AgentPromptUpdate: {
            /** @description Instructions that open every conversation. `{{name}}` is replaced by a variable, or by date or time (`updateAgentPrompt`), when `dynamicPromptEnabled` is on. */
            systemPrompt?: string | null;
            /** @description Render the variables into the system prompt. `null` switches it off. */
            dynamicPromptEnabled?: boolean | null;
        };
        /** @description What to say about the new version. */
        AgentPublish: {
            /** @description Release notes of the version. */
            notes?: string | null;
        };
        /**
         * @description `draft`: never published. `active`: published and answering. `inactive`: published, but switched off in the console. `archived`: put away in the console; it has no draft until it is taken out again.
         * @enum {string}
         */
        AgentStatus: "draft" | "active" | "inactive" | "archived";
        /** @description The fields to change. An absent field stays as it is, `null` clears it. */
        AgentUpdate: {
            /** @description Name, unique among the agents of the workspace. */
            name?: string;
            /** @description What the agent is for. */
            description?: string | null;
            /** @description Picture of the agent, an http or https address. */
            avatarUrl?: string | null;
            /** @description Free-form tags to find the agent by. The list replaces the present one; `null` takes all away, as `[]` does. Equal tags are stored once. */
            categories?: string[] | null;
            /** @description Instructions that open every conversation. `{{name}}` is replaced by a variable, or by date or time (`updateAgentPrompt`), when `dynamicPromptEnabled` is on. */
            systemPrompt?: string | null;
            /**
             * Format: uuid
             * @description The AI model, one of `listAiModels`.
             */
            aiModelPublicId?: string | null;
            /**
             * Format: double
             * @description Randomness of the replies, within the range of the model; `null` leaves it to the model. Models of OpenAI and Anthropic take none while they think.
             */
            temperature?: number | null;
            /** @description Let the model think before it answers. The model must support it. `null` switches it off. */
            thinkingEnabled?: boolean | null;
            /** @description How much the model may think once thinking is on; `null` is `medium`. */
            thinkingEffort?: components["schemas"]["ThinkingEffort"] | null;
            /** @description Let the agent search the web. Where this server has no search service, the agent says so. `null` switches it off. */
            webSearchEnabled?: boolean | null;
            /** @description Give the agent a sandbox to run JavaScript in: 5 seconds and 64 MiB at a time, without network and files. `null` switches it off. */
            sandboxEnabled?: boolean | null;
            /** @description Let the agent show user interface components with its replies (`ui` of a message). `null` switches it off. */
            genuiEnabled?: boolean | null;
            /** @description Render the variables into the system prompt. `null` switches it off. */
            dynamicPromptEnabled?: boolean | null;
            /** @description Accept voice messages: a model provider transcribes them, and the agent reads the transcript. `null` switches it off. */
            audioListeningEnabled?: boolean | null;
            /** @description Read replies aloud (`audioUrl` of a message). Needs a `ttsVoice`. `null` switches it off. */
            audioResponseEnabled?: boolean | null;
            /** @description Voice of the audio responses, such as `alloy`. A voice that the provider does not have is replaced by its default voice. */
            ttsVoice?: string | null;
            /** @description Remember facts about an end user, by `externalUserId`, from one conversation with the agent to the next. `null` switches it off. */
            longTermMemoryEnabled?: boolean | null;
            /** @description What to remember and what not. */
            memoryCustomInstructions?: string | null;
            /** @description Wait before each message on a channel, as long as typing it would take. `sendMessage` and `streamMessage` never wait. `null` switches it off. */
            messageDelayEnabled?: boolean | null;
            /** @description How long to wait, when the delay is on; `null` is `MEDIUM`. */
            messageDelayType?: components["schemas"]["MessageDelayTier"] | null;
            /** @description Split a long reply into several messages, at most six, between its paragraphs. `null` switches it off. */
            messageSplittingEnabled?: boolean | null;
            /** @description Write again to an end user who has stopped writing. Needs `followUpMaxAttempts` and `followUpIntervalMinutes`. `null` switches it off. */
            followUpEnabled?: boolean | null;
            /**
             * Format: int32
             * @description Hours of silence before the first follow-up. With `followUpInactivityMinutes` the longer of the two counts, without both the interval.
             */
            followUpAfterHours?: number | null;
            /**
             * Format: int32
             * @description Minutes of silence after which a conversation counts as quiet: no follow-up comes earlier.
             */
            followUpInactivityMinutes?: number | null;
            /**
             * Format: int32
             * @description Minutes from one follow-up to the next, while the user stays silent.
             */
            followUpIntervalMinutes?: number | null;
            /**
             * Format: int32
             * @description Maximum number of follow-ups in one conversation, over its whole lifetime.
             */
            followUpMaxAttempts?: number | null;
            /**
             * @description Time of day (`HH:MM:SS` or `HH:MM`) from which follow-ups may be sent, in the time zone of the workspace. Comes as a pair with the end, and before it.
             * @example 09:00:00
             */
            followUpBusinessHoursStart?: string | null;
            /**
             * @description Time of day (`HH:MM:SS` or `HH:MM`) until which follow-ups may be sent. What comes due later waits for the next start.
             * @example 18:00:00
             */
            followUpBusinessHoursEnd?: string | null;
            /** @description What a follow-up should say. */
            followUpPrompt?: string | null;
        };
        /** @description A variable of an agent's dynamic prompt. */
        AgentVariable: {
            /**
             * Format: uuid
             * @description The variable's id.
             */
            publicId: string;
            /** @description Name, unique among the variables of the agent. The system prompt refers to it as `{{name}}`. */
            name: string;
            /** @description What a form shows for the variable. */
            label: string;
            /** @description Help text for whoever fills in the value. */
            description: string | null;
            type: components["schemas"]["VariableType"];
            /** @description Whether a conversation needs a value. A message without a value or default is 422 `MISSING_VARIABLE`. */
            required: boolean;
            /** @description Value where a conversation gives none, in the form that `type` demands; `null` when there is no default. */
            defaultValue: unknown;
            /** @description What can be chosen, ordered by `sortOrder`; `null` unless `type` is `single_choice` or `multi_choice`. */
            options: components["schemas"]["VariableOption"][] | null;
            /** @description Text between the chosen options in the prompt; `null` unless `type` is `multi_choice`. */
            multiChoiceSeparator: string | null;
            /** @description What the prompt says when the value is true; `null` stands for `true`. Also `null` unless `type` is `bool`. */
            booleanTextWhenTrue: string | null;
            /** @description What the prompt says when the value is false; `null` stands for `false`. Also `null` unless `type` is `bool`. */
            booleanTextWhenFalse: string | null;
            /**
             * Format: int32
             * @description Position among the variables of the agent.
             */
            sortOrder: number;
            /**
             * Format: date-time
             * @description When the variable was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the variable was last changed.
             */
            updatedAt: string;
        };
        /** @description A new variable. */
        AgentVariableCreate: {
            /** @description Name, unique among the variables of the agent: a lower-case letter, then at most 49 lower-case letters, digits or underscores. The system prompt refers to it as `{{name}}`. */
            name: string;
            /** @description What a form shows for the variable. */
            label: string;
            /** @description Help text for whoever fills in the value. */
            description?: string | null;
            type: components["schemas"]["VariableType"];
            /** @description Whether a conversation needs a value; absent for false. A message without a value or default is 422 `MISSING_VARIABLE`. */
            required?: boolean;
            /** @description Value where a conversation gives none, in the form that `type` demands; `null` is no default. */
            defaultValue?: unknown;
            /** @description What can be chosen. Needed for `single_choice` and `multi_choice`, at least one; for other types leave it out. */
            options?: components["schemas"]["VariableOptionInput"][] | null;
            /** @description Text between the chosen options in the prompt, `, ` when it is left out. Only kept for `multi_choice`. */
            multiChoiceSeparator?: string | null;
            /** @description What the prompt says when the value is true, `true` without it. Only kept for `bool`. */
            booleanTextWhenTrue?: string | null;
            /** @description What the prompt says when the value is false, `false` without it. Only kept for `bool`. */
            booleanTextWhenFalse?: string | null;
            /**
             * Format: int32
             * @description Position among the variables of the agent, absent for 0; variables with equal positions are in the order of their creation.
             */
            sortOrder?: number;
        };
        /** @description Confirms that a variable is removed for good. */
        AgentVariableDelete: {
            /** @description Must be `DELETE` when `mode` is `purge`; ignored otherwise. */
            confirmation?: string | null;
        };
        /** @description The fields to change. An absent field stays as it is, `null` clears it. */
        AgentVariableUpdate: {
            /** @description Name, unique among the variables of the agent: a lower-case letter, then at most 49 lower-case letters, digits or underscores. The system prompt refers to it as `{{name}}`. */
            name?: string;
            /** @description What a form shows for the variable. */
            label?: string;
            /** @description Help text for whoever fills in the value. */
            description?: string | null;
            type?: components["schemas"]["VariableType"];
            /** @description Whether a conversation needs a value. A message without a value or default is 422 `MISSING_VARIABLE`. */
            required?: boolean;
            /** @description Value where a conversation gives none, in the form that `type` demands; `null` is no default. */
            defaultValue?: unknown;
            /** @description What can be chosen, for `single_choice` and `multi_choice` only, at least one. The list replaces the present one; `null` takes all away, as `[]` does, which these two types refuse. */
            options?: components["schemas"]["VariableOptionInput"][] | null;
            /** @description Text between the chosen options in the prompt, `, ` when it is cleared. Only kept for `multi_choice`. */
            multiChoiceSeparator?: string | null;
            /** @description What the prompt says when the value is true, `true` without it. Only kept for `bool`. */
            booleanTextWhenTrue?: string | null;
            /** @description What the prompt says when the value is false, `false` without it. Only kept for `bool`. */
            booleanTextWhenFalse?: string | null;
            /**
             * Format: int32
             * @description Position among the variables of the agent; variables with equal positions are in the order of their creation.
             */
            sortOrder?: number;
        };
        /** @description A published version of an agent, frozen with its settings, variables and links. Links to external and native MCP servers are frozen with it but not shown. */
        AgentVersion: {
            /**
             * Format: int32
             * @description Number of the version, counted from 1 for each agent.
             */
            versionNumber: number;
            /** @description Release notes that were given when the version was published. */
            notes: string | null;
            /**
             * Format: date-time
             * @description When the version was published.
             */
            createdAt: string;
            /** @description Display name of the AI model when the version was published. */
            aiModelName: string | null;
            /**
             * Format: uuid
             * @description The AI model. It may have been removed since.
             */
            aiModelPublicId: string | null;
            /** @description Instructions that open every conversation. `{{name}}` is replaced by a variable, or by date or time (`updateAgentPrompt`), when `dynamicPromptEnabled` is on. */
            systemPrompt: string | null;
            /**
             * Format: double
             * @description Randomness of the replies, within the range of the model; `null` leaves it to the model.
             */
            temperature: number | null;
            /** @description Let the model think before it answers. The model must support it. */
            thinkingEnabled: boolean;
            /** @description How much the model may think once thinking is on; `null` is `medium`. */
            thinkingEffort: components["schemas"]["ThinkingEffort"] | null;
            /** @description Let the agent search the web. */
            webSearchEnabled: boolean;
            /** @description Give the agent a sandbox to run code in. */
            sandboxEnabled: boolean;
            /** @description Let the agent answer with user interface components. */
            genuiEnabled: boolean;
            /** @description Render the variables into the system prompt. */
            dynamicPromptEnabled: boolean;
            /** @description Understand voice messages. */
            audioListeningEnabled: boolean;
            /** @description Answer with voice messages. Needs a `ttsVoice`. */
            audioResponseEnabled: boolean;
            /** @description Voice of the audio responses, such as `alloy`. */
            ttsVoice: string | null;
            /** @description Remember facts about an end user from one conversation to the next. */
            longTermMemoryEnabled: boolean;
            /** @description What to remember and what not. */
            memoryCustomInstructions: string | null;
            /** @description Wait before answering on a channel, as a person would. */
            messageDelayEnabled: boolean;
            /** @description How long to wait, when the delay is on. */
            messageDelayType: components["schemas"]["MessageDelayTier"] | null;
            /** @description Split a long reply into several messages. */
            messageSplittingEnabled: boolean;
            /** @description Write again to an end user who has stopped writing. Needs `followUpMaxAttempts` and `followUpIntervalMinutes`. */
            followUpEnabled: boolean;
            /**
             * Format: int32
             * @description Hours of silence before the first follow-up.
             */
            followUpAfterHours: number | null;
            /**
             * Format: int32
             * @description Minutes of silence after which a conversation counts as quiet.
             */
            followUpInactivityMinutes: number | null;
            /**
             * Format: int32
             * @description Minutes between two follow-ups.
             */
            followUpIntervalMinutes: number | null;
            /**
             * Format: int32
             * @description Maximum number of follow-ups in one conversation.
             */
            followUpMaxAttempts: number | null;
            /**
             * @description Time of day from which follow-ups may be sent. Comes as a pair with the end, and before it.
             * @example 09:00:00
             */
            followUpBusinessHoursStart: string | null;
            /**
             * @description Time of day until which follow-ups may be sent.
             * @example 18:00:00
             */
            followUpBusinessHoursEnd: string | null;
            /** @description What a follow-up should say. */
            followUpPrompt: string | null;
            /** @description The variables of the version by name, as they were defined. */
            variablesSnapshot: {
                [key: string]: components["schemas"]["AgentVariable"];
            };
            /** @description The tools that were linked. */
            httpTools: components["schemas"]["VersionHttpTool"][];
            /** @description The knowledge sources that were linked. */
            knowledgeSources: components["schemas"]["VersionKnowledgeSource"][];
            /** @description The skills that were linked. */
            skills: components["schemas"]["VersionSkill"][];
            /** @description The sub-agents that were linked, in their order. */
            subAgents: components["schemas"]["VersionSubAgent"][];
        };
        /** @description A published version in a list. */
        AgentVersionListItem: {
            /**
             * Format: int32
             * @description Number of the version, counted from 1 for each agent.
             */
            versionNumber: number;
            /** @description Release notes that were given when the version was published. */
            notes: string | null;
            /**
             * Format: date-time
             * @description When the version was published.
             */
            createdAt: string;
        };
        /** @description A page of versions. */
        AgentVersionPage: {
            /** @description The versions of this page. */
            items: components["schemas"]["AgentVersionListItem"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /** @description An AI model that the workspace can use. */
        AiModel: {
            /**
             * Format: uuid
             * @description The model's id. It stays the same from one release of the catalogue to the next.
             */
            publicId: string;
            /** @description Display name. */
            name: string;
            /** @description What the model is good for. */
            description: string | null;
            scope: components["schemas"]["AiModelScope"];
            /** @description Whether the model can be used now, which it can when its provider is configured on this server. */
            active: boolean;
            provider: components["schemas"]["ModelProvider"];
            /**
             * @description Who made the model, to group by.
             * @example OpenAI
             */
            displayProvider: string;
            /**
             * @description Name of the model at its provider.
             * @example gpt-4.1
             */
            modelId: string;
            /** @description Absolute address of an icon. */
            iconUrl: string | null;
            /**
             * Format: int32
             * @description Most tokens that a request to the model can hold; `null` when it is not known.
             */
            contextWindow: number | null;
            /** @description Whether a temperature can be set. */
            supportsTemperature: boolean;
            /**
             * Format: double
             * @description Lowest temperature; `null` when none can be set.
             */
            minTemperature: number | null;
            /**
             * Format: double
             * @description Highest temperature; `null` when none can be set.
             */
            maxTemperature: number | null;
            /** @description Whether the model can think before it answers. */
            supportsThinking: boolean;
            /** @description Whether the model takes images. */
            supportsImage: boolean;
            /** @description Whether the model takes documents, such as PDF. */
            supportsDocument: boolean;
            /**
             * Format: double
             * @description US dollars for a million tokens of input; `null` when the price is not known.
             */
            inputCostPer1MTokens: number | null;
            /**
             * Format: double
             * @description US dollars for a million tokens of output; `null` when the price is not known.
             */
            outputCostPer1MTokens: number | null;
            /**
             * Format: date-time
             * @description When the model was added.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the model's entry was last changed.
             */
            updatedAt: string;
        };
        /**
         * @description `global`: from the catalogue of this server. `workspace`: a model of the workspace's own.
         * @enum {string}
         */
        AiModelScope: "global" | "workspace";
        /** @description Body of every 4xx and 5xx response. */
        ApiError: {
            code: components["schemas"]["ErrorCode"];
            /**
             * @description One sentence that a person can act on. Its wording may change.
             * @example No agent with this id exists in the workspace.
             */
            message: string;
            /**
             * Format: int32
             * @description The HTTP status, repeated for clients that only keep the body.
             * @example 404
             */
            status: number;
            /**
             * @description The request's id, as in the `X-Request-Id` header. Quote it when you report a problem.
             * @example 0192f0c1-8e2a-7c44-9f0e-6b1f3f1d2a77
             */
            requestId: string;
            /** @description What exactly is wrong with the request, one entry for each error, of which the first 20 are listed; empty unless the request failed validation. */
            details: components["schemas"]["ErrorDetail"][];
        };
        /**
         * @description What a person decides on a pending tool call.
         * @enum {string}
         */
        ApprovalDecision: "approve" | "reject";
        /**
         * @description Who decides on the pending tool calls of a conversation. `user`: whoever writes in it. `operator`: a person of the workspace.
         * @enum {string}
         */
        ApprovalsBy: "user" | "operator";
        /** @description A file for the agent, given either as `base64` or as `url`. Accepted are PNG, JPEG, WebP, GIF, PDF, plain text, CSV and Markdown. Any other kind is 422 `UNSUPPORTED_ATTACHMENT`, and so is a kind that the model does not accept. An agent with `audioListeningEnabled` also accepts MP3, WAV, OGG, WebM, M4A and FLAC, whatever its model accepts: a model provider transcribes the recording, and the agent reads the transcript, in later turns too. A recording that no configured provider can transcribe is 422 `UNSUPPORTED_ATTACHMENT`. The kind is found from the content, not from the name. All attachments of a message together have at most 20 MiB; more is 422 `ATTACHMENT_TOO_LARGE`. */
        Attachment: {
            /** @description The content in base64, at most 1 MiB once decoded. Larger files are given by `url`, as are several that would make the body larger than its 2 MiB. */
            base64?: string;
            /** @description Public http or https address that the content is fetched from, at most 10 MiB, else 422 `ATTACHMENT_TOO_LARGE`. */
            url?: string;
            /** @description Name of the file. The agent sees it. */
            filename?: string;
            /**
             * @description Media type of the content. It distinguishes plain text, CSV and Markdown; other kinds do not need it.
             * @example text/csv
             */
            mediaType?: string;
        };
        /** @description Settings of `audio`, which has two parts. Spoken answers need a voice. */
        AudioConfig: {
            /** @description Accept voice messages; `null` switches it off. */
            listeningEnabled?: boolean | null;
            /** @description Read replies aloud; `null` switches it off. */
            responseEnabled?: boolean | null;
            /** @description Voice of the spoken answers, such as `alloy`. */
            voice?: string | null;
        };
        /** @description An instruction that an agent carries out on a schedule, on an event or by hand. */
        Automation: {
            /**
             * Format: uuid
             * @description The automation's id.
             */
            publicId: string;
            /** @description Name, unique among the automations of the agent. */
            name: string;
            /** @description What the automation is for. */
            description: string | null;
            /** @description The prompt that the agent gets when the automation runs. */
            prompt: string;
            status: components["schemas"]["AutomationStatus"];
            hitlMode: components["schemas"]["HitlMode"];
            triggerMode: components["schemas"]["AutomationTriggerMode"];
            /**
             * @description Cron expression; `null` when none is set. Only trigger mode `schedule` uses it.
             * @example 0 9 * * 1-5
             */
            schedule: string | null;
            /**
             * @description IANA time zone in which the cron expression is read; `null` when no schedule is set.
             * @example America/Sao_Paulo
             */
            timezone: string | null;
            /**
             * @description Slug of the toolkit whose event is waited for; `null` unless the trigger mode is `webhook`.
             * @example gmail
             */
            triggerToolkitSlug: string | null;
            /**
             * @description Slug of the trigger within the toolkit; `null` unless the trigger mode is `webhook`.
             * @example GMAIL_NEW_EMAIL
             */
            triggerSlug: string | null;
            /** @description Configuration of the trigger, in the shape of its `configSchema`; empty when there is none. Secret values read `********`. With trigger mode `webhook_url`, and with `webhook` for the toolkits `github`, `stripe` and `webhook`, its `webhookUrl` is the secret address to send requests to, as the webhook `automation` says. Only the response of the request that makes the address shows it; from then on its secret reads `********`. */
            triggerConfig: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When the automation last ran; `null` until it has.
             */
            lastRunAt: string | null;
            /** @description Status of the last execution; `null` until there is one. */
            lastRunStatus: components["schemas"]["AutomationExecutionStatus"] | null;
            /**
             * Format: date-time
             * @description When the schedule fires next; `null` unless the automation is active and runs on a schedule. The run begins up to 30 seconds after it.
             */
            nextRunAt: string | null;
            /**
             * Format: date-time
             * @description When the automation was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the automation was last changed.
             */
            updatedAt: string;
        };
        /** @description A new automation. */
        AutomationCreate: {
            /** @description Name, unique among the automations of the agent. */
            name: string;
            /** @description What the automation is for. */
            description?: string | null;
            /** @description The prompt that the agent gets when the automation runs. */
            prompt: string;
            /** @description What happens when a run calls a tool that needs approval; absent for `pause_on_approval`. */
            hitlMode?: components["schemas"]["HitlMode"];
            triggerMode: components["schemas"]["AutomationTriggerMode"];
            /**
             * @description Cron expression of five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`. Required with trigger mode `schedule`, ignored with the others. A local time that clocks skip runs at the next one that they show, and a local time that they show twice runs once; an expression of every hour runs each hour that passes.
             * @example 0 9 * * 1-5
             */
            schedule?: string | null;
            /**
             * @description IANA time zone in which the cron expression is read; `UTC` when left out.
             * @example America/Sao_Paulo
             */
            timezone?: string | null;
            /**
             * @description Slug of the toolkit whose event to wait for. Required with trigger mode `webhook`.
             * @example gmail
             */
            triggerToolkitSlug?: string | null;
            /**
             * @description Slug of the trigger within the toolkit. Required with trigger mode `webhook`.
             * @example GMAIL_NEW_EMAIL
             */
            triggerSlug?: string | null;
            /** @description Configuration of the trigger, in the shape of the `configSchema` that `getNativeMcpTrigger` shows; absent or `null` for none. Secret values are stored encrypted and read `********`. A `webhookUrl` is made by the service; one sent here is ignored. */
            triggerConfig?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description What happened, as the sender says it; any fields. Any other JSON is taken, too. */
        AutomationEvent: {
            [key: string]: unknown;
        };
        /** @description What happened, as the fields of a form. */
        AutomationEventForm: {
            [key: string]: unknown;
        };
        /** @description What happened, as text. */
        AutomationEventText: string;
        /** @description One run of an automation. */
        AutomationExecution: {
            /**
             * Format: uuid
             * @description The execution's id.
             */
            publicId: string;
            status: components["schemas"]["AutomationExecutionStatus"];
            /**
             * @description What started the execution: `schedule`, `webhook_url`, `webhook:` with the slug of the trigger behind it, or `manual`.
             * @example schedule
             */
            triggeredBy: string;
            /**
             * Format: date-time
             * @description When the execution was dispatched.
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description When the execution ended, well or not; `null` until then.
             */
            completedAt: string | null;
            /**
             * Format: int32
             * @description Milliseconds from start to end; `null` until the execution has ended.
             */
            durationMs: number | null;
            /** @description Why the execution failed, without any secret; `null` unless the status is `FAILED`. It begins with an error code, or with `Skipped:` for a slot that was not run. The execution that failed last says when the automation became inactive: after ten failures in a row. */
            errorMessage: string | null;
        };
        /** @description A page of executions. */
        AutomationExecutionPage: {
            /** @description The executions of this page. */
            items: components["schemas"]["AutomationExecution"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /**
         * @description State of an execution: `DISPATCHED` waits for its turn, `RUNNING` at work, `COMPLETED` ended well, `FAILED` ended with an error.
         * @enum {string}
         */
        AutomationExecutionStatus: "DISPATCHED" | "RUNNING" | "COMPLETED" | "FAILED";
        /**
         * @description Whether the automation runs when it is triggered (`active`) or rests (`inactive`). After ten failures in a row it becomes `inactive` by itself.
         * @enum {string}
         */
        AutomationStatus: "active" | "inactive";
        /**
         * @description What starts the automation: `manual` a person, in the console or with the admin command; `schedule` the clock; `webhook` an event of a third-party toolkit; `webhook_url` a request to the automation's own secret address.
         * @enum {string}
         */
        AutomationTriggerMode: "manual" | "schedule" | "webhook" | "webhook_url";
        /** @description The run that a request started. */
        AutomationTriggered: {
            /**
             * Format: uuid
             * @description The execution's id, as `listAutomationExecutions` shows it; `null` when the event does not match and nothing runs.
             */
            executionPublicId: string | null;
            /** @description Status of the execution; `null` when there is none. */
            status: components["schemas"]["AutomationExecutionStatus"] | null;
        };
        /** @description The fields to change. An absent field stays as it is. */
        AutomationUpdate: {
            /** @description Name, unique among the automations of the agent. */
            name?: string;
            /** @description What the automation is for. */
            description?: string;
            /** @description The prompt that the agent gets when the automation runs. */
            prompt?: string;
            status?: components["schemas"]["AutomationStatus"];
            hitlMode?: components["schemas"]["HitlMode"];
            triggerMode?: components["schemas"]["AutomationTriggerMode"];
            /**
             * @description Cron expression of five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`.
             * @example 0 9 * * 1-5
             */
            schedule?: string;
            /**
             * @description IANA time zone in which the cron expression is read.
             * @example America/Sao_Paulo
             */
            timezone?: string;
            /**
             * @description Slug of the toolkit whose event to wait for.
             * @example gmail
             */
            triggerToolkitSlug?: string;
            /**
             * @description Slug of the trigger within the toolkit.
             * @example GMAIL_NEW_EMAIL
             */
            triggerSlug?: string;
            /** @description Configuration of the trigger. The object replaces the present one; `null` clears it. A secret value that is sent as `********` stays what it is, as long as the toolkit stays the same. A `webhookUrl` is the service's and stays. */
            triggerConfig?: {
                [key: string]: unknown;
            } | null;
        };
        /** @description An external MCP server that can be linked to the agent. */
        AvailableExternalMcp: {
            /**
             * Format: uuid
             * @description The external MCP server's id.
             */
            publicId: string;
            /** @description Name of the server, unique in the workspace. */
            name: string;
            /** @description The server's description of itself; `null` when it has none. */
            description: string | null;
            /** @description Address of the server. */
            url: string;
            status: components["schemas"]["ExternalMcpStatus"];
        };
        /** @description A tool that can be linked to an agent. */
        AvailableHttpTool: {
            /**
             * Format: uuid
             * @description The tool's id.
             */
            publicId: string;
            /** @description Name of the tool. */
            name: string;
            /** @description What the tool does. */
            description: string | null;
            toolType: components["schemas"]["HttpToolType"];
        };
        /** @description A knowledge source that can be linked to an agent. */
        AvailableKnowledgeSource: {
            /**
             * Format: uuid
             * @description The knowledge source's id.
             */
            publicId: string;
            /** @description Name of the knowledge source. */
            name: string;
            /** @description What the source is about. */
            description: string | null;
        };
        /** @description A skill that can be linked to an agent. */
        AvailableSkill: {
            /**
             * Format: uuid
             * @description The skill's id.
             */
            publicId: string;
            /** @description Name of the skill. */
            name: string;
            /** @description What the skill does and when to use it. */
            description: string;
        };
        /** @description An agent that can be linked as a sub-agent. */
        AvailableSubAgent: {
            /**
             * Format: uuid
             * @description The agent's id.
             */
            publicId: string;
            /** @description Name of the agent, unique in the workspace. */
            name: string;
            /** @description What the agent is for. */
            description: string | null;
            status: components["schemas"]["AgentStatus"];
        };
        /**
         * @description `one_time`: paid once. `recurring`: paid again every `billingIntervalMonths` months.
         * @enum {string}
         */
        BillingType: "one_time" | "recurring";
        /** @description An agent's connection to a messaging surface. Its credentials are never part of it. */
        Channel: {
            /**
             * Format: uuid
             * @description The channel connection's id.
             */
            publicId: string;
            channelType: components["schemas"]["ChannelTypeKey"];
            /** @description Name of the channel type to show to people, such as `Web chat`. */
            channelName: string;
            /** @description Whether the agent answers on this channel. */
            isActive: boolean;
            /** @description Whether the connection has all the configuration and credentials that it needs to work. */
            isConfigured: boolean;
            /** @description Whether the channel keeps one shared instance (`STATIC`) or makes one when needed (`DYNAMIC`). */
            instanceMode: components["schemas"]["InstanceMode"];
            /** @description Configuration in the shape of the type's `configSchema`; `null` until it is set. */
            channelSpecificConfig: {
                [key: string]: unknown;
            } | null;
            /**
             * Format: date-time
             * @description When the channel was connected.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the channel was last changed.
             */
            updatedAt: string;
        };
        /** @description The fields to change. An absent field stays as it is. */
        ChannelConfigure: {
            /** @description Configuration in the shape of the type's `configSchema`, see `getChannelType`. The object replaces the present one; `null` clears it. */
            channelSpecificConfig?: {
                [key: string]: unknown;
            } | null;
            /** @description Credentials in the shape of the type's `credentialsSchema`; a type without one takes none. They replace the stored ones, are kept encrypted and never returned; `null` clears them. */
            credentials?: {
                [key: string]: unknown;
            } | null;
            /** @description Whether the agent answers on this channel. */
            isActive?: boolean;
        };
        /** @description The channel to connect. */
        ChannelConnect: {
            /**
             * @description One of `whatsapp`, `z_api` and `web_chat`; any other is 400 `INVALID_CHANNEL_TYPE`.
             * @example web_chat
             */
            channelType: string;
            /** @description Whether the agent answers on the channel as soon as it is configured; absent for true. */
            isActive?: boolean;
        };
        /** @description The instance mode to set. */
        ChannelInstanceModeUpdate: {
            /** @description Whether the channel keeps one shared instance (`STATIC`) or makes one when needed (`DYNAMIC`). */
            mode: components["schemas"]["InstanceMode"];
            /** @description Accept that the switch resets the state of the channel; absent for false. */
            confirm?: boolean;
        };
        /** @description What the API can do with channels of a type. */
        ChannelSupport: {
            /** @description Whether `channelSpecificConfig` can be set through the API. */
            configuration: boolean;
            /** @description Whether `credentials` can be set through the API. */
            credentials: boolean;
            /** @description Whether the type knows instance modes. */
            instanceMode: boolean;
            /** @description Whether a connection of this type can be tested through the API. No operation does so yet, so it is false. */
            test: boolean;
        };
        /** @description A channel type, what the API can do with it and how its connections are configured. */
        ChannelType: {
            type: components["schemas"]["ChannelTypeKey"];
            /** @description Name of the type to show to people, such as `WhatsApp via Z-API`. */
            label: string;
            /** @description What the type is for. */
            description: string;
            supports: components["schemas"]["ChannelSupport"];
            /** @description JSON Schema of `channelSpecificConfig`; `null` when it cannot be set through the API. */
            configSchema: {
                [key: string]: unknown;
            } | null;
            /** @description JSON Schema of `credentials`; `null` when the type takes none through the API. */
            credentialsSchema: {
                [key: string]: unknown;
            } | null;
        };
        /** @description Kind of messaging surface: `whatsapp` WhatsApp, set up in the console; `z_api` WhatsApp over Z-API; `web_chat` the service's own web chat. More may come. */
        ChannelTypeKey: "whatsapp" | "z_api" | "web_chat";
        /** @description A new client with its first users. */
        ClientCreate: {
            /** @description Name of the client workspace, unique within the hub in upper or lower case, without control characters. */
            workspaceName: string;
            /** @description The first users, each email once, in upper or lower case. */
            users: components["schemas"]["ClientUserCreate"][];
            /**
             * Format: uuid
             * @description Plan to start on; absent or `null` for none. Ignored when `inviteToTrial` is true.
             */
            planPublicId?: string | null;
            /** @description Start on the hub's trial plan instead; absent for false. */
            inviteToTrial?: boolean;
            /** @description Mail an invitation to each user at once; absent for false. */
            sendInvitations?: boolean;
            /**
             * Format: int32
             * @description Included credits to start with, bonus credits among them; absent or `null` for as many as the plan includes. Later renewals grant what the plan says. Needs a plan or a trial. Without effect where credits are unlimited.
             */
            creditsOverride?: number | null;
            /**
             * Format: date-time
             * @description End of the first billing period, in the future; absent or `null` for the interval of the plan, or the days of the trial. Later periods are counted from it. A one-time plan, which has no end otherwise, ends then. Needs a plan or a trial.
             */
            periodEndOverride?: string | null;
        };
        /** @description A client in a list. */
        ClientListItem: {
            /**
             * Format: uuid
             * @description The client's id.
             */
            publicId: string;
            /** @description Name of the client workspace, unique within the hub. */
            workspaceName: string;
            subscriptionStatus: components["schemas"]["SubscriptionStatus"];
            /** @description Name of the present plan; `null` without one. */
            planName: string | null;
            /**
             * Format: int64
             * @description Price of the present plan in its currency's smallest unit; `null` without a plan.
             */
            priceCents: number | null;
            /**
             * Format: int64
             * @description Included credits that are left.
             */
            creditsBalance: number;
            /**
             * Format: int64
             * @description Credits that the plan includes; `null` without a plan, or when credits are unlimited.
             */
            creditsLimit: number | null;
            /**
             * Format: int64
             * @description Bought credits that are left.
             */
            extraCreditsBalance: number;
            /** @description Whether the plan has unlimited credits. */
            unlimitedCredits: boolean;
            /**
             * Format: int32
             * @description Users that the client may have, as its plan says; `null` without a plan, which sets no limit.
             */
            seatsLimit: number | null;
            /**
             * Format: int32
             * @description Users that the client has.
             */
            usersCount: number;
            /**
             * Format: int64
             * @description What the model calls of the client have cost since it was created, in US cents, rounded.
             */
            totalCostCents: number;
            /**
             * Format: date-time
             * @description When the client was created.
             */
            createdAt: string;
        };
        /** @description A page of clients. */
        ClientPage: {
            /** @description The clients of this page. */
            items: components["schemas"]["ClientListItem"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /**
         * @description What a user may do inside the client workspace. Only an `admin` manages its users; a workspace never loses its last one through this API.
         * @enum {string}
         */
        ClientRole: "admin" | "member" | "editor" | "viewer";
        /** @description Why the client is suspended, kept for the record. */
        ClientSuspend: {
            /**
             * @description Reason, from a fixed list.
             * @enum {string}
             */
            cancellationReason?: "customer_request" | "payment_failed" | "switching_provider" | "not_needed" | "price" | "feature_missing" | "other";
            /** @description Reason, in your own words. */
            reason?: string;
        };
        /** @description A user of a client workspace. */
        ClientUser: {
            /**
             * Format: uuid
             * @description The user's id.
             */
            publicId: string;
            /** @description The user's name. */
            name: string;
            /** @description Email address, which is also the login. */
            email: string;
            role: components["schemas"]["ClientRole"];
            /** @description Whether the user has signed in and finished the first steps. */
            completedOnboarding: boolean;
            /**
             * Format: date-time
             * @description When the user was last active; `null` if never.
             */
            lastSeenAt: string | null;
        };
        /** @description A user to create in the new client workspace. */
        ClientUserCreate: {
            /** @description The user's name, without control characters. */
            name: string;
            /**
             * Format: email
             * @description Email address, which is also the login: `name@domain` in ASCII, with at most 64 characters before the `@`. A domain in other letters is given in its ASCII form (`xn--…`).
             */
            email: string;
            role: components["schemas"]["ClientRole"];
        };
        /** @description The new role, and the new name if that changes too. */
        ClientUserUpdate: {
            /** @description The user's name, without control characters. */
            name?: string;
            role: components["schemas"]["ClientRole"];
        };
        /** @description An end-customer of the hub: a workspace of its own, with users and a plan. */
        ClientWorkspace: {
            /**
             * Format: uuid
             * @description The client's id.
             */
            publicId: string;
            /** @description Name of the client workspace, unique within the hub. */
            workspaceName: string;
            subscriptionStatus: components["schemas"]["SubscriptionStatus"];
            /** @description The present plan; `null` without one. */
            plan: components["schemas"]["PlanRef"] | null;
            /** @description The plan that the client changes to later; `null` when no change is due. */
            pendingPlan: components["schemas"]["PendingPlanRef"] | null;
            /**
             * Format: int64
             * @description Included credits that are left.
             */
            creditsBalance: number;
            /**
             * Format: int64
             * @description Bought credits that are left.
             */
            extraCreditsBalance: number;
            /**
             * Format: int64
             * @description Credits used since the period began.
             */
            creditsUsedThisPeriod: number;
            /** @description Whether the plan has unlimited credits. */
            unlimitedCredits: boolean;
            /**
             * Format: date-time
             * @description When the billing period began; `null` without a plan.
             */
            currentPeriodStart: string | null;
            /**
             * Format: date-time
             * @description When the billing period ends; `null` without a plan, or when it has no end.
             */
            currentPeriodEnd: string | null;
            /**
             * Format: date-time
             * @description When included credits are granted again; `null` when they are not. A time after the period's end waits until the period is renewed.
             */
            nextCreditRenewalAt: string | null;
            /**
             * Format: int32
             * @description Users that the client may have, as its plan says; `null` without a plan, which sets no limit.
             */
            seatsLimit: number | null;
            /**
             * Format: int32
             * @description Users that the client has.
             */
            usersCount: number;
            /** @description The users. */
            users: components["schemas"]["ClientUser"][];
            /** @description Invitations that are not accepted yet, expired ones among them. */
            pendingInvitations: components["schemas"]["PendingInvitation"][];
            /**
             * Format: date-time
             * @description When the client was created.
             */
            createdAt: string;
        };
        /**
         * @description `active`: messages can invoke the command. `inactive`: it is kept, and its word is text like any other.
         * @enum {string}
         */
        CommandStatus: "active" | "inactive";
        /** @description A conversation between an end user and an agent. */
        Conversation: {
            /**
             * Format: uuid
             * @description The conversation's id.
             */
            publicId: string;
            /**
             * Format: uuid
             * @description The agent that answers. It may have been deleted since.
             */
            agentPublicId: string;
            channel: components["schemas"]["ConversationChannel"];
            /** @description The end user, as named when the conversation was created, or else a generated UUID. */
            externalUserId: string;
            /** @description Whether it was started as a test, which keeps it out of the inbox of the web console. */
            isTest: boolean;
            /** @description Whether a person has taken over: the agent handed the conversation over, an operator paused it, or a person answered in place of the agent on the phone. The agent does not answer meanwhile. A pause may end by itself. */
            isPaused: boolean;
            /** @description Whether it is over; it takes no more messages. */
            isEnded: boolean;
            /**
             * Format: int64
             * @description Number of stored messages of both roles; those of a reply that is split count each.
             */
            messageCount: number;
            /** @description What the first message gave as `metadata`, with the values of the variables as `variables`; `{}` when it gave none. */
            metadata: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When the conversation was created.
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description When the last message was sent, by either side.
             */
            lastMessageAt: string;
        };
        /** @description Where a conversation takes place. `api`: this API. `web_chat`: the chat page. `whatsapp` and `z_api`: WhatsApp, by its own interface or through Z-API. More may come. */
        ConversationChannel: "api" | "web_chat" | "whatsapp" | "z_api";
        /** @description A conversation in a list. */
        ConversationListItem: {
            /**
             * Format: uuid
             * @description The conversation's id.
             */
            publicId: string;
            /**
             * Format: uuid
             * @description The agent that answers. It may have been deleted since.
             */
            agentPublicId: string;
            channel: components["schemas"]["ConversationChannel"];
            /** @description The end user, as named when the conversation was created, or else a generated UUID. */
            externalUserId: string;
            /** @description Whether it was started as a test, which keeps it out of the inbox of the web console. */
            isTest: boolean;
            /** @description Whether a person has taken over; the agent does not answer meanwhile. */
            isPaused: boolean;
            /** @description Whether it is over; it takes no more messages. */
            isEnded: boolean;
            /**
             * Format: int64
             * @description Number of stored messages of both roles; those of a reply that is split count each.
             */
            messageCount: number;
            /** @description Beginning of the last message, at most 200 characters: the transcript of a voice message without a text. Empty when it has only other attachments. */
            lastMessageSnippet: string;
            /**
             * Format: date-time
             * @description When the conversation was created.
             */
            startedAt: string;
            /**
             * Format: date-time
             * @description When the last message was sent, by either side.
             */
            lastMessageAt: string;
        };
        /** @description A page of conversations. */
        ConversationPage: {
            /** @description The conversations of this page. */
            items: components["schemas"]["ConversationListItem"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /** @description A discount on plans, mirrored at the payment provider. */
        Coupon: {
            /**
             * Format: uuid
             * @description The coupon's id.
             */
            publicId: string;
            /** @description What a customer types in, unique within the hub in upper and lower case alike. */
            code: string;
            /** @description Internal name, not shown to customers. */
            name: string | null;
            /** @description Whether the coupon can be redeemed, as far as its limits allow. */
            active: boolean;
            discountType: components["schemas"]["DiscountType"];
            /**
             * Format: int32
             * @description Percent from 1 to 100, or an amount in the currency's smallest unit.
             */
            discountValue: number;
            /**
             * @description ISO 4217 code of a fixed amount, that of the plans it holds for; `null` for a percentage.
             * @example USD
             */
            currency: string | null;
            duration: components["schemas"]["CouponDuration"];
            /**
             * Format: int32
             * @description Months of a `repeating` discount; `null` for the other durations.
             */
            durationMonths: number | null;
            scope: components["schemas"]["CouponScope"];
            /** @description The plans of scope `plans`; empty for scope `hub`. */
            applicablePlans: components["schemas"]["PlanRef"][];
            /**
             * Format: int32
             * @description Most redemptions in all; `null` for no limit.
             */
            maxUses: number | null;
            /**
             * Format: int32
             * @description Redemptions so far.
             */
            timesUsed: number;
            /**
             * Format: date-time
             * @description When the coupon begins to be valid.
             */
            validFrom: string;
            /**
             * Format: date-time
             * @description When the coupon ends to be valid; `null` for no end.
             */
            validUntil: string | null;
            /** @description Whether `validUntil` has passed. */
            isExpired: boolean;
            /** @description Whether `maxUses` has been reached. */
            isExhausted: boolean;
            /** @description The coupon's id at the payment provider. */
            providerCouponId: string | null;
            /** @description The promotion code's id at the payment provider. */
            providerPromotionCodeId: string | null;
            /**
             * Format: date-time
             * @description When the coupon was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the coupon was last changed.
             */
            updatedAt: string;
        };
        /** @description A new coupon. */
        CouponCreate: {
            /** @description What a customer types in, unique within the hub in upper and lower case alike. */
            code: string;
            /** @description Internal name, not shown to customers. */
            name?: string | null;
            discountType: components["schemas"]["DiscountType"];
            /**
             * Format: int32
             * @description Percent from 1 to 100, or an amount in the smallest unit of the currency that the plans share.
             */
            discountValue: number;
            duration: components["schemas"]["CouponDuration"];
            /**
             * Format: int32
             * @description Months of the discount: required for `repeating`, refused for the other durations.
             */
            durationMonths?: number | null;
            scope: components["schemas"]["CouponScope"];
            /** @description Ids of the plans: required for scope `plans`, refused for scope `hub`; `null` and `[]` are none. For a fixed amount they all have the same currency. */
            applicablePlanIds?: string[] | null;
            /**
             * Format: int32
             * @description Most redemptions in all; absent or `null` for no limit.
             */
            maxUses?: number | null;
            /**
             * Format: date-time
             * @description When the coupon begins to be valid; absent for now.
             */
            validFrom?: string;
            /**
             * Format: date-time
             * @description When the coupon ends to be valid, in the future and after `validFrom`; absent or `null` for no end.
             */
            validUntil?: string | null;
        };
        /**
         * @description Which payments of a subscription get the discount. `once`: the first. `repeating`: those of the first `durationMonths` months. `forever`: all.
         * @enum {string}
         */
        CouponDuration: "once" | "repeating" | "forever";
        /** @description A coupon in a list. */
        CouponListItem: {
            /**
             * Format: uuid
             * @description The coupon's id.
             */
            publicId: string;
            /** @description What a customer types in, unique within the hub in upper and lower case alike. */
            code: string;
            /** @description Internal name, not shown to customers. */
            name: string | null;
            /** @description Whether the coupon can be redeemed, as far as its limits allow. */
            active: boolean;
            discountType: components["schemas"]["DiscountType"];
            /**
             * Format: int32
             * @description Percent from 1 to 100, or an amount in the currency's smallest unit.
             */
            discountValue: number;
            /**
             * @description ISO 4217 code of a fixed amount, that of the plans it holds for; `null` for a percentage.
             * @example USD
             */
            currency: string | null;
            duration: components["schemas"]["CouponDuration"];
            /**
             * Format: int32
             * @description Months of a `repeating` discount; `null` for the other durations.
             */
            durationMonths: number | null;
            scope: components["schemas"]["CouponScope"];
            /**
             * Format: int32
             * @description Number of plans of scope `plans`; 0 for scope `hub`.
             */
            applicablePlansCount: number;
            /**
             * Format: int32
             * @description Most redemptions in all; `null` for no limit.
             */
            maxUses: number | null;
            /**
             * Format: int32
             * @description Redemptions so far.
             */
            timesUsed: number;
            /**
             * Format: date-time
             * @description When the coupon begins to be valid.
             */
            validFrom: string;
            /**
             * Format: date-time
             * @description When the coupon ends to be valid; `null` for no end.
             */
            validUntil: string | null;
            /** @description Whether `validUntil` has passed. */
            isExpired: boolean;
            /** @description Whether `maxUses` has been reached. */
            isExhausted: boolean;
            /**
             * Format: date-time
             * @description When the coupon was created.
             */
            createdAt: string;
        };
        /** @description A page of coupons. */
        CouponPage: {
            /** @description The coupons of this page. */
            items: components["schemas"]["CouponListItem"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /**
         * @description `hub`: every plan of the hub. `plans`: the listed plans only.
         * @enum {string}
         */
        CouponScope: "hub" | "plans";
        /** @description The fields to change; an absent field stays as it is. All others are fixed once the coupon exists. */
        CouponUpdate: {
            /** @description Internal name, not shown to customers. */
            name?: string;
            /** @description Whether the coupon can be redeemed. The promotion code at the payment provider follows. */
            active?: boolean;
            /**
             * Format: int32
             * @description Most redemptions in all, not below `timesUsed`.
             */
            maxUses?: number;
            /**
             * Format: date-time
             * @description When the coupon ends to be valid, in the future.
             */
            validUntil?: string;
        };
        /** @description Who created the tool. */
        CreatedBy: {
            /**
             * Format: uuid
             * @description The person's id; `null` when the tool was created with an API key.
             */
            publicId: string | null;
            /** @description The person's name; `API Key` when the tool was created with an API key. */
            name: string;
        };
        /** @description Credits that plans can include. It has no counterpart at the payment provider: plans bill for it. */
        CreditPackage: {
            /**
             * Format: uuid
             * @description The credit package's id.
             */
            publicId: string;
            /** @description Name, unique within the hub. */
            name: string;
            /**
             * Format: int32
             * @description Price of one credit in the currency's smallest unit.
             */
            creditValueCents: number;
            /**
             * Format: int32
             * @description Credits in the package.
             */
            creditsAmount: number;
            /**
             * Format: int32
             * @description Bonus credits on top of `creditsAmount`; `null` when there are none.
             */
            extraCreditsAmount: number | null;
            /**
             * Format: int32
             * @description Months after which the credits are granted again; `null` when they are granted once.
             */
            renewalIntervalMonths: number | null;
            /**
             * Format: date-time
             * @description When the package was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the package was last changed.
             */
            updatedAt: string;
        };
        /** @description A new credit package. */
        CreditPackageCreate: {
            /** @description Name, unique within the hub. */
            name: string;
            /**
             * Format: int32
             * @description Price of one credit in the currency's smallest unit.
             */
            creditValueCents: number;
            /**
             * Format: int32
             * @description Credits in the package.
             */
            creditsAmount: number;
            /**
             * Format: int32
             * @description Bonus credits on top of `creditsAmount`; absent or `null` for none.
             */
            extraCreditsAmount?: number | null;
            /**
             * Format: int32
             * @description Months after which the credits are granted again; absent or `null` to grant them once.
             */
            renewalIntervalMonths?: number | null;
        };
        /** @description A credit package in a list. */
        CreditPackageListItem: {
            /**
             * Format: uuid
             * @description The credit package's id.
             */
            publicId: string;
            /** @description Name, unique within the hub. */
            name: string;
            /**
             * Format: int32
             * @description Price of one credit in the currency's smallest unit.
             */
            creditValueCents: number;
            /**
             * Format: int32
             * @description Credits in the package.
             */
            creditsAmount: number;
            /**
             * Format: int32
             * @description Bonus credits on top of `creditsAmount`; `null` when there are none.
             */
            extraCreditsAmount: number | null;
            /**
             * Format: int32
             * @description Months after which the credits are granted again; `null` when they are granted once.
             */
            renewalIntervalMonths: number | null;
            /**
             * Format: int64
             * @description Plans that include the package. It can be deleted at 0.
             */
            plansUsingCount: number;
            /**
             * Format: date-time
             * @description When the package was created.
             */
            createdAt: string;
        };
        /** @description A page of credit packages. */
        CreditPackagePage: {
            /** @description The credit packages of this page. */
            items: components["schemas"]["CreditPackageListItem"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /** @description A credit package, in short. */
        CreditPackageRef: {
            /**
             * Format: uuid
             * @description The credit package's id.
             */
            publicId: string;
            /** @description Name, unique within the hub. */
            name: string;
            /**
             * Format: int32
             * @description Price of one credit in the currency's smallest unit.
             */
            creditValueCents: number;
            /**
             * Format: int32
             * @description Credits in the package.
             */
            creditsAmount: number;
            /**
             * Format: int32
             * @description Bonus credits on top of `creditsAmount`; `null` when there are none.
             */
            extraCreditsAmount: number | null;
            /**
             * Format: int32
             * @description Months after which the credits are granted again; `null` when they are granted once.
             */
            renewalIntervalMonths: number | null;
        };
        /** @description The whole credit package. An optional field that is absent loses its value. */
        CreditPackageUpdate: {
            /** @description Name, unique within the hub. */
            name: string;
            /**
             * Format: int32
             * @description Price of one credit in the currency's smallest unit.
             */
            creditValueCents: number;
            /**
             * Format: int32
             * @description Credits in the package.
             */
            creditsAmount: number;
            /**
             * Format: int32
             * @description Bonus credits on top of `creditsAmount`; absent or `null` for none.
             */
            extraCreditsAmount?: number | null;
            /**
             * Format: int32
             * @description Months after which the credits are granted again; absent or `null` to grant them once.
             */
            renewalIntervalMonths?: number | null;
        };
        /** @description How requests prove who sends them. */
        CustomIntegrationAuth: {
            /**
             * @description `none`: not at all, as when it is left out. `bearer`: with a token in the header `Authorization`. `header`: with a header of another name.
             * @enum {string}
             */
            type?: "none" | "bearer" | "header";
            /** @description Name of the header. Goes with the type `header`, which requires it. */
            headerName?: string;
            /** @description The token or the value of the header, a secret value. Goes with the types `bearer` and `header`, which require it. */
            secret?: string;
        };
        /** @description Configuration of a `CUSTOM_INTEGRATION`, which makes each listed operation of an API a tool of the agent. Models call the tool by the operationId. Bodies are JSON, forms (`application/x-www-form-urlencoded`, or `multipart/form-data` without files) or text: an operation that requires another one is refused, as is one with a required cookie parameter or a reference that leaves the document. Models read a short form of what the document says: without HTML, examples and deprecated fields, and of large inputs without the fields of deeply nested objects, which may be given all the same. A call has 30 seconds. */
        CustomIntegrationConfiguration: {
            /**
             * @description An OpenAPI 3 or Swagger 2.0 document as an object, or its https address, where it may have 24 MiB of JSON or YAML. It is imported when the configuration is written: what changes at the address later counts once the configuration is written again. Only the listed operations, and what they refer to, are looked at. A document in the request may have 24 MiB too: of one that is longer than 524288 characters as JSON they alone are stored, and they may have as many.
             * @example https://parcels.example.com/openapi.json
             */
            openapi: unknown;
            /**
             * @description http or https address of the API, for all operations; left out, the first server of the operation, its path or the document. It is needed where these leave a variable without a value.
             * @example https://parcels.example.com/v2
             */
            baseUrl?: string;
            /** @description The operations, each by its operationId, or by its method and path (`GET /parcels/{id}`). One without an operationId of its own gets a name made of both, `get_parcels_id`, with at most 64 characters. */
            operations: string[];
            auth?: components["schemas"]["CustomIntegrationAuth"];
        };
        /** @description Configuration of a `DATABASE_QUERY`, which runs one read-only query on a PostgreSQL database. In the rows `numeric` and whole numbers beyond 2^53 are text, `bytea` is Base64, times are RFC 3339, and the second column of a name gets `_2`. Rows beyond 1 MiB of JSON are cut off. */
        DatabaseQueryConfiguration: {
            /**
             * @description Address of the database, which begins with `postgres://` or `postgresql://`; a secret value as a whole. Its login should have `SELECT` alone: not all that a login may do is a write that the read-only transaction stops.
             * @example postgres://reader:secret@db.example.com:5432/shop
             */
            connection: string;
            /**
             * @description One SQL statement that begins with `SELECT`, `WITH`, `VALUES` or `TABLE`. `:x` stands for the field `x` of the input, and is bound, never spliced into the text; one that is not declared is refused where `properties` of the `inputSchema` lists every input. A missing input is null, a list an array, an object JSON. The end of a slice takes a space before it: `a[1: :x]`.
             * @example select number, status from orders where email = :email
             */
            query: string;
            inputSchema?: components["schemas"]["ToolInputSchema"];
            /**
             * Format: int32
             * @description Rows that a run gives back, 100 when it is left out. Rows beyond it are cut off.
             */
            maxRows?: number;
            /**
             * Format: int32
             * @description Seconds that a run may take; 30 when it is left out.
             */
            timeoutSeconds?: number;
        };
        /** @description The plan that people who sign up to a public hub get. */
        DefaultPlanRef: {
            /**
             * Format: uuid
             * @description The plan's id.
             */
            publicId: string;
            /** @description Name of the plan. */
            name: string;
        };
        /**
         * @description `percentage`: part of the price. `fixed_amount`: an amount off the price.
         * @enum {string}
         */
        DiscountType: "percentage" | "fixed_amount";
        /** @description Settings of a feature that has none. */
        EmptyFeatureConfig: Record<string, never>;
        /**
         * @description Stable, machine-readable name of the error. Branch on the code, never on the message. A code is never renamed, and new ones may come: treat a code that you do not know by its status.
         * @example AGENT_NOT_FOUND
         */
        ErrorCode: "AGENT_LIMIT_REACHED" | "AGENT_NAME_TAKEN" | "AGENT_NOT_FOUND" | "AGENT_NOT_PUBLISHED" | "AGENT_TIMEOUT" | "AI_MODEL_NOT_FOUND" | "AI_MODEL_REQUIRED" | "ALREADY_LINKED" | "ATTACHMENT_TOO_LARGE" | "AUTOMATION_NAME_TAKEN" | "AUTOMATION_NOT_FOUND" | "CHANNEL_ALREADY_CONNECTED" | "CHANNEL_CONFIG_NOT_ALLOWED_VIA_API" | "CHANNEL_CONNECTION_NOT_FOUND" | "CLIENT_NAME_TAKEN" | "CLIENT_NOT_ACTIVE" | "CLIENT_NOT_FOUND" | "CLIENT_NOT_SUSPENDED" | "COMMAND_NAME_TAKEN" | "COMMAND_NOT_FOUND" | "COMMAND_SLUG_TAKEN" | "CONFIRMATION_REQUIRED" | "CONVERSATION_ENDED" | "CONVERSATION_NOT_FOUND" | "CONVERSATION_PAUSED" | "COUPON_CODE_TAKEN" | "COUPON_NOT_FOUND" | "COUPON_RULE_VIOLATED" | "CREDIT_PACKAGE_IN_USE" | "CREDIT_PACKAGE_NAME_TAKEN" | "CREDIT_PACKAGE_NOT_FOUND" | "DEFAULT_PLAN_NOT_FREE" | "DEFAULT_PLAN_REQUIRED" | "EXPECTATION_FAILED" | "EXTERNAL_LINK_LIMIT_REACHED" | "EXTERNAL_LINK_NOT_FOUND" | "EXTERNAL_LINK_TITLE_TAKEN" | "EXTERNAL_MCP_NAME_TAKEN" | "EXTERNAL_MCP_NOT_ACTIVE" | "EXTERNAL_MCP_NOT_FOUND" | "FEATURE_NOT_FOUND" | "FEATURE_VALIDATION_ERROR" | "HTTP_TOOL_LIMIT_REACHED" | "HTTP_TOOL_NAME_TAKEN" | "HTTP_TOOL_NOT_FOUND" | "IDEMPOTENCY_IN_PROGRESS" | "IDEMPOTENCY_KEY_REUSED" | "IMMUTABLE_FIELD" | "INTERNAL_ERROR" | "INVALID_API_KEY" | "INVALID_API_KEY_FORMAT" | "INVALID_CHANNEL_CONFIG" | "INVALID_CHANNEL_CREDENTIALS" | "INVALID_CHANNEL_TYPE" | "INVALID_CRON" | "INVALID_SIGNATURE" | "INVALID_SKILL_ZIP" | "INVALID_TIMEZONE" | "INVALID_TOOL_CONFIGURATION" | "INVALID_TOOL_TYPE" | "INVITATION_NOT_FOUND" | "KNOWLEDGE_SOURCE_NOT_FOUND" | "LAST_ADMIN" | "MCP_DISCOVERY_FAILED" | "METHOD_NOT_ALLOWED" | "MISSING_API_KEY" | "MISSING_VARIABLE" | "MODEL_PROVIDER_ERROR" | "NATIVE_MCP_CONNECTION_NOT_FOUND" | "NOT_FOUND" | "NOT_IMPLEMENTED" | "NOT_LINKED" | "NO_DRAFT_VERSION" | "OAUTH_NOT_SUPPORTED_VIA_API" | "OPERATION_LIMIT_REACHED" | "PACKAGE_NOT_FOUND" | "PAYLOAD_TOO_LARGE" | "PAYMENT_PROVIDER_ERROR" | "PLAN_HAS_SUBSCRIBERS" | "PLAN_NAME_TAKEN" | "PLAN_NOT_FOUND" | "PLAN_RULE_VIOLATED" | "RATE_LIMITED" | "REQUEST_TIMEOUT" | "SEATS_LIMIT_REACHED" | "SKILL_NAME_TAKEN" | "SKILL_NOT_FOUND" | "SUBDOMAIN_RESERVED" | "SUBDOMAIN_TAKEN" | "SUB_AGENT_CYCLE" | "SUB_AGENT_NOT_FOUND" | "TEMPERATURE_NOT_SUPPORTED" | "THINKING_NOT_SUPPORTED" | "TOOLKIT_REGISTRY_UNAVAILABLE" | "TRIAL_NOT_ENABLED" | "TRIGGER_NOT_FOUND" | "UNAVAILABLE" | "UNKNOWN_TOOLKIT" | "UNKNOWN_TRIGGER" | "UNSUPPORTED_ATTACHMENT" | "UNSUPPORTED_MEDIA_TYPE" | "USER_NOT_FOUND" | "VALIDATION_ERROR" | "VARIABLE_DEFAULT_INVALID" | "VARIABLE_NAME_TAKEN" | "VARIABLE_NOT_FOUND" | "VARIABLE_OPTIONS_INVALID" | "VERSION_NOT_FOUND" | "ZAPI_INSTANCE_ID_ALREADY_USED";
        /** @description One error of a request. */
        ErrorDetail: {
            /**
             * @description JSON Pointer of the invalid value. The first segment is the part of the request: `/body`, `/query`, `/path` or `/header`.
             * @example /body/name
             */
            path: string;
            /**
             * @description What is wrong with the value.
             * @example must NOT have more than 150 characters
             */
            message: string;
            /**
             * @description The rule that failed, as named by JSON Schema where the rule is one of its.
             * @example maxLength
             */
            keyword: string;
        };
        /** @description A link in the menu of the hub. */
        ExternalLink: {
            /**
             * Format: uuid
             * @description The link's id.
             */
            publicId: string;
            /** @description Text of the menu entry, unique within the hub in upper and lower case alike. */
            title: string;
            /** @description Where the link leads. */
            url: string;
            /**
             * Format: int32
             * @description Place in the menu, from 1; the smallest number comes first.
             */
            displayOrder: number;
            /**
             * Format: date-time
             * @description When the link was created.
             */
            createdAt: string;
        };
        /** @description A new link. */
        ExternalLinkCreate: {
            /** @description Text of the menu entry, unique within the hub in upper and lower case alike. */
            title: string;
            /** @description Where the link leads, an http or https address. */
            url: string;
        };
        /** @description The fields to change; an absent field stays as it is. */
        ExternalLinkUpdate: {
            /** @description Text of the menu entry, unique within the hub in upper and lower case alike. */
            title?: string;
            /** @description Where the link leads, an http or https address. */
            url?: string;
        };
        /** @description An external MCP server registered in the workspace. Its credential is never part of it. */
        ExternalMcp: {
            /**
             * Format: uuid
             * @description The external MCP server's id.
             */
            publicId: string;
            /** @description Name, unique among the external MCP servers of the workspace. */
            name: string;
            /** @description Address of the server's streamable HTTP endpoint, or of its SSE endpoint when it knows the older transport only. */
            url: string;
            authType: components["schemas"]["ExternalMcpAuthType"];
            /** @description Name of the header that carries the credential, when `authType` is `CUSTOM_HEADER` and it was set by `authHeaderName`; else `null`, also when an API key has a header of its own. */
            authHeaderName: string | null;
            status: components["schemas"]["ExternalMcpStatus"];
            /** @description Why the last discovery failed, without any secret; `null` unless the status is `ERROR`. */
            errorMessage: string | null;
            /**
             * Format: date-time
             * @description When tools were last discovered with success; `null` until then.
             */
            lastDiscoveredAt: string | null;
            /** @description The tools found by the last discovery that succeeded; empty until then, and for a server that is `CONNECTED` and has none. */
            tools: components["schemas"]["ExternalMcpTool"][];
            /**
             * Format: date-time
             * @description When the server was registered.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the server was last changed or discovered.
             */
            updatedAt: string;
        };
        /** @description A header to send with every request to the server. It is stored encrypted and never returned. */
        ExternalMcpAuthHeader: {
            /**
             * @description Name of the header.
             * @example X-Api-Key
             */
            name: string;
            /** @description Value of the header, one line of visible ASCII characters, spaces and tabs, not blank. */
            value: string;
        };
        /** @description How the service authenticates to the server: `NONE` not at all, `API_KEY` the credential in `X-Api-Key`, `BEARER_TOKEN` the credential in `Authorization: Bearer`, `CUSTOM_HEADER` headers of your own. More may come. */
        ExternalMcpAuthType: "NONE" | "API_KEY" | "BEARER_TOKEN" | "CUSTOM_HEADER";
        /**
         * @description How the service authenticates to the server: `NONE` not at all, `API_KEY` with `authValue` in `X-Api-Key`, `BEARER_TOKEN` with `authValue` in `Authorization: Bearer`, `CUSTOM_HEADER` with `authHeaders`. `OAUTH_AUTHORIZATION_CODE` needs a person and is refused here: 422 `OAUTH_NOT_SUPPORTED_VIA_API`.
         * @enum {string}
         */
        ExternalMcpAuthTypeChoice: "NONE" | "API_KEY" | "BEARER_TOKEN" | "CUSTOM_HEADER" | "OAUTH_AUTHORIZATION_CODE";
        /** @description A new external MCP server. */
        ExternalMcpCreate: {
            /** @description Name, unique among the external MCP servers of the workspace. */
            name: string;
            /** @description Address of the server's streamable HTTP endpoint, https only, without user name and password. Where the server refuses that transport, the older HTTP with SSE is tried. Redirects to another origin are not followed. */
            url: string;
            authType: components["schemas"]["ExternalMcpAuthTypeChoice"];
            /** @description The credential, not blank. Required when `authType` is `API_KEY` or `BEARER_TOKEN`. */
            authValue?: string;
            /** @description The headers to send. Required when `authType` is `CUSTOM_HEADER`, unless `authHeaderName` and `authValue` name one header the old way; absent, `null` or `[]` for none. Each name once, in upper or lower case; names that HTTP or MCP sets itself, such as `Host` or `Mcp-Session-Id`, are refused. */
            authHeaders?: components["schemas"]["ExternalMcpAuthHeader"][] | null;
            /**
             * @description The old way to name one header for `CUSTOM_HEADER`, with its value in `authValue`. Prefer `authHeaders`. With `API_KEY`: the header that carries the key, `X-Api-Key` when absent.
             * @example X-Api-Key
             */
            authHeaderName?: string | null;
            /** @description Store nothing and return 422 `MCP_DISCOVERY_FAILED` when the tools cannot be discovered. Absent for false. */
            rejectIfNotConnected?: boolean;
        };
        /** @description An external MCP server linked to an agent. */
        ExternalMcpLink: {
            /**
             * Format: uuid
             * @description The external MCP server's id.
             */
            externalMcpPublicId: string;
            /** @description Name of the server. */
            serverName: string;
            /** @description Address of the server. */
            serverUrl: string;
            /** @description Whether the agent may use the server's tools. */
            active: boolean;
            /** @description Whether all calls share one connection to the server (`STATIC`) or each call opens its own (`DYNAMIC`). */
            instanceMode: components["schemas"]["InstanceMode"];
            /** @description Whether a person must approve each call of the server's tools before it is made. */
            requiresApproval: boolean;
        };
        /** @description The external MCP server to link. */
        ExternalMcpLinkCreate: {
            /**
             * Format: uuid
             * @description The external MCP server's id. Its status must be `CONNECTED`.
             */
            externalMcpPublicId: string;
            /** @description Whether all calls share one connection to the server (`STATIC`) or each call opens its own (`DYNAMIC`); absent for `STATIC`. */
            instanceMode?: components["schemas"]["InstanceMode"];
        };
        /** @description The fields to change. An absent field stays as it is, `null` resets it to the value of a new link. */
        ExternalMcpLinkUpdate: {
            /** @description Whether the agent may use the server's tools. `null` resets it to true. */
            active?: boolean | null;
            /** @description Whether all calls share one connection to the server (`STATIC`) or each call opens its own (`DYNAMIC`). `null` resets it to `STATIC`. */
            instanceMode?: components["schemas"]["InstanceMode"] | null;
            /** @description Whether a person must approve each call of the server's tools before it is made. `null` resets it to false. */
            requiresApproval?: boolean | null;
        };
        /** @description A page of external MCP servers. */
        ExternalMcpPage: {
            /** @description The external MCP servers of this page. */
            items: components["schemas"]["ExternalMcp"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /**
         * @description State of the connection to an external MCP server: `PENDING` not tried yet since it was registered or its address or credential was changed, `CONNECTED` tools discovered, `ERROR` the last discovery failed, `PENDING_AUTHORIZATION` waits for a person to authorize it, `EXPIRED` the authorization has run out.
         * @enum {string}
         */
        ExternalMcpStatus: "PENDING" | "CONNECTED" | "ERROR" | "PENDING_AUTHORIZATION" | "EXPIRED";
        /** @description A tool found on an external MCP server. */
        ExternalMcpTool: {
            /** @description Id of the tool on this server. It stays the same over discoveries as long as the tool keeps its name. */
            id: string;
            /** @description Name by which the model calls the tool. */
            name: string;
            /** @description What the tool does, in the server's words, cut to 4,000 characters; `null` when it says nothing. */
            description: string | null;
            /** @description Whether agents that the server is linked to may call the tool. */
            enabled: boolean;
        };
        /** @description The fields to change. An absent field stays as it is. */
        ExternalMcpUpdate: {
            /** @description Name, unique among the external MCP servers of the workspace. */
            name?: string;
            /** @description Address of the server's streamable HTTP endpoint, https only, without user name and password. Where the server refuses that transport, the older HTTP with SSE is tried. Redirects to another origin are not followed. */
            url?: string;
            authType?: components["schemas"]["ExternalMcpAuthTypeChoice"];
            /** @description A new credential, which replaces the stored one at once, even when the two are the same. Needed when `authType` changes to one that uses a value and none is stored. */
            authValue?: string;
            /** @description New headers for `CUSTOM_HEADER`. The list replaces all stored headers at once. They cannot be cleared: `null` and `[]` leave them as they are. Each name once, in upper or lower case; names that HTTP or MCP sets itself, such as `Host` or `Mcp-Session-Id`, are refused. */
            authHeaders?: components["schemas"]["ExternalMcpAuthHeader"][] | null;
            /**
             * @description The old way to name one header for `CUSTOM_HEADER`, with its value in `authValue`. Prefer `authHeaders`. `null` takes the one header away: `authHeaders` or another `authType` must come in its place. With `API_KEY`: the header that carries the key; `null` for `X-Api-Key`.
             * @example X-Api-Key
             */
            authHeaderName?: string | null;
        };
        /** @description Settings of a feature. They depend on the feature's `key`: `x-schemas` names the schema of each feature. They are the agent's own fields under shorter names, with the same bounds. In a response every setting of the feature is present, `null` when it is not set. */
        FeatureConfig: {
            [key: string]: unknown;
        };
        /** @description Stable key of a feature. More features may come. */
        FeatureKey: "follow-up" | "message-splitting" | "message-delay" | "long-term-memory" | "sandbox" | "genui" | "audio" | "web-search";
        /** @description Settings of `follow-up`. Switched on, it needs `maxAttempts` and `intervalMinutes`. */
        FollowUpConfig: {
            /**
             * Format: int32
             * @description Hours that the conversation must be quiet before the first follow-up. With `inactivityMinutes` the longer of the two counts, without both `intervalMinutes`. A reply to the user begins the silence anew.
             */
            afterHours?: number | null;
            /**
             * Format: int32
             * @description Minutes that the conversation must be quiet before the first follow-up, as `afterHours`.
             */
            inactivityMinutes?: number | null;
            /**
             * Format: int32
             * @description Minutes from one follow-up to the next, while the user stays silent.
             */
            intervalMinutes?: number | null;
            /**
             * Format: int32
             * @description Follow-ups in one conversation, over its whole life.
             */
            maxAttempts?: number | null;
            /**
             * @description Time of day (`HH:MM:SS` or `HH:MM`) from which follow-ups may be sent, in the time zone of the workspace. Comes as a pair with the end, and before it.
             * @example 09:00:00
             */
            businessHoursStart?: string | null;
            /**
             * @description Time of day (`HH:MM:SS` or `HH:MM`) until which follow-ups may be sent, to the end of the second. What comes due later waits for the next start.
             * @example 18:00:00
             */
            businessHoursEnd?: string | null;
            /** @description What a follow-up should say. */
            prompt?: string | null;
        };
        /** @description The key is valid. The response has the workspace that it belongs to. */
        Health: {
            /**
             * @description Always `ok`; a key that is not valid gets 401.
             * @constant
             */
            status: "ok";
            /**
             * Format: uuid
             * @description The workspace that the key is bound to.
             */
            workspacePublicId: string;
            /**
             * Format: uuid
             * @description The key itself, as `key list` of the admin command shows it.
             */
            apiKeyPublicId: string;
        };
        /**
         * @description What happens when a run calls a tool that needs approval: `auto_approve` makes the call, `pause_on_approval` waits for a person to decide.
         * @enum {string}
         */
        HitlMode: "auto_approve" | "pause_on_approval";
        /**
         * @description Configuration of an `HTTP_REQUEST`, which sends one request.
         *
         *     `{{input.x}}` and `{{secret.x}}` in `url`, `headers`, `query` and `body` stand for a field of the input and for a
         *     secret. An input that is not declared is refused where `properties` of the `inputSchema` lists every input.
         *
         *     - In `url` and `query` values are percent-encoded. A run fails when a value in the path is missing or makes a segment
         *       `.` or `..`.
         *     - A placeholder may also be the host, the port, or the whole address up to the path; an input only in a tool without
         *       secrets, since it would decide where they go.
         *     - An entry of `query` or `headers`, or a field of a JSON body, that is one input and nothing else goes out only when
         *       the input is given. A list repeats the entry of `query`, and in a JSON body a value keeps its type.
         *     - In a text body values are escaped as JSON, form, XML or HTML when the `Content-Type` header says that it is one.
         *     - Redirects are followed, but not when the body carries a secret. To another origin no configured header goes but
         *       `Accept`, `Accept-Language`, `Content-Type` and `User-Agent`, and these only without a secret.
         *     - An answer of more than 1 MiB fails the run.
         */
        HttpRequestConfiguration: {
            /**
             * @description Method of the request; `GET` when it is left out.
             * @enum {string}
             */
            method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
            /**
             * @description Where the request goes: an http or https address without user name and password, which may have placeholders.
             * @example https://shop.example.com/api/orders/{{input.orderNumber}}
             */
            url: string;
            /** @description Headers by their names. Those that HTTP sets itself, such as `Host`, are refused. */
            headers?: {
                [key: string]: string;
            };
            /** @description Parameters that are added to the query of the address, by their names. */
            query?: {
                [key: string]: string;
            };
            /** @description Body of the request. Text goes out as it is, any other JSON as `application/json`; `null` is no body. */
            body?: unknown;
            inputSchema?: components["schemas"]["ToolInputSchema"];
            /**
             * Format: int32
             * @description Seconds that a run may take; 30 when it is left out.
             */
            timeoutSeconds?: number;
            /** @description Secret values by the names that placeholders use. */
            secrets?: {
                [key: string]: string;
            };
        };
        /** @description A tool of the workspace that agents can call. */
        HttpTool: {
            /**
             * Format: uuid
             * @description The tool's id.
             */
            publicId: string;
            /** @description Stable identifier, unique among the tools of the workspace. Models call the tool by it, or by one made from it when the agent has another tool of the name. */
            name: string;
            /** @description What the tool does. Models use it to decide when to call the tool. */
            description: string | null;
            /**
             * @description What the tool does technically; `HttpToolType` describes each. It never changes.
             * @enum {string}
             */
            toolType: "HTTP_REQUEST" | "DATABASE_QUERY" | "INTERNAL_VARIABLE" | "CUSTOM_INTEGRATION";
            /** @description Whether a call waits for a person's approval before it runs. A call waits when the tool demands it or the link to the agent does; a new link takes the setting of the tool over. */
            requiresApproval: boolean;
            configuration: components["schemas"]["HttpToolConfiguration"];
            createdBy: components["schemas"]["CreatedBy"];
            /**
             * Format: date-time
             * @description When the tool was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the tool was last changed.
             */
            updatedAt: string;
        };
        /** @description How the tool works. Its fields depend on `toolType`: `x-schemas` names the schema of each type, and a field that the schema does not have is refused. Secret values are write-only: they are stored encrypted and read back as `********`. What a run gives back hides them in the same way, when they have four characters or more. A run reaches no private network unless the operator of the service allows it. */
        HttpToolConfiguration: {
            [key: string]: unknown;
        };
        /** @description A new tool. */
        HttpToolCreate: {
            /** @description Stable identifier, unique among the tools of the workspace. Models call the tool by it, or by one made from it when the agent has another tool of the name. */
            name: string;
            /** @description What the tool does. Models decide by it. */
            description?: string | null;
            toolType: components["schemas"]["HttpToolType"];
            /** @description Whether a call waits for a person's approval before it runs, for every agent; absent for false. */
            requiresApproval?: boolean;
            configuration: components["schemas"]["HttpToolConfiguration"];
        };
        /** @description A tool that is linked to an agent. */
        HttpToolLink: {
            /**
             * Format: uuid
             * @description The tool's id.
             */
            httpToolPublicId: string;
            /** @description Name of the tool. */
            toolName: string;
            toolType: components["schemas"]["HttpToolType"];
            /** @description Whether the agent may call the tool. */
            active: boolean;
            /** @description Whether a call by this agent waits for a person's approval, whatever the tool says. A call waits as well when the tool itself demands it: the stricter of the two counts. */
            requiresApproval: boolean;
        };
        /** @description A tool to link to an agent. */
        HttpToolLinkCreate: {
            /**
             * Format: uuid
             * @description The tool, one of `listAvailableTools`.
             */
            httpToolPublicId: string;
        };
        /** @description The fields to change. An absent field stays as it is, `null` resets it to the value of a new link. */
        HttpToolLinkUpdate: {
            /** @description Whether the agent may call the tool. `null` resets it to true. */
            active?: boolean | null;
            /** @description Whether a call by this agent waits for a person's approval. `null` resets it to the tool's own setting. False does not free the calls of a tool that demands approval itself. */
            requiresApproval?: boolean | null;
        };
        /** @description A page of tools. */
        HttpToolPage: {
            /** @description The tools of this page. */
            items: components["schemas"]["HttpTool"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /** @description The inputs of a test run. */
        HttpToolTest: {
            /** @description What the model would fill in, one field for each input; `{}` for a tool that takes none. `INTERNAL_VARIABLE`: a field `value` writes the variable, without it the variable is read. `CUSTOM_INTEGRATION`: parameters by their names and the body as `body`; the field `operationId` chooses one of several operations. */
            inputs: {
                [key: string]: unknown;
            };
        };
        /** @description The result of a test run. */
        HttpToolTestResult: {
            /** @description Whether the tool did its work; an HTTP response must have a 2xx status and at most 1 MiB. */
            success: boolean;
            /**
             * Format: int32
             * @description HTTP status of the response; `null` when there was no complete HTTP response.
             */
            statusCode: number | null;
            /** @description What the tool gave back, its secrets hidden as `********`; `null` when there is nothing. A JSON object comes as it is, any other JSON under `data`, other text under `text`, and of a response that is not text its size and type in words. The rows of a query come under `rows`, with `truncated: true` beside them when there were more; the value of a variable under `value`. */
            responseData: {
                [key: string]: unknown;
            } | null;
            /** @description Why the run failed, without any secret of the tool; `null` when it did not. */
            errorMessage: string | null;
            /**
             * Format: int64
             * @description How long the run took, in milliseconds.
             */
            executionTimeMs: number;
            /**
             * Format: date-time
             * @description When the run began.
             */
            executedAt: string;
        };
        /**
         * @description `HTTP_REQUEST`: sends an HTTP request. `DATABASE_QUERY`: reads from a PostgreSQL database. `INTERNAL_VARIABLE`: keeps a value. `CUSTOM_INTEGRATION`: calls operations of an API that has an OpenAPI document. `PARTNER_MCP`: a tool of an MCP partner; none can be made with this API.
         * @enum {string}
         */
        HttpToolType: "HTTP_REQUEST" | "DATABASE_QUERY" | "INTERNAL_VARIABLE" | "CUSTOM_INTEGRATION" | "PARTNER_MCP";
        /** @description The fields to change. An absent field stays as it is. */
        HttpToolUpdate: {
            /** @description Stable identifier, unique among the tools of the workspace. Models call the tool by it. The pattern asks for at least one character. */
            name?: string;
            /** @description What the tool does. Models decide by it. */
            description?: string;
            /** @description Cannot be changed: a body that has it is refused with 400 `IMMUTABLE_FIELD`, even with the current type. */
            toolType?: components["schemas"]["HttpToolType"];
            /** @description Whether a call waits for a person's approval before it runs. True counts for all agents at once. Present links keep their own setting: after false, calls of agents whose link demands approval still wait. */
            requiresApproval?: boolean;
            /** @description The new configuration, which replaces the present one. It cannot be cleared: `null` leaves it as it is. */
            configuration?: components["schemas"]["HttpToolConfiguration"] | null;
        };
        /** @description The branded place where the clients of the workspace use its agents. */
        Hub: {
            /**
             * Format: uuid
             * @description The hub's id.
             */
            publicId: string;
            /** @description Name of the hub. A new hub is called like the workspace. */
            name: string;
            /** @description What the hub is about. */
            description: string | null;
            accessType: components["schemas"]["HubAccessType"];
            /** @description Subdomain of the hub; `null` until one is chosen with `updateHubDomain`. */
            subdomain: string | null;
            /** @description Address of the hub; `null` until a subdomain is chosen. */
            hubUrl: string | null;
            theme: components["schemas"]["HubTheme"];
            /**
             * @description Main colour; `null` for that of the theme.
             * @example #0F62FE
             */
            primaryColor: string | null;
            /**
             * @description Second colour; `null` for that of the theme.
             * @example #393939
             */
            secondaryColor: string | null;
            /**
             * @description Colour of the pricing widget; `null` for the main colour.
             * @example #0F62FE
             */
            pricingWidgetColor: string | null;
            /** @description Wide logo, the logo of type `horizontal`; `null` when there is none. */
            logoHorizontalUrl: string | null;
            /** @description Square icon, the logo of type `icon`; `null` when there is none. */
            logoIconUrl: string | null;
            /** @description Logo in mails, the logo of type `email`; `null` when there is none. */
            logoEmailUrl: string | null;
            /** @description Picture on the login page, the logo of type `banner`; `null` when there is none. */
            loginBannerUrl: string | null;
            /** @description Whether clients may change their plan and buy credits themselves. */
            selfServiceEnabled: boolean;
            /** @description Plan that people who sign up get; `null` until one is chosen. */
            defaultPlan: components["schemas"]["DefaultPlanRef"] | null;
            /** @description Where the hub sends people who need help; `null` until chosen. */
            supportChannelType: components["schemas"]["SupportChannelType"] | null;
            /** @description Email address, phone number or URL of the support channel. */
            supportChannelValue: string | null;
            /** @description Address that mails of the hub name for questions. */
            supportEmail: string | null;
            /** @description First message that the hub proposes on WhatsApp. */
            supportWhatsappMessage: string | null;
            /**
             * Format: date-time
             * @description When the hub was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the hub was last changed.
             */
            updatedAt: string;
        };
        /** @description Who may enter the hub, and how. */
        HubAccess: {
            accessType: components["schemas"]["HubAccessType"];
            /** @description Plan that people who sign up get; `null` until one is chosen. */
            defaultPlan: components["schemas"]["DefaultPlanRef"] | null;
            /** @description Whether clients may change their plan and buy credits themselves. */
            selfServiceEnabled: boolean;
            /** @description Picture on the login page, the logo of type `banner`; `null` when there is none. */
            loginBannerUrl: string | null;
        };
        /**
         * @description `public`: anyone can sign up and gets the default plan. `private`: by invitation only.
         * @enum {string}
         */
        HubAccessType: "public" | "private";
        /** @description The fields to change; an absent field stays as it is. */
        HubAccessUpdate: {
            accessType?: components["schemas"]["HubAccessType"];
            /**
             * Format: uuid
             * @description Plan that people who sign up get. It must be free while the hub is public.
             */
            defaultPlanPublicId?: string;
            /** @description Whether clients may change their plan and buy credits themselves. */
            selfServiceEnabled?: boolean;
        };
        /** @description Where the hub is found. */
        HubDomain: {
            /** @description Subdomain of the hub; `null` until one is chosen with `updateHubDomain`. */
            subdomain: string | null;
            /** @description Address of the hub; `null` until a subdomain is chosen. */
            hubUrl: string | null;
        };
        /** @description The subdomain to move to. */
        HubDomainUpdate: {
            /**
             * @description Lower-case letters, digits and hyphens, with no hyphen at either end.
             * @example acme
             */
            subdomain: string;
        };
        /**
         * @description `horizontal`: wide logo. `icon`: square icon. `email`: logo in mails. `banner`: picture on the login page.
         * @enum {string}
         */
        HubLogoType: "horizontal" | "icon" | "email" | "banner";
        /** @description A picture. */
        HubLogoUpload: {
            /**
             * Format: binary
             * @description PNG, JPEG, WebP or SVG, at most 5 MiB. The bytes decide what it is, not the file name.
             */
            file: string;
        };
        /**
         * @description A page of the hub.
         * @enum {string}
         */
        HubPage: "home" | "dashboard" | "agents" | "workflows" | "history" | "inbox" | "users" | "settings";
        /**
         * @description Colour scheme of the hub.
         * @enum {string}
         */
        HubTheme: "light" | "dark";
        /** @description The fields to change. A field that is absent or `null` stays as it is. */
        HubUpdate: {
            /** @description Name of the hub. */
            name?: string | null;
            /** @description What the hub is about. */
            description?: string | null;
            /** @description Colour scheme of the hub. */
            theme?: components["schemas"]["HubTheme"] | null;
            /** @description Main colour, as `#rrggbb`. */
            primaryColor?: string | null;
            /** @description Second colour, as `#rrggbb`. */
            secondaryColor?: string | null;
            /** @description Colour of the pricing widget, as `#rrggbb`. */
            pricingWidgetColor?: string | null;
            /** @description Where the hub sends people who need help. */
            supportChannelType?: components["schemas"]["SupportChannelType"] | null;
            /** @description Email address, phone number or URL of the support channel. */
            supportChannelValue?: string | null;
            /**
             * Format: email
             * @description Address that mails of the hub name for questions.
             */
            supportEmail?: string | null;
            /** @description First message that the hub proposes on WhatsApp. */
            supportWhatsappMessage?: string | null;
        };
        /**
         * @description How an agent holds a connection: `STATIC` makes everything ready in advance and shares it, `DYNAMIC` makes it ready when it is needed. The field that has the mode says what that is.
         * @enum {string}
         */
        InstanceMode: "STATIC" | "DYNAMIC";
        /** @description Configuration of an `INTERNAL_VARIABLE`, which keeps a value that the agent can read. */
        InternalVariableConfiguration: {
            /** @description Name of the variable. */
            name: string;
            /**
             * @description Type of the value.
             * @enum {string}
             */
            type: "string" | "number" | "boolean" | "object" | "array";
            /** @description The value until another is written, of that type; `null` when it is left out. */
            defaultValue?: unknown;
            /**
             * @description `conversation`: one value for each conversation. `workspace`: one value for all.
             * @enum {string}
             */
            scope: "conversation" | "workspace";
            /** @description Whether the agent may change the value; false when it is left out. A value that is written is of the type, not null, and has at most 64 KiB of JSON. */
            writable?: boolean;
        };
        /** @description A text or file that agents can draw on in their answers. */
        KnowledgeSource: {
            /**
             * Format: uuid
             * @description The knowledge source's id.
             */
            publicId: string;
            /** @description Name; need not be unique. */
            name: string;
            /** @description What the source is about. */
            description: string | null;
            /**
             * @description `TEXT_INPUT`: a text sent as JSON. `FILE_UPLOAD`: a file sent to this API. `FILE`: a file that came another way, such as through the console.
             * @enum {string}
             */
            sourceType: "FILE_UPLOAD" | "FILE" | "TEXT_INPUT";
            processingStatus: components["schemas"]["ProcessingStatus"];
            /** @description Why the processing failed and what to do about it; `null` unless the status is `FAILED`. */
            errorMessage: string | null;
            /**
             * Format: date-time
             * @description When processing last ended, well or badly; `null` until it has.
             */
            lastProcessedAt: string | null;
            /**
             * Format: date-time
             * @description When the source was added.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the source was last changed or processed.
             */
            updatedAt: string;
        };
        /** @description A new knowledge source from a file. Accepted, and `FAILED` when they are read, are an empty file, a text whose encoding cannot be detected, a PDF that is damaged, has a password, no text or more than 10,000 pages, and whatever has more than 20 million characters or takes more than two minutes to read. */
        KnowledgeSourceFileCreate: {
            /**
             * Format: binary
             * @description A PDF, TXT, CSV, DOCX or MD file of at most 20 MiB. The bytes tell PDF, DOCX and text apart, and an extension of these that contradicts them is 415. Which text it is says the extension, or else the `Content-Type` of the part; without both it is TXT, and a text of another kind, such as HTML, is 415.
             */
            file: string;
            /** @description Name and description of the file, as JSON (`KnowledgeSourceMetadata`); may be left out. */
            metadata?: components["schemas"]["KnowledgeSourceMetadata"];
        };
        /** @description A knowledge source that is linked to an agent. */
        KnowledgeSourceLink: {
            /**
             * Format: uuid
             * @description The knowledge source's id.
             */
            knowledgeSourcePublicId: string;
            /** @description Name of the knowledge source. */
            knowledgeSourceName: string;
            /** @description Whether the agent draws on the source. Only what has been processed is found. */
            active: boolean;
        };
        /** @description A knowledge source to link to an agent. */
        KnowledgeSourceLinkCreate: {
            /**
             * Format: uuid
             * @description The knowledge source, one of `listAvailableKnowledgeSources`.
             */
            knowledgeSourcePublicId: string;
        };
        /** @description Name and description of an uploaded file. */
        KnowledgeSourceMetadata: {
            /** @description Name; need not be unique. Left out, it is the name of the file, cut to 150 characters. */
            name?: string;
            /** @description What the source is about. */
            description?: string | null;
        };
        /** @description A page of knowledge sources. */
        KnowledgeSourcePage: {
            /** @description The knowledge sources of this page. */
            items: components["schemas"]["KnowledgeSource"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /** @description A new knowledge source from a text. */
        KnowledgeSourceTextCreate: {
            /** @description Name; need not be unique. */
            name: string;
            /** @description What the source is about. */
            description?: string | null;
            /**
             * @description The only kind of source that comes as JSON; may be left out. `TEXT_INPUT`, as responses have it, is the same.
             * @enum {string}
             */
            sourceType?: "text_input" | "TEXT_INPUT";
            /** @description The text to draw on, plain or Markdown. The whole body may have 2 MiB. */
            textContent: string;
        };
        /** @description The fields to change. An absent field stays as it is. */
        KnowledgeSourceUpdate: {
            /** @description Name; need not be unique. */
            name?: string;
            /** @description What the source is about. */
            description?: string;
        };
        /** @description Settings of `long-term-memory`. */
        LongTermMemoryConfig: {
            /** @description What to remember and what not. */
            customInstructions?: string | null;
        };
        /** @description A stored message of a conversation. */
        Message: {
            /**
             * Format: uuid
             * @description The message's id.
             */
            publicId: string;
            /**
             * Format: uuid
             * @description The conversation that it belongs to.
             */
            conversationPublicId: string;
            role: components["schemas"]["MessageRole"];
            /** @description Text of the message as it was sent, also where it invokes a command; empty when a user sent only attachments. */
            content: string;
            /** @description Components that the agent shows with the reply, when it uses generative UI; else `null`. When a reply is split, its last message has them. The text says everything that the components say, so a client may ignore them. */
            ui: components["schemas"]["MessageUi"] | null;
            /**
             * Format: uri
             * @description Address of the reply as speech (MP3, or WAV where the provider returns that), when the agent replies with audio and a provider is configured; else `null`. When a reply is split, its last message has the address, for at most 4,096 characters of the whole reply. The address needs no key.
             */
            audioUrl: string | null;
            /**
             * @description Name at its provider of the model that wrote the reply; `null` for a user's message, and for one that a person wrote in place of the agent.
             * @example gpt-4.1
             */
            model: string | null;
            /** @description Tokens used for the reply, on the last message of one that is split and 0 on the others; `null` where `model` is. */
            tokenUsage: components["schemas"]["TokenUsage"] | null;
            /**
             * Format: double
             * @description Model costs of the reply in US dollars, on the last message of one that is split and 0 on the others. A model whose price is not known counts as 0. `null` where `model` is.
             */
            costUsd: number | null;
            /**
             * Format: int32
             * @description Operations that the turn is counted as: 1 for a reply (for the last message of one that is split), 0 for a user's message and for a reply that follows an operator's decision.
             */
            costOps: number;
            /**
             * Format: date-time
             * @description When the message was sent.
             */
            sentAt: string;
        };
        /** @description Settings of `message-delay`. */
        MessageDelayConfig: {
            /** @description How long to wait; `null` is `MEDIUM`. */
            type?: components["schemas"]["MessageDelayTier"] | null;
        };
        /**
         * @description How long the agent waits before each message on a channel, by the length of the message: `LOW` half a second to 4 seconds, `MEDIUM` 1 to 10, `HIGH` 2 to 20. `RANDOM` picks a tier for each reply.
         * @enum {string}
         */
        MessageDelayTier: "LOW" | "MEDIUM" | "HIGH" | "RANDOM";
        /** @description Data of your own, any JSON. The metadata of the first message of a conversation is stored with the conversation; later messages do not change it. Five fields have a meaning: `variables`, `context`, `approvals`, `approvalsBy` and `clientPublicId`. */
        MessageMetadata: {
            /** @description Values of the agent's variables by name, each in the form that the type of the variable demands. Values of the first message hold for the whole conversation, values of a later message for that turn only. Sub-agents get the values that fit their own variables. Names that an agent does not define are ignored. `null` is no value. A value that changes from message to message changes the beginning of what the model is sent, so that providers find nothing of the conversation in their caches: send it as `context`. */
            variables?: {
                [key: string]: unknown;
            } | null;
            /** @description Facts about the moment of the message that the agent should know, such as the page that the user looks at. The model reads them beside the message, as quoted information of your application, never as instructions or as words of the user. Its sub-agents read them too. Later turns see them beside this message in the history, and not as what holds then. As JSON at most 8,000 characters and 8 levels deep, or 400 `VALIDATION_ERROR`. `null` is none. */
            context?: {
                [key: string]: unknown;
            } | null;
            /** @description Decisions on the pending tool calls of the conversation, by the `publicId` of the pending approval. A call that is not named stays pending. An id that was never an approval of the conversation is 400 `VALIDATION_ERROR`; a call that is already decided keeps its decision. `null` is no decision. */
            approvals?: {
                [key: string]: components["schemas"]["ApprovalDecision"];
            } | null;
            /** @description `operator` demands that an operator decides on the pending tool calls: in the first message for the whole conversation, in a later one for its turn. `user` changes nothing, since metadata can tighten only what the operator of the service has set. */
            approvalsBy?: components["schemas"]["ApprovalsBy"];
            /**
             * Format: uuid
             * @description In the first message of a conversation: the client of the hub that the conversation belongs to. Its messages, and the agent's follow-ups, are paid with the credits of that client. An unknown or deleted client is 400 `VALIDATION_ERROR`. Later messages do not change it. Without it, a conversation belongs to no client, and nobody pays. `null` is no client.
             */
            clientPublicId?: string | null;
        } & {
            [key: string]: unknown;
        };
        /** @description A page of messages. */
        MessagePage: {
            /** @description The messages of this page. */
            items: components["schemas"]["Message"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /** @description One message of the agent's reply. */
        MessageReply: {
            /**
             * @description Always `assistant`.
             * @constant
             */
            role: "assistant";
            /** @description Text of the message. */
            content: string;
        };
        /** @description The outcome of a turn. */
        MessageResult: {
            /**
             * Format: uuid
             * @description The conversation. Send it with the next message to continue.
             */
            conversationId: string;
            /** @description The reply of this turn: one message, or several in their order when the agent splits its messages. A turn that waits for approval replies too, in one message that ends with what it waits for, or says that a person will decide. */
            messages: components["schemas"]["MessageReply"][];
            usage: components["schemas"]["MessageUsage"];
            conversation: components["schemas"]["Conversation"];
            /** @description The last of the messages, as stored. It has the usage of the whole turn, and what is shown or spoken with the reply (`ui`, `audioUrl`). */
            message: components["schemas"]["Message"];
            /**
             * Format: int64
             * @description Milliseconds from the request to the complete reply.
             */
            durationMs: number;
            /** @description Tool calls that wait for a decision, also those of earlier turns that are not decided yet. `PendingApproval` says who decides. */
            pendingApprovals: components["schemas"]["PendingApproval"][];
        };
        /**
         * @description Who wrote a message. `user`: the end user. `assistant`: the agent, or a person in place of it.
         * @enum {string}
         */
        MessageRole: "user" | "assistant";
        /** @description A message to an agent. It has a text, at least one attachment, or both. */
        MessageSend: {
            /** @description Text of the message. It may be empty or left out when there is an attachment. `approve` or `reject` alone, or a plain yes or no, decides all tool calls that wait in the conversation where the user decides (`PendingApproval`). `/` and the word of a command at the beginning invoke the command. */
            content?: string;
            /** @description Images, documents and voice messages for this message; absent or `null` for none. */
            attachments?: components["schemas"]["Attachment"][] | null;
            /**
             * Format: uuid
             * @description Conversation to continue, one of this agent. Left out, a new one starts.
             */
            conversationId?: string;
            /** @description Your own stable id of the end user. It counts when a conversation is created, a UUID is made up when it is left out then; a continued conversation keeps its own. What an agent remembers of an end user it remembers by this id. */
            externalUserId?: string;
            /** @description Keep the conversation out of the inbox of the web console; absent for false. It counts when a conversation is created and is ignored when one is continued. */
            isTest?: boolean;
            metadata?: components["schemas"]["MessageMetadata"];
            /**
             * Format: int32
             * @description Seconds to wait for the reply before 408 `AGENT_TIMEOUT`; absent for 60. `streamMessage` ignores it.
             */
            timeoutSeconds?: number;
        };
        /**
         * @description Server-sent events, each with a name in `event` and one JSON object in `data`, in this order:
         *
         *     - `conversation-id`, once, first: which conversation it is (`StreamConversationId`).
         *     - `text-delta`, repeated: a piece of the reply (`StreamTextDelta`). The pieces joined are the reply, undivided where
         *       the agent splits its messages. Nothing of what sub-agents say is among them.
         *     - `debug-info`, once, last: tokens, costs and what waits for approval (`StreamDebugInfo`).
         *     - `error`, once, last, in place of `debug-info`: what went wrong (`StreamError`). It can be the only event.
         *
         *     The stream ends after the last event. A comment line every 15 seconds keeps proxies from closing it. `contentSchema` is
         *     that of one event: its name in `event`, its `data` parsed.
         */
        MessageStream: string;
        /** @description One event of a stream, its `data` parsed. The name of the event, `event`, says which schema `data` has. */
        MessageStreamEvent: components["schemas"]["StreamConversationIdEvent"] | components["schemas"]["StreamTextDeltaEvent"] | components["schemas"]["StreamDebugInfoEvent"] | components["schemas"]["StreamErrorEvent"];
        /** @description A component that the agent shows, with others in it: at most 200 in all, 8 above one another, 64 KiB as JSON. Its fields depend on its `type`: `x-schemas` names the schema of each type. Texts are plain, except for Markdown where a description says so; draw it without HTML, and no link in it that is not https. A client leaves out types that it does not know: more may come. */
        MessageUi: {
            /** @description The type of the component. More may come. */
            type: "stack" | "card" | "heading" | "text" | "list" | "table" | "keyValue" | "image" | "link" | "button" | "divider" | "progress" | "stat" | "chart" | "form";
        } & {
            [key: string]: unknown;
        };
        /** @description What the turn used, over all its steps and sub-agents. Transcripts and speech are not part of it. */
        MessageUsage: {
            /**
             * Format: int32
             * @description Tokens that the models read.
             */
            inputTokens: number;
            /**
             * Format: int32
             * @description Tokens that the models wrote.
             */
            outputTokens: number;
            /**
             * Format: double
             * @description Model costs in US dollars. A model whose price is not known counts as 0.
             */
            totalCost: number;
        };
        /** @description What an AI model is able to do. */
        ModelCapabilities: {
            /**
             * Format: int32
             * @description Most tokens that a request to the model can hold; `null` when it is not known.
             */
            contextWindow: number | null;
            /** @description Whether a temperature can be set. */
            supportsTemperature: boolean;
            /**
             * Format: double
             * @description Lowest temperature; `null` when none can be set.
             */
            minTemperature: number | null;
            /**
             * Format: double
             * @description Highest temperature; `null` when none can be set.
             */
            maxTemperature: number | null;
            /** @description Whether the model can think before it answers. */
            supportsThinking: boolean;
            /** @description Whether the model takes images. */
            supportsImage: boolean;
            /** @description Whether the model takes documents, such as PDF. */
            supportsDocument: boolean;
        };
        /**
         * @description Key of the provider that runs a model: `openai`, `anthropic`, `google`, `openai-compatible` for another server with the same interface, or `builtin` for the one that needs no key and is no language model. More may come.
         * @example openai
         */
        ModelProvider: "openai" | "anthropic" | "google" | "openai-compatible" | "builtin";
        /** @description A native MCP connection: a built-in toolkit, or a third-party account that someone authorized for the workspace, with the tools of its toolkit. */
        NativeMcpConnection: {
            /**
             * Format: uuid
             * @description The connection's id.
             */
            publicId: string;
            /** @description Name that was given when the toolkit was authorized. */
            name: string;
            /** @description State of the connection in the toolkit registry, such as `ACTIVE`. The registry decides the values; only an `ACTIVE` connection works. A built-in toolkit is always `ACTIVE`. */
            status: string;
            /** @description Whether this agent has all tools of the connection loaded up front (`STATIC`) or loads them on demand (`DYNAMIC`); `null` while the connection is not linked to it. */
            instanceMode: components["schemas"]["InstanceMode"] | null;
            /** @description Slug of the toolkit, such as `slack`. */
            toolkitSlug: string;
            /** @description Name of the toolkit to show to people, such as `Slack`. */
            toolkitName: string;
            /** @description Picture of the toolkit; `null` when the registry has none. */
            toolkitIconUrl: string | null;
        };
        /** @description Instance mode of a native MCP connection linked to an agent. */
        NativeMcpInstanceMode: {
            /**
             * Format: uuid
             * @description The native MCP connection's id.
             */
            connectionPublicId: string;
            /** @description Whether all tools of the connection are loaded up front (`STATIC`) or on demand (`DYNAMIC`). */
            instanceMode: components["schemas"]["InstanceMode"];
        };
        /** @description The instance mode to set. */
        NativeMcpInstanceModeUpdate: {
            /** @description Whether all tools of the connection are loaded up front (`STATIC`) or on demand (`DYNAMIC`). */
            instanceMode: components["schemas"]["InstanceMode"];
        };
        /** @description The native MCP connections to link. */
        NativeMcpLinkCreate: {
            /** @description Ids of the connections; an empty list links nothing. */
            connectionPublicIds: string[];
        };
        /** @description The result for the connections in the request. */
        NativeMcpLinkResult: {
            /**
             * Format: int32
             * @description Number of ids in the request.
             */
            requested: number;
            /**
             * Format: int32
             * @description Number of ids that are linked now, `requested` less the skipped ones.
             */
            linked: number;
            /** @description The ids that were not linked, each with the reason. */
            skipped: components["schemas"]["NativeMcpSkippedConnection"][];
        };
        /** @description A list of native MCP connections. */
        NativeMcpList: {
            /** @description The connections; linked ones by when they were linked, others by age, newest first. */
            connections: components["schemas"]["NativeMcpConnection"][];
        };
        /** @description A connection that was submitted but not linked. */
        NativeMcpSkippedConnection: {
            /**
             * Format: uuid
             * @description The id as submitted.
             */
            connectionPublicId: string;
            /** @description Why it was not linked: `NOT_FOUND_OR_INACTIVE` when the workspace has no connection with this id, or the connection is not `ACTIVE`. More reasons may come. */
            reason: "NOT_FOUND_OR_INACTIVE";
        };
        /** @description A trigger type with the shape of its configuration. The provider may add fields of its own; only the ones named here can be relied on. */
        NativeMcpTrigger: {
            /** @description Slug of the trigger, for an automation's `triggerSlug`. */
            slug: string;
            /** @description Name of the trigger to show to people. */
            name: string;
            /** @description What makes the trigger fire; `null` when the provider does not say. */
            description: string | null;
            /** @description Slug of the toolkit that the trigger belongs to. */
            toolkit: string;
            /** @description JSON Schema of an automation's `triggerConfig` for this trigger. A trigger without any configuration has the schema of an empty object. */
            configSchema: {
                [key: string]: unknown;
            };
        } & {
            [key: string]: unknown;
        };
        /** @description The trigger types of a native MCP toolkit. */
        NativeMcpTriggerList: {
            /** @description Slug of the toolkit that the triggers belong to. */
            toolkit: string;
            /** @description The trigger types, in the provider's order, built-in ones first. */
            items: components["schemas"]["NativeMcpTriggerListItem"][];
        };
        /** @description A trigger type in a list. The provider may add fields of its own; only the ones named here can be relied on. */
        NativeMcpTriggerListItem: {
            /** @description Slug of the trigger, for `getNativeMcpTrigger` and an automation's `triggerSlug`. */
            slug: string;
            /** @description Name of the trigger to show to people. */
            name: string;
            /** @description What makes the trigger fire; `null` when the provider does not say. */
            description: string | null;
            /** @description Slug of the toolkit that the trigger belongs to. */
            toolkit: string;
        } & {
            [key: string]: unknown;
        };
        /** @description What a plan gives access to: its agents, pages and links under one name. */
        PackageRef: {
            /**
             * Format: uuid
             * @description The package's id. Give it as `packagePublicId` to build another plan on the same content.
             */
            publicId: string;
            /** @description Name of the package. One made from inline content is called after its plan. */
            name: string;
        };
        /**
         * Format: int32
         * @description Maximum number of items on a page, as requested.
         * @example 20
         */
        PageLimit: number;
        /**
         * Format: int32
         * @description Number of this page, from 1, as requested.
         * @example 1
         */
        PageNumber: number;
        /** @description An event of Stripe, of any type and version of its API. Fields that are not listed are stored with it, and read by nobody but the operator. */
        PaymentEvent: {
            /** @description The event's id. An event with an id that is known is not applied again. */
            id: string;
            /** @description What happened, such as `invoice.paid`. Types that change nothing here are stored, too. */
            type: string;
            /**
             * Format: int64
             * @description When it happened, in seconds since 1970, before the year 10000.
             */
            created: number;
            /** @description Whether it is about real money. It must be the mode of the installation's key. */
            livemode: boolean;
            /** @description The connected account that it happened to. Absent for the installation's own account. */
            account?: string | null;
        } & {
            [key: string]: unknown;
        };
        /** @description What became of an event. */
        PaymentEventReceived: {
            /** @description Whether it is stored. False when its account belongs to no hub. */
            received: boolean;
        };
        /**
         * @description A tool call that waits for a person's decision. Where the user decides, the next message of the conversation does:
         *
         *     - `metadata.approvals` decides each call by its `publicId`. A call that it does not name stays pending.
         *     - A `content` that is just `approve` or `reject`, or a plain yes or no in one of many languages (`Ja!`, `ok 👍`,
         *       `não`), decides all calls that the map does not name. A question is no decision. When no call waits, such a message
         *       is an ordinary one.
         *     - A message with neither withdraws all pending calls, because a different message is no approval. The agent sees that
         *       the calls were withdrawn, and replies to the message.
         *
         *     Where an operator decides, no word of a message does: the reply says that a person will decide, the calls wait on, and
         *     further messages are answered beside them. `metadata.approvals` decides there, too: whoever holds a key of the
         *     workspace speaks for it. Pass on no decision of an end user there.
         *
         *     Who decides is a setting of the agent or else of the workspace, which the operator of the service makes. Without one it
         *     is the user in conversations of this API, and an operator in those that are held over a channel. `metadata.approvalsBy`
         *     can demand an operator.
         *
         *     An approved call is made at most once, with the tool as it is at that time. A rejected call is not made, and the agent
         *     sees the rejection. The agent may then ask for further calls. The operator of the service can always decide; the first
         *     decision counts.
         */
        PendingApproval: {
            /**
             * Format: uuid
             * @description The approval's id.
             */
            publicId: string;
            /** @description Name by which the agent calls the tool. */
            toolName: string;
            /** @description What the tool would be called with. */
            input: {
                [key: string]: unknown;
            };
            /**
             * Format: date-time
             * @description When the agent asked for the call.
             */
            requestedAt: string;
        };
        /** @description An invitation that its user has not accepted yet. */
        PendingInvitation: {
            /**
             * Format: uuid
             * @description The invitation's id.
             */
            publicId: string;
            /** @description Name of the invited user. */
            name: string;
            /** @description Address that the invitation was sent to. */
            email: string;
            role: components["schemas"]["ClientRole"];
            /**
             * Format: date-time
             * @description When the invitation was created.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description Until when the invitation can be accepted.
             */
            expiresAt: string;
            /** @description Whether `expiresAt` has passed. `resendClientInvitation` renews it. */
            isExpired: boolean;
        };
        /** @description The plan that a client changes to. */
        PendingPlanRef: {
            /**
             * Format: uuid
             * @description The plan's id.
             */
            publicId: string;
            /** @description Name of the plan. */
            name: string;
            /**
             * Format: int32
             * @description Price in the currency's smallest unit; 0 is free.
             */
            priceCents: number;
            /**
             * @description ISO 4217 code in upper case.
             * @example USD
             */
            currency: string;
            /**
             * Format: date-time
             * @description When the change takes effect.
             */
            effectiveAt: string;
        };
        /** @description A plan that clients subscribe to. */
        Plan: {
            /**
             * Format: uuid
             * @description The plan's id.
             */
            publicId: string;
            /** @description Name, unique within the hub. */
            name: string;
            /** @description What the plan offers. */
            description: string | null;
            status: components["schemas"]["PlanStatus"];
            billingType: components["schemas"]["BillingType"];
            /**
             * Format: int32
             * @description Months between two payments of a recurring plan; without effect on a one-time plan.
             */
            billingIntervalMonths: number;
            /**
             * Format: int32
             * @description Price in the currency's smallest unit; 0 is free.
             */
            priceCents: number;
            /**
             * @description ISO 4217 code in upper case.
             * @example USD
             */
            currency: string;
            /**
             * @description The price for people, with its currency.
             * @example $49.00
             */
            formattedPrice: string;
            /** @description Whether credits are unlimited, whatever the credit package says. */
            unlimitedCredits: boolean;
            /** @description Whether customers may buy credits beyond those included. */
            extraCreditsEnabled: boolean;
            /**
             * Format: int32
             * @description Price of a pack of extra credits in the currency's smallest unit.
             */
            extraCreditsPriceCents: number | null;
            /**
             * Format: int32
             * @description Users that a client workspace on this plan may have.
             */
            seatsIncluded: number;
            /** @description Whether the pricing widget shows the plan. */
            visible: boolean;
            /**
             * Format: int32
             * @description Clients that are on the plan now.
             */
            activeSubscriptions: number;
            /** @description Page of the hub that sells the plan; `null` while the hub has no subdomain, and for an inactive plan. Another subdomain makes another address. */
            checkoutUrl: string | null;
            /** @description Credits that the plan includes; `null` for none. */
            creditPackage: components["schemas"]["CreditPackageRef"] | null;
            hubPackage: components["schemas"]["PackageRef"];
            /** @description Title in the pricing widget; `null` shows the name. */
            widgetTitle: string | null;
            /** @description Text under the title in the pricing widget. */
            widgetDescription: string | null;
            /** @description Text of the button in the pricing widget. */
            widgetCtaText: string | null;
            /** @description Whether the pricing widget sets the plan off from the others. */
            widgetHighlighted: boolean;
            /** @description Feature list in the pricing widget, in its order. */
            widgetFeatures: components["schemas"]["WidgetFeature"][];
            /**
             * Format: date-time
             * @description When the plan was created.
             */
            createdAt: string;
        };
        /** @description What a plan gives access to. */
        PlanContent: {
            /** @description Agents that the plan gives access to, each once. */
            agents: components["schemas"]["PlanContentAgent"][];
            /** @description Pages of the hub that the plan gives access to. */
            pages: components["schemas"]["HubPage"][];
            /** @description Links of the hub that the plan shows in the menu; absent or `null` for none. */
            externalLinkPublicIds?: string[] | null;
            /** @description Order of the sections in the menu, each once. Absent or `null`: chat, then support. */
            sectionOrdering?: components["schemas"]["PlanContentSection"][] | null;
        };
        /** @description An agent that a plan gives access to. */
        PlanContentAgent: {
            /**
             * Format: uuid
             * @description The agent, one of the workspace.
             */
            agentPublicId: string;
        };
        /** @description Place of a section in the menu of the hub. */
        PlanContentSection: {
            /**
             * @description The section.
             * @enum {string}
             */
            section: "chat" | "support";
            /**
             * Format: int32
             * @description Place of the section; the smallest number comes first.
             */
            displayOrder: number;
        };
        /** @description A new plan. Its content comes from a package or from `content`: exactly one of the two. */
        PlanCreate: {
            /** @description Name, unique within the hub. */
            name: string;
            /** @description What the plan offers. */
            description?: string | null;
            billingType: components["schemas"]["BillingType"];
            /**
             * Format: int32
             * @description Months between two payments; at least 1 for a recurring plan, without effect on a one-time plan. It cannot be changed later.
             */
            billingIntervalMonths: number;
            /**
             * Format: int32
             * @description Price in the currency's smallest unit; 0 is free.
             */
            priceCents: number;
            /**
             * @description ISO 4217 code, in upper or lower case. It cannot be changed later.
             * @example USD
             */
            currency: string;
            /**
             * Format: int32
             * @description Users that a client workspace on this plan may have.
             */
            seatsIncluded: number;
            /** @description Whether credits are unlimited, whatever the credit package says; absent for false. */
            unlimitedCredits?: boolean;
            /** @description Whether customers may buy credits beyond those included; absent for false. */
            extraCreditsEnabled?: boolean;
            /**
             * Format: int32
             * @description Price of a pack of extra credits in the currency's smallest unit. Needed when `extraCreditsEnabled` is true.
             */
            extraCreditsPriceCents?: number | null;
            /** @description Whether the pricing widget shows the plan; absent for true. */
            visible?: boolean;
            /**
             * Format: uuid
             * @description Credit package that the plan includes; absent or `null` for none.
             */
            creditPackagePublicId?: string | null;
            /**
             * Format: uuid
             * @description A package that holds the plan's content, such as the `hubPackage` of another plan. Not together with `content`.
             */
            packagePublicId?: string;
            content?: components["schemas"]["PlanContent"];
        };
        /** @description A plan in a list. */
        PlanListItem: {
            /**
             * Format: uuid
             * @description The plan's id.
             */
            publicId: string;
            /** @description Name, unique within the hub. */
            name: string;
            /** @description What the plan offers. */
            description: string | null;
            status: components["schemas"]["PlanStatus"];
            billingType: components["schemas"]["BillingType"];
            /**
             * Format: int32
             * @description Months between two payments of a recurring plan; without effect on a one-time plan.
             */
            billingIntervalMonths: number;
            /**
             * Format: int32
             * @description Price in the currency's smallest unit; 0 is free.
             */
            priceCents: number;
            /**
             * @description ISO 4217 code in upper case.
             * @example USD
             */
            currency: string;
            /**
             * @description The price for people, with its currency.
             * @example $49.00
             */
            formattedPrice: string;
            /** @description Whether credits are unlimited, whatever the credit package says. */
            unlimitedCredits: boolean;
            /** @description Whether customers may buy credits beyond those included. */
            extraCreditsEnabled: boolean;
            /**
             * Format: int32
             * @description Price of a pack of extra credits in the currency's smallest unit.
             */
            extraCreditsPriceCents: number | null;
            /**
             * Format: int32
             * @description Users that a client workspace on this plan may have.
             */
            seatsIncluded: number;
            /** @description Whether the pricing widget shows the plan. */
            visible: boolean;
            /**
             * Format: int32
             * @description Clients that are on the plan now.
             */
            activeSubscriptions: number;
            /** @description Page of the hub that sells the plan; `null` while the hub has no subdomain, and for an inactive plan. Another subdomain makes another address. */
            checkoutUrl: string | null;
            /** @description Name of the credit package that the plan includes; `null` for none. */
            creditPackageName: string | null;
            /** @description Name of the package with the plan's content. */
            packageName: string;
            /**
             * Format: int32
             * @description Agents that the plan gives access to.
             */
            agentsCount: number;
            /**
             * Format: int32
             * @description Pages of the hub that the plan gives access to.
             */
            pagesCount: number;
            /** @description Title in the pricing widget; `null` shows the name. */
            widgetTitle: string | null;
            /** @description Text under the title in the pricing widget. */
            widgetDescription: string | null;
            /** @description Text of the button in the pricing widget. */
            widgetCtaText: string | null;
            /** @description Whether the pricing widget sets the plan off from the others. */
            widgetHighlighted: boolean;
            /** @description Feature list in the pricing widget, in its order. */
            widgetFeatures: components["schemas"]["WidgetFeature"][];
            /**
             * Format: date-time
             * @description When the plan was created.
             */
            createdAt: string;
        };
        /** @description A page of plans. */
        PlanPage: {
            /** @description The plans of this page. */
            items: components["schemas"]["PlanListItem"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /** @description A plan, in short. */
        PlanRef: {
            /**
             * Format: uuid
             * @description The plan's id.
             */
            publicId: string;
            /** @description Name of the plan. */
            name: string;
            /**
             * Format: int32
             * @description Price in the currency's smallest unit; 0 is free.
             */
            priceCents: number;
            /**
             * @description ISO 4217 code in upper case.
             * @example USD
             */
            currency: string;
            billingType: components["schemas"]["BillingType"];
            /**
             * Format: int32
             * @description Months between two payments of a recurring plan; without effect on a one-time plan.
             */
            billingIntervalMonths: number;
            /**
             * Format: int64
             * @description Credits that the plan brings, bonus credits among them; 0 without a credit package.
             */
            creditsIncluded: number;
        };
        /**
         * @description `active`: can be subscribed to. `inactive`: takes no new subscribers; those it has keep it.
         * @enum {string}
         */
        PlanStatus: "active" | "inactive";
        /** @description The fields to change; an absent field stays as it is. `currency`, `billingType` and `billingIntervalMonths` never change and are refused: create another plan instead. */
        PlanUpdate: {
            /** @description Name, unique within the hub. */
            name?: string;
            /** @description What the plan offers. */
            description?: string;
            status?: components["schemas"]["PlanStatus"];
            /**
             * Format: int32
             * @description Price in the currency's smallest unit; 0 is free. Fixed while the plan has active subscribers.
             */
            priceCents?: number;
            /**
             * Format: int32
             * @description Users that a client workspace on this plan may have.
             */
            seatsIncluded?: number;
            /** @description Whether credits are unlimited, whatever the credit package says. */
            unlimitedCredits?: boolean;
            /** @description Whether customers may buy credits beyond those included. */
            extraCreditsEnabled?: boolean;
            /**
             * Format: int32
             * @description Price of a pack of extra credits in the currency's smallest unit. Needed when `extraCreditsEnabled` is true.
             */
            extraCreditsPriceCents?: number;
            /**
             * Format: uuid
             * @description Credit package that the plan includes.
             */
            creditPackagePublicId?: string;
            /**
             * Format: uuid
             * @description A package that holds the plan's content, such as the `hubPackage` of another plan. Not together with `content`.
             */
            packagePublicId?: string;
            content?: components["schemas"]["PlanContent"];
            /** @description Title in the pricing widget. */
            widgetTitle?: string;
            /** @description Text under the title in the pricing widget. */
            widgetDescription?: string;
            /** @description Text of the button in the pricing widget. */
            widgetCtaText?: string;
            /** @description Whether the pricing widget sets the plan off from the others. */
            widgetHighlighted?: boolean;
            /** @description Feature list in the pricing widget. The list replaces the present one; `null` takes all away, as `[]` does. */
            widgetFeatures?: components["schemas"]["WidgetFeature"][] | null;
        };
        /**
         * @description How far the processing of a knowledge source is. `PENDING`: it waits for its turn. `PROCESSING`: it is being read and indexed. `COMPLETED`: agents can draw on it. `FAILED`: it could not be read or has no text, `errorMessage` says why; it is not tried again, so add a new source.
         * @enum {string}
         */
        ProcessingStatus: "PENDING" | "PROCESSING" | "COMPLETED" | "FAILED";
        /** @description Instructions and files that teach an agent one kind of work, in the Agent Skills format. The files cannot change after the upload. */
        Skill: {
            /**
             * Format: uuid
             * @description The skill's id.
             */
            publicId: string;
            /** @description Name, unique among the skills of the workspace. */
            name: string;
            /** @description What the skill does and when to use it. Agents use it to decide when to read the skill. */
            description: string;
            /** @description License, as `license` in the front matter says. */
            license: string | null;
            /** @description What the skill needs to work, as `compatibility` in the front matter says. */
            compatibility: string | null;
            /** @description Tools that the skill may use, separated by spaces, as `allowed-tools` in the front matter says. */
            allowedTools: string | null;
            /** @description Further facts, as `metadata` in the front matter says. */
            metadata: {
                [key: string]: unknown;
            } | null;
            /** @description The files of the skill, by path. There is always a `SKILL.md`. */
            files: components["schemas"]["SkillFile"][];
            /**
             * Format: date-time
             * @description When the skill was uploaded.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description When the skill was last changed.
             */
            updatedAt: string;
        };
        /** @description A file of a skill. */
        SkillFile: {
            /**
             * @description Path inside the skill, with `/` between folders.
             * @example scripts/triage.py
             */
            path: string;
            /**
             * Format: int64
             * @description Size of the file, unpacked, in bytes.
             */
            sizeBytes: number;
            /** @description Whether the file is something other than UTF-8 text. */
            binary: boolean;
        };
        /** @description A skill that is linked to an agent. */
        SkillLink: {
            /**
             * Format: uuid
             * @description The skill's id.
             */
            skillPublicId: string;
            /** @description Name of the skill. */
            skillName: string;
            /** @description Whether the agent uses the skill. */
            active: boolean;
        };
        /** @description A skill to link to an agent. */
        SkillLinkCreate: {
            /**
             * Format: uuid
             * @description The skill, one of `listAvailableSkills`.
             */
            skillPublicId: string;
        };
        /** @description A page of skills. */
        SkillPage: {
            /** @description The skills of this page. */
            items: components["schemas"]["Skill"][];
            page: components["schemas"]["PageNumber"];
            limit: components["schemas"]["PageLimit"];
            total: components["schemas"]["TotalItems"];
            totalPages: components["schemas"]["TotalPages"];
        };
        /** @description The fields to change. An absent field stays as it is. */
        SkillUpdate: {
            /** @description Name, unique among the skills of the workspace. */
            name?: string;
            /** @description What the skill does and when to use it. Agents decide by it. */
            description?: string;
        };
        /**
         * @description A skill as a file to upload.
         *
         *     - An archive has at most 1,000 entries, folders included. Unpacked, a file has at most 20 MiB and all files together
         *       50 MiB. Beyond 1 MiB neither a file nor the archive may unpack to more than 100 times its size.
         *     - A path has at most 255 characters and 16 parts, stays inside the skill, and differs from every other path in more
         *       than case. Encrypted files, links and archives inside (ZIP, 7z, RAR) are refused; Office, OpenDocument and EPUB
         *       files are accepted.
         *     - All files are in one folder with `SKILL.md`. An enclosing folder is removed from their paths. `__MACOSX/` and
         *       `.DS_Store` are left out, every other file is kept.
         *     - `SKILL.md` may be named in upper or lower case, and a lone Markdown file in any way: it is kept as `SKILL.md`.
         *     - The front matter is YAML of at most 16 KiB. `name` has at most 64 characters, `description` and `license` 1,024,
         *       `compatibility` 500, `allowed-tools`, a text or a list, 4,096; `metadata` nests at most 8 deep.
         */
        SkillUpload: {
            /**
             * Format: binary
             * @description A `.zip` or `.skill` archive, or a lone `SKILL.md` or other `.md` file in UTF-8; at most 10 MiB.
             */
            file: string;
        };
        /** @description Data of the event `conversation-id`. */
        StreamConversationId: {
            /**
             * Format: uuid
             * @description The conversation. Send it with the next message to continue.
             */
            conversationId: string;
        };
        /** @description Says which conversation it is. Once, first. */
        StreamConversationIdEvent: {
            /**
             * @description Name of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            event: "conversation-id";
            data: components["schemas"]["StreamConversationId"];
        };
        /** @description Data of the event `debug-info`, which ends a successful turn. */
        StreamDebugInfo: {
            /**
             * Format: int32
             * @description Tokens that the models read, over all steps and sub-agents.
             */
            inputTokens: number;
            /**
             * Format: int32
             * @description Tokens that the models wrote.
             */
            outputTokens: number;
            /**
             * Format: int32
             * @description Sum of both.
             */
            totalTokens: number;
            /**
             * Format: double
             * @description Model costs in US dollars. A model whose price is not known counts as 0.
             */
            totalCost: number;
            /**
             * @description Name at its provider of the model that wrote the reply.
             * @example gpt-4.1
             */
            model: string;
            /**
             * @description Why the last answer of the model ended. `stop` and `tool-calls`: it is whole. `length`: it was cut at a limit of the model. `content-filter`: the provider withheld the rest. `refusal`: the model refused. `empty`: the model gave neither text nor a call. `other`: for a reason of the provider's own. More values may come. Null: the model was not called.
             * @example stop
             */
            finishReason: string | null;
            /**
             * Format: int64
             * @description Milliseconds from the request to the complete reply.
             */
            durationMs: number;
            /**
             * Format: uuid
             * @description The last message of the reply, as stored. Its `ui` and `audioUrl` are read with `listConversationMessages`.
             */
            messagePublicId: string;
            /** @description The tool calls that the agent made in this turn, in the order in which they began. Those of a sub-agent are within the call that delegated to it; those that wait are in `pendingApprovals`. */
            toolCalls: components["schemas"]["StreamToolCall"][];
            /** @description Tool calls that wait for a decision, also those of earlier turns that are not decided yet. `PendingApproval` says who decides. */
            pendingApprovals: components["schemas"]["PendingApproval"][];
        };
        /** @description Ends a successful turn. Once, last. */
        StreamDebugInfoEvent: {
            /**
             * @description Name of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            event: "debug-info";
            data: components["schemas"]["StreamDebugInfo"];
        };
        /** @description Data of the event `error`, which ends a failed turn. */
        StreamError: {
            code: components["schemas"]["ErrorCode"];
            /** @description One sentence that a person can act on. Its wording may change. */
            message: string;
            /**
             * Format: int32
             * @description The HTTP status that `sendMessage` returns in this case.
             */
            status: number;
            /** @description The request's id, as in the `X-Request-Id` header. */
            requestId: string;
        };
        /** @description Ends a failed turn, in place of `debug-info`. Once, last; it can be the only event. */
        StreamErrorEvent: {
            /**
             * @description Name of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            event: "error";
            data: components["schemas"]["StreamError"];
        };
        /** @description Data of the event `text-delta`. */
        StreamTextDelta: {
            /** @description The next piece of the reply. */
            text: string;
        };
        /** @description A piece of the reply. Repeated. */
        StreamTextDeltaEvent: {
            /**
             * @description Name of the event. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            event: "text-delta";
            data: components["schemas"]["StreamTextDelta"];
        };
        /** @description A tool call of a turn. */
        StreamToolCall: {
            /** @description Name by which the agent called the tool. */
            name: string;
            /**
             * Format: int64
             * @description Milliseconds that the call took.
             */
            durationMs: number;
            /** @description Whether the tool succeeded. The agent reads the error and continues. */
            ok: boolean;
        };
        /** @description An agent linked to another one as a delegation target. */
        SubAgentLink: {
            /**
             * Format: uuid
             * @description The id of the agent that is delegated to.
             */
            subAgentPublicId: string;
            /** @description Name of the agent that is delegated to. */
            subAgentName: string;
            /** @description When and how the parent delegates; `null` leaves the parent with the sub-agent's own description. */
            description: string | null;
            /**
             * Format: uuid
             * @description AI model to use instead of the sub-agent's own; `null` when there is no override.
             */
            aiModelPublicId: string | null;
            /** @description Display name of that AI model; `null` when there is no override. */
            aiModelName: string | null;
            /**
             * Format: int32
             * @description Position in the parent's list, smallest first.
             */
            sortOrder: number;
        };
        /** @description The agent to link as a sub-agent. */
        SubAgentLinkCreate: {
            /**
             * Format: uuid
             * @description The id of the agent to delegate to, another agent of the workspace.
             */
            subAgentPublicId: string;
            /** @description When and how the parent delegates. Left out, the parent reads the sub-agent's own description. */
            description?: string | null;
            /**
             * Format: uuid
             * @description AI model to use instead of the sub-agent's own, one of `listAiModels`.
             */
            aiModelPublicId?: string | null;
            /**
             * Format: int32
             * @description Position in the parent's list, smallest first; the end of the list when left out.
             */
            sortOrder?: number;
        };
        /** @description Whether a subdomain is free. */
        SubdomainAvailability: {
            /** @description The subdomain that was checked, in lower case. */
            subdomain: string;
            /** @description Whether the hub could move to it. */
            available: boolean;
            /** @description Why the subdomain is not available; `null` when it is. */
            reason: components["schemas"]["SubdomainUnavailableReason"] | null;
        };
        /** @description Why a subdomain is not available. `reserved`: kept for the service. `taken`: a hub has it. More reasons may come. */
        SubdomainUnavailableReason: "reserved" | "taken";
        /**
         * @description `active`: in use. `trialing`: on the trial plan of the hub. `past_due`: a payment is overdue. `pending_onboarding`: without a plan and waiting for one. `suspended`: stopped with `suspendClient`. `canceled`: ended, such as a trial that is over; a plan that is bought opens the client again.
         * @enum {string}
         */
        SubscriptionStatus: "active" | "past_due" | "canceled" | "trialing" | "pending_onboarding" | "suspended";
        /**
         * @description Where the hub sends people who need help.
         * @enum {string}
         */
        SupportChannelType: "email" | "whatsapp" | "url";
        /**
         * @description How much the model may think before it answers, where it supports thinking.
         * @enum {string}
         */
        ThinkingEffort: "low" | "medium" | "high";
        /** @description Tokens that models used for a reply, over all its steps and sub-agents. */
        TokenUsage: {
            /**
             * Format: int32
             * @description Tokens that the models read.
             */
            inputTokens: number;
            /**
             * Format: int32
             * @description Tokens that the models wrote.
             */
            outputTokens: number;
            /**
             * Format: int32
             * @description Sum of both.
             */
            totalTokens: number;
        };
        /**
         * @description JSON Schema of the inputs, which the model fills in when it calls the tool. It is 2020-12, or draft-07 if `$schema` says so, it has the `type` `object`, and it refers to places within itself only. Inputs must fit it; its defaults are filled in, nothing is coerced.
         * @example {
         *       "type": "object",
         *       "properties": {
         *         "orderNumber": {
         *           "type": "string"
         *         }
         *       },
         *       "required": [
         *         "orderNumber"
         *       ]
         *     }
         */
        ToolInputSchema: {
            [key: string]: unknown;
        };
        /**
         * Format: int64
         * @description Number of items over all pages.
         * @example 1
         */
        TotalItems: number;
        /**
         * Format: int64
         * @description Number of pages, `ceil(total / limit)`; 0 when there are no items.
         * @example 1
         */
        TotalPages: number;
        /** @description A button with either a `message` or a `url`. */
        UiButton: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "button";
            /** @description Text on the button. */
            label: string;
            /** @description What the client sends as the user's next message. */
            message?: string;
            /** @description What the client opens. An https address without credentials. */
            url?: string;
        };
        /** @description A group of components in a frame. */
        UiCard: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "card";
            /** @description The components. */
            children: components["schemas"]["MessageUi"][];
            /** @description Title of the card. */
            title?: string;
        };
        /** @description A chart. */
        UiChart: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "chart";
            /**
             * @description Kind of the chart.
             * @enum {string}
             */
            kind: "bar" | "line";
            /** @description The series. */
            series: components["schemas"]["UiChartSeries"][];
            /** @description Title of the chart. */
            title?: string;
        };
        /** @description A point of a chart. */
        UiChartPoint: {
            /** @description Where it stands. */
            label: string;
            /**
             * Format: double
             * @description Its value.
             */
            value: number;
        };
        /** @description A series of a chart. */
        UiChartSeries: {
            /** @description Name of the series. */
            name: string;
            /** @description Its points. */
            points: components["schemas"]["UiChartPoint"][];
        };
        /** @description A line between components. */
        UiDivider: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "divider";
        };
        /** @description A form. The client sends what was filled in as the user's next message, a line `label: value` for each input. */
        UiForm: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "form";
            /** @description The inputs. No two have the same `name`. */
            inputs: components["schemas"]["UiFormInput"][];
            /** @description Title of the form. */
            title?: string;
            /** @description Text on the button that sends it. */
            submitLabel?: string;
        };
        /** @description An input of a form. */
        UiFormInput: {
            /**
             * @description Name of the input.
             * @example email
             */
            name: string;
            /** @description What the form shows for the input. */
            label: string;
            /**
             * @description What can be filled in.
             * @enum {string}
             */
            kind: "text" | "multiline" | "number" | "date" | "email" | "checkbox" | "select";
            /** @description Whether it must be filled in; false when it is left out. */
            required?: boolean;
            /** @description What can be chosen. Goes with the kind `select`, which requires it. */
            options?: string[];
        };
        /** @description A heading. */
        UiHeading: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "heading";
            /** @description The heading. */
            text: string;
            /**
             * Format: int32
             * @description How far it stands below the top; the smallest is the most important.
             */
            level?: number;
        };
        /** @description A picture. */
        UiImage: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "image";
            /** @description The picture. An https address without credentials. */
            url: string;
            /** @description What it shows, in words. */
            alt: string;
        };
        /** @description Values with their names. */
        UiKeyValue: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "keyValue";
            /** @description The values. */
            items: components["schemas"]["UiKeyValueItem"][];
        };
        /** @description A value with its name. */
        UiKeyValueItem: {
            /** @description Name of the value. */
            key: string;
            /** @description The value. Text, a number, true, false or null. */
            value: unknown;
        };
        /** @description A link. */
        UiLink: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "link";
            /** @description Where it leads. An https address without credentials. */
            url: string;
            /** @description Text of the link. */
            text: string;
        };
        /** @description A list of texts. */
        UiList: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "list";
            /** @description The texts. */
            items: string[];
            /** @description Whether the texts have numbers; false when it is left out. */
            ordered?: boolean;
        };
        /** @description How far something is. */
        UiProgress: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "progress";
            /**
             * Format: double
             * @description How far, in percent.
             */
            value: number;
            /** @description What it is. */
            label?: string;
        };
        /** @description Puts components below or beside one another. */
        UiStack: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "stack";
            /** @description The components. */
            children: components["schemas"]["MessageUi"][];
            /**
             * @description How they stand; `vertical` when it is left out.
             * @enum {string}
             */
            direction?: "vertical" | "horizontal";
        };
        /** @description One figure. */
        UiStat: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "stat";
            /** @description What it is. */
            label: string;
            /** @description The figure, a number or text. */
            value: unknown;
            /** @description How it has changed, such as `+3 %`. */
            change?: string;
        };
        /** @description A table. Each row has a cell for each column. */
        UiTable: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "table";
            /** @description Headings of the columns. */
            columns: string[];
            /** @description The rows. */
            rows: unknown[][];
        };
        /** @description Text. */
        UiText: {
            /**
             * @description The type of the component.
             * @constant
             */
            type: "text";
            /** @description The text. */
            text: string;
            /**
             * @description How it is written; `plain` when it is left out.
             * @enum {string}
             */
            format?: "plain" | "markdown";
        };
        /** @description An option of a choice variable. */
        VariableOption: {
            /**
             * Format: uuid
             * @description The option's id.
             */
            publicId: string;
            /** @description What a form shows for the option, unique within the variable. */
            label: string;
            /** @description What the prompt says when the option is chosen. */
            injectedText: string;
            /**
             * Format: int32
             * @description Position among the options.
             */
            sortOrder: number;
        };
        /** @description An option for a choice variable. */
        VariableOptionInput: {
            /** @description What a form shows for the option, unique within the variable. */
            label: string;
            /** @description What the prompt says when the option is chosen. */
            injectedText: string;
            /**
             * Format: int32
             * @description Position among the options; the place in the list when it is left out.
             */
            sortOrder?: number;
        };
        /**
         * @description What a value looks like. `text_short`: a string of at most 500 characters. `text_long`: a string of at most 10,000 characters. `number`: a number. `date`: `YYYY-MM-DD`. `time`: `HH:MM` or `HH:MM:SS`. `datetime`: an RFC 3339 date-time. `single_choice`: the label or `publicId` of an option. `multi_choice`: an array of those. `bool`: true or false.
         * @enum {string}
         */
        VariableType: "text_short" | "text_long" | "number" | "date" | "time" | "datetime" | "single_choice" | "multi_choice" | "bool";
        /** @description A tool as it was linked when the version was published. */
        VersionHttpTool: {
            /**
             * Format: uuid
             * @description The tool's id. It may have been deleted since.
             */
            httpToolPublicId: string;
            /** @description Name of the tool at the time. */
            toolName: string;
            toolType: components["schemas"]["HttpToolType"];
            /** @description Whether the link was switched on; the agent does not see a tool whose link is off. */
            active: boolean;
            /** @description Whether the link demanded a person's approval of each call. A demand of the tool itself counts as well. */
            requiresApproval: boolean;
        };
        /** @description A knowledge source as it was linked when the version was published. */
        VersionKnowledgeSource: {
            /**
             * Format: uuid
             * @description The knowledge source's id. It may have been deleted since.
             */
            knowledgeSourcePublicId: string;
            /** @description Name of the knowledge source at the time. */
            knowledgeSourceName: string;
            /** @description Whether the link was switched on; the agent does not search a source whose link is off. */
            active: boolean;
        };
        /** @description A skill as it was linked when the version was published. */
        VersionSkill: {
            /**
             * Format: uuid
             * @description The skill's id. It may have been deleted since.
             */
            skillPublicId: string;
            /** @description Name of the skill at the time. */
            skillName: string;
            /** @description Whether the link was switched on; the agent does not see a skill whose link is off. */
            active: boolean;
        };
        /** @description A sub-agent as it was linked when the version was published. */
        VersionSubAgent: {
            /**
             * Format: uuid
             * @description The sub-agent's id. It may have been deleted since.
             */
            subAgentPublicId: string;
            /** @description Name of the sub-agent at the time. */
            subAgentName: string;
            /** @description When and how the agent delegates to it. */
            description: string | null;
            /**
             * Format: uuid
             * @description AI model that it runs on when called by this agent; `null` for its own.
             */
            aiModelPublicId: string | null;
            /** @description Display name of that model; `null` when there is none. */
            aiModelName: string | null;
            /**
             * Format: int32
             * @description Position among the sub-agents of the agent.
             */
            sortOrder: number;
        };
        /** @description A line of the feature list in the pricing widget. */
        WidgetFeature: {
            /** @description Whether the plan has the feature. One that it lacks is shown crossed out. */
            included: boolean;
            /** @description The feature in a few words. */
            text: string;
        };
    };
    responses: {
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        AgentLimitReachedOrIdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        AgentNameTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        AgentNameTakenOrIdempotencyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrAiModelNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrAutomationNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrChannelConnectionNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrCommandNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrConversationNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrExternalMcpNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrExternalMcpNotFoundOrNotLinked: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrFeatureNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrHttpToolNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrKnowledgeSourceNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrNativeMcpConnectionNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrNotLinked: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrSkillNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrSubAgentNotFoundOrAiModelNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrSubAgentNotFoundOrNotLinked: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrVariableNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AgentNotFoundOrVersionNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        AgentNotPublishedOrConversationPausedOrConversationEndedOrAttachmentTooLargeOrUnsupportedAttachmentOrMissingVariableOrIdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The agent did not finish in time. */
        AgentTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        AiModelRequiredOrIdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        AlreadyLinkedOrIdempotencyInProgressOrNoDraftVersion: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        AutomationNameTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        AutomationNameTakenOrIdempotencyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        AutomationNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The path, query, headers or body do not match the schema. `details` names each error. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        ChannelAlreadyConnectedOrIdempotencyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        ChannelConfigNotAllowedViaApi: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        ClientNameTakenOrIdempotencyInProgressOrSeatsLimitReached: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        ClientNotActive: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        ClientNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        ClientNotFoundOrInvitationNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        ClientNotFoundOrUserNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        ClientNotSuspended: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        CommandNameTakenOrCommandSlugTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        CommandNameTakenOrCommandSlugTakenOrIdempotencyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        ConfirmationRequired: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        ConversationNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        CouponCodeTakenOrIdempotencyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        CouponNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        CouponRuleViolated: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        CouponRuleViolatedOrIdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        CreditPackageInUse: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        CreditPackageNameTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        CreditPackageNameTakenOrIdempotencyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        CreditPackageNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        CreditPackageNotFoundOrPackageNotFoundOrAgentNotFoundOrExternalLinkNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        DefaultPlanRequiredOrDefaultPlanNotFree: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        ExternalLinkLimitReachedOrIdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        ExternalLinkNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        ExternalLinkTitleTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        ExternalLinkTitleTakenOrIdempotencyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        ExternalMcpNameTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        ExternalMcpNameTakenOrIdempotencyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        ExternalMcpNotActiveOrIdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        ExternalMcpNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        FeatureValidationError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        HttpToolLimitReachedOrInvalidToolTypeOrInvalidToolConfigurationOrIdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        HttpToolNameTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        HttpToolNameTakenOrIdempotencyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        HttpToolNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        IdempotencyInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        IdempotencyInProgressOrNoDraftVersion: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        IdempotencyInProgressOrPlanNameTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        IdempotencyInProgressOrSkillNameTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        IdempotencyInProgressOrVariableNameTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        IdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        IdempotencyKeyReusedOrPlanRuleViolated: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        IdempotencyKeyReusedOrSubAgentCycle: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        IdempotencyKeyReusedOrTrialNotEnabled: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        IdempotencyKeyReusedOrUnknownTrigger: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description An error in the service. Report it with the `requestId`. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        InvalidToolConfiguration: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        KnowledgeSourceNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        LastAdmin: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A service that this operation depends on failed. The message says which one and why. */
        ModelProviderError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        NoDraftVersion: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        OauthNotSupportedViaApi: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        OauthNotSupportedViaApiOrMcpDiscoveryFailedOrIdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The body is over its limit: 2 MiB of JSON, 24 MiB more where a tool comes with its OpenAPI document, and for an upload the limit in the operation's description. */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A service that this operation depends on failed. The message says which one and why. */
        PaymentProviderError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        PlanHasSubscribers: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        PlanNameTakenOrPlanHasSubscribers: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        PlanNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        PlanNotFoundOrCreditPackageNotFoundOrPackageNotFoundOrAgentNotFoundOrExternalLinkNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        PlanRuleViolated: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The key is over its request rate, or the workspace is at a limit: of requests or messages under way, of stored bytes, or of things of this kind. The message says which. Wait for as long as `Retry-After` says. */
        RateLimitedOrOperationLimitReached: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The agent did not finish in time. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        SkillNameTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        SkillNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        SubdomainReserved: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        SubdomainTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        TemperatureNotSupportedOrThinkingNotSupported: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        TemperatureNotSupportedOrThinkingNotSupportedOrFeatureValidationError: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The key is over its request rate, or the workspace is at a limit: of requests or messages under way, of stored bytes, or of things of this kind. The message says which. Wait for as long as `Retry-After` says. */
        TooManyRequests: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A service that this operation depends on failed. The message says which one and why. */
        ToolkitRegistryUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A resource that the request names does not exist in the workspace, or has been deleted. */
        TriggerNotFound: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The API key is missing, malformed, unknown or revoked. Check the key; repeating the request does not help. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                "WWW-Authenticate": components["headers"]["WwwAuthenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The service is starting, stopping or cannot reach its database. Try again after `Retry-After`. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                "Retry-After": components["headers"]["RetryAfter"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        UnknownTrigger: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The `Content-Type` is not one that the operation takes, or a file is not of an accepted type. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The path, query, headers or body do not match the schema. `details` names each error. */
        ValidationErrorInBody: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The path, query, headers or body do not match the schema. `details` names each error. */
        ValidationErrorInBodyOrImmutableField: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The path, query, headers or body do not match the schema. `details` names each error. */
        ValidationErrorInBodyOrInvalidChannelConfigOrInvalidChannelCredentials: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The path, query, headers or body do not match the schema. `details` names each error. */
        ValidationErrorInBodyOrInvalidChannelType: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The path, query, headers or body do not match the schema. `details` names each error. */
        ValidationErrorInBodyOrInvalidCronOrInvalidTimezone: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The path, query, headers or body do not match the schema. `details` names each error. */
        ValidationErrorInBodyOrInvalidSkillZip: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The path, query, headers or body do not match the schema. `details` names each error. */
        ValidationErrorOrInvalidChannelType: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The path, query, headers or body do not match the schema. `details` names each error. */
        ValidationErrorOrUnknownToolkit: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        VariableNameTaken: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        VariableOptionsInvalidOrVariableDefaultInvalid: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description The request is well formed, but breaks a rule across fields or resources. */
        VariableOptionsInvalidOrVariableDefaultInvalidOrIdempotencyKeyReused: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
        /** @description A name is taken, the current state does not allow the operation, or a request with the same `Idempotency-Key` is still running. */
        ZapiInstanceIdAlreadyUsed: {
            headers: {
                "X-Request-Id": components["headers"]["RequestId"];
                "Cache-Control": components["headers"]["CacheControl"];
                "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                RateLimit: components["headers"]["RateLimit"];
                "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                /** @description Seconds to wait before the request is sent again. Sent with `IDEMPOTENCY_IN_PROGRESS` only. */
                "Retry-After"?: number;
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["ApiError"];
            };
        };
    };
    parameters: {
        /** @description Only models that can be used now. `false` also lists those whose provider is not configured. */
        ActiveOnly: boolean;
        /** @description Only agents with this category tag. Repeat the parameter to accept any of several; equal values count once. */
        AgentCategoriesFilter: string[];
        /** @description The feature's key, as `listFeatures` gives it. */
        AgentFeatureKey: string;
        /** @description The agent's id. */
        AgentPublicId: string;
        /** @description Only agents whose name or description contains this text, in upper or lower case. An empty text is no filter. */
        AgentSearch: string;
        /** @description Only agents with this status. Repeat the parameter to ask for several; equal values count once. */
        AgentStatusFilter: components["schemas"]["AgentStatus"][];
        /** @description Only models of this provider, by its key such as `openai`. An unknown key gives an empty list. */
        AiModelProviderFilter: string;
        /** @description Only models of this scope; both when it is left out. */
        AiModelScopeFilter: components["schemas"]["AiModelScope"];
        /** @description Only executions with this status. */
        AutomationExecutionStatusFilter: components["schemas"]["AutomationExecutionStatus"];
        /** @description The automation's id. */
        AutomationPublicId: string;
        /** @description The channel connection's id, the `publicId` of a channel. */
        ChannelConnectionPublicId: string;
        /** @description One of `whatsapp`, `z_api` and `web_chat`; any other is 400 `INVALID_CHANNEL_TYPE`. */
        ChannelTypeName: string;
        /** @description The client's id. */
        ClientPublicId: string;
        /** @description Only clients whose workspace name, or a user of theirs whose name or email, contains this text, in upper or lower case. An empty text is no filter. */
        ClientSearch: string;
        /** @description Only clients with this subscription status. */
        ClientStatusFilter: components["schemas"]["SubscriptionStatus"];
        /** @description The command's id. */
        CommandPublicId: string;
        /** @description One of `whatsapp`, `z_api` and `web_chat`; any other is 404 `CHANNEL_CONNECTION_NOT_FOUND`, as the agent cannot be connected to it. */
        ConnectedChannelType: string;
        /** @description Only conversations with this agent. The id of an agent that does not exist gives an empty list. */
        ConversationAgentFilter: string;
        /** @description Only conversations on this channel. */
        ConversationChannelFilter: "api" | "web_chat" | "whatsapp" | "z_api";
        /** @description The conversation's id. */
        ConversationPublicId: string;
        /** @description `open`: takes messages. `paused`: a person has taken over, the agent does not answer. `ended`: takes no more messages, also when it was paused before. */
        ConversationStatusFilter: "open" | "paused" | "ended";
        /** @description Only active coupons, or with `false` only those that are not; both when it is left out. */
        CouponActiveFilter: boolean;
        /** @description The coupon's id. */
        CouponPublicId: string;
        /** @description The credit package's id. */
        CreditPackagePublicId: string;
        /** @description Must be `DELETE` when `mode` is `purge`, unless the body confirms; ignored otherwise. */
        DeleteConfirmation: string;
        /** @description The external MCP server's id. */
        ExternalMcpPublicId: string;
        /** @description Only servers whose name contains this text, in upper or lower case. An empty text is no filter. */
        ExternalMcpSearch: string;
        /** @description Only servers with this status. */
        ExternalMcpStatusFilter: components["schemas"]["ExternalMcpStatus"];
        /** @description Only conversations of this end user. The whole id must match, in upper and lower case. */
        ExternalUserIdFilter: string;
        /** @description The tool's id. */
        HttpToolPublicId: string;
        /** @description Only tools whose name contains this text, in upper or lower case. An empty text is no filter. */
        HttpToolSearch: string;
        /** @description Which logo. */
        HubLogo: components["schemas"]["HubLogoType"];
        /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
        IdempotencyKey: string;
        /** @description Also list archived agents. */
        IncludeArchived: boolean;
        /** @description Also list variables that the editable system prompt does not refer to. */
        IncludeOrphaned: boolean;
        /** @description The invitation's id, from the `pendingInvitations` of the client. */
        InvitationPublicId: string;
        /** @description Only ended conversations, or with `false` only those that have not ended; both when it is left out. */
        IsEndedFilter: boolean;
        /** @description Only test conversations, or with `false` only real ones; both when it is left out. */
        IsTestFilter: boolean;
        /** @description The knowledge source's id. */
        KnowledgeSourcePublicId: string;
        /** @description Only knowledge sources whose name contains this text, in upper or lower case. An empty text is no filter. */
        KnowledgeSourceSearch: string;
        /** @description Only knowledge sources with this processing status. */
        KnowledgeSourceStatusFilter: components["schemas"]["ProcessingStatus"];
        /** @description Only conversations whose last message was sent at this time or later. */
        LastMessageSince: string;
        /** @description Only conversations whose last message was sent at this time or earlier. */
        LastMessageUntil: string;
        /** @description Number of items on a page, at most 100. */
        Limit: number;
        /** @description The link's id. */
        LinkPublicId: string;
        /** @description Order by `sentAt`. `asc` is oldest first, `desc` newest first. */
        MessageOrder: "asc" | "desc";
        /** @description Only messages of this role; both when it is left out. */
        MessageRoleFilter: components["schemas"]["MessageRole"];
        /** @description The native MCP connection's id. */
        NativeMcpConnectionPublicId: string;
        /** @description Page to read, from 1. */
        Page: number;
        /** @description The plan's id. */
        PlanPublicId: string;
        /** @description Only plans with this status. */
        PlanStatusFilter: components["schemas"]["PlanStatus"];
        /** @description The skill's id. */
        SkillPublicId: string;
        /** @description Only skills whose name contains this text, in upper or lower case. An empty text is no filter. */
        SkillSearch: string;
        /**
         * @description When the request was signed (`t`, seconds since 1970), and HMAC-SHA256 over `t`, a dot and the bytes of the body (`v1`, in hexadecimal). Several `v1` may follow while a secret is replaced: one that fits is enough.
         * @example t=1798761600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd
         */
        StripeSignature: string;
        /** @description The id of the agent that is linked as a sub-agent. */
        SubAgentPublicId: string;
        /** @description The subdomain to check, such as `acme`, in upper or lower case. */
        Subdomain: string;
        /** @description Only models that take documents, or with `false` only those that do not. */
        SupportsDocumentFilter: boolean;
        /** @description Only models that take images, or with `false` only those that do not. */
        SupportsImageFilter: boolean;
        /** @description Only tools of this type. */
        ToolTypeFilter: components["schemas"]["HttpToolType"];
        /** @description Slug of the trigger, as listed by `listNativeMcpTriggers`. */
        TriggerSlug: string;
        /** @description Slug of the toolkit whose triggers to list, such as `gmail` or `slack`. */
        TriggerToolkit: string;
        /** @description The user's id, from the `users` of the client. */
        UserPublicId: string;
        /** @description `remove_from_prompt` takes the variable out of the system prompt and keeps it; `purge` removes it for good, with its stored values. */
        VariableDeleteMode: "remove_from_prompt" | "purge";
        /** @description The variable's id. */
        VariablePublicId: string;
        /** @description The number of the version. */
        VersionNumber: number;
        /**
         * @description The id of the event, which a sender that follows the Standard Webhooks specification repeats with its retries. It means what `Idempotency-Key` means, and counts when that one is absent.
         * @example msg_2KWPBgLlAfxdpx2AI54pPJ85f4W
         */
        WebhookId: string;
    };
    requestBodies: never;
    headers: {
        /** @description What is silently wrong with the agent that was published: a list of structured fields (RFC 9651). Each item is a code. Its parameter `subject`, where it has one, is a display string with the name of what it is about, such as the variable. Codes of the prompt are `variable_not_defined`, `variables_not_filled_in`, `braces_left_as_text` and `fixed_prompt_large`; of the model `model_missing` and `model_not_configured`; of links `link_switched_off`, `link_target_deleted`, `knowledge_source_not_ready`, `mcp_server_not_connected`, `mcp_tools_left_out`, `sub_agent_not_published`, `toolkit_unreachable` and `tools_over_limit`; of features `web_search_not_configured`, `transcription_not_configured` and `speech_not_configured`. New codes may come. A last item `more` counts those that did not fit. Left out when nothing was found, and when the check took longer than a second. An answer that is sent again for an `Idempotency-Key` has the header that the first one had. */
        AgentWarnings: string;
        /** @description No cache keeps the response. */
        CacheControl: "no-store";
        /** @description A browser takes the response for nothing but its `Content-Type`. */
        ContentTypeOptions: "nosniff";
        /** @description How many requests the key has left (`r`), and the seconds until it has all of them again (`t`), in the form of the IETF draft. Sent once the key is accepted, by a server that limits rates. */
        RateLimit: string;
        /** @description How many requests (`q`) a key may send in a window of so many seconds (`w`), in the form of the IETF draft. `pk` names the partition that the key belongs to. Sent with `RateLimit`. */
        RateLimitPolicy: string;
        /** @description The id of the request, yours if you sent one that fits. Quote it when you report a problem. */
        RequestId: string;
        /** @description Seconds to wait before the next request. */
        RetryAfter: number;
        /** @description The scheme to authenticate with. */
        WwwAuthenticate: string;
    };
    pathItems: {
        automation: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            get?: never;
            put?: never;
            /**
             * Run an automation from another system
             * @description Another system sends this request to the `webhookUrl` of an automation (`triggerConfig` of the `Automation`), and
             *     this service answers it.
             *
             *     **The address is the credential.** It has a secret of 160 random bits, and no API key is sent. Keep it as you keep a
             *     key. Only its hash is stored, so it is shown once. An address that became known is replaced with
             *     `npm run admin -- automation rotate`: the old one works for a day more. Or give the automation another trigger mode,
             *     then `webhook_url` again: the old one stops at once.
             *
             *     **The body** is at most 1 MiB of JSON, of a form (`application/x-www-form-urlencoded`) or of text, in UTF-8, and not
             *     empty. The agent gets the prompt of the automation and the body as data that somebody else wrote, never as
             *     instructions. Only POST is answered. Query parameters are ignored: many senders add some.
             *
             *     **The answer** comes at once, before the agent runs: 202 with the execution, which `listAutomationExecutions` shows
             *     from then on. The request is repeated safely with an `Idempotency-Key` or, as the Standard Webhooks specification
             *     says, with a `webhook-id`: the same key starts no second run within 24 hours, and with another body it is 422
             *     `IDEMPOTENCY_KEY_REUSED`. Without one each request is a run.
             *
             *     An unknown address, an automation that is not `active` and one whose trigger mode has no address are the same 404.
             *     Each address takes 60 requests a minute; more are 429 `RATE_LIMITED`. A workspace that has used all its operations of
             *     the month gets 429 `OPERATION_LIMIT_REACHED`, and nothing runs. After 429 with `Retry-After` and after 503, send the
             *     same request again.
             *
             *     **Events of toolkits.** An automation with trigger mode `webhook` for the toolkits `github`, `stripe` or `webhook` has
             *     such an address, too. Its requests are signed as the sender's documentation says, and the bodies are JSON. A signature
             *     that is wrong, or a time that is too old, is 400 `VALIDATION_ERROR`. The ping of GitHub, and an event that does not
             *     match `triggerSlug` and `triggerConfig`, is 202 without an execution. A delivery that is repeated starts no second
             *     run.
             *
             *     Error codes: 404 `AUTOMATION_NOT_FOUND`; 408 `REQUEST_TIMEOUT`; 422 `IDEMPOTENCY_KEY_REUSED`; 429 `OPERATION_LIMIT_REACHED`.
             */
            post: operations["triggerAutomation"];
            delete?: never;
            options?: never;
            head?: never;
            patch?: never;
            trace?: never;
        };
        payment: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            get?: never;
            put?: never;
            /**
             * Tell what happened to a payment
             * @description Stripe sends this request to `POST /hooks/payments` of the service when something happened to a payment of a hub, and
             *     this service answers it. All hubs share the address; `account` of the event names the connected account of its hub.
             *
             *     **The signature is the credential.** No API key is sent. The request is believed when `Stripe-Signature` signs the
             *     bytes of its body with a secret of the installation (`STRIPE_WEBHOOK_SECRET`), at most five minutes ago, and when
             *     `livemode` of the event is the mode of the installation's key. Others are 400 `VALIDATION_ERROR`; the message says
             *     which it was. The body is at most 1 MiB of JSON without `Content-Encoding`; its `Content-Type` is not looked at.
             *
             *     **The answer** is 200 as soon as the event is stored. It is applied afterwards, once, in whatever order events come:
             *     a repeated delivery is 200, too, and changes nothing. `received` is false for an account that no hub has, and nothing
             *     is stored: Stripe switches off an endpoint that refuses many events.
             *
             *     An installation without a signing secret takes no payments: 404 `NOT_FOUND`. At most 100 of these requests are read at
             *     a time; more are 429 `RATE_LIMITED`. After 429, 500 and 503 Stripe sends the same event again.
             *
             *     Error codes: 404 `NOT_FOUND`; 408 `REQUEST_TIMEOUT`.
             */
            post: operations["sendPaymentEvent"];
            delete?: never;
            options?: never;
            head?: never;
            patch?: never;
            trace?: never;
        };
    };
}
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key is valid. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAgents: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Only agents with this status. Repeat the parameter to ask for several; equal values count once. */
                status?: components["parameters"]["AgentStatusFilter"];
                /** @description Only agents whose name or description contains this text, in upper or lower case. An empty text is no filter. */
                search?: components["parameters"]["AgentSearch"];
                /** @description Only agents with this category tag. Repeat the parameter to accept any of several; equal values count once. */
                categories?: components["parameters"]["AgentCategoriesFilter"];
                /** @description Also list archived agents. */
                includeArchived?: components["parameters"]["IncludeArchived"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of agents. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description Name and metadata of the agent. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentCreate"];
            };
        };
        responses: {
            /** @description The new agent. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["AgentNameTakenOrIdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["AgentLimitReachedOrIdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentUpdate"];
            };
        };
        responses: {
            /** @description The agent as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrAiModelNotFound"];
            409: components["responses"]["AgentNameTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["TemperatureNotSupportedOrThinkingNotSupportedOrFeatureValidationError"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    publishAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description Release notes; may be left out. JSON `null` is no body. */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AgentPublish"];
            };
        };
        responses: {
            /** @description The agent, now published. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    "Agent-Warnings": components["headers"]["AgentWarnings"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["IdempotencyInProgressOrNoDraftVersion"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["AiModelRequiredOrIdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listVersions: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of versions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentVersionPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPublishedVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The published version. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentVersion"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrVersionNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getVersion: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The number of the version. */
                versionNumber: components["parameters"]["VersionNumber"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentVersion"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrVersionNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    restoreVersion: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The number of the version. */
                versionNumber: components["parameters"]["VersionNumber"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agent with the restored state. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agent"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrVersionNotFound"];
            409: components["responses"]["IdempotencyInProgressOrNoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAgentPrompt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The prompt. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPrompt"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAgentPrompt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentPromptUpdate"];
            };
        };
        responses: {
            /** @description The prompt as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPrompt"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listVariables: {
        parameters: {
            query?: {
                /** @description Also list variables that the editable system prompt does not refer to. */
                includeOrphaned?: components["parameters"]["IncludeOrphaned"];
            };
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The variables. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentVariable"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createVariable: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The variable. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentVariableCreate"];
            };
        };
        responses: {
            /** @description The new variable. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentVariable"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["IdempotencyInProgressOrVariableNameTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["VariableOptionsInvalidOrVariableDefaultInvalidOrIdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteVariable: {
        parameters: {
            query?: {
                /** @description `remove_from_prompt` takes the variable out of the system prompt and keeps it; `purge` removes it for good, with its stored values. */
                mode?: components["parameters"]["VariableDeleteMode"];
                /** @description Must be `DELETE` when `mode` is `purge`, unless the body confirms; ignored otherwise. */
                confirmation?: components["parameters"]["DeleteConfirmation"];
            };
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The variable's id. */
                variablePublicId: components["parameters"]["VariablePublicId"];
            };
            cookie?: never;
        };
        /** @description The confirmation of a purge, where it is not in the query. JSON `null` is no body. */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AgentVariableDelete"];
            };
        };
        responses: {
            /** @description The references or the variable are removed. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrVariableNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ConfirmationRequired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateVariable: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The variable's id. */
                variablePublicId: components["parameters"]["VariablePublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentVariableUpdate"];
            };
        };
        responses: {
            /** @description The variable as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentVariable"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrVariableNotFound"];
            409: components["responses"]["VariableNameTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["VariableOptionsInvalidOrVariableDefaultInvalid"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAgentModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The model selection. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentModel"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAgentModel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentModelUpdate"];
            };
        };
        responses: {
            /** @description The model selection as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentModel"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrAiModelNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["TemperatureNotSupportedOrThinkingNotSupported"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAiModels: {
        parameters: {
            query?: {
                /** @description Only models that can be used now. `false` also lists those whose provider is not configured. */
                activeOnly?: components["parameters"]["ActiveOnly"];
                /** @description Only models of this provider, by its key such as `openai`. An unknown key gives an empty list. */
                provider?: components["parameters"]["AiModelProviderFilter"];
                /** @description Only models that take images, or with `false` only those that do not. */
                supportsImage?: components["parameters"]["SupportsImageFilter"];
                /** @description Only models that take documents, or with `false` only those that do not. */
                supportsDocument?: components["parameters"]["SupportsDocumentFilter"];
                /** @description Only models of this scope; both when it is left out. */
                scope?: components["parameters"]["AiModelScopeFilter"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The models. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AiModel"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFeatures: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All features of the agent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentFeature"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getFeature: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The feature's key, as `listFeatures` gives it. */
                featureKey: components["parameters"]["AgentFeatureKey"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The feature. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentFeature"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrFeatureNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateFeature: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The feature's key, as `listFeatures` gives it. */
                featureKey: components["parameters"]["AgentFeatureKey"];
            };
            cookie?: never;
        };
        /** @description The switch, the settings, or both. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentFeatureUpdate"];
            };
        };
        responses: {
            /** @description The feature as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentFeature"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrFeatureNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["FeatureValidationError"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCommands: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The commands of the agent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentCommand"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createCommand: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The command. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentCommandCreate"];
            };
        };
        responses: {
            /** @description The new command. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentCommand"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["CommandNameTakenOrCommandSlugTakenOrIdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCommand: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The command's id. */
                commandPublicId: components["parameters"]["CommandPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The command. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentCommand"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrCommandNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteCommand: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The command's id. */
                commandPublicId: components["parameters"]["CommandPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The command is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrCommandNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateCommand: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The command's id. */
                commandPublicId: components["parameters"]["CommandPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentCommandUpdate"];
            };
        };
        responses: {
            /** @description The command as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentCommand"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrCommandNotFound"];
            409: components["responses"]["CommandNameTakenOrCommandSlugTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSkillLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The linked skills. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillLink"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    linkSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The skill to link. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["SkillLinkCreate"];
            };
        };
        responses: {
            /** @description The new link. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillLink"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrSkillNotFound"];
            409: components["responses"]["AlreadyLinkedOrIdempotencyInProgressOrNoDraftVersion"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAvailableSkills: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The skills that are not linked yet. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailableSkill"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    unlinkSkill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The skill's id. */
                skillPublicId: components["parameters"]["SkillPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The skill is unlinked. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrNotLinked"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSkills: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Only skills whose name contains this text, in upper or lower case. An empty text is no filter. */
                search?: components["parameters"]["SkillSearch"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of skills. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SkillPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    uploadSkill: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The skill as one file. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["SkillUpload"];
            };
        };
        responses: {
            /** @description The new skill. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Skill"];
                };
            };
            400: components["responses"]["ValidationErrorInBodyOrInvalidSkillZip"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["IdempotencyInProgressOrSkillNameTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSkill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The skill's id. */
                skillPublicId: components["parameters"]["SkillPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The skill. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Skill"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["SkillNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteSkill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The skill's id. */
                skillPublicId: components["parameters"]["SkillPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The skill is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["SkillNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateSkill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The skill's id. */
                skillPublicId: components["parameters"]["SkillPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["SkillUpdate"];
            };
        };
        responses: {
            /** @description The skill as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Skill"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["SkillNotFound"];
            409: components["responses"]["SkillNameTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listKnowledgeSourceLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The linked knowledge sources. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeSourceLink"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    linkKnowledgeSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The knowledge source to link. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["KnowledgeSourceLinkCreate"];
            };
        };
        responses: {
            /** @description The new link. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeSourceLink"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrKnowledgeSourceNotFound"];
            409: components["responses"]["AlreadyLinkedOrIdempotencyInProgressOrNoDraftVersion"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAvailableKnowledgeSources: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The knowledge sources that are not linked yet. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailableKnowledgeSource"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    unlinkKnowledgeSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The knowledge source's id. */
                knowledgeSourcePublicId: components["parameters"]["KnowledgeSourcePublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The knowledge source is unlinked. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrNotLinked"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listKnowledgeSources: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Only knowledge sources with this processing status. */
                status?: components["parameters"]["KnowledgeSourceStatusFilter"];
                /** @description Only knowledge sources whose name contains this text, in upper or lower case. An empty text is no filter. */
                search?: components["parameters"]["KnowledgeSourceSearch"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of knowledge sources. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeSourcePage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createKnowledgeSource: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description A file as a form, or a text as JSON. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["KnowledgeSourceFileCreate"];
                "application/json": components["schemas"]["KnowledgeSourceTextCreate"];
            };
        };
        responses: {
            /** @description The new knowledge source, not processed yet. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeSource"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["IdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getKnowledgeSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The knowledge source's id. */
                knowledgeSourcePublicId: components["parameters"]["KnowledgeSourcePublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The knowledge source. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeSource"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["KnowledgeSourceNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteKnowledgeSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The knowledge source's id. */
                knowledgeSourcePublicId: components["parameters"]["KnowledgeSourcePublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The knowledge source is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["KnowledgeSourceNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateKnowledgeSource: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The knowledge source's id. */
                knowledgeSourcePublicId: components["parameters"]["KnowledgeSourcePublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["KnowledgeSourceUpdate"];
            };
        };
        responses: {
            /** @description The knowledge source as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeSource"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["KnowledgeSourceNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listToolLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The linked tools. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpToolLink"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    linkTool: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The tool to link. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["HttpToolLinkCreate"];
            };
        };
        responses: {
            /** @description The new link. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpToolLink"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrHttpToolNotFound"];
            409: components["responses"]["AlreadyLinkedOrIdempotencyInProgressOrNoDraftVersion"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAvailableTools: {
        parameters: {
            query?: {
                /** @description Only tools of this type. */
                toolType?: components["parameters"]["ToolTypeFilter"];
                /** @description Only tools whose name contains this text, in upper or lower case. An empty text is no filter. */
                search?: components["parameters"]["HttpToolSearch"];
            };
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tools that are not linked yet. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailableHttpTool"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    unlinkTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The tool's id. */
                httpToolPublicId: components["parameters"]["HttpToolPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tool is unlinked. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrNotLinked"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateToolLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The tool's id. */
                httpToolPublicId: components["parameters"]["HttpToolPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["HttpToolLinkUpdate"];
            };
        };
        responses: {
            /** @description The link as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpToolLink"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrNotLinked"];
            409: components["responses"]["NoDraftVersion"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTools: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Only tools of this type. */
                toolType?: components["parameters"]["ToolTypeFilter"];
                /** @description Only tools whose name contains this text, in upper or lower case. An empty text is no filter. */
                search?: components["parameters"]["HttpToolSearch"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of tools. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpToolPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createTool: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The tool. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["HttpToolCreate"];
            };
        };
        responses: {
            /** @description The new tool. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpTool"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["HttpToolNameTakenOrIdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["HttpToolLimitReachedOrInvalidToolTypeOrInvalidToolConfigurationOrIdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The tool's id. */
                httpToolPublicId: components["parameters"]["HttpToolPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tool. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpTool"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["HttpToolNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The tool's id. */
                httpToolPublicId: components["parameters"]["HttpToolPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tool is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["HttpToolNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The tool's id. */
                httpToolPublicId: components["parameters"]["HttpToolPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["HttpToolUpdate"];
            };
        };
        responses: {
            /** @description The tool as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpTool"];
                };
            };
            400: components["responses"]["ValidationErrorInBodyOrImmutableField"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["HttpToolNotFound"];
            409: components["responses"]["HttpToolNameTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["InvalidToolConfiguration"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    testTool: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The tool's id. */
                httpToolPublicId: components["parameters"]["HttpToolPublicId"];
            };
            cookie?: never;
        };
        /** @description The inputs of the run. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["HttpToolTest"];
            };
        };
        responses: {
            /** @description The result of the run, also when it failed. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HttpToolTestResult"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["HttpToolNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listExternalMcpLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The linked servers. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalMcpLink"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    linkExternalMcp: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The server, and how to hold the connection to it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExternalMcpLinkCreate"];
            };
        };
        responses: {
            /** @description The new link. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalMcpLink"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrExternalMcpNotFound"];
            409: components["responses"]["AlreadyLinkedOrIdempotencyInProgressOrNoDraftVersion"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ExternalMcpNotActiveOrIdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAvailableExternalMcps: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The servers that can be linked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailableExternalMcp"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    unlinkExternalMcp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The external MCP server's id. */
                externalMcpPublicId: components["parameters"]["ExternalMcpPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The server is no longer linked. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrExternalMcpNotFoundOrNotLinked"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateExternalMcpLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The external MCP server's id. */
                externalMcpPublicId: components["parameters"]["ExternalMcpPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExternalMcpLinkUpdate"];
            };
        };
        responses: {
            /** @description The link as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalMcpLink"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrExternalMcpNotFoundOrNotLinked"];
            409: components["responses"]["NoDraftVersion"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listExternalMcps: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Only servers with this status. */
                status?: components["parameters"]["ExternalMcpStatusFilter"];
                /** @description Only servers whose name contains this text, in upper or lower case. An empty text is no filter. */
                search?: components["parameters"]["ExternalMcpSearch"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of external MCP servers. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalMcpPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createExternalMcp: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description Name, address and credential of the server. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExternalMcpCreate"];
            };
        };
        responses: {
            /** @description The new server, after the first discovery. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalMcp"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["ExternalMcpNameTakenOrIdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["OauthNotSupportedViaApiOrMcpDiscoveryFailedOrIdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getExternalMcp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The external MCP server's id. */
                externalMcpPublicId: components["parameters"]["ExternalMcpPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The external MCP server. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalMcp"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ExternalMcpNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteExternalMcp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The external MCP server's id. */
                externalMcpPublicId: components["parameters"]["ExternalMcpPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The external MCP server is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ExternalMcpNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateExternalMcp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The external MCP server's id. */
                externalMcpPublicId: components["parameters"]["ExternalMcpPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExternalMcpUpdate"];
            };
        };
        responses: {
            /** @description The external MCP server as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalMcp"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ExternalMcpNotFound"];
            409: components["responses"]["ExternalMcpNameTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["OauthNotSupportedViaApi"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    discoverExternalMcp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The external MCP server's id. */
                externalMcpPublicId: components["parameters"]["ExternalMcpPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The external MCP server after the discovery. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalMcp"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ExternalMcpNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listNativeMcpLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The linked connections. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NativeMcpList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ToolkitRegistryUnavailable"];
            503: components["responses"]["Unavailable"];
        };
    };
    linkNativeMcps: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The connections to link. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NativeMcpLinkCreate"];
            };
        };
        responses: {
            /** @description What was linked and what was left out. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NativeMcpLinkResult"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["IdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ToolkitRegistryUnavailable"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAvailableNativeMcps: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connections that can be linked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NativeMcpList"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ToolkitRegistryUnavailable"];
            503: components["responses"]["Unavailable"];
        };
    };
    unlinkNativeMcp: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The native MCP connection's id. */
                connectionPublicId: components["parameters"]["NativeMcpConnectionPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The connection is no longer linked. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrNativeMcpConnectionNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ToolkitRegistryUnavailable"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateNativeMcpInstanceMode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The native MCP connection's id. */
                connectionPublicId: components["parameters"]["NativeMcpConnectionPublicId"];
            };
            cookie?: never;
        };
        /** @description The instance mode to set. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["NativeMcpInstanceModeUpdate"];
            };
        };
        responses: {
            /** @description The instance mode as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NativeMcpInstanceMode"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrNativeMcpConnectionNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ToolkitRegistryUnavailable"];
            503: components["responses"]["Unavailable"];
        };
    };
    listNativeMcpTriggers: {
        parameters: {
            query: {
                /** @description Slug of the toolkit whose triggers to list, such as `gmail` or `slack`. */
                toolkit: components["parameters"]["TriggerToolkit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trigger types. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NativeMcpTriggerList"];
                };
            };
            400: components["responses"]["ValidationErrorOrUnknownToolkit"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ToolkitRegistryUnavailable"];
            503: components["responses"]["Unavailable"];
        };
    };
    getNativeMcpTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Slug of the trigger, as listed by `listNativeMcpTriggers`. */
                triggerSlug: components["parameters"]["TriggerSlug"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trigger type. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NativeMcpTrigger"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["TriggerNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ToolkitRegistryUnavailable"];
            503: components["responses"]["Unavailable"];
        };
    };
    listSubAgentLinks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The linked sub-agents. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubAgentLink"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    linkSubAgent: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The sub-agent, and when to delegate to it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubAgentLinkCreate"];
            };
        };
        responses: {
            /** @description The new link. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubAgentLink"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrSubAgentNotFoundOrAiModelNotFound"];
            409: components["responses"]["AlreadyLinkedOrIdempotencyInProgressOrNoDraftVersion"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReusedOrSubAgentCycle"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAvailableSubAgents: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The agents that can be linked. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AvailableSubAgent"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    unlinkSubAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The id of the agent that is linked as a sub-agent. */
                subAgentPublicId: components["parameters"]["SubAgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The sub-agent is no longer linked. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrSubAgentNotFoundOrNotLinked"];
            409: components["responses"]["NoDraftVersion"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAutomations: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The automations. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Automation"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createAutomation: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description What to do, and what starts it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AutomationCreate"];
            };
        };
        responses: {
            /** @description The new automation. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Automation"];
                };
            };
            400: components["responses"]["ValidationErrorInBodyOrInvalidCronOrInvalidTimezone"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["AutomationNameTakenOrIdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReusedOrUnknownTrigger"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ToolkitRegistryUnavailable"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAutomation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The automation's id. */
                automationPublicId: components["parameters"]["AutomationPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The automation. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Automation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrAutomationNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteAutomation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The automation's id. */
                automationPublicId: components["parameters"]["AutomationPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The automation is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrAutomationNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateAutomation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The automation's id. */
                automationPublicId: components["parameters"]["AutomationPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AutomationUpdate"];
            };
        };
        responses: {
            /** @description The automation as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Automation"];
                };
            };
            400: components["responses"]["ValidationErrorInBodyOrInvalidCronOrInvalidTimezone"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrAutomationNotFound"];
            409: components["responses"]["AutomationNameTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["UnknownTrigger"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ToolkitRegistryUnavailable"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAutomationExecutions: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Only executions with this status. */
                status?: components["parameters"]["AutomationExecutionStatusFilter"];
            };
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The automation's id. */
                automationPublicId: components["parameters"]["AutomationPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of executions. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AutomationExecutionPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrAutomationNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listChannels: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channels. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    connectChannel: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The channel type. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelConnect"];
            };
        };
        responses: {
            /** @description The new connection. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            400: components["responses"]["ValidationErrorInBodyOrInvalidChannelType"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFound"];
            409: components["responses"]["ChannelAlreadyConnectedOrIdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getChannelByType: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description One of `whatsapp`, `z_api` and `web_chat`; any other is 404 `CHANNEL_CONNECTION_NOT_FOUND`, as the agent cannot be connected to it. */
                channelType: components["parameters"]["ConnectedChannelType"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channel. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrChannelConnectionNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The channel connection's id, the `publicId` of a channel. */
                channelConnectionPublicId: components["parameters"]["ChannelConnectionPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channel. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrChannelConnectionNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The channel connection's id, the `publicId` of a channel. */
                channelConnectionPublicId: components["parameters"]["ChannelConnectionPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channel is disconnected. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrChannelConnectionNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    configureChannel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The channel connection's id, the `publicId` of a channel. */
                channelConnectionPublicId: components["parameters"]["ChannelConnectionPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelConfigure"];
            };
        };
        responses: {
            /** @description The channel as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            400: components["responses"]["ValidationErrorInBodyOrInvalidChannelConfigOrInvalidChannelCredentials"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrChannelConnectionNotFound"];
            409: components["responses"]["ZapiInstanceIdAlreadyUsed"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ChannelConfigNotAllowedViaApi"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateChannelInstanceMode: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
                /** @description The channel connection's id, the `publicId` of a channel. */
                channelConnectionPublicId: components["parameters"]["ChannelConnectionPublicId"];
            };
            cookie?: never;
        };
        /** @description The instance mode, and whether a reset is accepted. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChannelInstanceModeUpdate"];
            };
        };
        responses: {
            /** @description The channel as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Channel"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrChannelConnectionNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ConfirmationRequired"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listChannelTypes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channel types. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelType"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getChannelType: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description One of `whatsapp`, `z_api` and `web_chat`; any other is 400 `INVALID_CHANNEL_TYPE`. */
                channelType: components["parameters"]["ChannelTypeName"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The channel type. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChannelType"];
                };
            };
            400: components["responses"]["ValidationErrorOrInvalidChannelType"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    sendMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The message. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageSend"];
            };
        };
        responses: {
            /** @description The reply of the agent. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessageResult"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrConversationNotFound"];
            408: components["responses"]["AgentTimeout"];
            409: components["responses"]["ClientNotActive"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["AgentNotPublishedOrConversationPausedOrConversationEndedOrAttachmentTooLargeOrUnsupportedAttachmentOrMissingVariableOrIdempotencyKeyReused"];
            429: components["responses"]["RateLimitedOrOperationLimitReached"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["ModelProviderError"];
            503: components["responses"]["Unavailable"];
        };
    };
    streamMessage: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The agent's id. */
                agentPublicId: components["parameters"]["AgentPublicId"];
            };
            cookie?: never;
        };
        /** @description The message. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageSend"];
            };
        };
        responses: {
            /** @description The stream of events. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["MessageStream"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["AgentNotFoundOrConversationNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listConversations: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Only conversations with this agent. The id of an agent that does not exist gives an empty list. */
                agentPublicId?: components["parameters"]["ConversationAgentFilter"];
                /** @description Only conversations of this end user. The whole id must match, in upper and lower case. */
                externalUserId?: components["parameters"]["ExternalUserIdFilter"];
                /** @description `open`: takes messages. `paused`: a person has taken over, the agent does not answer. `ended`: takes no more messages, also when it was paused before. */
                status?: components["parameters"]["ConversationStatusFilter"];
                /** @description Only conversations on this channel. */
                channel?: components["parameters"]["ConversationChannelFilter"];
                /** @description Only test conversations, or with `false` only real ones; both when it is left out. */
                isTest?: components["parameters"]["IsTestFilter"];
                /** @description Only ended conversations, or with `false` only those that have not ended; both when it is left out. */
                isEnded?: components["parameters"]["IsEndedFilter"];
                /** @description Only conversations whose last message was sent at this time or later. */
                since?: components["parameters"]["LastMessageSince"];
                /** @description Only conversations whose last message was sent at this time or earlier. */
                until?: components["parameters"]["LastMessageUntil"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of conversations. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConversationPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The conversation's id. */
                conversationPublicId: components["parameters"]["ConversationPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The conversation. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Conversation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ConversationNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The conversation's id. */
                conversationPublicId: components["parameters"]["ConversationPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The conversation is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ConversationNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listConversationMessages: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Order by `sentAt`. `asc` is oldest first, `desc` newest first. */
                order?: components["parameters"]["MessageOrder"];
                /** @description Only messages of this role; both when it is left out. */
                role?: components["parameters"]["MessageRoleFilter"];
            };
            header?: never;
            path: {
                /** @description The conversation's id. */
                conversationPublicId: components["parameters"]["ConversationPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of messages. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MessagePage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ConversationNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listClients: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Only clients with this subscription status. */
                status?: components["parameters"]["ClientStatusFilter"];
                /** @description Only clients whose workspace name, or a user of theirs whose name or email, contains this text, in upper or lower case. An empty text is no filter. */
                q?: components["parameters"]["ClientSearch"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of clients. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createClient: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The workspace, its users and how it starts. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClientCreate"];
            };
        };
        responses: {
            /** @description The new client. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientWorkspace"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PlanNotFound"];
            409: components["responses"]["ClientNameTakenOrIdempotencyInProgressOrSeatsLimitReached"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReusedOrTrialNotEnabled"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The client's id. */
                clientPublicId: components["parameters"]["ClientPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The client. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientWorkspace"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    resendClientInvitation: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path: {
                /** @description The client's id. */
                clientPublicId: components["parameters"]["ClientPublicId"];
                /** @description The invitation's id, from the `pendingInvitations` of the client. */
                invitationPublicId: components["parameters"]["InvitationPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The invitation with its new end. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PendingInvitation"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFoundOrInvitationNotFound"];
            409: components["responses"]["IdempotencyInProgress"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    reactivateClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The client's id. */
                clientPublicId: components["parameters"]["ClientPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The client, active again. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientWorkspace"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFound"];
            409: components["responses"]["ClientNotSuspended"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["PaymentProviderError"];
            503: components["responses"]["Unavailable"];
        };
    };
    suspendClient: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The client's id. */
                clientPublicId: components["parameters"]["ClientPublicId"];
            };
            cookie?: never;
        };
        /** @description Why the client is suspended; may be left out. JSON `null` is no body. */
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ClientSuspend"];
            };
        };
        responses: {
            /** @description The client, now suspended. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientWorkspace"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFound"];
            409: components["responses"]["ClientNotActive"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["PaymentProviderError"];
            503: components["responses"]["Unavailable"];
        };
    };
    removeClientUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The client's id. */
                clientPublicId: components["parameters"]["ClientPublicId"];
                /** @description The user's id, from the `users` of the client. */
                userPublicId: components["parameters"]["UserPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The client without the user. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientWorkspace"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFoundOrUserNotFound"];
            409: components["responses"]["LastAdmin"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateClientUser: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The client's id. */
                clientPublicId: components["parameters"]["ClientPublicId"];
                /** @description The user's id, from the `users` of the client. */
                userPublicId: components["parameters"]["UserPublicId"];
            };
            cookie?: never;
        };
        /** @description The role, and the name if it changes. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClientUserUpdate"];
            };
        };
        responses: {
            /** @description The client with the changed user. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClientWorkspace"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ClientNotFoundOrUserNotFound"];
            409: components["responses"]["LastAdmin"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCoupons: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Only active coupons, or with `false` only those that are not; both when it is left out. */
                active?: components["parameters"]["CouponActiveFilter"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of coupons. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CouponPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createCoupon: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The discount and its limits. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CouponCreate"];
            };
        };
        responses: {
            /** @description The new coupon. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Coupon"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PlanNotFound"];
            409: components["responses"]["CouponCodeTakenOrIdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["CouponRuleViolatedOrIdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["PaymentProviderError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCoupon: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The coupon's id. */
                couponPublicId: components["parameters"]["CouponPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The coupon. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Coupon"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["CouponNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteCoupon: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The coupon's id. */
                couponPublicId: components["parameters"]["CouponPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The coupon is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["CouponNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["PaymentProviderError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateCoupon: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The coupon's id. */
                couponPublicId: components["parameters"]["CouponPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CouponUpdate"];
            };
        };
        responses: {
            /** @description The coupon as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Coupon"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["CouponNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["CouponRuleViolated"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["PaymentProviderError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCreditPackages: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of credit packages. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditPackagePage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createCreditPackage: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The package. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreditPackageCreate"];
            };
        };
        responses: {
            /** @description The new credit package. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditPackage"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["CreditPackageNameTakenOrIdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCreditPackage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The credit package's id. */
                creditPackagePublicId: components["parameters"]["CreditPackagePublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credit package. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditPackage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["CreditPackageNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateCreditPackage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The credit package's id. */
                creditPackagePublicId: components["parameters"]["CreditPackagePublicId"];
            };
            cookie?: never;
        };
        /** @description The whole package. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreditPackageUpdate"];
            };
        };
        responses: {
            /** @description The credit package as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditPackage"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["CreditPackageNotFound"];
            409: components["responses"]["CreditPackageNameTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteCreditPackage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The credit package's id. */
                creditPackagePublicId: components["parameters"]["CreditPackagePublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The credit package is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["CreditPackageNotFound"];
            409: components["responses"]["CreditPackageInUse"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listPlans: {
        parameters: {
            query?: {
                /** @description Page to read, from 1. */
                page?: components["parameters"]["Page"];
                /** @description Number of items on a page, at most 100. */
                limit?: components["parameters"]["Limit"];
                /** @description Only plans with this status. */
                status?: components["parameters"]["PlanStatusFilter"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of plans. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PlanPage"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createPlan: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description The price, what it includes and the content. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanCreate"];
            };
        };
        responses: {
            /** @description The new plan. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["CreditPackageNotFoundOrPackageNotFoundOrAgentNotFoundOrExternalLinkNotFound"];
            409: components["responses"]["IdempotencyInProgressOrPlanNameTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReusedOrPlanRuleViolated"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["PaymentProviderError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getPlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plan's id. */
                planPublicId: components["parameters"]["PlanPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plan. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PlanNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deletePlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plan's id. */
                planPublicId: components["parameters"]["PlanPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The plan is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PlanNotFound"];
            409: components["responses"]["PlanHasSubscribers"];
            422: components["responses"]["PlanRuleViolated"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["PaymentProviderError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updatePlan: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The plan's id. */
                planPublicId: components["parameters"]["PlanPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanUpdate"];
            };
        };
        responses: {
            /** @description The plan as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Plan"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PlanNotFoundOrCreditPackageNotFoundOrPackageNotFoundOrAgentNotFoundOrExternalLinkNotFound"];
            409: components["responses"]["PlanNameTakenOrPlanHasSubscribers"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["PlanRuleViolated"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["PaymentProviderError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getHub: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The hub. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hub"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateHubIdentity: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["HubUpdate"];
            };
        };
        responses: {
            /** @description The hub as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hub"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    uploadHubLogo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Which logo. */
                type: components["parameters"]["HubLogo"];
            };
            cookie?: never;
        };
        /** @description The picture, in one part named `file`. */
        requestBody: {
            content: {
                "multipart/form-data": components["schemas"]["HubLogoUpload"];
            };
        };
        responses: {
            /** @description The hub with the new logo. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hub"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteHubLogo: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Which logo. */
                type: components["parameters"]["HubLogo"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The hub without the logo. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Hub"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getHubAccess: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The access settings. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HubAccess"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateHubAccess: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["HubAccessUpdate"];
            };
        };
        responses: {
            /** @description The access settings as they are now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HubAccess"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["PlanNotFound"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["DefaultPlanRequiredOrDefaultPlanNotFree"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getHubDomain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The domain. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HubDomain"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateHubDomain: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** @description The subdomain to move to. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["HubDomainUpdate"];
            };
        };
        responses: {
            /** @description The domain as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HubDomain"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["SubdomainTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["SubdomainReserved"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["PaymentProviderError"];
            503: components["responses"]["Unavailable"];
        };
    };
    checkSubdomainAvailability: {
        parameters: {
            query: {
                /** @description The subdomain to check, such as `acme`, in upper or lower case. */
                subdomain: components["parameters"]["Subdomain"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the subdomain is free, and the reason when it is not. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubdomainAvailability"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listExternalLinks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The links. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalLink"][];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    createExternalLink: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        /** @description Title and address. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExternalLinkCreate"];
            };
        };
        responses: {
            /** @description The new link. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalLink"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            409: components["responses"]["ExternalLinkTitleTakenOrIdempotencyInProgress"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["ExternalLinkLimitReachedOrIdempotencyKeyReused"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    deleteExternalLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The link's id. */
                linkPublicId: components["parameters"]["LinkPublicId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The link is deleted. */
            204: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ExternalLinkNotFound"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    updateExternalLink: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description The link's id. */
                linkPublicId: components["parameters"]["LinkPublicId"];
            };
            cookie?: never;
        };
        /** @description The fields to change. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExternalLinkUpdate"];
            };
        };
        responses: {
            /** @description The link as it is now. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExternalLink"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["ExternalLinkNotFound"];
            409: components["responses"]["ExternalLinkTitleTaken"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    triggerAutomation: {
        parameters: {
            query?: never;
            header?: {
                /** @description A random text, such as a UUID, that you choose for each new request and repeat with its retries: a retry gets the first answer again, and nothing is done twice. 1 to 255 visible ASCII characters. How long answers are kept, and which, is in the description of the API. */
                "Idempotency-Key"?: string;
                /**
                 * @description The id of the event, which a sender that follows the Standard Webhooks specification repeats with its retries. It means what `Idempotency-Key` means, and counts when that one is absent.
                 * @example msg_2KWPBgLlAfxdpx2AI54pPJ85f4W
                 */
                "webhook-id"?: string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description What happened, in the words of the sender. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["AutomationEvent"];
                "application/x-www-form-urlencoded": components["schemas"]["AutomationEventForm"];
                "text/plain": components["schemas"]["AutomationEventText"];
            };
        };
        responses: {
            /** @description The execution has been dispatched, or there was nothing to run. */
            202: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AutomationTriggered"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            404: components["responses"]["AutomationNotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            422: components["responses"]["IdempotencyKeyReused"];
            429: components["responses"]["RateLimitedOrOperationLimitReached"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    sendPaymentEvent: {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description When the request was signed (`t`, seconds since 1970), and HMAC-SHA256 over `t`, a dot and the bytes of the body (`v1`, in hexadecimal). Several `v1` may follow while a secret is replaced: one that fits is enough.
                 * @example t=1798761600,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd
                 */
                "Stripe-Signature": string;
            };
            path?: never;
            cookie?: never;
        };
        /** @description The event, as Stripe documents it. */
        requestBody: {
            content: {
                "application/json": components["schemas"]["PaymentEvent"];
            };
        };
        responses: {
            /** @description The event is stored, or it belongs to no hub. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["RequestId"];
                    "Cache-Control": components["headers"]["CacheControl"];
                    "X-Content-Type-Options": components["headers"]["ContentTypeOptions"];
                    RateLimit: components["headers"]["RateLimit"];
                    "RateLimit-Policy": components["headers"]["RateLimitPolicy"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PaymentEventReceived"];
                };
            };
            400: components["responses"]["ValidationErrorInBody"];
            404: components["responses"]["NotFound"];
            408: components["responses"]["RequestTimeout"];
            413: components["responses"]["PayloadTooLarge"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["TooManyRequests"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
}
