-- Why: conversations of end users with a published agent, and their messages with token usage and cost.

create table conversations (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  external_user_id text not null check (char_length(external_user_id) between 1 and 255),
  channel text not null default 'api' check (channel in ('api', 'web_chat', 'whatsapp', 'z_api')),
  is_test boolean not null default false,
  is_paused boolean not null default false,
  is_ended boolean not null default false,
  metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  message_count bigint not null default 0 check (message_count >= 0),
  started_at timestamptz(3) not null default now(),
  last_message_at timestamptz(3) not null default now(),
  last_message_snippet text,
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_usd numeric(18, 10) not null default 0,
  turn_id uuid,
  turn_expires_at timestamptz(3),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint conversations_agent_fkey foreign key (workspace_id, agent_id) references agents (workspace_id, id) on delete cascade,
  constraint conversations_turn_has_an_end check ((turn_id is null) = (turn_expires_at is null))
);
comment on column conversations.turn_id is 'Lease: the turn that answers now, in whichever replica; null = free. Turns of one conversation run one after the other';
comment on column conversations.turn_expires_at is 'When the lease may be taken over because its replica must be dead';
create index conversations_list on conversations (workspace_id, started_at desc, id desc) where deleted_at is null;
create index conversations_of_agent on conversations (workspace_id, agent_id, started_at desc, id desc) where deleted_at is null;
create index conversations_of_user on conversations (workspace_id, external_user_id, started_at desc, id desc) where deleted_at is null;
create index conversations_last_message on conversations (workspace_id, last_message_at desc) where deleted_at is null;
select protect_tenant_table('conversations');

create table messages (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  seq bigint not null generated always as identity,
  turn_id uuid,
  role text not null check (role in ('user', 'assistant')),
  content text not null,
  attachments jsonb not null default '[]' check (jsonb_typeof(attachments) = 'array'),
  model text,
  provider text,
  input_tokens int check (input_tokens >= 0),
  output_tokens int check (output_tokens >= 0),
  cost_usd numeric(18, 10) check (cost_usd >= 0),
  cost_ops int check (cost_ops >= 0),
  sent_at timestamptz(3) not null default now(),
  primary key (workspace_id, id),
  constraint messages_conversation_fkey foreign key (workspace_id, conversation_id)
    references conversations (workspace_id, id) on delete cascade
);
comment on column messages.seq is 'Order within a conversation; gaps are normal';
comment on column messages.turn_id is 'Joins a user message with the replies to it';
comment on column messages.model is 'What answered: null on user messages, as are provider, tokens and cost';
comment on column messages.cost_ops is 'Operations that this message counts against workspaces.operation_limit';
create index messages_of_conversation on messages (workspace_id, conversation_id, seq);
select protect_tenant_table('messages');
