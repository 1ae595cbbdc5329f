-- Why: a turn is more than a question and a reply: models call tools, tools wait for people, processes die in between. What a
-- turn does is stored while it does it, so that it can be read afterwards and its work is neither lost nor done twice.

create table turns (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  agent_id uuid not null,
  version_number int not null,
  kind text not null check (kind in ('message', 'follow_up', 'continuation')),
  status text not null default 'running' check (status in ('running', 'done', 'waiting', 'failed', 'interrupted')),
  error_code text,
  error_message text,
  transcript jsonb check (jsonb_typeof(transcript) = 'array'),
  paused jsonb check (jsonb_typeof(paused) = 'object'),
  input_tokens bigint not null default 0 check (input_tokens >= 0),
  output_tokens bigint not null default 0 check (output_tokens >= 0),
  cost_usd numeric(18, 10) not null default 0 check (cost_usd >= 0),
  started_at timestamptz(3) not null default now(),
  ended_at timestamptz(3),
  primary key (workspace_id, id),
  constraint turns_conversation_fkey foreign key (workspace_id, conversation_id)
    references conversations (workspace_id, id) on delete cascade,
  constraint turns_waiting_is_paused check ((status = 'waiting') = (paused is not null)),
  constraint turns_end check ((status = 'running') = (ended_at is null))
) with (fillfactor = 80);
comment on column turns.id is 'As in conversations.turn_id while it runs, and in messages.turn_id';
comment on column turns.kind is 'What it answers: a message; nobody, after a silence; or decisions on approvals that came by another way than a message';
comment on column turns.status is 'waiting = for approvals; interrupted = its process died';
comment on column turns.transcript is 'Tool calls and their results between the message and the reply, as later turns show them to the model; null = there were none';
comment on column turns.paused is 'Where a turn goes on when its approvals are decided';
create index turns_of_conversation on turns (workspace_id, conversation_id, started_at);
create index turns_of_month on turns (workspace_id, started_at);
-- Nothing that the end of an ordinary turn changes is in an index or its condition, so that its row is updated in place.
create index turns_waiting on turns (workspace_id, conversation_id) where paused is not null;
select protect_tenant_table('turns');

create table turn_steps (
  workspace_id uuid not null,
  turn_id uuid not null,
  seq int not null check (seq >= 0),
  agent_id uuid not null,
  depth int not null default 0 check (depth >= 0),
  kind text not null check (kind in ('model', 'tool')),
  name text not null,
  provider text,
  status text not null check (status in ('running', 'done', 'failed', 'waiting')),
  input jsonb,
  output jsonb,
  duration_ms int check (duration_ms >= 0),
  input_tokens int check (input_tokens >= 0),
  output_tokens int check (output_tokens >= 0),
  cost_usd numeric(18, 10) check (cost_usd >= 0),
  started_at timestamptz(3) not null default now(),
  primary key (workspace_id, turn_id, seq),
  constraint turn_steps_turn_fkey foreign key (workspace_id, turn_id) references turns (workspace_id, id) on delete cascade
);
comment on column turn_steps.agent_id is 'Whose step it is: the agent of the conversation, or a sub-agent';
comment on column turn_steps.depth is '0 = the agent of the conversation, 1 = its sub-agents, and so on';
comment on column turn_steps.name is 'Of the model at its provider, or of the tool as the model calls it';
comment on column turn_steps.status is 'A tool is stored as running before it is called; running under a turn that ended means that its outcome is not known';
select protect_tenant_table('turn_steps');

create table approvals (
  workspace_id uuid not null,
  id uuid not null,
  conversation_id uuid not null,
  turn_id uuid not null,
  agent_id uuid not null,
  tool_name text not null,
  origin jsonb not null check (jsonb_typeof(origin) = 'object'),
  input jsonb not null check (jsonb_typeof(input) = 'object'),
  status text not null default 'pending' check (status in ('pending', 'approved', 'rejected', 'running', 'done')),
  requested_at timestamptz(3) not null default now(),
  decided_at timestamptz(3),
  decided_by text check (decided_by in ('message', 'operator')),
  output text,
  is_error boolean,
  primary key (workspace_id, id),
  constraint approvals_turn_fkey foreign key (workspace_id, turn_id) references turns (workspace_id, id) on delete cascade,
  constraint approvals_decided check ((status = 'pending') = (decided_at is null) and (decided_at is null) = (decided_by is null)),
  constraint approvals_outcome check ((status = 'done') = (output is not null) and (output is null) = (is_error is null))
);
comment on table approvals is 'Calls of tools that a person decides. approved becomes running in the statement that takes the work, so it is taken once';
comment on column approvals.status is 'running under a turn that died: whether the call was made is not known, and it is not made again';
create index approvals_of_conversation on approvals (workspace_id, conversation_id, requested_at);
create index approvals_of_turn on approvals (workspace_id, turn_id);
create index approvals_pending on approvals (workspace_id, requested_at) where status = 'pending';
create index approvals_to_follow on approvals (decided_at) where status = 'approved' or decided_by = 'operator';
create index approvals_by_id on approvals (id);
select protect_tenant_table('approvals');

alter table messages
  add column model_text text,
  add column ui jsonb check (jsonb_typeof(ui) = 'object'),
  add column audio_key text;
create index messages_counted on messages (workspace_id, sent_at) include (cost_ops) where cost_ops > 0;
comment on column messages.model_text is 'What models get in place of content: a slash command expanded, a voice message transcribed; null = the content itself';
comment on column messages.ui is 'Components that the agent shows with the reply';
comment on column messages.audio_key is 'The reply as speech, in the file store';

alter table conversations
  add column follow_up_at timestamptz(3),
  add column follow_ups_sent int not null default 0 check (follow_ups_sent >= 0);
comment on column conversations.follow_up_at is 'When the agent writes again by itself; null = it does not';
create index conversations_held on conversations (workspace_id, id) where turn_id is not null;
create index conversations_follow_up on conversations (follow_up_at) where follow_up_at is not null and deleted_at is null;

alter table workspaces add column time_zone text not null default 'UTC' check (char_length(time_zone) between 1 and 50);
comment on column workspaces.time_zone is 'IANA name; business hours are meant in it';
