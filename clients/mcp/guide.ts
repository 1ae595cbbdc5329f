/** The resource `guildhall://guide`: how the parts of the API belong together, in the order in which they are needed. */
export const GUIDE = `# Working with Guildhall

## Build an agent

1. \`agents__create_agent\` makes a draft with a name and a description.
2. \`ai_models__list_ai_models\` lists the models; \`agent_model__update_agent_model\` chooses one.
3. \`agent_prompt__update_agent_prompt\` sets the instructions. Variables in them are defined with \`agent_variables__create_variable\`.
4. Give it what it needs. Make the thing in the workspace, then link it to the agent:

   | thing | make | link |
   |---|---|---|
   | knowledge | \`knowledge_sources__create_knowledge_source\` | \`agent_knowledge_sources__link_knowledge_source\` |
   | skills | \`skills__upload_skill\` | \`agent_skills__link_skill\` |
   | HTTP and database tools | \`http_tools__create_tool\` | \`agent_http_tools__link_tool\` |
   | external MCP servers | \`external_mcps__create_external_mcp\` | \`agent_external_mcps__link_external_mcp\` |
   | other agents | | \`agent_sub_agents__link_sub_agent\` |

   Knowledge is ready when its status says so: \`knowledge_sources__get_knowledge_source\`.
5. \`agent_features__list_features\` shows what can be switched on (web search, memory, follow-ups, …); \`agent_features__update_feature\` does it.
6. \`agents__publish_agent\` freezes the draft as a version. Conversations run the published version; later changes need another publish. When its result has \`Warnings:\`, mend what they name or tell the user.
7. \`messages__send_message\` tries it. Send \`isTest: true\`, so that the conversation stays out of the inbox.

## Conversations

A message without \`conversationId\` begins a conversation. The answer has the id: send it with each later message. \`externalUserId\` is your own id of the
person; what an agent remembers of a person it remembers by it. A tool call that needs an approval is not made yet: the answer lists it in
\`pendingApprovals\`, and the next message decides it (\`approve\`, \`reject\`, or each by \`metadata.approvals\`).

\`conversations__list_conversations\` and \`conversations__list_conversation_messages\` show what was said. \`agent_versions__get_published_version\` shows what the
agent was made of when it answered.

## Versions

\`agent_versions__list_versions\` lists what was published. \`agent_versions__restore_version\` makes an old version the draft again; publish it to use it.

## Lists

\`page\` begins at 1; \`limit\` is 20 unless given, and at most 100. \`total\` and \`totalPages\` say how many there are. Use the filters (\`search\`, \`status\`)
before you read page after page.

## Errors

| status | what to do |
|---|---|
| 400, 422 | mend the fields that \`details\` names |
| 401 | the key is missing, wrong or revoked |
| 404 | the id is wrong, or belongs to another workspace |
| 409 | something else has the name, or the state does not allow it |
| 429 | wait as long as the error says |
| 5xx | try again later; tell the operator the request id |

A tool that makes something is safe to repeat after an error of the connection only when the error says that nothing was stored. Look with the list tool first.
`;
