-- Why: what agents write into INTERNAL_VARIABLE tools: one value for the workspace, or one for each conversation.

create table tool_variables (
  workspace_id uuid not null,
  id uuid not null,
  tool_id uuid not null,
  conversation_id uuid,
  value jsonb not null,
  updated_at timestamptz(3) not null default now(),
  primary key (workspace_id, id),
  constraint tool_variables_key unique nulls not distinct (workspace_id, tool_id, conversation_id),
  constraint tool_variables_tool_fkey foreign key (workspace_id, tool_id) references http_tools (workspace_id, id) on delete cascade,
  constraint tool_variables_conversation_fkey foreign key (workspace_id, conversation_id)
    references conversations (workspace_id, id) on delete cascade
);
comment on table tool_variables is 'A variable that nobody has written has no row: its default is in http_tools.configuration';
comment on column tool_variables.conversation_id is 'Null = the value that counts in the whole workspace, of which a tool has one at most: hence nulls not distinct';
create index tool_variables_of_conversation on tool_variables (workspace_id, conversation_id) where conversation_id is not null;
select protect_tenant_table('tool_variables');
