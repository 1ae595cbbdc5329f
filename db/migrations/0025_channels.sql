-- Why: agents meet people on channels. What arrives is stored before it is acknowledged and answered from there; what is sent is stored
-- with the reply and delivered from there.

create table channel_connections (
  workspace_id uuid not null,
  id uuid not null,
  agent_id uuid not null,
  channel_type text not null check (channel_type in ('whatsapp', 'z_api', 'web_chat')),
  is_active boolean not null default true,
  is_configured boolean not null default false,
  instance_mode text not null default 'STATIC' check (instance_mode in ('STATIC', 'DYNAMIC')),
  config jsonb not null default '{}' check (jsonb_typeof(config) = 'object'),
  credentials bytea,
  provider_account text check (char_length(provider_account) between 1 and 200),
  last_inbound_at timestamptz(3),
  problem_code text,
  problem_message text,
  problem_at timestamptz(3),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  primary key (workspace_id, id),
  constraint channel_connections_agent_fkey foreign key (workspace_id, agent_id) references agents (workspace_id, id) on delete cascade,
  constraint channel_connections_problem check ((problem_code is null) = (problem_at is null))
) with (fillfactor = 80);
comment on column channel_connections.credentials is 'Sealed JSON object of the secret values';
comment on column channel_connections.provider_account is 'The account at the provider: the instance of Z-API, the phone number id of WhatsApp';
comment on column channel_connections.problem_code is 'What is wrong with the account at the provider; null when nothing is known to be';
create unique index channel_connections_type_key on channel_connections (workspace_id, agent_id, channel_type) where deleted_at is null;
create unique index channel_connections_account_key on channel_connections (workspace_id, channel_type, provider_account)
  where deleted_at is null and provider_account is not null;
select protect_tenant_table('channel_connections');

create table end_users (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  name text check (char_length(name) <= 255),
  created_at timestamptz(3) not null default now(),
  primary key (workspace_id, id),
  constraint end_users_connection_fkey foreign key (workspace_id, connection_id)
    references channel_connections (workspace_id, id) on delete cascade
);
comment on table end_users is 'People on a channel';

create table channel_identities (
  workspace_id uuid not null,
  connection_id uuid not null,
  kind text not null check (kind in ('wa_id', 'bsuid', 'lid', 'phone', 'visitor')),
  value text not null check (char_length(value) between 1 and 255),
  end_user_id uuid not null,
  seen_at timestamptz(3) not null default now(),
  primary key (workspace_id, connection_id, kind, value),
  constraint channel_identities_end_user_fkey foreign key (workspace_id, end_user_id) references end_users (workspace_id, id)
    on delete cascade
);
comment on table channel_identities is 'By what a provider names a person. One person has several; they are merged when a payload shows two';
create index channel_identities_of_user on channel_identities (workspace_id, end_user_id);
select protect_tenant_table('end_users');
select protect_tenant_table('channel_identities');

alter table conversations
  add column connection_id uuid,
  add column end_user_id uuid,
  add column paused_by text check (paused_by in ('agent', 'operator', 'person', 'user')),
  add column paused_until timestamptz(3),
  add column last_inbound_at timestamptz(3),
  add constraint conversations_connection_fkey foreign key (workspace_id, connection_id)
    references channel_connections (workspace_id, id),
  add constraint conversations_end_user_fkey foreign key (workspace_id, end_user_id) references end_users (workspace_id, id),
  add constraint conversations_paused_until check (is_paused or paused_until is null);
comment on column conversations.connection_id is 'The channel connection over which it is held; null for the API';
comment on column conversations.paused_by is 'Who paused it: the agent handed over, an operator, a person who wrote on the phone itself, or the end user who asked for a person';
comment on column conversations.paused_until is 'When it resumes by itself; null = when an operator resumes it';
comment on column conversations.last_inbound_at is 'When the end user last wrote on the channel; WhatsApp allows free replies for 24 hours after it';
create index conversations_of_end_user on conversations (workspace_id, end_user_id) where end_user_id is not null;
create index conversations_resume on conversations (paused_until) where paused_until is not null;

alter table messages add column author text check (author in ('operator'));
comment on column messages.author is 'Who wrote it, when it was not the one whom the role names: a person in place of the agent';

create table inbound_messages (
  workspace_id uuid not null,
  connection_id uuid not null,
  provider_message_id text not null check (char_length(provider_message_id) between 1 and 255),
  id uuid not null,
  end_user_id uuid,
  conversation_id uuid,
  event jsonb not null check (jsonb_typeof(event) = 'object'),
  status text not null default 'received' check (status in ('received', 'taken', 'answered', 'ignored', 'failed')),
  sent_at timestamptz(3) not null,
  received_at timestamptz(3) not null default now(),
  attempts int not null default 0 check (attempts >= 0),
  turn_id uuid,
  error_code text,
  error_message text,
  settled_at timestamptz(3),
  primary key (workspace_id, connection_id, provider_message_id),
  constraint inbound_messages_connection_fkey foreign key (workspace_id, connection_id)
    references channel_connections (workspace_id, id) on delete cascade
) with (fillfactor = 70);
comment on table inbound_messages is 'What people sent. It is stored in the statement before the acknowledgement: its key makes a redelivery nothing new';
comment on column inbound_messages.event is 'The event in our words (InboundEvent of integrations/channels/provider.ts)';
create index inbound_messages_waiting on inbound_messages (received_at) where status in ('received', 'taken');
create index inbound_messages_of_user on inbound_messages (workspace_id, connection_id, end_user_id, sent_at)
  where status in ('received', 'taken');
select protect_tenant_table('inbound_messages');

create table deliveries (
  workspace_id uuid not null,
  id uuid not null,
  connection_id uuid not null,
  conversation_id uuid not null,
  message_id uuid not null,
  place int not null default 0,
  status text not null default 'queued' check (status in ('queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'dropped')),
  provider_message_id text,
  attempts int not null default 0 check (attempts >= 0),
  due_at timestamptz(3) not null default now(),
  error_code text,
  error_message text,
  created_at timestamptz(3) not null default now(),
  sent_at timestamptz(3),
  delivered_at timestamptz(3),
  read_at timestamptz(3),
  primary key (workspace_id, id),
  constraint deliveries_message_fkey foreign key (workspace_id, message_id) references messages (workspace_id, id) on delete cascade,
  constraint deliveries_connection_fkey foreign key (workspace_id, connection_id)
    references channel_connections (workspace_id, id) on delete cascade
) with (fillfactor = 70);
comment on table deliveries is 'Messages on their way to a channel, stored with the reply; each is sent once by its id';
create unique index deliveries_message_key on deliveries (workspace_id, message_id, place);
create index deliveries_due on deliveries (due_at) where status in ('queued', 'sending');
create index deliveries_of_conversation on deliveries (workspace_id, conversation_id, created_at) where status in ('queued', 'sending');
create index deliveries_provider_id on deliveries (workspace_id, connection_id, provider_message_id) where provider_message_id is not null;
select protect_tenant_table('deliveries');
